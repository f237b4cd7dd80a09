//! `namenode -recover`: somebody says what to do about damaged edits (`MetaRecoveryContext`).

use std::io::{BufRead, Write};

use zerohop_conf::Conf;
use zerohop_namenode::{NameNode, RecoveryChoice, RecoveryQuestions};

use crate::failure::{Failure, Outcome};
use crate::log;

const WARNING: &str = "You have selected Metadata Recovery mode.  This mode is intended to recover lost metadata on a corrupt \
     filesystem.  Metadata recovery mode often permanently deletes data from your HDFS filesystem.  Please back up your edit log and \
     fsimage before trying this!\n\nAre you ready to proceed? (Y/N)\n";

/// Recovers what is left of damaged edits. With `force` the first choice is always taken.
pub fn run(conf: &Conf, force: bool) -> Outcome<i32> {
    log::to_stderr();
    let mut asker = Asker { input: std::io::stdin().lock(), always_first: force };
    if !asker.is_ready() {
        noteln!("Recovery aborted at user request.\n");
        return Ok(0);
    }
    tracing::info!("starting recovery...");
    match NameNode::recover(conf, &mut asker) {
        Ok(Some(txid)) => {
            tracing::info!("RECOVERY COMPLETE: an image of transaction {txid} is saved")
        }
        Ok(None) => tracing::error!("Exiting on user request."),
        Err(error) => return Err(Failure::io(format!("RECOVERY FAILED: {error}"))),
    }
    Ok(0)
}

/// Asks on the terminal.
struct Asker<R> {
    input: R,
    always_first: bool,
}

impl<R: BufRead> Asker<R> {
    /// An answer without the end of its line; none at the end of the input.
    fn answer(&mut self, question: &str) -> Option<String> {
        note!("{question}");
        _ = std::io::stderr().flush();
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_ascii_lowercase()),
        }
    }

    fn is_ready(&mut self) -> bool {
        while let Some(answer) = self.answer(WARNING) {
            match &*answer {
                "y" | "yes" => return true,
                "n" | "no" => return false,
                _ => noteln!("Invalid input: {answer}"),
            }
        }
        false
    }
}

impl<R: BufRead> RecoveryQuestions for Asker<R> {
    fn ask(&mut self, problem: &str, continuing: &str) -> RecoveryChoice {
        tracing::error!("{problem}");
        let question = format!(
            "\nEnter 'c' to continue, {continuing}\n\
             Enter 's' to stop reading the edit log here, abandoning any later edits\n\
             Enter 'q' to quit without saving\n\
             Enter 'a' to always select the first choice in the future without prompting. (c/s/q/a)\n"
        );
        if self.always_first {
            noteln!("{question}automatically choosing c");
            return RecoveryChoice::Continue;
        }
        while let Some(answer) = self.answer(&question) {
            match &*answer {
                "c" => return RecoveryChoice::Continue,
                "s" => return RecoveryChoice::Stop,
                "q" => return RecoveryChoice::Quit,
                "a" => {
                    self.always_first = true;
                    return RecoveryChoice::Continue;
                }
                _ => noteln!("I'm sorry, I cannot understand your response."),
            }
        }
        // Nobody is there to answer.
        RecoveryChoice::Quit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_asked_for_until_they_are_understood() {
        let asker = |text: &'static str| Asker { input: text.as_bytes(), always_first: false };
        assert!(asker("perhaps\nYes\n").is_ready());
        assert!(!asker("n\n").is_ready() && !asker("").is_ready());
        let mut several = asker("what\nC\ns\na\n");
        let mut next = || several.ask("p", "going on");
        assert_eq!(next(), RecoveryChoice::Continue);
        assert_eq!(next(), RecoveryChoice::Stop);
        // From here on without a question.
        assert_eq!([next(), next()], [RecoveryChoice::Continue; 2]);
        assert_eq!(asker("q\n").ask("p", "going on"), RecoveryChoice::Quit);
        assert_eq!(asker("").ask("p", "going on"), RecoveryChoice::Quit);
    }
}
