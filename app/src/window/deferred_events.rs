//! One command in each frame: keys that were typed after a shortcut wait for the next frame.
//!
//! A shortcut may open a dialog or move the focus, which takes effect in the next frame. If frames are slow, several keys
//! arrive in one, and what was meant for the dialog would go to the editor.

use egui::{Event, Key, ViewportId, ViewportIdMap};

/// Events that wait for the next frame, by window.
#[derive(Debug, Default)]
pub(super) struct DeferredEvents {
    waiting: ViewportIdMap<Vec<Event>>,
}

impl DeferredEvents {
    /// Leaves the events up to the first command, after those that waited. Returns whether others wait now.
    pub(super) fn split(&mut self, viewport: ViewportId, events: &mut Vec<Event>) -> bool {
        let waiting = self.waiting.entry(viewport).or_default();
        waiting.append(events);
        let end = waiting.iter().position(is_command).map_or(waiting.len(), |last| last + 1);
        events.extend(waiting.drain(..end));
        !waiting.is_empty()
    }
}

/// Whether a key may open or close something, or move the focus.
fn is_command(event: &Event) -> bool {
    let Event::Key { key, pressed: true, modifiers, .. } = event else { return false };
    let is_function = key.name().len() > 1 && key.name().starts_with('F');
    modifiers.command
        || modifiers.alt
        || is_function
        || matches!(key, Key::Enter | Key::Escape | Key::Tab)
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;

    fn key(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    #[test]
    fn a_frame_ends_behind_the_first_command() {
        let text = |text: &str| Event::Text(text.to_owned());
        let none = Modifiers::NONE;
        let typed = [
            text("a"),
            key(Key::P, Modifiers::COMMAND),
            key(Key::N, none),
            text("n"),
            key(Key::Enter, none),
            text("b"),
        ];
        let mut deferred = DeferredEvents::default();
        let mut frame = |arriving: &[Event], expected: &[Event], others_wait: bool| {
            let mut events = arriving.to_vec();
            assert_eq!(deferred.split(ViewportId::ROOT, &mut events), others_wait);
            assert_eq!(events, expected);
        };
        frame(&typed, &typed[..2], true);
        frame(&[text("c")], &typed[2..5], true);
        frame(&[], &[text("b"), text("c")], false);
        frame(&[], &[], false);
        frame(&[key(Key::F9, none), text("d")], &[key(Key::F9, none)], true);
        frame(&[key(Key::F, none)], &[text("d"), key(Key::F, none)], false);
    }
}
