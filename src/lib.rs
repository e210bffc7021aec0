//! cudalint reads CUDA C++ and says what a warp will do with it.
//!
//! The modules stand in the order the data takes; each imports only from those above it:
//!
//! ```text
//! source -> preprocess -> syntax -> model -> symbolic -> warp -> finding -> rules -> pipeline -> report -> output
//! ```

pub mod source;
pub mod preprocess;
pub mod model;
pub mod arch;
pub mod warp;
pub mod symbolic;
pub mod finding;
pub mod report;
