//! Keyboard input of the editor, in order.

use egui::{Event, InputState, Key, Modifiers};

/// A command of the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Indent,
    Outdent,
    /// Comments or uncomments lines.
    Comment,
    NewLine,
    Undo,
    Redo,
    Find,
    Replace,
    GoToLine,
    FindNext,
    FindPrevious,
    Complete,
    Close,
}

/// A key for the completion list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Next,
    Previous,
    Accept,
    Dismiss,
}

/// A command or a key for the completion list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Command(Command),
    Choice(Choice),
}

/// What is open and takes keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenPopups {
    Nothing,
    Bar,
    /// The completion list without a selection: Enter inserts a line break.
    Names,
    /// The completion list with a selection.
    Chosen,
}

/// Takes the editor's keys up to the first other key. Later keys wait for the next frame, so that `a`, Tab, `b` is
/// never handled as `a`, `b`, Tab.
pub(super) fn take(
    input: &mut InputState,
    waiting: &mut Vec<Event>,
    open: OpenPopups,
) -> Vec<Action> {
    let came = std::mem::take(&mut input.events);
    let (keys, others): (Vec<Event>, Vec<Event>) = came.into_iter().partition(is_of_keyboard);
    let mut queue = std::mem::take(waiting);
    queue.extend(keys);
    let mut queue = queue.into_iter().peekable();
    let mut actions = Vec::new();
    while let Some(action) = queue.peek().and_then(|event| action(event, open)) {
        actions.push(action);
        queue.next();
        // A choice changes what is open and thereby the meaning of the next key.
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

fn action(event: &Event, open: OpenPopups) -> Option<Action> {
    let Event::Key { key, pressed: true, modifiers, .. } = event else { return None };
    choice(*key, *modifiers, open)
        .map(Action::Choice)
        .or_else(|| command(*key, *modifiers, open).map(Action::Command))
}

fn choice(key: Key, modifiers: Modifiers, open: OpenPopups) -> Option<Choice> {
    if modifiers.any() || matches!(open, OpenPopups::Nothing | OpenPopups::Bar) {
        return None;
    }
    let chosen = open == OpenPopups::Chosen;
    let pairs = [
        (Key::ArrowDown, Choice::Next),
        (Key::ArrowUp, Choice::Previous),
        (Key::Tab, Choice::Accept),
        (Key::Escape, Choice::Dismiss),
    ];
    let found = pairs.into_iter().find(|(wanted, _)| *wanted == key).map(|(_, choice)| choice);
    found.or((key == Key::Enter && chosen).then_some(Choice::Accept))
}

fn command(key: Key, modifiers: Modifiers, open: OpenPopups) -> Option<Command> {
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
    found.or((open == OpenPopups::Bar && key == Key::Escape).then_some(Command::Close))
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
        assert_eq!(take(&mut input, &mut waiting, OpenPopups::Nothing), indent);
        assert_eq!(input.events, std::slice::from_ref(&text));
        input.events.clear();
        assert_eq!(take(&mut input, &mut waiting, OpenPopups::Nothing), indent);
        assert_eq!(input.events, [text]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn keys_mean_what_is_open() {
        let check = |pressed: Key,
                     modifiers: Modifiers,
                     open: OpenPopups,
                     expected: Option<Action>| {
            assert_eq!(action(&key(pressed, modifiers), open), expected, "{pressed:?} {open:?}");
        };
        let command = |command| Some(Action::Command(command));
        let choice = |choice| Some(Action::Choice(choice));
        let none = Modifiers::NONE;
        check(Key::Enter, none, OpenPopups::Nothing, command(Command::NewLine));
        check(Key::Enter, none, OpenPopups::Names, command(Command::NewLine));
        check(Key::Enter, none, OpenPopups::Chosen, choice(Choice::Accept));
        check(Key::Tab, none, OpenPopups::Nothing, command(Command::Indent));
        check(Key::Tab, none, OpenPopups::Names, choice(Choice::Accept));
        check(Key::Escape, none, OpenPopups::Nothing, None);
        check(Key::Escape, none, OpenPopups::Bar, command(Command::Close));
        check(Key::ArrowDown, none, OpenPopups::Nothing, None);
        check(Key::ArrowDown, none, OpenPopups::Names, choice(Choice::Next));
        check(Key::Z, Modifiers::COMMAND, OpenPopups::Nothing, command(Command::Undo));
        check(
            Key::Z,
            Modifiers::COMMAND | Modifiers::SHIFT,
            OpenPopups::Nothing,
            command(Command::Redo),
        );
        check(Key::A, Modifiers::COMMAND, OpenPopups::Nothing, None);
    }
}
