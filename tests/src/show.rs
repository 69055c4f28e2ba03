//! What both the demo and the tests show of whole applications.

use crate::apps::{App, Place, Stunnel};
use crate::backend::Backend;
use crate::bed::{Bed, Kem, PATIENCE};
use crate::conf::Conf;
use crate::env;
use crate::gnome::{Browser, Screen};
use crate::proc;
use crate::tap::{Settings, Tap};
use crate::wire::Conversation;
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
    let backend = Backend::page(&format!("GNOME Web, stunnel and {}", kem.name), IMAGES);
    let conf = Conf::engine(&env::engine()).groups(kem.name).write(bed.path("browser.cnf"));
    let conf = conf.expect("a file in the temporary directory");
    let service = [
        format!("connect = {}", backend.address),
        format!("cert = {}", bed.certificate.certificate.display()),
        format!("key = {}", bed.certificate.key.display()),
        format!("curves = {}", kem.name),
    ];
    let server = Stunnel::start(bed, &App::stunnel(), "page", Place::Foreground, &conf, &service)
        .unwrap_or_else(|end| panic!("{end:?}"));
    let tap = Tap::start(server.address, Settings::default()).expect("a loopback socket");
    let screen = Screen::start("1000x860");
    let home = bed.path(&format!("browser-{}", kem.name));
    let url = format!("https://localhost:{}/", tap.address().port());
    let browser = Browser::open(&screen, &home, &conf, &bed.certificate.certificate, &url);
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
