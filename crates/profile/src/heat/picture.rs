//! Heat maps as SVG: time from left to right, latency upwards on a logarithmic scale, colour by count. Each cell has its count as a
//! title, which browsers show under the pointer; with the script, a line below each map shows it at once.

use super::buckets::{BUCKETS, bucket_start_us, shown};
use super::map::HeatMap;
use std::fmt::Write;

const LEFT: usize = 70;
const RIGHT: usize = 20;
const WIDTH: usize = 1200;
const CELL_HEIGHT: usize = 7;
/// Of each map: its heading above, the times and the line for the pointer below.
const ABOVE: usize = 34;
const BELOW: usize = 44;
/// Classes whose begin is written beside the map: a little over each power of ten.
const MARKS_US: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.h{font-weight:bold;font-size:14px}.a{fill:#555}\
.b{fill:#f6f6f2;stroke:#bbb}rect[c]:hover{stroke:#000}\
@media(prefers-color-scheme:dark){svg{background:#16181d}text{fill:#ddd}.a{fill:#aaa}.b{fill:#20242c;stroke:#444}}";
const SCRIPT: &str = "document.addEventListener('mouseover',function(e){var t=e.target,g=t.parentNode;\
if(!t.querySelector||t.tagName!=='rect'||!g)return;var s=t.querySelector('title'),l=g.querySelector('.l');\
if(l)l.textContent=s?s.textContent:''})";

/// The picture of several maps, below each other. Places may have any name.
pub fn heat_picture(title: &str, note: &str, maps: &[HeatMap]) -> String {
    let map_height = BUCKETS * CELL_HEIGHT + ABOVE + BELOW;
    let height = 60 + maps.len().max(1) * map_height;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         style=\"background:#fff\"><style>{STYLE}</style>\
         <text class=\"h\" x=\"{LEFT}\" y=\"24\">{}</text><text class=\"a\" x=\"{LEFT}\" y=\"44\">{}</text>\n",
        escaped(title),
        escaped(note)
    );
    if maps.is_empty() {
        _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"90\">No calls to a disk in this time.</text>");
    }
    for (index, map) in maps.iter().enumerate() {
        draw(&mut svg, map, 60 + index * map_height);
    }
    _ = writeln!(svg, "<script><![CDATA[{SCRIPT}]]></script></svg>");
    svg
}

fn draw(svg: &mut String, map: &HeatMap, top: usize) {
    let width = WIDTH - LEFT - RIGHT;
    let (grid_top, grid_height) = (top + ABOVE, BUCKETS * CELL_HEIGHT);
    let bottom = grid_top + grid_height;
    let summary = map.summary().map_or_else(
        || "no calls".to_owned(),
        |summary| {
            let from = |ms: f64, word: &str| match (ms * 1e3) as u64 {
                // The first class begins at nothing.
                0 => format!("below {}", shown(bucket_start_us(1))),
                micros => format!("{word}{}", shown(micros)),
            };
            format!(
                "{} calls, median {}, 99 % {}, longest {}",
                summary.count,
                from(summary.median_ms, ""),
                from(summary.p99_ms, "below "),
                from(summary.max_ms, "from ")
            )
        },
    );
    // The writes go to a string, which takes everything.
    _ = write!(
        svg,
        "<g><text class=\"h\" x=\"{LEFT}\" y=\"{}\">{} of {}</text><text class=\"a\" x=\"{LEFT}\" y=\"{}\">{summary}</text>\
         <rect class=\"b\" x=\"{LEFT}\" y=\"{grid_top}\" width=\"{width}\" height=\"{grid_height}\"/>",
        top + 12,
        escaped(map.kind),
        escaped(&map.place),
        top + 28
    );
    for mark in MARKS_US {
        let y = bottom - bucket_at(mark) * CELL_HEIGHT;
        _ = write!(
            svg,
            "<text class=\"a\" x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>",
            LEFT - 6,
            shown(mark)
        );
    }
    draw_cells(svg, map, (width, bottom));
    let length = map.columns.len() as u64 * map.seconds_each;
    for quarter in 0..=4 {
        let x = LEFT + width * quarter / 4;
        let ago = length - length * quarter as u64 / 4;
        let text = if ago == 0 { "now".to_owned() } else { format!("-{}", duration(ago)) };
        let anchor = if quarter == 4 { "end" } else { "start" };
        _ = write!(
            svg,
            "<text class=\"a\" x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{text}</text>",
            bottom + 14
        );
    }
    _ = writeln!(svg, "<text class=\"l\" x=\"{LEFT}\" y=\"{}\"></text></g>", bottom + 32);
}

fn draw_cells(svg: &mut String, map: &HeatMap, (width, bottom): (usize, usize)) {
    let most = map.columns.iter().flatten().copied().max().unwrap_or(1).max(1);
    let column_width = width as f64 / map.columns.len().max(1) as f64;
    let length = map.columns.len() as u64 * map.seconds_each;
    for (index, column) in map.columns.iter().enumerate() {
        let x = LEFT as f64 + index as f64 * column_width;
        let ago = length - index as u64 * map.seconds_each;
        for (bucket, count) in column.iter().enumerate().filter(|(_, count)| **count > 0) {
            let y = bottom - (bucket + 1) * CELL_HEIGHT;
            let (from, to) = (bucket_start_us(bucket), bucket_start_us(bucket + 1));
            let to = if bucket + 1 == BUCKETS { "longer".to_owned() } else { shown(to) };
            _ = write!(
                svg,
                "<rect c=\"\" x=\"{x:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"{CELL_HEIGHT}\" fill=\"{}\">\
                 <title>{count} calls of {} to {to}, {} ago</title></rect>",
                column_width.max(1.0),
                colour(*count, most),
                shown(from),
                duration(ago)
            );
        }
    }
}

/// The class of a latency in microseconds.
fn bucket_at(micros: u64) -> usize {
    (0..BUCKETS).rev().find(|bucket| bucket_start_us(*bucket) <= micros).unwrap_or_default()
}

/// From yellow for one call to dark red for the most; the scale is logarithmic, so that a single slow call is seen.
fn colour(count: u64, most: u64) -> String {
    const STEPS: [(f64, [f64; 3]); 4] = [
        (0.0, [254.0, 217.0, 118.0]),
        (0.4, [253.0, 141.0, 60.0]),
        (0.75, [227.0, 26.0, 28.0]),
        (1.0, [110.0, 0.0, 60.0]),
    ];
    let share = if most <= 1 { 0.4 } else { (count as f64).ln() / (most as f64).ln() };
    let mut colour = STEPS.map(|(_, colour)| colour)[0];
    for pair in STEPS.windows(2) {
        if let [(from, first), (to, second)] = pair
            && share >= *from
        {
            let part = ((share - from) / (to - from)).min(1.0);
            let mut mixed = [0.0; 3];
            let parts = mixed.iter_mut().zip(first.iter().zip(second));
            parts.for_each(|(mixed, (first, second))| *mixed = first + (second - first) * part);
            colour = mixed;
        }
    }
    let [red, green, blue] = colour.map(|value| value as u8);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..=120 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60).replace(" 0 s", ""),
    }
}

