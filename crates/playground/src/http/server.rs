//! The listener: accepts connections, gives each to the routes, and ends them in order.

use super::answers::problem;
use super::app::{App, Shared};
use super::{api, call, gate, pages};
use axum::Router;
use axum::body::Bytes;
use axum::http::Uri;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

/// Time between two frames of live state: 30 a second.
const FRAME: Duration = Duration::from_nanos(33_333_334);
/// Open connections, at most; further ones wait to be accepted.
const MOST_CONNECTIONS: usize = 2_048;
/// Time a client has to send its headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// Time that answers in progress get at the end.
const FAREWELL: Duration = Duration::from_secs(2);

/// Where to listen.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The address; loopback unless somebody decided otherwise.
    pub bind: IpAddr,
    /// The port; 0 picks a free one.
    pub port: u16,
}

impl Default for Options {
    fn default() -> Options {
        Options { bind: Ipv4Addr::LOCALHOST.into(), port: 0 }
    }
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens. Errors: those of the operating system, such as a port in use.
    pub async fn bind(options: Options) -> io::Result<Server> {
        let listener = TcpListener::bind((options.bind, options.port)).await?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `stop` ends; then lets answers in progress end, for two seconds at most.
    pub async fn run(self, stop: impl Future<Output = ()>) -> io::Result<()> {
        let (sender, frames) = watch::channel(Bytes::new());
        let app = App::new(frames);
        let app = Arc::new(app.ok_or_else(|| io::Error::other("the clock stands before 1970 or after 2554"))?);
        let ticker = tokio::spawn(tick(Arc::clone(&app), sender));
        let routes = routes(app, self.address.ip().is_loopback());
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEADERS_WITHIN).max_buf_size(64 * 1024);
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        tokio::pin!(stop);
        loop {
            let accept = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (self.listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                accepted = accept => accepted,
                () = &mut stop => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                // A client that has gone, or no file descriptor left: neither ends the server.
                Err(_) => {
                    sleep(Duration::from_millis(20)).await;
                    continue;
                }
            };
            // Without it small answers wait for the client's acknowledgement.
            let _ = stream.set_nodelay(true);
            let service = TowerToHyperService::new(routes.clone());
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
            tokio::spawn(async move {
                let _place = place;
                // A connection that breaks is the client's business.
                let _ = connection.await;
            });
        }
        // Event streams end with the sender of frames.
        ticker.abort();
        let _ = timeout(FAREWELL, graceful.shutdown()).await;
        Ok(())
    }
}

fn routes(app: Shared, loopback: bool) -> Router {
    Router::new()
        .route("/", get(pages::index))
        .route("/style.css", get(pages::style))
        .route("/names.js", get(pages::names))
        .route("/words.js", get(pages::words))
        .route("/draw.js", get(pages::draw))
        .route("/app.js", get(pages::app))
        .route("/favicon.ico", get(pages::icon))
        .route("/openapi.json", get(pages::openapi))
        .route("/call", get(call::call).post(call::call))
        .route("/api/state", get(api::get_state))
        .route("/api/choices", get(api::get_choices))
        .route("/api/settings", get(api::get_settings).post(api::set_settings))
        .route("/api/reset", post(api::reset))
        .route("/api/traffic", post(api::traffic))
        .route("/api/scenario", get(api::scenario))
        .route("/api/events", get(api::events))
        .fallback(|uri: Uri| async move {
            problem(404, "Not Found", &format!("nothing is at {}; see /openapi.json", uri.path()), None)
        })
        .method_not_allowed_fallback(|| async {
            problem(405, "Method Not Allowed", "see /openapi.json for what this path takes", None)
        })
        .layer(from_fn_with_state(loopback, gate::gate))
        .with_state(app)
}

/// Plays what is due, and sends a frame where somebody listens.
async fn tick(app: Shared, frames: watch::Sender<Bytes>) {
    let mut clock = interval(FRAME);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        if app.streams.load(std::sync::atomic::Ordering::Relaxed) > 0 {
            // Whether anybody still listens is not this task's question.
            let _ = frames.send(app.frame());
        } else {
            app.advance();
        }
    }
}

/// Serves until Ctrl-C. `ready` is told where.
///
/// # Errors
/// When the address cannot be listened on.
pub fn serve(options: Options, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let server = Server::bind(options).await?;
        ready(server.address());
        let stop = async {
            // Without a way to hear of Ctrl-C the default one, which ends the program, is still there.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        server.run(stop).await
    })
}
