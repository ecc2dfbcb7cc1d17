//! Keys that mean something to the editor, taken in the order in which they were pressed.

use egui::{Event, InputState, Key, Modifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// One step in.
    Indent,
    /// One step out.
    Outdent,
    /// Comment, or no comment any more.
    Comment,
    /// A new line.
    NewLine,
    /// A step back.
    Undo,
    /// The step again.
    Redo,
    /// Show the find bar.
    Find,
    /// Show it with what to put in the place.
    Replace,
    /// Ask for a line.
    GoToLine,
    /// The next match.
    FindNext,
    /// The one before.
    FindPrevious,
    /// Offer names.
    Complete,
    /// Close what is open.
    Close,
}

/// What a key does to offered names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Next,
    Previous,
    Accept,
    Dismiss,
}

/// One of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Command(Command),
    Choice(Choice),
}

/// What is open, and so takes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Nothing,
    Bar,
    /// Names, none of them chosen yet: Enter is a new line.
    Names,
    /// Names, one of them chosen with an arrow.
    Chosen,
}

/// Takes the editor's own keys that nothing else precedes. Keys behind others wait for the next frame, so that
/// `a`, Tab, `b` are never `a`, `b`, Tab.
pub(super) fn take(input: &mut InputState, waiting: &mut Vec<Event>, open: Open) -> Vec<Action> {
    let came = std::mem::take(&mut input.events);
    let (keys, others): (Vec<Event>, Vec<Event>) = came.into_iter().partition(is_of_keyboard);
    let mut queue = std::mem::take(waiting);
    queue.extend(keys);
    let mut queue = queue.into_iter().peekable();
    let mut actions = Vec::new();
    while let Some(action) = queue.peek().and_then(|event| action(event, open)) {
        actions.push(action);
        queue.next();
        // A choice changes what is open, and with that what the next key means.
        if matches!(action, Action::Choice(_)) {
            break;
        }
    }
    input.events = others;
    if actions.is_empty() || !matches!(actions.last(), Some(Action::Choice(_))) {
        while let Some(event) = queue.next_if(|event| action(event, open).is_none()) {
            input.events.push(event);
        }
    }
    *waiting = queue.collect();
    actions
}

const fn is_of_keyboard(event: &Event) -> bool {
    matches!(
        event,
        Event::Copy
            | Event::Cut
            | Event::Paste(_)
            | Event::Text(_)
            | Event::Key { .. }
            | Event::Ime(_)
    )
}

fn action(event: &Event, open: Open) -> Option<Action> {
    let Event::Key { key, pressed: true, modifiers, .. } = event else { return None };
    choice(*key, *modifiers, open)
        .map(Action::Choice)
        .or_else(|| command(*key, *modifiers, open).map(Action::Command))
}

fn choice(key: Key, modifiers: Modifiers, open: Open) -> Option<Choice> {
    if modifiers.any() || matches!(open, Open::Nothing | Open::Bar) {
        return None;
    }
    let chosen = open == Open::Chosen;
    let pairs = [
        (Key::ArrowDown, Choice::Next),
        (Key::ArrowUp, Choice::Previous),
        (Key::Tab, Choice::Accept),
        (Key::Escape, Choice::Dismiss),
    ];
    let found = pairs.into_iter().find(|(wanted, _)| *wanted == key).map(|(_, choice)| choice);
    found.or((key == Key::Enter && chosen).then_some(Choice::Accept))
}

fn command(key: Key, modifiers: Modifiers, open: Open) -> Option<Command> {
    let shift = Modifiers::SHIFT;
    let control = Modifiers::COMMAND;
    let pairs = [
        (Modifiers::NONE, Key::Tab, Command::Indent),
        (shift, Key::Tab, Command::Outdent),
        (control, Key::Slash, Command::Comment),
        (Modifiers::NONE, Key::Enter, Command::NewLine),
        (shift, Key::Enter, Command::NewLine),
        (control, Key::Z, Command::Undo),
        (control | shift, Key::Z, Command::Redo),
        (control, Key::Y, Command::Redo),
        (control, Key::F, Command::Find),
        (control, Key::H, Command::Replace),
        (control, Key::G, Command::GoToLine),
        (Modifiers::NONE, Key::F3, Command::FindNext),
        (shift, Key::F3, Command::FindPrevious),
        (Modifiers::CTRL, Key::Space, Command::Complete),
    ];
    let found = pairs
        .into_iter()
        .find(|(wanted, pressed, _)| *pressed == key && modifiers.matches_exact(*wanted))
        .map(|(_, _, command)| command);
    found.or((open == Open::Bar && key == Key::Escape).then_some(Command::Close))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    #[test]
    fn keys_keep_their_order() {
        let mut input = InputState::default();
        let text = Event::Text("a".to_owned());
        let tab = key(Key::Tab, Modifiers::NONE);
        input.events = vec![tab.clone(), text.clone(), tab.clone(), text.clone()];
        let mut waiting = Vec::new();
        let indent = [Action::Command(Command::Indent)];
        assert_eq!(take(&mut input, &mut waiting, Open::Nothing), indent);
        assert_eq!(input.events, std::slice::from_ref(&text));
        input.events.clear();
        assert_eq!(take(&mut input, &mut waiting, Open::Nothing), indent);
        assert_eq!(input.events, [text]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn keys_mean_what_is_open() {
        let check = |pressed: Key, modifiers: Modifiers, open: Open, expected: Option<Action>| {
            assert_eq!(action(&key(pressed, modifiers), open), expected, "{pressed:?} {open:?}");
        };
        let command = |command| Some(Action::Command(command));
        let choice = |choice| Some(Action::Choice(choice));
        let none = Modifiers::NONE;
        check(Key::Enter, none, Open::Nothing, command(Command::NewLine));
        check(Key::Enter, none, Open::Names, command(Command::NewLine));
        check(Key::Enter, none, Open::Chosen, choice(Choice::Accept));
        check(Key::Tab, none, Open::Nothing, command(Command::Indent));
        check(Key::Tab, none, Open::Names, choice(Choice::Accept));
        check(Key::Escape, none, Open::Nothing, None);
        check(Key::Escape, none, Open::Bar, command(Command::Close));
        check(Key::ArrowDown, none, Open::Nothing, None);
        check(Key::ArrowDown, none, Open::Names, choice(Choice::Next));
        check(Key::Z, Modifiers::COMMAND, Open::Nothing, command(Command::Undo));
        check(Key::Z, Modifiers::COMMAND | Modifiers::SHIFT, Open::Nothing, command(Command::Redo));
        check(Key::A, Modifiers::COMMAND, Open::Nothing, None);
    }
}
