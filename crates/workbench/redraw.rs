//! `workbench report`: figures and pages again, from the CSV files of a finished run.

use crate::cli::ReportArgs;
use crate::problem::{Problem, print};

/// Redraws every folder.
pub fn redraw(args: &ReportArgs) -> Result<(), Problem> {
    for dir in &args.dirs {
        report::redraw(dir).map_err(|error| Problem::input(format!("error: {error}")))?;
        print(&format!("{}: redrawn\n", dir.display()))?;
    }
    Ok(())
}
