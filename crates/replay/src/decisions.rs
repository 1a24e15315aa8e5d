//! `decisions.csv`: every decision of every limiter, in registry order, byte for byte the same on every run.

use crate::engine::Sink;
use crate::entry::Entry;
use limiters::{Batch, Nanos, Outcome};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Columns of the file.
const HEADER: [&str; 7] = ["limiter", "comparison", "at_ns", "key", "cost", "outcome", "start_ns"];

/// A file for each lane, put together at the end; keys are numbers until then, because their names are still being read.
pub struct Decisions {
    folder: PathBuf,
    start: Nanos,
}

/// Where one lane writes.
pub struct DecisionSink {
    out: Option<BufWriter<File>>,
    start: Nanos,
    failed: Option<io::Error>,
}

impl Decisions {
    /// Files in `folder`, times counted from `start`.
    pub fn new(folder: &Path, start: Nanos) -> Decisions {
        Decisions { folder: folder.to_owned(), start }
    }

    fn part(&self, lane: usize) -> PathBuf {
        self.folder.join(format!("decisions.{lane}.part"))
    }

    /// The sink of lane number `lane`.
    pub fn sink(&self, lane: usize) -> io::Result<DecisionSink> {
        let out = Some(BufWriter::with_capacity(1 << 16, File::create(self.part(lane))?));
        Ok(DecisionSink { out, start: self.start, failed: None })
    }

    /// Puts the lanes' files together as `decisions.csv` and removes them.
    pub fn finish(
        &self,
        entries: &[Entry],
        sinks: Vec<DecisionSink>,
        key_name: &dyn Fn(u64) -> String,
    ) -> io::Result<()> {
        let mut out = csv::Writer::from_path(self.folder.join("decisions.csv"))?;
        out.write_record(HEADER)?;
        for (lane, (entry, sink)) in entries.iter().zip(sinks).enumerate() {
            sink.close()?;
            let mut part = csv::ReaderBuilder::new().has_headers(false).from_path(self.part(lane))?;
            let mut row = csv::StringRecord::new();
            while part.read_record(&mut row)? {
                let key = row[1].parse().map_or_else(|_| row[1].to_owned(), key_name);
                let fixed = [&entry.label, entry.comparison.name(), &row[0], &key, &row[2], &row[3], &row[4]];
                out.write_record(fixed)?;
            }
            std::fs::remove_file(self.part(lane))?;
        }
        out.flush()
    }
}

impl Sink for DecisionSink {
    fn block(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, out: &[Outcome]) {
        let Some(file) = &mut self.out else { return };
        let mut write = || -> io::Result<()> {
            for (index, outcome) in range.clone().zip(out) {
                let at = batch.at[index].saturating_sub(self.start);
                write!(file, "{at},{},{},", batch.key[index], cost[index])?;
                match outcome {
                    Outcome::Admitted => writeln!(file, "admitted,{at}")?,
                    Outcome::Delayed { until } => writeln!(file, "delayed,{}", until.saturating_sub(self.start))?,
                    Outcome::Refused => writeln!(file, "refused,")?,
                    Outcome::NeverFits => writeln!(file, "never-fits,")?,
                }
            }
            Ok(())
        };
        // A block cannot fail the run from a worker thread; the first error is kept and ends it in `close`.
        if let Err(error) = write() {
            self.failed = Some(error);
            self.out = None;
        }
    }
}

impl DecisionSink {
    fn close(mut self) -> io::Result<()> {
        match (self.failed.take(), self.out.take()) {
            (Some(error), _) => Err(error),
            (None, Some(mut out)) => out.flush(),
            (None, None) => Ok(()),
        }
    }
}
