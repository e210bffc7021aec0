//! What one warp does: the facts about a kernel that rules, `accesses` and pictures speak from.

pub mod banks;
pub mod count;
pub mod facts;
pub mod merge;
pub mod sectors;
