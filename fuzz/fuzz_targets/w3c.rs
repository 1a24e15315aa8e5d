//! Fuzzes a file read as w3c.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("w3c"), data));
