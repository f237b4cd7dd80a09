//! The view on a terminal that is a buffer.

use crate::calls::{CallKind, Calls};
use crate::figures::{DataNode, Figures, NameNode};
use crate::view::{Action, Key, View};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn figures(datanodes: usize) -> Figures {
    let node = |number: usize| DataNode {
        name: format!("dn{number:02}:9866"),
        state: "In Service".to_owned(),
        capacity: 100 << 30,
        used: (number as u64) << 30,
        blocks: 100 - number as u64,
        ..DataNode::default()
    };
    let mut figures = Figures {
        name_nodes: vec![
            NameNode {
                id: "nn1".into(),
                address: "a:9870".into(),
                state: Some("standby".into()),
                ..NameNode::default()
            },
            NameNode {
                id: "nn2".into(),
                address: "b:9870".into(),
                problem: Some("it is gone\u{1b}[2J".into()),
                ..NameNode::default()
            },
        ],
        shown: Some("a:9870".to_owned()),
        data_nodes: (0..datanodes).map(node).collect(),
        ..Figures::default()
    };
    figures.cluster.capacity = Some(300 << 30);
    figures.cluster.missing_blocks = Some(7);
    figures.cluster.safe_mode = Some("Safe mode is ON. The reported blocks".to_owned());
    let kind = |kind: &str, rate| CallKind {
        kind: kind.into(),
        per_second: Some(rate),
        calls: 9,
        mean_ms: None,
    };
    figures.calls = Calls {
        has_kinds: true,
        seconds: Some(2.0),
        kinds: vec![kind("Create", 3.0), kind("Mkdirs", 12.0)],
        ..Calls::default()
    };
    figures
}

