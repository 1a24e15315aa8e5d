//! Fuzzes a file read as csv.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("csv"), data));
