//! A relay that prints one line per connection: version, group, sizes of both shares, and whether there was a retry.

use engntru_tests::tap::{Settings, Tap};
use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: tls-tap SERVER-ADDRESS:PORT [LISTENING-PORT]

Relays connections from 127.0.0.1 to a TLS server and prints, when a connection is over, what was negotiated:
  TLS 1.3, group 0xFEB1, client share 1158 bytes, server share 1039 bytes, no retry
Without LISTENING-PORT it takes a free port. Its first line is \"LISTEN 127.0.0.1:PORT\".";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag] = arguments.as_slice()
        && ["-h", "--help"].contains(&flag.as_str())
    {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let parsed: Option<(SocketAddr, u16)> = match arguments.as_slice() {
        [server] => server.parse().ok().map(|server| (server, 0)),
        [server, port] => server.parse().ok().zip(port.parse().ok()),
        _ => None,
    };
    let Some((server, port)) = parsed else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match serve(server, port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tls-tap: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs until nobody reads its output any more.
fn serve(server: SocketAddr, port: u16) -> std::io::Result<()> {
    let tap = Tap::start_on(port, server, Settings::default())?;
    let mut out = std::io::stdout();
    writeln!(out, "LISTEN {}", tap.address())?;
    out.flush()?;
    loop {
        let Some(observed) = tap.next(Duration::from_secs(3600)) else {
            continue;
        };
        match observed.conversation().map(|said| (said.negotiated(), said)) {
            Ok((Some(negotiated), _)) => writeln!(out, "{negotiated}")?,
            Ok((None, said)) => match said.server.alert.or(said.client.alert) {
                Some(alert) => writeln!(out, "nothing negotiated, alert {}", alert.description)?,
                None => writeln!(out, "nothing negotiated")?,
            },
            Err(error) => writeln!(out, "{error}")?,
        }
        out.flush()?;
    }
}
