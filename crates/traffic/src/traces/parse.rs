//! Parsing on a thread of its own, so that numbering keys and packing rows do not wait for it, nor it for them.

use super::chunk::Chunk;
use super::row::Row;
use super::stream::Stream;
use crate::TrafficError;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Chunks that may wait. A few even out what two threads take for a chunk; more would only need memory.
const WAITING: usize = 4;

/// Reads `stream` to its end on another thread, gives all rows in chunks of `rows` to `each`, in file order, and gives the
/// stream back. The other thread has ended when this returns; after an error of `each` it ends with the chunk it reads.
pub(super) fn parse(
    stream: Stream,
    rows: usize,
    mut each: impl FnMut(&Chunk) -> Result<(), TrafficError>,
) -> Result<Stream, TrafficError> {
    thread::scope(|scope| {
        let (full, filled) = sync_channel(WAITING);
        let (free, freed) = channel();
        let parser = thread::Builder::new().name("parser".to_owned());
        let parser = parser.spawn_scoped(scope, move || send_all(stream, rows, &full, &freed)).map_err(|error| {
            TrafficError::new(format!("the system gives no thread to read recorded files with ({error})"))
        })?;
        hear_all(filled, &free, &mut each)?;
        parser.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn hear_all(
    filled: Receiver<Chunk>,
    free: &Sender<Chunk>,
    each: &mut impl FnMut(&Chunk) -> Result<(), TrafficError>,
) -> Result<(), TrafficError> {
    for chunk in filled {
        each(&chunk)?;
        // At the end nobody wants it back.
        let _ = free.send(chunk);
    }
    Ok(())
}

fn send_all(
    mut stream: Stream,
    rows: usize,
    full: &SyncSender<Chunk>,
    freed: &Receiver<Chunk>,
) -> Result<Stream, TrafficError> {
    let mut row = Row::default();
    let mut more = true;
    while more {
        let mut chunk = freed.try_recv().unwrap_or_default();
        chunk.clear();
        while more && !chunk.is_full(rows) {
            more = stream.next(&mut row)?;
            if more {
                chunk.push(&row);
            }
        }
        chunk.bytes_read = stream.bytes_read();
        if full.send(chunk).is_err() {
            break;
        }
    }
    Ok(stream)
}
