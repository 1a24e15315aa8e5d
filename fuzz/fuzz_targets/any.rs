//! Fuzzes a file of whatever format it looks like, compressed or not.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(None, data));
