//! The kernel model: functions, types, macros and launches of a file, lowered from its syntax tree.

mod ast;
pub mod project;
pub mod types;
pub mod visit;

pub use ast::*;
