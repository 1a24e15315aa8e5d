//! Fuzzes the scenario parser: any text gives a scenario or problems that can be shown.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(problems) = replay::scenario::Scenario::parse_text(text) {
        assert!(!problems.is_empty());
        for problem in problems {
            assert!(problem.to_string().contains(&problem.message));
        }
    }
});
