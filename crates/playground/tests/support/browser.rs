//! A headless Chromium by way of chromedriver, which is started for each browser and ended with it.
#![allow(dead_code)]

use crate::support::request;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Browser {
    driver: Child,
    address: SocketAddr,
    session: String,
}

impl Browser {
    pub fn open() -> Browser {
        let driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut driver = driver.expect("chromedriver is installed: apt-get install chromium chromium-driver");
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split("started successfully on port ").nth(1)?.trim_end_matches('.').parse::<u16>().ok()
        });
        let address = SocketAddr::from(([127, 0, 0, 1], port.expect("chromedriver says its port")));
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser { driver, address, session: String::new() };
        let args = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--disable-dev-shm-usage",
            "--lang=en",
        ];
        let options = json!({"args": args, "prefs": {"intl.accept_languages": "en"}});
        let wanted = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}});
        let session = browser.ask("POST", "/session", &wanted);
        browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
        browser
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = request(self.address, method, path, &[], &body.to_string());
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()["value"].take()
    }

    pub fn go(&self, url: &str) {
        self.ask("POST", &format!("{}/url", self.session), &json!({"url": url}));
        self.until("the page is ready", || self.js("return document.body.dataset.ready === 'true'") == json!(true));
    }

    pub fn js(&self, script: &str) -> Value {
        self.ask("POST", &format!("{}/execute/sync", self.session), &json!({"script": script, "args": []}))
    }

    pub fn devtools(&self, command: &str, params: &Value) -> Value {
        let body = json!({"cmd": command, "params": params});
        self.ask("POST", &format!("{}/goog/cdp/execute", self.session), &body)
    }

    /// A click of the mouse on the element, where a person would see it.
    pub fn click(&self, id: &str) {
        let found = json!({"using": "css selector", "value": format!("#{id}")});
        let element = self.ask("POST", &format!("{}/element", self.session), &found);
        let element = element.as_object().unwrap().values().next().unwrap().as_str().unwrap().to_string();
        self.ask("POST", &format!("{}/element/{element}/click", self.session), &json!({}));
    }

    /// Sets a field as leaving it does.
    pub fn set(&self, id: &str, value: &str) {
        self.js(&format!(
            "const e = document.getElementById('{id}'); e.value = '{value}'; e.dispatchEvent(new Event('change'))"
        ));
    }

    pub fn text(&self, id: &str) -> String {
        self.js(&format!("return document.getElementById('{id}').textContent")).as_str().unwrap().to_string()
    }

    pub fn until(&self, what: &str, done: impl Fn() -> bool) {
        let began = Instant::now();
        while !done() {
            assert!(began.elapsed() < Duration::from_secs(20), "waited too long until {what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            request(self.address, "DELETE", &self.session, &[], "");
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
