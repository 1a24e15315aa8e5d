//! Fuzzes a file read as har.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("har"), data));
