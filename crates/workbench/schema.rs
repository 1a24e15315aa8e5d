//! `workbench schema`: the JSON Schema of scenario files.

use crate::problem::{Problem, print};

/// Prints the schema.
pub fn schema() -> Result<(), Problem> {
    print(&format!("{:#}\n", replay::scenario::schema()))
}
