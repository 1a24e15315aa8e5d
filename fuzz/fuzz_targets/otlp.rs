//! Fuzzes a file read as otlp.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("otlp"), data));
