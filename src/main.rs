//! The `cudalint` binary: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    cudalint::cli::main()
}
