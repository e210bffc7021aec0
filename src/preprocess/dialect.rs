//! CUDA that the grammar cannot read, spelled so that it can: rewrites of the same length, after expansion.

/// Rewrites in place; no byte moves.
pub(crate) fn rewrite(_text: &mut [u8]) {}
