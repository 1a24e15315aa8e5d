//! A server of its own for each test, and a small HTTP client.
#![allow(dead_code)] // each test binary uses its own part

use playground::{Options, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A running server; ends when dropped.
pub struct Page {
    pub address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Page {
    pub fn open() -> Page {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(Options::default()).await.unwrap();
                tell.send(server.address()).unwrap();
                server.run(async { drop(stopped.await) }).await.unwrap();
            });
        });
        Page { address: told.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    /// Asks it to end and waits until it has.
    pub fn close(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        request(self.address, "GET", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &str) -> Answer {
        request(self.address, "POST", path, &[("Content-Type", "application/json")], body)
    }

    pub fn state(&self) -> Value {
        self.get("/api/state").json()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.close();
    }
}

pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn field(&self) -> String {
        self.json()["field"].as_str().unwrap_or("").to_string()
    }
}

/// One request on a connection of its own. `headers` may replace `Host`.
pub fn request(to: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {to}\r\n"));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    // A server that refuses may close before it has read everything.
    let _ = stream.write_all(text.as_bytes());
    let mut reader = BufReader::new(stream);
    let (status, headers) = head(&mut reader);
    let mut body = Vec::new();
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    match length.and_then(|(_, value)| value.parse().ok()) {
        Some(length) => {
            body.resize(length, 0);
            reader.read_exact(&mut body).unwrap();
        }
        None => drop(reader.read_to_end(&mut body)),
    }
    Answer { status, headers, body: String::from_utf8(body).unwrap() }
}

/// Status and headers of an answer.
pub fn head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the server closed before its answer");
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_string());
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines[1..].iter().filter_map(|line| line.split_once(':'));
    (status, headers.map(|(name, value)| (name.to_string(), value.trim().to_string())).collect())
}
