//! Doctor: whether a window can be opened.

use super::{Finding, HostEnvironment, State, Topic};

pub(super) fn finding(surroundings: &HostEnvironment) -> Finding {
    if cfg!(any(target_os = "windows", target_os = "macos")) {
        return Finding::new(Topic::Display, State::Ok, "the desktop of this system");
    }
    match (&surroundings.wayland_display, &surroundings.display) {
        (Some(name), _) => Finding::new(Topic::Display, State::Ok, format!("Wayland ({name})")),
        (None, Some(name)) => Finding::new(Topic::Display, State::Ok, format!("X11 ({name})")),
        (None, None) => Finding::new(
            Topic::Display,
            State::Info,
            "none (neither WAYLAND_DISPLAY nor DISPLAY is set): the command line works, a window \
             does not",
        ),
    }
}
