//! Fuzzes a file read as tracelab, and its sessions as scripts.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    fuzz::trace(Some("tracelab"), data);
    fuzz::sessions(data);
});
