//! `workbench completions` and `workbench man`, made from the same definition as the help.

use crate::cli::Cli;
use crate::problem::Problem;
use clap::CommandFactory;
use std::io;

/// Prints a completion script.
pub fn completions(shell: clap_complete::Shell) -> Result<(), Problem> {
    clap_complete::generate(shell, &mut Cli::command(), "workbench", &mut io::stdout());
    Ok(())
}

/// Prints the manual page: one for the command, then one for each subcommand.
pub fn man() -> Result<(), Problem> {
    let mut command = Cli::command();
    command.build();
    let mut out = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut out).map_err(Problem::output)?;
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        clap_mangen::Man::new(sub.clone()).render(&mut out).map_err(Problem::output)?;
    }
    crate::problem::print(&String::from_utf8_lossy(&out))
}
