//! cudalint reads CUDA C++ and says what a warp will do with it.
//!
//! The modules stand in the order the data takes; each imports only from those above it:
//!
//! ```text
//! source -> preprocess -> syntax -> model -> symbolic -> warp -> finding -> rules -> config -> report -> pipeline -> output
//! ```

pub mod visible;
pub mod error;
pub mod source;
pub mod preprocess;
pub mod syntax;
pub mod model;
pub mod arch;
pub mod warp;
pub mod symbolic;
pub mod finding;
pub mod rules;
pub mod config;
pub mod report;
pub mod pipeline;
pub mod output;

pub mod cli;
