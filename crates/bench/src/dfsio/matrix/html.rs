//! One page that needs nothing else: charts as inline SVG, readable in light and dark.

use super::published::beside_published;
use super::row::{Row, Rows};
use super::table::{circumstances, figure, fine, size};
use crate::report::number;
use std::fmt::Write;

const STYLE: &str = "
:root{color-scheme:light dark;--bg:#fbfbfa;--fg:#1d1f21;--soft:#6a6f75;--line:#d9dbde;--limit:#b3261e;
--tcp:#8a8f98;--domain-socket:#b7791f;--local:#2f855a;--local-mapped:#2b6cb0;--published:#a08bc0}
@media (prefers-color-scheme:dark){:root{--bg:#16181b;--fg:#e6e7e9;--soft:#9aa0a7;--line:#34383d;
--limit:#ff8a80;--tcp:#9aa0a8;--domain-socket:#e0a94a;--local:#5fbf8b;--local-mapped:#6aa9e9;--published:#b9a5d8}}
body{margin:2rem auto;max-width:64rem;padding:0 1rem;background:var(--bg);color:var(--fg);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0}h2{font-size:1.1rem;margin:2.2rem 0 .4rem}p{margin:.3rem 0;color:var(--soft)}
svg{width:100%;height:auto;display:block}svg text{fill:var(--fg);font:12px system-ui,sans-serif}
svg .soft{fill:var(--soft)}svg .grid{stroke:var(--line)}svg .limit{stroke:var(--limit);stroke-width:2}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;white-space:nowrap}
th,td{padding:.15rem .6rem;border-bottom:1px solid var(--line);text-align:right}
th{color:var(--soft);font-weight:600}td.word,th.word{text-align:left}
.key i{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em;vertical-align:-.05em}
";

/// Left of the bars, their room, and the height of one, in the SVG's units.
const LABEL_WIDTH: f64 = 190.0;
const BAR_WIDTH: f64 = 640.0;
const BAR_HEIGHT: f64 = 20.0;

/// The page.
pub fn to_html(rows: &Rows) -> String {
    let mut page = String::new();
    let title = "zerohop bench dfsio --matrix";
    put(
        &mut page,
        format_args!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p>{}</p>\n<p>Files of {} MB. Medians of several runs; the red mark is read(2) of the same bytes, or \
         pread(2) for random reads, in turn with the row's own runs. Pale bars are not verified.</p>\n",
            escaped(&rows.machine),
            number(rows.file_len as f64 / 1e6),
        ),
    );
    page.push_str("<p class=\"key\">");
    for path in ["tcp", "domain-socket", "local", "local-mapped"] {
        put(&mut page, format_args!("<i style=\"background:var(--{path})\"></i>{path}"));
    }
    page.push_str("</p>\n");
    for group in groups(&rows.rows) {
        chart(&mut page, &group);
    }
    published(&mut page, &rows.rows);
    page.push_str("<h2>All rows</h2>\n");
    table(&mut page, &rows.rows);
    page.push_str("</body>\n</html>\n");
    page
}

/// Writing to a string does not fail.
fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(text);
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Rows of the same circumstances, in the order of their first.
fn groups(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.iter().any(|other| other.is_beside(row))) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The figure that tells most of an operation, its limit, and their unit.
fn telling(row: &Row) -> (Option<f64>, Option<f64>, &'static str) {
    match row.op {
        "read" | "scan" => (row.mb_s, row.limit_mb_s, "MB/s"),
        _ => (row.ops_s, row.limit_ops_s, "calls/s"),
    }
}

fn chart(page: &mut String, group: &[&Row]) {
    let Some(first) = group.first() else { return };
    let unit = telling(first).2;
    let readers = if first.threads == 1 {
        "1 reader".to_owned()
    } else {
        format!("{} readers", first.threads)
    };
    let op = match first.op {
        "read" => "Sequential",
        "scan" => "Sequential without a copy",
        "vectored-read" => "A hundred random ranges a call",
        _ => "Random",
    };
    put(
        page,
        format_args!(
            "<h2>{op}, {} each, {readers}, page cache {} ({unit})</h2>\n",
            size(first.size),
            first.cache
        ),
    );
    let bars: Vec<Bar> = group.iter().map(|row| bar(row)).collect();
    bars_svg(page, &bars);
}

fn verified(is_so: bool) -> &'static str {
    if is_so { "verified" } else { "not verified" }
}

/// One bar of a chart.
struct Bar {
    label: String,
    /// A colour of the style sheet.
    colour: &'static str,
    is_pale: bool,
    value: Option<f64>,
    limit: Option<f64>,
    /// Behind the bar.
    text: String,
}

fn bar(row: &Row) -> Bar {
    let (value, limit, _) = telling(row);
    let text = match (&row.not_available, value) {
        (Some(why), _) => format!("not available: {why}"),
        (None, Some(value)) => {
            let ratio = row.ratio.map_or(String::new(), |ratio| format!(" ({ratio:.2})"));
            let p99 = row.p99_us.map_or(String::new(), |p99| format!(", p99 {} us", number(p99)));
            format!("{}{ratio}{p99}", number(value))
        }
        (None, None) => String::new(),
    };
    Bar {
        label: format!("{}, {}", row.path, verified(row.verified)),
        colour: row.path,
        is_pale: !row.verified,
        value,
        limit,
        text,
    }
}

