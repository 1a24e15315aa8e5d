//! The page in a headless Chromium. They need Debian's chromium and chromium-driver, so they are ignored unless asked for:
//! `cargo test -p playground --test browser -- --ignored --test-threads=1`.

mod support;

#[path = "support/browser.rs"]
mod browser;

use browser::Browser;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use support::{Page, request};

fn open() -> (Page, Browser) {
    let page = Page::open();
    let browser = Browser::open();
    browser.go(&format!("http://{}/", page.address));
    (page, browser)
}

fn counts(page: &Page) -> [u64; 2] {
    let state = page.state();
    ["admitted", "refused"].map(|name| state["main"][name].as_u64().unwrap())
}

fn shows(browser: &Browser, counts: [u64; 2]) -> bool {
    ["n-admitted", "n-refused"].map(|id| browser.text(id)) == counts.map(|count| count.to_string())
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn ten_clicks_pass_and_the_eleventh_is_red() {
    let (page, browser) = open();
    // Slow enough that nothing comes back while a hand clicks.
    browser.set("limit", "1");
    browser.set("window", "60s");
    browser.until("it is set", || page.state()["settings"]["window"] == "60s");
    for click in 1..=11 {
        browser.click("fire");
        browser.until("the click is counted", || counts(&page).iter().sum::<u64>() == click);
    }
    browser.until("the counts are shown", || shows(&browser, [10, 1]));
    assert_eq!(counts(&page), [10, 1]);
    let answers = browser.js(
        "return [...document.querySelectorAll('#answers li')].map((e) => [e.className, getComputedStyle(e).backgroundColor])",
    );
    let red = "rgb(200, 50, 30)";
    assert_eq!(answers[0], json!(["no", red]), "the newest");
    let passed: Vec<&Value> = answers.as_array().unwrap()[1..].iter().collect();
    assert_eq!(passed.len(), 10);
    assert!(passed.iter().all(|answer| answer[0] == "ok" && answer[1] != red));
    assert!(browser.text("headers").contains("HTTP/1.1 429") && browser.text("headers").contains("Retry-After: "));
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_loop_is_admitted_ten_and_two_a_second_and_the_page_says_what_the_server_says() {
    let (page, browser) = open();
    browser.click("go");
    std::thread::sleep(Duration::from_secs(6));
    browser.click("go");
    browser.until("it has stopped", || page.state()["traffic"]["kind"] == "none");
    let [admitted, refused] = counts(&page);
    // 20 a second were asked; the last may be anywhere within its twentieth.
    let expected = 10.0 + 2.0 * (admitted + refused) as f64 / 20.0;
    assert!((admitted as f64 - expected).abs() <= 1.0, "{admitted} of {} for {expected}", admitted + refused);
    assert!(admitted + refused >= 100);
    browser.until("the counts are shown", || shows(&browser, [admitted, refused]));
    let money = &page.state()["money"];
    assert_eq!(money["spent_microusd"], admitted * 8_000);
    assert_eq!(money["saved_microusd"], refused * 8_000);
    let dollars = |id: &str| browser.text(id).trim_start_matches('$').parse::<f64>().unwrap();
    assert!((dollars("n-spent") - admitted as f64 * 0.008).abs() < 0.001);
    assert!((dollars("n-saved") - refused as f64 * 0.008).abs() < 0.001);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn across_an_edge_the_fixed_window_passes_twice_what_the_log_beside_it_does() {
    let (page, browser) = open();
    browser.set("algorithm", "fixed-window");
    browser.set("limit", "100");
    browser.until("it is set", || page.state()["settings"]["limit"] == 100);
    browser.click("reset");
    browser.click("mode-all");
    browser.click("edge");
    let cards = || {
        let of = |name: &str, count: &str| {
            browser.js(&format!("return document.querySelector('[data-algorithm={name}]').dataset.{count}"))
        };
        [of("fixed-window", "admitted"), of("sliding-window-log", "admitted"), of("sliding-window-log", "refused")]
    };
    browser.until("both halves came", || cards() == [json!("200"), json!("100"), json!("100")]);
    assert_eq!(counts(&page), [200, 0]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn three_languages_can_be_chosen_and_are_kept() {
    let (page, browser) = open();
    assert_eq!(browser.text("fire"), "Call once");
    for (tag, word) in
        [("es", "Llamar una vez"), ("pt", "Chamar uma vez"), ("en", "Call once"), ("pt", "Chamar uma vez")]
    {
        browser.set("language", tag);
        assert_eq!(browser.text("fire"), word);
        assert_eq!(browser.js("return document.documentElement.lang"), tag);
    }
    browser.go(&format!("http://{}/?again", page.address));
    assert_eq!(browser.text("fire"), "Chamar uma vez");
    // Every word there is exists in all three.
    let missing = browser
        .js("const words = (await import('/words.js')).WORDS; const keys = Object.keys(words.en).sort().join();\
         return Object.keys(words).filter((tag) => Object.keys(words[tag]).sort().join() !== keys)");
    assert_eq!(missing, json!([]));
    // What is told in one of the other two is told in both, and of things there are; the rest is shown in English.
    let told = browser.js(
        "const { NAMES } = await import('/names.js'); const choices = await (await fetch('/api/choices')).json();\
         const known = [...choices.algorithms, ...choices.clients].map((one) => one.name);\
         return [Object.keys(NAMES.es).join() === Object.keys(NAMES.pt).join(), Object.keys(NAMES.es).filter((name) => !known.includes(name))]",
    );
    assert_eq!(told, json!([true, []]));
    assert_eq!(browser.js("return document.getElementById('summary').lang"), "pt");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn keys_are_limited_on_their_own_and_the_one_called_last_is_drawn() {
    let (page, browser) = open();
    browser.set("limit", "1");
    browser.set("window", "60s");
    browser.set("scope", "per-key");
    browser.until("it is set", || {
        page.state()["settings"]["scope"] == "per-key" && page.state()["settings"]["window"] == "60s"
    });
    let said = |text: &str| browser.until("the level is told", || browser.text("said").starts_with(text));
    for (key, calls) in [("alice", 11), ("bob", 1)] {
        browser.set("key", key);
        for _ in 0..calls {
            let before: u64 = counts(&page).iter().sum();
            browser.click("fire");
            browser.until("the call is counted", || counts(&page).iter().sum::<u64>() == before + 1);
        }
        said(if key == "alice" { "alice: 0" } else { "bob: 9" });
        assert!(browser.text("curl").contains(&format!("?key={key}")));
    }
    assert_eq!(counts(&page), [11, 1]);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn who_wants_no_motion_sees_none() {
    let (page, browser) = open();
    // Pixels of refusals left of the wall: they fly there or they do not.
    let flying = || {
        browser.js(
            "const c = document.getElementById('bucket'); const g = c.getContext('2d'); const red = [200, 50, 30]; let n = 0;\
             const data = g.getImageData(0, 0, Math.floor(c.width * 0.3), c.height).data;\
             for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 0 && red.every((v, k) => Math.abs(data[i + k] - v) < 30)) n += 1;\
             return n",
        )
    };
    let media = |motion: &str| {
        let feature = json!({"features": [{"name": "prefers-reduced-motion", "value": motion},
            {"name": "prefers-color-scheme", "value": "light"}]});
        browser.devtools("Emulation.setEmulatedMedia", &feature);
    };
    let hammer = r#"{"kind": "loop", "per_second": 200}"#;
    request(page.address, "POST", "/api/traffic", &[("Content-Type", "application/json")], hammer);
    media("no-preference");
    browser.until("refusals fly", || flying().as_u64().unwrap() > 50);
    media("reduce");
    browser.until("those in flight have landed", || flying() == 0);
    for _ in 0..20 {
        assert_eq!(flying(), 0);
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(counts(&page)[1] > 0);
    assert_eq!(
        browser.js("return getComputedStyle(document.querySelector('.tube span') ?? document.body).transitionDuration"),
        "0s"
    );
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_saved_file_gives_the_same_counts() {
    let (page, browser) = open();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("saved-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    browser.devtools("Browser.setDownloadBehavior", &json!({"behavior": "allow", "downloadPath": folder}));
    browser.click("go");
    for _ in 0..12 {
        browser.click("fire");
    }
    std::thread::sleep(Duration::from_secs(2));
    browser.click("go");
    browser.until("it has stopped", || page.state()["traffic"]["kind"] == "none");
    let shown = counts(&page);
    browser.click("save");
    let file = folder.join("recorded.toml");
    browser.until("the file is there", || file.exists());
    let scenario = replay::scenario::Scenario::load(&file).unwrap();
    let options = replay::Options { seed: 0, overhead: false, decisions: None, progress: &|_| {} };
    let run = replay::run(&scenario, &options).unwrap();
    assert_eq!(run.broken, Vec::<String>::new());
    let row = run.summary.iter().find(|row| row.limiter == "the page's").unwrap();
    assert_eq!([row.admitted, row.refused], shown);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn the_keyboard_fires_and_everything_has_a_name() {
    let (page, browser) = open();
    browser.js("document.getElementById('hold').focus()");
    let key = |kind: &str| {
        let key = json!({"type": kind, "key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "});
        browser.devtools("Input.dispatchKeyEvent", &key);
    };
    key("keyDown");
    browser.until("several calls were made", || counts(&page).iter().sum::<u64>() >= 4);
    key("keyUp");
    std::thread::sleep(Duration::from_millis(400));
    let after: u64 = counts(&page).iter().sum();
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(counts(&page).iter().sum::<u64>(), after, "letting go stops");
    let nameless = browser.js("return [...document.querySelectorAll('input, select, button, canvas')].filter((e) => \
           !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() || \
             [...(e.labels ?? [])].some((label) => label.textContent.trim()))).map((e) => e.id)");
    assert_eq!(nameless, json!([]));
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_link_carries_the_settings_and_a_wrong_field_is_shown() {
    let page = Page::open();
    let browser = Browser::open();
    let link = format!("http://{}/#algorithm=gcra&limit=5&window=2s&burst=3&price=%240.01&cap=%241", page.address);
    browser.go(&link);
    let settings = &page.state()["settings"];
    let expected = json!({"algorithm": "gcra", "limit": 5, "window": "2s", "burst": 3, "price": "$0.01", "cap": "$1",
        "scope": "global", "params": {}});
    assert_eq!(*settings, expected);
    browser.set("window", "5 parsecs");
    browser.until("the problem is shown", || browser.text("problem").contains("parsecs"));
    assert_eq!(browser.js("return document.getElementById('window').getAttribute('aria-invalid')"), "true");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn it_fits_phones_and_desks_in_both_themes_and_is_drawn_while_an_agent_hammers() {
    let (page, browser) = open();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    let hammer = r#"{"kind": "loop", "per_second": 1000}"#;
    request(page.address, "POST", "/api/traffic", &[("Content-Type", "application/json")], hammer);
    let mut papers = Vec::new();
    for theme in ["light", "dark"] {
        browser.devtools(
            "Emulation.setEmulatedMedia",
            &json!({"features": [{"name": "prefers-color-scheme", "value": theme}]}),
        );
        for width in [390, 1280] {
            let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
            browser.devtools("Emulation.setDeviceMetricsOverride", &size);
            std::thread::sleep(Duration::from_millis(700));
            let widths = browser.js("return [document.documentElement.scrollWidth, innerWidth]");
            assert_eq!(widths[1], width);
            assert!(widths[0].as_u64() <= widths[1].as_u64(), "something sticks out: {widths}");
            let png = browser.devtools("Page.captureScreenshot", &json!({"captureBeyondViewport": true}));
            let path = folder.join(format!("{theme}-{width}.png"));
            std::fs::write(path, from_base64(png["data"].as_str().unwrap())).unwrap();
        }
        papers.push(browser.js("return getComputedStyle(document.body).backgroundColor"));
    }
    assert_ne!(papers[0], papers[1], "the themes differ");
    let frames = browser.js("return await new Promise((done) => { let n = 0; const end = performance.now() + 2000; \
         const next = () => { n += 1; performance.now() < end ? requestAnimationFrame(next) : done(n / 2); }; \
         requestAnimationFrame(next); })");
    println!("{frames} frames a second while 1,000 calls a second are shown");
    // A machine that does other things at once may be slower than the 60 of an idle one, but not by this much.
    assert!(frames.as_f64().unwrap() >= 20.0, "{frames}");
    println!("screenshots: {}", folder.display());
}

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for value in text.chars().map_while(|letter| LETTERS.find(letter)) {
        (bits, held) = ((bits << 6 | value as u32) & 0xfff, held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
