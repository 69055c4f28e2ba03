//! What both the demo and the tests show of whole applications.

use crate::apps::{self, App, Place, Stunnel};
use crate::backend::Backend;
use crate::bed::{Bed, Kem, PATIENCE};
use crate::conf::Conf;
use crate::env;
use crate::gnome::{self, Browser, Screen};
use crate::proc::{self, Finished};
use crate::tap::{Settings, Tap};
use crate::wire::Conversation;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Images on the page that is opened in the browser.
pub const IMAGES: usize = 6;

/// Where pictures are kept: beside the applications, so that they outlive a test.
///
/// # Panics
/// The directory cannot be made.
#[must_use]
pub fn pictures() -> PathBuf {
    let home = env::path(env::APPS).unwrap_or_else(|problem| panic!("{problem} --apps"));
    let pictures = home.join("pictures");
    std::fs::create_dir_all(&pictures).expect("a directory for the pictures");
    pictures
}

/// The openssl.cnf of a demonstration: the engine, and one group, so that there is no other to fall back to.
fn one_group(bed: &Bed, kem: Kem) -> PathBuf {
    let conf = Conf::engine(&env::engine()).groups(kem.name);
    conf.write(bed.path(&format!("{}.openssl.cnf", kem.name))).expect("a file in the bed's directory")
}

/// The lines of a stunnel service that takes TLS over one group and hands on plain text.
fn serving(bed: &Bed, kem: Kem, backend: SocketAddr) -> [String; 4] {
    [
        format!("connect = {backend}"),
        format!("cert = {}", bed.certificate.certificate.display()),
        format!("key = {}", bed.certificate.key.display()),
        format!("curves = {}", kem.name),
    ]
}

fn listening(stunnel: Result<Stunnel, Finished>) -> Stunnel {
    stunnel.unwrap_or_else(|end| panic!("stunnel ended: {}", end.all()))
}

/// A line from one stunnel to another and back, over one group: what the wire showed.
///
/// # Panics
/// A program cannot be started, or the line does not come back.
#[must_use]
pub fn tunnel(bed: &Bed, kem: Kem) -> Conversation {
    let conf = one_group(bed, kem);
    let app = App::stunnel();
    let start = |side: &str, service: &[String]| {
        let name = format!("{}.stunnel-{side}", kem.name);
        listening(Stunnel::start(bed, &app, &name, Place::Foreground, &conf, service))
    };
    let backend = Backend::reversing();
    let server = start("server", &serving(bed, kem, backend.address));
    let tap = Tap::start(server.address, Settings::default()).expect("a loopback socket");
    let client = start(
        "client",
        &[
            "client = yes".to_owned(),
            format!("connect = {}", tap.address()),
            format!("CAfile = {}", bed.certificate.certificate.display()),
            "verifyChain = yes".to_owned(),
            "checkHost = localhost".to_owned(),
            format!("curves = {}", kem.name),
        ],
    );
    let mut stream = TcpStream::connect(client.address).expect("stunnel accepts");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.write_all(b"through two tunnels\n").expect("stunnel takes a line");
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).expect("a line comes back");
    drop(stream);
    assert_eq!(answer, "slennut owt hguorht\n", "{}\n{}", client.log(), server.log());
    assert_eq!((client.terminate(), server.terminate()), (Some(0), Some(0)), "both end by SIGTERM with status 0");
    seen(&tap)
}

/// A page from nginx to curl over one group: what the wire showed.
///
/// # Panics
/// A program cannot be started, or the page does not come.
#[must_use]
pub fn page(bed: &Bed, kem: Kem) -> Conversation {
    let conf = one_group(bed, kem);
    let backend = Backend::page("A page", 0);
    let server = format!(
        "    listen 127.0.0.1:PORT ssl;\n    ssl_protocols TLSv1.3;\n    ssl_ecdh_curve {};\n    ssl_certificate {};\n    \
         ssl_certificate_key {};\n    location / {{ proxy_pass http://{}; }}",
        kem.name,
        bed.certificate.certificate.display(),
        bed.certificate.key.display(),
        backend.address
    );
    let server = apps::start_nginx(bed, &conf, &server).unwrap_or_else(|end| panic!("nginx ended: {}", end.all()));
    let tap = Tap::start(server.address, Settings::default()).expect("a loopback socket");
    let authority = bed.certificate.certificate.display().to_string();
    let url = format!("https://localhost:{}/", tap.address().port());
    // A small system may have no name for itself.
    let name = format!("localhost:{}:127.0.0.1", tap.address().port());
    let arguments = ["-sS", "--max-time", "60", "--resolve", &name, "--cacert", &authority, "--curves", kem.name, &url];
    let end = App::curl().run(&conf, &arguments);
    assert!(end.status.success() && end.stdout.contains("<h1>A page</h1>"), "curl: {}", end.all());
    let end = server.end("QUIT");
    assert!(end.status.success(), "nginx: {}", end.all());
    seen(&tap)
}

/// What the wire showed of the connection that has just ended.
fn seen(tap: &Tap) -> Conversation {
    let observed = tap.next(PATIENCE).expect("a finished connection");
    observed.conversation().unwrap_or_else(|error| panic!("{error}"))
}

/// What came of opening the page.
pub struct View {
    /// The finished connections.
    pub connections: Vec<Conversation>,
    /// Colours in the picture.
    pub colours: usize,
}

/// Opens a page with images in GNOME Web, served by stunnel over one group, and takes a picture of it.
///
/// # Panics
/// A program cannot be started, or the page does not arrive within two minutes.
#[must_use]
pub fn browse(bed: &Bed, kem: Kem, picture: &Path) -> View {
    browse_on(bed, kem, picture, gnome::Backend::Patched, &App::stunnel(), &one_group(bed, kem))
}

/// The same on a particular OpenSSL, with a stunnel that runs on it, under this openssl.cnf.
///
/// # Panics
/// As [`browse`].
#[must_use]
pub fn browse_on(bed: &Bed, kem: Kem, picture: &Path, on: gnome::Backend, app: &App, conf: &Path) -> View {
    let backend = Backend::page(&format!("GNOME Web, stunnel and {}", kem.name), IMAGES);
    let service = serving(bed, kem, backend.address);
    let name = format!("{}.stunnel", kem.name);
    let server = listening(Stunnel::start(bed, app, &name, Place::Foreground, conf, &service));
    let tap = Tap::start(server.address, Settings::default()).expect("a loopback socket");
    let screen = Screen::start("1030x690");
    let home = bed.path(&format!("browser-{}", kem.name));
    let url = format!("https://localhost:{}/", tap.address().port());
    let browser = Browser::open(&screen, &home, on, conf, &bed.certificate.certificate, &url);
    // The page asks for this when all of it has arrived.
    let loaded = proc::wait_until(2 * PATIENCE, || backend.asked().contains(&"/loaded".to_owned()).then_some(()));
    assert!(loaded.is_some(), "the page did not load; asked for: {:?}; {}", backend.asked(), browser.log());
    // Loaded is not yet painted.
    std::thread::sleep(Duration::from_secs(3));
    let colours = screen.capture(picture);
    drop(browser);
    let mut connections = Vec::new();
    while let Some(observed) = tap.next(Duration::from_secs(2)) {
        // The browser opens a connection now and then that it ends up not using.
        if !observed.client.is_empty() {
            connections.push(observed.conversation().unwrap_or_else(|error| panic!("{error}")));
        }
    }
    View { connections, colours }
}
