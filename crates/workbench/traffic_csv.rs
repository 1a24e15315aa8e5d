//! `workbench traffic`: a scenario's traffic as CSV, which the workbench reads back as a trace.

use crate::check::load;
use crate::cli::TrafficArgs;
use crate::problem::Problem;
use std::io::{self, BufWriter, Write};

/// Prints the traffic of one scenario.
pub fn traffic(args: &TrafficArgs) -> Result<(), Problem> {
    let scenario = load(std::slice::from_ref(&args.scenario))?.remove(0);
    let seed = args.seed.unwrap_or(scenario.seed);
    let mut opened =
        replay::open(&scenario, seed, &|_| {}).map_err(|error| Problem::input(format!("error: {error}")))?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    traffic::write_csv(&mut opened.traffic, opened.start, &mut out).map_err(Problem::output)?;
    out.flush().map_err(Problem::output)
}
