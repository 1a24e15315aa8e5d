//! What must hold of every recorded file, whatever its bytes are.

use limiters::Batch;
use std::io::Cursor;
use traffic::Source;
use traffic::spec::{KeyNormalise, Trace};
use traffic::traces::{Stream, read, read_sessions};

/// Reads `data` as a file of `format`, or of the format it looks like, and plays it.
///
/// The first byte chooses settings. Asserts that reading ends with an error that says something or with at least one
/// request and no more than there are bytes, that requests come in order and in number as promised, that every key has a
/// name, and that a note is never empty.
pub fn trace(format: Option<&str>, data: &[u8]) {
    let Some((settings, bytes)) = data.split_first() else { return };
    let on = |bit: u8| settings >> bit & 1 == 1;
    let spec = Trace {
        path: "fuzz".into(),
        format: format.map(str::to_owned),
        repeat: if on(0) { 3 } else { 1 },
        time_scale: on(1).then_some((2, 3)),
        as_is: on(2),
        key_normalise: if on(3) { KeyNormalise::Address } else { KeyNormalise::None },
        key_prefix: on(4).then_some(64),
        skip_bad_rows: on(5),
        time_unit: on(6).then(|| "ms".to_owned()),
        ..Trace::default()
    };
    let stream = Stream::from_reader(&spec, Cursor::new(bytes.to_vec()));
    let recorded = match stream.and_then(|stream| read(&spec, stream)) {
        Ok(recorded) => recorded,
        Err(error) => {
            assert!(!error.message.is_empty() && error.path.is_some());
            return;
        }
    };
    let (rows, keys, sorted) = (recorded.rows, recorded.keys, !on(2) || recorded.backward_steps == 0);
    // Compressed bytes may hold many rows each.
    let compressed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
    assert!(rows > 0 && keys > 0 && keys <= rows && (compressed || rows <= bytes.len() as u64));
    assert!(on(5) || recorded.skipped == 0);
    assert!(recorded.notes.iter().all(|note| !note.text.is_empty()));
    let (start, duration) = (recorded.start.unwrap_or(1_000), recorded.duration());
    let Ok((mut source, cut)) = recorded.into_source(start, duration) else {
        assert!(start.checked_add(duration).is_none());
        return;
    };
    assert_eq!((cut, source.expected()), (0, Some(rows * spec.repeat)));
    let (mut batch, mut count, mut latest) = (Batch::default(), 0, start);
    while source.fill(&mut batch, 100).expect("it was read") > 0 {
        for index in 0..batch.len() {
            let (at, key) = (batch.at[index], batch.key[index]);
            assert!(at >= start && at - start < duration && key < keys);
            assert!(!sorted || at >= latest);
            latest = at;
            source.key_name(key);
        }
        count += batch.len() as u64;
        batch.clear();
    }
    assert_eq!(count, rows * spec.repeat);
}

/// Reads `data` as a file of sessions, with the settings of [`trace`], into scripts.
///
/// Asserts that every round is a step of one script for each playing, that scripts start in order, and that steps and keys
/// are where scripts say.
pub fn sessions(data: &[u8]) {
    let Some((settings, bytes)) = data.split_first() else { return };
    let on = |bit: u8| settings >> bit & 1 == 1;
    let spec = Trace {
        path: "fuzz".into(),
        format: Some("tracelab".into()),
        repeat: if on(0) { 3 } else { 1 },
        time_scale: on(1).then_some((2, 3)),
        skip_bad_rows: on(5),
        ..Trace::default()
    };
    let stream = Stream::from_reader(&spec, Cursor::new(bytes.to_vec()));
    let Ok(read) = stream.and_then(|stream| read_sessions(&spec, stream, 10_000_000_000)) else { return };
    let scripts = read.scripts;
    assert_eq!(scripts.calls(), read.rows * spec.repeat);
    assert_eq!(scripts.steps.len() as u64, read.rows);
    assert!(scripts.scripts.is_sorted_by_key(|script| script.start) && read.unknown <= read.rows);
    for script in &scripts.scripts {
        let steps = scripts.of(script);
        assert!(!steps.is_empty() && script.start < scripts.length);
        assert!(steps.iter().all(|step| (step.key as usize) < scripts.keys.len()));
        assert_eq!(steps[steps.len() - 1].wait, 0);
    }
}
