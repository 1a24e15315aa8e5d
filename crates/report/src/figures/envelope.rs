//! Most permits in any window of a length, measured and proven, on logarithmic axes.

use replay::rows::{EnvelopeRow, SummaryRow};

use super::Figure;
use crate::draw::frame::{Head, Sign};
use crate::draw::grid::Grid;
use crate::draw::ink::{Dash, Ink};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number, report};

pub const FIGURE: Figure = Figure {
    name: "envelope",
    title: "Burst envelope: seen and possible",
    answers: "How many permits can pass in a window of any length, and how many did?",
    reading: "The solid line is the most permits this run saw start in any window of the length below; the dashed line is \
              what the algorithm could let through on the worst traffic. A solid line far below the dashed one means that \
              this traffic was kind, not that the limiter is strict. The dotted cross marks the limit over its window.",
    timing: false,
    applies: |report| !report.tables.envelope.is_empty(),
    draw,
};

fn draw(report: &Report) -> String {
    let (entries, left_out) = report.panels_of_quota();
    let quota = report.quota();
    let drawn = |row: &&EnvelopeRow| {
        entries.iter().any(|entry| (&entry.limiter, &entry.comparison) == (&row.limiter, &row.comparison))
    };
    let rows: Vec<_> = near(&report.tables.envelope, quota).into_iter().filter(drawn).collect();
    let limits = entries.iter().map(|entry| entry.limit as f64);
    let heights = rows.iter().flat_map(|row| [row.measured_permits as f64, row.bound_permits.unwrap_or(0) as f64]);
    let by_key = |entry: &SummaryRow| entry.scope == "per-key";
    let money = entries.iter().any(|entry| entry.meter == "spend");
    let amount = |value| if money { number::dollars(value) } else { number::brief(value) };
    // A variant may promise something else, or in another window, than the scenario's quota.
    let own = |entry: &SummaryRow| quota != Some((entry.limit, entry.window_ns));
    let panels = entries.iter().map(|entry| {
        let can = entry.peak_window_bound.map_or_else(|| "no bound".to_owned(), amount);
        let another = quota.is_some_and(|(_, window)| window != entry.window_ns);
        let within = if another { format!(" in {}", number::duration(entry.window_ns as f64)) } else { String::new() };
        (report::label(&entry.limiter, &entry.comparison), format!("{} / {can}{within}", amount(entry.peak_window)))
    });
    let mut legend = vec![(Sign::Line(Ink::Admitted, Dash::Solid), "seen in this run".to_owned())];
    if rows.iter().any(|row| row.bound_permits.is_some()) {
        legend.push((Sign::Line(Ink::Bound, Dash::Long), "proven bound".to_owned()));
    }
    let mut foot = String::new();
    if let Some((limit, window)) = quota {
        let (limit, window) = (amount(limit), number::duration(window as f64));
        // The limit is a promise to each key: no mark for all keys together.
        if entries.iter().any(|entry| !by_key(entry)) {
            let what = match entries.iter().any(|entry| own(entry)) {
                true => "limit over its window".to_owned(),
                false => format!("limit: {limit} in {window}"),
            };
            legend.push((Sign::Line(Ink::Muted, Dash::Dots), what));
        }
        foot = format!(
            "At each panel's right: most seen in any {window}, or in the window named there / most that can ever pass in it."
        );
    }
    if entries.iter().any(|entry| by_key(entry)) {
        foot.push_str(
            " Where each key has its own limiter, these are of \
             the busiest key and the line is of all keys together, to which no limit applies.",
        );
    }
    foot.push_str(&left_out);
    let y_name = if money { "most micro-dollars in any such window" } else { "most permits in any such window" };
    Grid {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend },
        x_name: "length of the window",
        y_name: y_name.to_owned(),
        x: Scale::log(rows.iter().map(|row| row.tau_ns as f64), Unit::Time),
        y: Scale::log(heights.chain(limits), Unit::Amount),
        panels: panels.collect(),
        foot,
        file: "envelope.csv",
    }
    .draw(
        |_, text| text,
        |canvas, frame, i| {
            let entry = entries[i];
            let mut own: Vec<_> =
                rows.iter().filter(|row| row.limiter == entry.limiter && row.comparison == entry.comparison).collect();
            own.sort_by_key(|row| row.tau_ns);
            if !by_key(entry) && quota.is_some() {
                let (limit, window) = (entry.limit, entry.window_ns);
                let (x, y) = frame.at(window as f64, limit as f64);
                if (frame.area.x..=frame.area.right()).contains(&x) {
                    canvas.line(&[(x, frame.area.y), (x, frame.area.bottom())], Ink::Muted, 1.0, Dash::Dots);
                }
                canvas.line(&[(frame.area.x, y), (frame.area.right(), y)], Ink::Muted, 1.0, Dash::Dots);
            }
            let seen: Vec<_> = own
                .iter()
                .filter(|row| row.measured_permits > 0)
                .map(|row| frame.at(row.tau_ns as f64, row.measured_permits as f64))
                .collect();
            let possible: Vec<_> = own
                .iter()
                .filter_map(|row| Some((row.tau_ns, row.bound_permits.filter(|bound| *bound > 0)?)))
                .map(|(tau, bound)| frame.at(tau as f64, bound as f64))
                .collect();
            canvas.line(&seen, Ink::Admitted, 2.4, Dash::Solid);
            canvas.line(&possible, Ink::Bound, 1.4, Dash::Long);
        },
    )
}

/// The rows from a thousandth of the window on. A shorter window counts what comes at one instant; on this axis it would
/// stand far away, with a line between that means nothing.
fn near(rows: &[EnvelopeRow], quota: Option<(u64, u64)>) -> Vec<&EnvelopeRow> {
    let least = quota.map_or(0, |(_, window)| window / 1000);
    let longer: Vec<_> = rows.iter().filter(|row| row.tau_ns >= least).collect();
    if longer.is_empty() { rows.iter().collect() } else { longer }
}
