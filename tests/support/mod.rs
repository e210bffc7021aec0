//! Parts of the fixture driver.

pub(crate) mod cases;
pub(crate) mod checker;
pub(crate) mod expectations;
pub(crate) mod hostile;
pub(crate) mod matching;
pub(crate) mod nvcc;
