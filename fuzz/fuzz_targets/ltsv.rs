//! Fuzzes a file read as ltsv.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("ltsv"), data));