fn bars_svg(page: &mut String, bars: &[Bar]) {
    let values = bars.iter().flat_map(|bar| [bar.value, bar.limit]).flatten();
    let most = values.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let height = bars.len() as f64 * (BAR_HEIGHT + 4.0) + 4.0;
    // Room for the figures behind the longest bar.
    let width = LABEL_WIDTH + BAR_WIDTH + 170.0;
    put(page, format_args!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\">\n"));
    put(
        page,
        format_args!(
            "<line class=\"grid\" x1=\"{LABEL_WIDTH}\" y1=\"0\" x2=\"{LABEL_WIDTH}\" y2=\"{height}\"/>\n"
        ),
    );
    for (number, bar) in bars.iter().enumerate() {
        let top = 4.0 + number as f64 * (BAR_HEIGHT + 4.0);
        let (middle, at) = (top + BAR_HEIGHT * 0.7, |value: f64| value / most * BAR_WIDTH);
        let length = bar.value.map_or(0.0, at);
        let opacity = if bar.is_pale { 0.45 } else { 1.0 };
        let (label, text) = (escaped(&bar.label), escaped(&bar.text));
        put(
            page,
            format_args!(
                "<g><title>{label}: {text}</title>\
             <text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{label}</text>\
             <rect x=\"{LABEL_WIDTH}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" \
             fill=\"var(--{})\" fill-opacity=\"{opacity}\"/>",
                LABEL_WIDTH - 8.0,
                bar.colour
            ),
        );
        let mut end = LABEL_WIDTH + length;
        if let Some(limit) = bar.limit {
            let x = LABEL_WIDTH + at(limit);
            put(
                page,
                format_args!(
                    "<line class=\"limit\" x1=\"{x:.1}\" y1=\"{:.1}\" x2=\"{x:.1}\" y2=\"{:.1}\"/>",
                    top - 1.0,
                    top + BAR_HEIGHT + 1.0
                ),
            );
            // A mark just behind the bar would run through the figures.
            if x > end - 4.0 && x < end + 150.0 {
                end = x;
            }
        }
        put(
            page,
            format_args!(
                "<text class=\"soft\" x=\"{:.1}\" y=\"{middle:.1}\">{text}</text></g>\n",
                end + 6.0
            ),
        );
    }
    page.push_str("</svg>\n");
}

fn published(page: &mut String, rows: &[Row]) {
    page.push_str(
        "<h2>The eight published rows (TestDFSIO -read, two readers) and ours (MB/s as TestDFSIO counts them)</h2>\n",
    );
    let mut bars = Vec::new();
    for (published, ours) in beside_published(rows) {
        let (path, verified) = (published.path(), verified(published.verified));
        bars.push(Bar {
            label: format!("{path}, {verified}, {}", published.cache),
            colour: "published",
            is_pale: !published.verified,
            value: Some(published.throughput),
            limit: None,
            text: format!("{} published", number(published.throughput)),
        });
        let text = match ours.and_then(|row| Some((row, row.throughput?))) {
            Some((row, value)) => format!("{} {}", number(value), row.path),
            None => "ours: not measured".to_owned(),
        };
        bars.push(Bar {
            label: "ours".to_owned(),
            colour: ours.map_or("tcp", |row| row.path),
            is_pale: !published.verified,
            value: ours.and_then(|row| row.throughput),
            limit: None,
            text,
        });
    }
    bars_svg(page, &bars);
}

fn table(page: &mut String, rows: &[Row]) {
    let head = [
        "op",
        "path",
        "verified",
        "cache",
        "call",
        "readers",
        "MB/s",
        "calls/s",
        "limit MB/s",
        "limit calls/s",
        "ratio",
        "p50 us",
        "p99 us",
        "limit p99 us",
        "client CPU s/GB",
        "DataNode CPU s/GB",
        "runs",
    ];
    page.push_str("<div class=\"wide\"><table>\n<tr>");
    for (column, name) in head.iter().enumerate() {
        put(page, format_args!("<th{}>{name}</th>", word(column)));
    }
    page.push_str("</tr>\n");
    for row in rows {
        let figures = [
            figure(row.mb_s),
            figure(row.ops_s),
            figure(row.limit_mb_s),
            figure(row.limit_ops_s),
            fine(row.ratio),
            figure(row.p50_us),
            figure(row.p99_us),
            figure(row.limit_p99_us),
            fine(row.client_cpu_s_per_gb),
            fine(row.datanode_cpu_s_per_gb),
            row.runs.to_string(),
        ];
        page.push_str("<tr>");
        for (column, cell) in circumstances(row).into_iter().chain(figures).enumerate() {
            put(page, format_args!("<td{}>{}</td>", word(column), escaped(&cell)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

/// The first columns hold words.
const fn word(column: usize) -> &'static str {
    if column < 4 { " class=\"word\"" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::rows;
    use super::*;

    #[test]
    fn the_page_needs_nothing_else() {
        let page = to_html(&rows());
        for outside in ["http:", "https:", "//", "<script", "<link", "<img", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("prefers-color-scheme:dark") && page.contains("<svg"));
        for (open, close) in
            [("<svg", "</svg>"), ("<g>", "</g>"), ("<table", "</table>"), ("<text", "</text>")]
        {
            assert_eq!(page.matches(open).count(), page.matches(close).count(), "{open}");
        }
    }

    #[test]
    fn texts_are_escaped_and_reasons_shown() {
        let mut rows = rows();
        rows.machine = "<a & b>".to_owned();
        let page = to_html(&rows);
        assert!(page.contains("&lt;a &amp; b&gt;") && !page.contains("<a &"));
        assert!(page.contains("not available: reads went by tcp-local (a, &quot;b&quot;)"));
    }
}
