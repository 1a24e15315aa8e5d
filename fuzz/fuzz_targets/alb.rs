//! Fuzzes a file read as alb.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("alb"), data));