/// What is on a screen of this size, a line each.
fn drawn(view: &mut View, (width, height): (u16, u16)) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| view.draw(frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

fn view(datanodes: usize) -> View {
    let mut view = View::default();
    view.take(figures(datanodes));
    view
}

/// The first words of the rows of the table.
fn rows(screen: &[String]) -> Vec<String> {
    let first = |line: &String| line.split_whitespace().next().unwrap_or_default().to_owned();
    let at = screen.iter().position(|line| line.contains("Used %") || line.contains("Since start"));
    let at = at.unwrap_or_else(|| panic!("no table: {screen:#?}"));
    screen[at + 1..screen.len() - 1].iter().map(first).filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_header_and_the_data_nodes_are_shown_first() {
    let screen = drawn(&mut view(3), (120, 24));
    let all = screen.join("\n");
    for text in [
        "nn1 a:9870: standby",
        "Capacity 300.0 G",
        "Missing 7",
        "Safe mode Safe mode is ON.",
        "1 DataNodes",
        "6 Disks",
        "q quit",
    ] {
        assert!(all.contains(text), "{text} in:\n{all}");
    }
    assert_eq!(rows(&screen), ["dn00:9866", "dn01:9866", "dn02:9866"]);
    // What comes from outside cannot speak to the terminal.
    assert!(all.contains("it is gone\u{fffd}[2J") && !all.contains('\u{1b}'), "{all}");
}

#[test]
fn keys_lead_to_panes_and_rows_and_sort() {
    let mut view = view(30);
    let size = (120, 20);
    drawn(&mut view, size);
    assert_eq!(view.press(Key::Pages(1)), Action::Draw);
    let screen = drawn(&mut view, size);
    let shown = rows(&screen);
    assert_eq!(shown[0], format!("dn{:02}:9866", shown.len()));
    view.press(Key::Last);
    assert_eq!(rows(&drawn(&mut view, size))[0], "dn29:9866");
    view.press(Key::Rows(-1));
    assert_eq!(rows(&drawn(&mut view, size))[0], "dn28:9866");
    view.press(Key::First);
    // By the third column, which is of numbers: the largest first.
    for _ in 0..3 {
        view.press(Key::SortNext);
    }
    let screen = drawn(&mut view, size);
    assert!(screen.iter().any(|line| line.contains("Used↓")), "{screen:#?}");
    assert_eq!(rows(&screen)[0], "dn29:9866");
    view.press(Key::Reverse);
    assert_eq!(rows(&drawn(&mut view, size))[0], "dn00:9866");
    view.press(Key::Next);
    assert_eq!(rows(&drawn(&mut view, size)), ["Create", "Mkdirs"]);
    view.press(Key::SortPrevious);
    view.press(Key::SortPrevious);
    view.press(Key::SortPrevious);
    assert_eq!(rows(&drawn(&mut view, size)), ["Mkdirs", "Create"]);
    view.press(Key::Pane(4));
    let screen = drawn(&mut view, size).join("\n");
    assert!(screen.contains("not served by this NameNode"), "{screen}");
    view.press(Key::Pane(9));
    view.press(Key::Previous);
    view.press(Key::Pane(1));
    view.press(Key::Previous);
    assert!(drawn(&mut view, size).join("\n").contains("Sync ms"));
    assert_eq!(view.press(Key::Quit), Action::Quit);
}

#[test]
fn a_paused_view_takes_the_newest_figures_when_it_goes_on() {
    let mut view = view(1);
    view.press(Key::Pause);
    view.take(figures(2));
    view.take(figures(3));
    let screen = drawn(&mut view, (120, 24));
    assert_eq!(rows(&screen).len(), 1);
    assert!(screen.join("\n").contains("PAUSED"));
    view.press(Key::Pause);
    assert_eq!(rows(&drawn(&mut view, (120, 24))).len(), 3);
}

/// All columns shrank alike, and each DataNode was "127.0".
#[test]
fn names_are_whole_in_sixty_columns() {
    let mut view = View::default();
    let mut figures = figures(1);
    figures.data_nodes[0].name = "127.0.0.1:19866".to_owned();
    figures.data_nodes[0].version = "3.4.3, rzerohop-0.1.0".to_owned();
    figures.name_nodes[0].address = "127.0.0.1:19870".to_owned();
    figures.name_nodes[1].address = "127.0.0.1:29870".to_owned();
    view.take(figures);
    let screen = drawn(&mut view, (60, 24));
    let all = screen.join("\n");
    assert_eq!(rows(&screen), ["127.0.0.1:19866"]);
    assert!(all.contains("nn1 127.0.0.1:19870: standby"), "{all}");
    assert!(all.contains("nn2 127.0.0.1:29870: it is gone"), "{all}");
    assert!(all.contains("more columns need a wider terminal."), "{all}");
    // The column that rows are sorted by is one of those shown.
    for _ in 0..8 {
        view.press(Key::SortNext);
    }
    let screen = drawn(&mut view, (60, 24)).join("\n");
    assert!(screen.contains("Failed vol.↓") && screen.contains("127.0.0.1:19866"), "{screen}");
}

#[test]
fn a_terminal_of_any_size_is_drawn_to() {
    for (width, height) in [(1, 1), (20, 3), (59, 40), (200, 13), (60, 14), (300, 100)] {
        let mut view = view(40);
        let screen = drawn(&mut view, (width, height)).join(" ");
        let is_small = width < 60 || height < 14;
        if width >= 20 {
            assert_eq!(screen.contains("The terminal has"), is_small, "{width} {height}: {screen}");
        }
        (0..6).for_each(|_| {
            view.press(Key::Next);
            view.press(Key::Last);
            drawn(&mut view, (width, height));
        });
    }
}

#[test]
fn before_the_first_figures_and_without_a_namenode() {
    let mut empty = View::default();
    assert!(drawn(&mut empty, (80, 20)).join(" ").contains("Asking the NameNode"));
    empty.press(Key::SortNext);
    empty.press(Key::Last);
    let mut gone = figures(1);
    gone.shown = None;
    empty.take(gone);
    assert!(drawn(&mut empty, (80, 20)).join(" ").contains("No NameNode answers."));
}
