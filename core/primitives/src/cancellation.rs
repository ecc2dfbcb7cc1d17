//! A cancellation flag, shared by the code that requests it and the code that stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that is raised once; clones share it.
///
/// It can be made from an existing flag, so that a signal handler that sets an [`AtomicBool`] cancels work without
/// depending on this type.
#[derive(Debug, Clone, Default)]
pub struct Cancellation {
    flag: Arc<AtomicBool>,
    /// Raised for this one too.
    above: Option<Arc<Self>>,
}

impl Cancellation {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A token for a part of the work: it is raised with this one, and can be raised alone.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { flag: Arc::default(), above: Some(Arc::new(self.clone())) }
    }

    /// Requests all holders of a clone or a child to stop.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let above = || self.above.as_ref().is_some_and(|above| above.is_cancelled());
        self.flag.load(Ordering::Relaxed) || above()
    }
}

impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { flag, above: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_flag() {
        let token = Cancellation::new();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert!(clone.is_cancelled());
    }

    #[test]
    fn a_child_is_cancelled_with_its_parent_and_not_the_other_way() {
        let parent = Cancellation::new();
        let (one, other) = (parent.child(), parent.child());
        one.cancel();
        assert!(one.is_cancelled() && !other.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled() && other.child().is_cancelled());
    }

    #[test]
    fn a_flag_from_elsewhere_cancels() {
        let flag = Arc::new(AtomicBool::new(false));
        let token = Cancellation::from(Arc::clone(&flag));
        flag.store(true, Ordering::Relaxed);
        assert!(token.is_cancelled());
    }
}