/// Text that is no markup; characters that XML does not have are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}')
            }
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::history::Second;

    fn map(place: &str, counts: &[(u8, u32)]) -> HeatMap {
        let seconds = [Second { index: 50, counts: counts.into() }];
        HeatMap::new(place.to_owned(), "write", &seconds, 59, 60)
    }

    #[test]
    fn each_cell_has_its_exact_count() {
        let picture = heat_picture("t", "n", &[map("/data/1", &[(19, 12_345), (41, 1)])]);
        assert!(
            picture.contains("<title>12345 calls of 1.0 ms to 1.5 ms, 10 s ago</title>"),
            "{picture}"
        );
        assert!(
            picture.contains("<title>1 calls of 2.1 s to 3.1 s, 10 s ago</title>"),
            "{picture}"
        );
        assert!(picture.contains("write of /data/1") && picture.contains("12346 calls"));
        let summary = "median 1.0 ms, 99 % below 1.0 ms, longest from 2.1 s<";
        assert!(picture.contains(summary), "{picture}");
    }

    #[test]
    fn calls_of_the_first_class_took_0_microseconds() {
        let picture = heat_picture("t", "n", &[map("/data/1", &[(0, 9)])]);
        let summary = "9 calls, median below 2 µs, 99 % below 2 µs, longest below 2 µs<";
        assert!(picture.contains(summary), "{picture}");
    }

    #[test]
    fn hostile_names_of_volumes_stay_text() {
        let hostile = "</text><script>alert(1)</script>\"&\u{1}]]>";
        let picture = heat_picture(hostile, hostile, &[map(hostile, &[(1, 1)])]);
        assert_eq!(picture.matches("<script>").count(), 1, "ours: {picture}");
        assert!(picture.contains("&lt;script&gt;alert(1)") && !picture.contains('\u{1}'));
        assert!(heat_picture("t", "n", &[]).contains("No calls"));
    }

    #[test]
    fn colours_go_from_yellow_to_dark() {
        assert_eq!(colour(1, 1000), "#fed976");
        assert_eq!(colour(1000, 1000), "#6e003c");
    }
}
