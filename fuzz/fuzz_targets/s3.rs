//! Fuzzes a file read as s3.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("s3"), data));
