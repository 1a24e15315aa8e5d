//! Fuzzes a file read as agent.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz::trace(Some("agent"), data));
