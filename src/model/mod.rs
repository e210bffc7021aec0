//! The kernel model: functions, types, macros and launches of a file, lowered from its syntax tree.

mod ast;
mod dump;
mod lower;
pub mod project;
pub mod types;
pub mod visit;

pub use ast::*;
pub use dump::{dump, dump_expr, dump_type};
pub use lower::{lower, lower_parsed};
