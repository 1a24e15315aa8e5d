//! Fuzzes a file read as jsonl.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("jsonl"), data));
