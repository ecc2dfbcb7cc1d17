//! Mapping of keys to commands. Shortcuts with more modifiers are matched first, so that Ctrl+Shift+S is not taken for
//! Ctrl+S.

use egui::{Key, KeyboardShortcut, Modifiers, Ui};

use crate::workbench::command::{self, Command, EditCommand, Shortcut, entries};

/// Commands whose keys were pressed; consumes the keys.
pub(super) fn pressed(ui: &Ui, somebody_types: bool) -> Vec<Command> {
    let mut known: Vec<(KeyboardShortcut, Command)> = Vec::new();
    for entry in entries() {
        // The editor handles undo and redo itself, and text fields need these keys too.
        if matches!(entry.command, Command::Edit(EditCommand::Undo | EditCommand::Redo)) {
            continue;
        }
        for shortcut in &entry.shortcuts {
            known.extend(keyboard(*shortcut).map(|keys| (keys, entry.command.clone())));
        }
    }
    known.sort_by_key(|(keys, _)| std::cmp::Reverse(keys.modifiers.shift));
    if somebody_types {
        return Vec::new();
    }
    let mut commands = Vec::new();
    ui.input_mut(|input| {
        for (keys, command) in known {
            if input.consume_shortcut(&keys) {
                commands.push(command);
            }
        }
    });
    commands
}

fn keyboard(shortcut: Shortcut) -> Option<KeyboardShortcut> {
    let modifiers = match shortcut.modifiers {
        command::Modifiers::None => Modifiers::NONE,
        command::Modifiers::Control => Modifiers::COMMAND,
        command::Modifiers::Shift => Modifiers::SHIFT,
        command::Modifiers::ControlShift => Modifiers::COMMAND.plus(Modifiers::SHIFT),
    };
    let key = Key::from_name(shortcut.key.strip_prefix("Num").unwrap_or(shortcut.key))?;
    Some(KeyboardShortcut::new(modifiers, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shortcut_is_a_key() {
        for entry in entries() {
            for shortcut in &entry.shortcuts {
                assert!(keyboard(*shortcut).is_some(), "{}: {}", entry.title, shortcut.words());
            }
        }
    }
}
