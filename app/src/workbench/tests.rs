//! The model without a window: a scripted clerk and a scripted evaluator.
