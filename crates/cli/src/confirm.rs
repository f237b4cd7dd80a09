//! Questions that must be answered before something is done.

use std::io::BufRead;

/// Asks until there is a yes or a no; the end of the input is a no.
pub fn confirmed(question: &str) -> bool {
    let mut lines = std::io::stdin().lock().lines();
    loop {
        note!("{question} (Y or N) ");
        match lines.next() {
            Some(Ok(line)) => match line.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" => return true,
                "n" | "no" => return false,
                _ => noteln!("Invalid input: answer Y or N"),
            },
            Some(Err(_)) | None => return false,
        }
    }
}
