//! Fuzzes a file read as access-log.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("access-log"), data));
