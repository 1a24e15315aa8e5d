//! The figures: one file each, and the list that everything else iterates.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::Report;
use crate::draw::raster;

mod agreement;
mod bills;
mod bins;
mod cumulative;
mod envelope;
mod guarantee;
mod level;
pub(crate) mod overhead;
mod pulse;
mod spend;
mod timeline;
mod tradeoff;
mod waits;

/// A figure as the registry knows it.
#[derive(Debug)]
pub struct Figure {
    /// Stem of its files.
    pub name: &'static str,
    /// What stands above it.
    pub title: &'static str,
    /// The question it answers.
    pub answers: &'static str,
    /// How to read it, in a sentence or two.
    pub reading: &'static str,
    /// Whether it holds wall-clock values and therefore stays out of git.
    pub timing: bool,
    /// Whether the report has data for it.
    pub applies: fn(&Report) -> bool,
    /// Draws it as SVG. Draws an empty plot where there is no data.
    pub draw: fn(&Report) -> String,
}

/// Every figure, in the order they are shown. Adding one is a file here and a line in this list.
pub const FIGURES: &[Figure] = &[
    spend::FIGURE,
    tradeoff::FIGURE,
    bills::FIGURE,
    pulse::FIGURE,
    guarantee::FIGURE,
    timeline::FIGURE,
    envelope::FIGURE,
    cumulative::FIGURE,
    level::FIGURE,
    waits::FIGURE,
    agreement::FIGURE,
    overhead::FIGURE,
];

/// A figure drawn once, in both formats.
#[derive(Debug)]
pub struct Drawn {
    /// Which figure it is.
    pub figure: &'static Figure,
    /// The drawing, in the light theme, with class names for other themes.
    pub svg: String,
    /// The same drawing in pixels, two to each unit of the SVG.
    pub png: Vec<u8>,
}

/// Draws every figure that has data, in the order of [`FIGURES`], on as many threads as the machine offers.
pub fn draw_all(report: &Report) -> Vec<Drawn> {
    let wanted: Vec<&'static Figure> = FIGURES.iter().filter(|figure| (figure.applies)(report)).collect();
    let threads = thread::available_parallelism().map_or(1, Into::into).min(wanted.len().max(1));
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(wanted.len())));
    let work = || {
        while let Some(&figure) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let svg = (figure.draw)(report);
            let png = raster::png(&svg);
            done.lock().expect("no drawing panics while it holds the list").push(Drawn { figure, svg, png });
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    let mut drawn = done.into_inner().expect("no drawing panicked");
    drawn.sort_by_key(|drawn| FIGURES.iter().position(|figure| figure.name == drawn.figure.name));
    drawn
}
