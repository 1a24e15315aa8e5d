//! Load on the loopback: `LOAD_SECONDS=60 cargo test --release -p playground --test load -- --ignored --exact load --nocapture`
//! prints requests per second, the 99th percentile, lost counts, and the server's memory before and after.

mod support;

use playground::{Options, Server};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{head, request};

const CONNECTIONS: u64 = 16;
const STREAMS: usize = 200;

/// The server's side, as a process of its own; it ends when its standard input does.
#[test]
#[ignore = "started by the load test"]
fn server() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::bind(Options::default()).await.unwrap();
        println!("address {}", server.address());
        let stop = tokio::task::spawn_blocking(|| drop(std::io::stdin().read(&mut [0])));
        server.run(async { drop(stop.await) }).await.unwrap();
    });
}

#[test]
#[ignore = "takes a minute"]
fn load() {
    let number = |name: &str, default: u64| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
    let (seconds, per_second) = (number("LOAD_SECONDS", 60), number("LOAD_PER_SECOND", 10_000));
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "server", "--nocapture"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let address: SocketAddr =
        lines.find_map(|line| line.split("address ").nth(1).map(|text| text.trim().parse().unwrap())).unwrap();
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };

    let (over, frames) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let streams: Vec<_> = (0..STREAMS).map(|_| listen(address, Arc::clone(&over), Arc::clone(&frames))).collect();
    // Warm: what every run needs once is not growth.
    let (warm_sent, warm_passed, _) = hammer(address, Duration::from_secs(2), per_second);
    let before = memory();
    let began = Instant::now();
    frames.store(0, Ordering::Relaxed);
    let (sent, passed, mut waits) = hammer(address, Duration::from_secs(seconds), per_second);
    let (sent, passed) = (sent + warm_sent, passed + warm_passed);
    let took = began.elapsed().as_secs_f64();
    let after = memory();
    let heard = frames.load(Ordering::Relaxed);
    over.store(true, Ordering::Relaxed);
    let state: Value = request(address, "GET", "/api/state", &[], "").json();
    for stream in streams {
        stream.join().unwrap();
    }
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());

    let counted = |name: &str| state["main"][name].as_u64().unwrap();
    let lost = sent.abs_diff(counted("admitted") + counted("refused")) + passed.abs_diff(counted("admitted"));
    waits.sort_unstable();
    let quantile = |share: usize| f64::from(waits[(waits.len() - 1) * share / 100]) / 1_000.0;
    println!(
        "{:.0} requests/s over {took:.1} s on {CONNECTIONS} connections, p50 {:.2} ms, p99 {:.2} ms; {STREAMS} event streams with \
         {:.1} frames/s each; sent {sent}, lost counts {lost}; memory {before} kB before, {after} kB after",
        waits.len() as f64 / took,
        quantile(50),
        quantile(99),
        heard as f64 / took / STREAMS as f64,
    );
    assert_eq!(lost, 0);
    assert!(heard as f64 / took / STREAMS as f64 <= 31.0);
    assert!(after < before + before / 4, "memory grew from {before} to {after} kB");
}

/// Sends calls at an even pace on connections that stay open: how many, how many passed, and each answer's microseconds.
fn hammer(address: SocketAddr, length: Duration, per_second: u64) -> (u64, u64, Vec<u32>) {
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|index| {
            std::thread::spawn(move || {
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut stream = stream;
                let text = format!("POST /call HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\n\r\n");
                let pace = Duration::from_nanos(1_000_000_000 * CONNECTIONS / per_second);
                let began = Instant::now() + pace * index as u32 / CONNECTIONS as u32;
                let (mut sent, mut passed, mut waits) = (0u32, 0u64, Vec::new());
                let mut body = Vec::new();
                while began.elapsed() < length {
                    let due = began + pace * sent;
                    if let Some(early) = due.checked_duration_since(Instant::now()) {
                        std::thread::sleep(early);
                    }
                    let asked = Instant::now();
                    stream.write_all(text.as_bytes()).unwrap();
                    let (status, headers) = head(&mut reader);
                    let bytes = headers.iter().find(|(name, _)| name == "content-length").unwrap().1.parse().unwrap();
                    body.resize(bytes, 0);
                    reader.read_exact(&mut body).unwrap();
                    waits.push(asked.elapsed().as_micros() as u32);
                    sent += 1;
                    assert!(status == 200 || status == 429, "{status}");
                    passed += u64::from(status == 200);
                }
                (u64::from(sent), passed, waits)
            })
        })
        .collect();
    let (mut sent, mut passed, mut all) = (0, 0, Vec::new());
    for thread in threads {
        let (thread_sent, thread_passed, waits) = thread.join().unwrap();
        (sent, passed) = (sent + thread_sent, passed + thread_passed);
        all.extend(waits);
    }
    (sent, passed, all)
}

/// An open event stream that counts its frames.
fn listen(address: SocketAddr, over: Arc<AtomicBool>, frames: Arc<AtomicU64>) -> std::thread::JoinHandle<()> {
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    let thread = small.spawn(move || {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /api/events HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        assert_eq!(head(&mut reader).0, 200);
        let mut line = Vec::new();
        while !over.load(Ordering::Relaxed) {
            line.clear();
            if reader.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                return;
            }
            frames.fetch_add(u64::from(line.starts_with(b"data: ")), Ordering::Relaxed);
        }
    });
    thread.unwrap()
}
