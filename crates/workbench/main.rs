//! The `workbench` command: one file per subcommand, all defined in `cli.rs`.

mod check;
mod cli;
mod compare;
mod extras;
mod grid;
mod inspect;
mod interrupt;
mod list;
mod made;
mod memory;
mod overhead;
mod overhead_tables;
mod problem;
mod progress;
mod provenance;
mod redraw;
mod run;
mod schema;
mod seeds;
mod serve;
mod size;
mod size_clients;
mod size_clients_text;
mod size_text;
mod text;
mod trace_args;
mod traffic_csv;

use clap::Parser;
use cli::{Cli, Command};
use interrupt::leave_nothing;
use std::process::ExitCode;

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Run(args) => leave_nothing().and_then(|()| run::run(&args)),
        Command::Inspect(args) => leave_nothing().and_then(|()| inspect::inspect(&args)),
        Command::Size(args) => leave_nothing().and_then(|()| size::size(&args)),
        Command::Check(args) => check::check(&args),
        Command::List(args) => list::list(&args),
        Command::Report(args) => redraw::redraw(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Overhead(args) => leave_nothing().and_then(|()| overhead::overhead(&args)),
        Command::Traffic(args) => traffic_csv::traffic(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Schema => schema::schema(),
        Command::Completions { shell } => extras::completions(shell),
        Command::Man => extras::man(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => problem.report(),
    }
}
