//! `workbench serve`: the local page.

use crate::cli::ServeArgs;
use crate::problem::Problem;

/// Serves until Ctrl-C.
#[cfg(feature = "serve")]
pub fn serve(args: &ServeArgs) -> Result<(), Problem> {
    use crate::problem::print;
    use std::io::Write;

    let options = playground::Options { bind: args.bind, port: args.port };
    if !args.bind.is_loopback() {
        // Nothing but the warning is lost when standard error is gone.
        let _ = writeln!(
            std::io::stderr(),
            "warning: {} is not the loopback: everybody who can reach it can call the tool, change its settings and stop \
             its traffic; leave --bind out to keep it on this machine",
            args.bind
        );
    }
    let served = playground::serve(options, |address| {
        let page = format!("http://{address}/");
        let _ = print(&format!("{page}\ncurl -i http://{address}/call\nCtrl-C ends it.\n"));
        if args.open
            && let Err(error) = open(&page)
        {
            let _ = writeln!(std::io::stderr(), "warning: no browser was opened: {error}; open {page} yourself");
        }
    });
    served
        .map_err(|error| Problem::input(format!("error: cannot listen on {}, port {}: {error}", args.bind, args.port)))
}

/// Opens the page the way the desktop opens links.
#[cfg(feature = "serve")]
fn open(page: &str) -> std::io::Result<()> {
    use std::process::{Command, Stdio};
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// This build has no page.
#[cfg(not(feature = "serve"))]
pub fn serve(_: &ServeArgs) -> Result<(), Problem> {
    Err(Problem::input(
        "error: this build has no page: it needs the cargo feature `serve`\n  \
         cargo run --release --features serve -- serve",
    ))
}
