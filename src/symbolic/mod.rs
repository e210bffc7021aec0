//! Symbolic values: what every thread of a block computes, as far as the source tells.

pub mod analyse;
pub mod eval;
pub mod host;
pub mod lanes;
pub mod term;
pub mod value;
