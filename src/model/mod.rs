//! The kernel model: functions, types, macros and launches of a file, lowered from its syntax tree.

mod ast;
mod dump;
mod lower;

pub use ast::*;
pub use dump::{dump, dump_expr, dump_type};
pub use lower::{lower, lower_parsed};
