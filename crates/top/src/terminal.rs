//! The view in this process's terminal, until it is left.

use crate::figures::Figures;
use crate::view::{Action, Key, View};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// How long new figures, or a signal, may wait while no key is pressed.
const STEP: Duration = Duration::from_millis(100);

/// Shows figures as they come until a key ends it, `stop` is set, or their sender is gone. The terminal is then as it was
/// before, also after a panic.
///
/// # Errors
/// If there is no terminal, or it is lost.
pub fn show(updates: &Receiver<Figures>, stop: &AtomicBool) -> io::Result<()> {
    let mut terminal = ratatui::try_init()?;
    let shown = run(&mut terminal, updates, stop);
    ratatui::try_restore()?;
    shown
}

fn run(
    terminal: &mut ratatui::DefaultTerminal,
    updates: &Receiver<Figures>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let mut view = View::default();
    let mut is_new = true;
    while !stop.load(Ordering::Relaxed) {
        loop {
            match updates.try_recv() {
                Ok(figures) => view.take(figures),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
            is_new = true;
        }
        if is_new {
            terminal.draw(|frame| view.draw(frame))?;
        }
        is_new = event::poll(STEP)?;
        if is_new && let Event::Key(pressed) = event::read()? {
            match key(pressed).map(|key| view.press(key)) {
                Some(Action::Quit) => return Ok(()),
                Some(Action::Draw) | None => {}
            }
        }
    }
    Ok(())
}

fn key(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let is_control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char('c') if is_control => Key::Quit,
        KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
        KeyCode::Tab | KeyCode::Right => Key::Next,
        KeyCode::BackTab | KeyCode::Left => Key::Previous,
        KeyCode::Up => Key::Rows(-1),
        KeyCode::Down => Key::Rows(1),
        KeyCode::PageUp => Key::Pages(-1),
        KeyCode::PageDown => Key::Pages(1),
        KeyCode::Home => Key::First,
        KeyCode::End => Key::Last,
        KeyCode::Char('s') => Key::SortNext,
        KeyCode::Char('S') => Key::SortPrevious,
        KeyCode::Char('r') => Key::Reverse,
        KeyCode::Char(' ') => Key::Pause,
        KeyCode::Char(digit) => Key::Pane(digit.to_digit(10)? as usize),
        _ => return None,
    })
}
