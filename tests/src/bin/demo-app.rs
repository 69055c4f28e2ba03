//! Shows an unmodified application at work over sntrup761 and sntrup857, as seen on the wire; scripts/demo-apps starts it.

use engntru_tests::bed::{Bed, KEMS, Kem};
use engntru_tests::show;
use engntru_tests::wire::Conversation;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: demo-app stunnel|nginx|epiphany DIRECTORY

DIRECTORY is made, and keeps the configuration files and the certificate. The variables ENGNTRU_OPENSSL, ENGNTRU_ENGINE and
ENGNTRU_APPS name the builds; scripts/demo sets them.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [application, directory] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let directory = Path::new(directory);
    let show: fn(&Bed, Kem) -> Shown = match application.as_str() {
        "stunnel" => |bed, kem| Shown::plain("stunnel to stunnel", show::tunnel(bed, kem)),
        "nginx" => |bed, kem| Shown::plain("nginx to curl", show::page(bed, kem)),
        "epiphany" => browser,
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    // What goes wrong is told by a panic's message: it is for people here.
    std::panic::set_hook(Box::new(|panic| eprintln!("demo-app: {}", panic.payload_as_str().unwrap_or("it failed"))));
    let bed = Bed::kept(directory);
    let mut right = true;
    for kem in KEMS {
        eprintln!("{}: starting", kem.name);
        let shown = show(&bed, kem);
        let expected = format!(
            "TLS 1.3, group {:#06X}, client share {} bytes, server share {} bytes, no retry",
            kem.group, kem.public_key, kem.ciphertext
        )
        .replace("0X", "0x");
        for said in &shown.connections {
            let seen = said.negotiated().map_or("nothing negotiated".to_owned(), |negotiated| negotiated.to_string());
            eprintln!("{}: on the wire: {seen}", kem.name);
            right &= seen == expected;
        }
        right &= !shown.connections.is_empty();
        println!("{}: {}, {} connection(s): {expected}", kem.name, shown.what, shown.connections.len());
        if let Some(picture) = shown.picture {
            println!("{}: picture of the screen: {}", kem.name, picture.display());
        }
    }
    println!("configuration files: {}", directory.display());
    if right {
        ExitCode::SUCCESS
    } else {
        eprintln!("demo-app: the wire did not show what was expected");
        ExitCode::FAILURE
    }
}

/// What is told of one application over one group.
struct Shown {
    what: &'static str,
    connections: Vec<Conversation>,
    picture: Option<PathBuf>,
}

impl Shown {
    fn plain(what: &'static str, said: Conversation) -> Self {
        Shown { what, connections: vec![said], picture: None }
    }
}

fn browser(bed: &Bed, kem: Kem) -> Shown {
    let picture = show::pictures().join(format!("epiphany-{}.png", kem.name));
    let view = show::browse(bed, kem, &picture);
    Shown { what: "stunnel to GNOME Web", connections: view.connections, picture: Some(picture) }
}
