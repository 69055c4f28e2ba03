//! Plain servers that stand behind an application that speaks TLS: one turns lines around, one serves a page with images.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// What a backend does with one connection.
type Serve = dyn Fn(TcpStream, &Log) -> io::Result<()> + Send + Sync;

/// What was asked of a backend, in order.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Log {
    fn add(&self, line: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// A running plain server. Dropping it closes the listening socket.
pub struct Backend {
    /// Where it listens.
    pub address: SocketAddr,
    log: Arc<Log>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Backend {
    /// Sends every line back reversed, as `openssl s_server -rev` does.
    ///
    /// # Panics
    /// The system refuses a socket.
    #[must_use]
    pub fn reversing() -> Self {
        Self::start(|stream, log| {
            let mut out = stream.try_clone()?;
            for line in BufReader::new(stream).lines() {
                let line = line?;
                let reversed: String = line.chars().rev().collect();
                log.add(line);
                out.write_all(format!("{reversed}\n").as_bytes())?;
            }
            Ok(())
        })
    }

    /// Serves a page over HTTP with `images` images that are drawn on request. The page asks for `/loaded` when everything on
    /// it has arrived. Connections are closed after each answer, so that a browser makes many.
    ///
    /// # Panics
    /// The system refuses a socket.
    #[must_use]
    pub fn page(title: &str, images: usize) -> Self {
        let title = title.to_owned();
        Self::start(move |stream, log| answer(stream, &title, images, log))
    }

    fn start(serve: impl Fn(TcpStream, &Log) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback socket");
        let address = listener.local_addr().expect("the socket's address");
        let serve: Arc<Serve> = Arc::new(serve);
        let (log, stop) = (Arc::new(Log::default()), Arc::new(AtomicBool::new(false)));
        let (kept, stopped) = (Arc::clone(&log), Arc::clone(&stop));
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let (serve, log) = (Arc::clone(&serve), Arc::clone(&kept));
                // A peer that goes away early is no matter for the others.
                thread::spawn(move || drop(serve(stream, &log)));
            }
        });
        Backend { address, log, stop, acceptor: Some(acceptor) }
    }

    /// What was asked so far: lines, or paths.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.log.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The acceptor sleeps in accept(); a connection wakes it.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

/// Answers one HTTP request.
fn answer(stream: TcpStream, title: &str, images: usize, log: &Log) -> io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    // The headers end with an empty line.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let Some(path) = request.split(' ').nth(1) else {
        return Ok(());
    };
    log.add(path.to_owned());
    let image = path.strip_prefix("/image-").and_then(|name| name.split('.').next()?.parse().ok());
    let (status, kind, body) = match (path, image) {
        ("/", _) => ("200 OK", "text/html; charset=utf-8", page(title, images)),
        ("/loaded", _) => ("200 OK", "text/plain", "seen\n".to_owned()),
        (_, Some(number)) => ("200 OK", "image/svg+xml", drawing(number)),
        _ => ("404 Not Found", "text/plain", "there is no such page\n".to_owned()),
    };
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

fn page(title: &str, images: usize) -> String {
    let mut list = String::new();
    for number in 0..images {
        // Writing to a string cannot fail.
        let _ = writeln!(list, "<img src=\"/image-{number}.svg\" alt=\"image {number} is missing\">");
    }
    format!(
        "<!DOCTYPE html>
<html lang=\"en\"><head><title>{title}</title><link rel=\"icon\" href=\"/image-0.svg\">
<style>body {{ font: 20px sans-serif; margin: 2em; background: #fdfdf8 }} h1 {{ font-size: 34px }}
img {{ width: 200px; margin: 8px }}</style></head>
<body><h1>{title}</h1><p>This page and each image below came over a TLS 1.3 connection with a key exchange of its own.</p>
<div>
{list}</div>
<script>addEventListener('load', () => fetch('/loaded'))</script></body></html>
"
    )
}

/// A lattice, tilted and coloured by its number.
fn drawing(number: usize) -> String {
    let mut dots = String::new();
    for (row, column) in (0..9).flat_map(|row| (0..9).map(move |column| (row, column))) {
        let (x, y) = (20 + column * 20 + (row * (number + 1)) % 20, 20 + row * 20);
        let _ = write!(dots, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\"/>", 3 + (row + column + number) % 4);
    }
    let hue = number * 57 % 360;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 220 220\"><rect width=\"220\" height=\"220\" \
         fill=\"hsl({hue} 60% 92%)\"/><g fill=\"hsl({hue} 70% 40%)\">{dots}</g></svg>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn ask(backend: &Backend, text: &str) -> String {
        let mut stream = TcpStream::connect(backend.address).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn lines_come_back_reversed() {
        let backend = Backend::reversing();
        assert_eq!(ask(&backend, "abc\nde\n"), "cba\ned\n");
        assert_eq!(backend.asked(), ["abc", "de"]);
    }

    #[test]
    fn a_page_names_its_images_and_each_is_drawn() {
        let backend = Backend::page("A title", 2);
        let page = ask(&backend, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("<h1>A title</h1>"));
        assert!(page.contains("/image-1.svg") && !page.contains("/image-2.svg"));
        assert!(ask(&backend, "GET /image-1.svg HTTP/1.1\r\n\r\n").ends_with("</svg>"));
        assert!(ask(&backend, "GET /nothing HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert_eq!(backend.asked(), ["/", "/image-1.svg", "/nothing"]);
    }
}
