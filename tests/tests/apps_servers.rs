//! nginx, haproxy and curl, Debian 11's own binaries, over the KEM groups: each told in its own way, or by openssl.cnf alone.

use engntru_tests::apps::{self, App, Running};
use engntru_tests::backend::Backend;
use engntru_tests::bed::{Bed, KEMS, Kem, OpenSsl, PATIENCE, SNTRUP761, Server, X25519};
use engntru_tests::proc::{self, Finished, Process};
use engntru_tests::tap::{Settings, Tap};
use engntru_tests::wire::{Conversation, PRE_SHARED_KEY};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

/// The two web servers, as the tests need them.
#[derive(Clone, Copy, Debug)]
enum Web {
    Nginx,
    Haproxy,
}

impl Web {
    const ALL: [Web; 2] = [Web::Nginx, Web::Haproxy];

    /// Serves HTTPS in front of a plain backend; `groups` in the server's own words, or none.
    fn serve(self, bed: &Bed, conf: &Path, backend: SocketAddr, groups: Option<&str>) -> Result<Running, Finished> {
        match self {
            Web::Nginx => {
                let curves = groups.map(|groups| format!("ssl_ecdh_curve {groups};")).unwrap_or_default();
                let server = format!(
                    "listen 127.0.0.1:PORT ssl;\nssl_protocols TLSv1.2 TLSv1.3;\nssl_early_data on;\n\
                     ssl_certificate {};\nssl_certificate_key {};\n{curves}\n\
                     location / {{ proxy_pass http://{backend}; }}",
                    bed.certificate.certificate.display(),
                    bed.certificate.key.display(),
                );
                apps::start_nginx(bed, conf, &server)
            }
            Web::Haproxy => {
                let curves = groups.map(|groups| format!("curves {groups}")).unwrap_or_default();
                let sections = format!(
                    "listen web\n  bind 127.0.0.1:PORT ssl crt {} allow-0rtt {curves}\n  server plain {backend}",
                    apps::joined_certificate(bed).display()
                );
                apps::start_haproxy(bed, conf, &sections)
            }
        }
    }

    /// Serves plain HTTP in front of a TLS server, whose certificate it checks. Neither has an option for the groups there.
    fn connect(self, bed: &Bed, conf: &Path, server: SocketAddr) -> Result<Running, Finished> {
        let authority = bed.certificate.certificate.display();
        match self {
            Web::Nginx => {
                let lines = format!(
                    "listen 127.0.0.1:PORT;\nlocation / {{\n  proxy_pass https://{server};\n  proxy_ssl_name localhost;\n\
                     proxy_ssl_verify on;\n  proxy_ssl_trusted_certificate {authority};\n  proxy_ssl_protocols TLSv1.3;\n}}"
                );
                apps::start_nginx(bed, conf, &lines)
            }
            Web::Haproxy => {
                let sections = format!(
                    "listen plain\n  bind 127.0.0.1:PORT\n\
                     \x20 server tls {server} ssl verify required verifyhost localhost ca-file {authority}"
                );
                apps::start_haproxy(bed, conf, &sections)
            }
        }
    }
}

fn started(running: Result<Running, Finished>) -> Running {
    running.unwrap_or_else(|end| panic!("it ended: {}", end.all()))
}

/// Fetches a page with curl, with the certificate checked.
fn curl(bed: &Bed, conf: &Path, scheme: &str, address: SocketAddr, arguments: &[&str]) -> Finished {
    let authority = bed.certificate.certificate.display().to_string();
    let url = format!("{scheme}://localhost:{}/", address.port());
    // A small system may have no name for itself.
    let name = format!("localhost:{}:127.0.0.1", address.port());
    let mut all = vec!["-sS", "--max-time", "60", "--resolve", &name, "--cacert", &authority];
    all.extend_from_slice(arguments);
    all.push(&url);
    App::curl().run(conf, &all)
}

fn assert_page(end: &Finished, what: &str) {
    assert!(end.status.success() && end.stdout.contains("<h1>A page</h1>"), "{what}: {}", end.all());
}

/// The next finished connection.
fn next(tap: &Tap) -> Conversation {
    tap.next(PATIENCE).expect("a finished connection").conversation().expect("TLS on the wire")
}

/// The shares of a connection that has to be TLS 1.3 over this group: the client's and the server's.
fn shares(said: &Conversation, kem: Kem, what: &str) -> (Vec<u8>, Vec<u8>) {
    let negotiated = said.negotiated().unwrap_or_else(|| panic!("{what}: nothing negotiated: {said:?}"));
    assert_eq!(negotiated.group, Some(kem.group), "{what}: {negotiated}");
    let hello = said.client_hellos().last().copied().expect("a ClientHello");
    let client = hello.share(kem.group).expect("the client's share").to_vec();
    let server = said.server_hello().and_then(|hello| hello.key_exchange.clone()).expect("the server's share");
    assert_eq!((client.len(), server.len()), (kem.public_key, kem.ciphertext), "{what}");
    (client, server)
}

/// Each names groups in its own way: `ssl_ecdh_curve`, `curves` after `bind`, `--curves` (A1). A list serves both kinds of
/// clients: with the engine sntrup, without it X25519.
#[test]
fn each_program_names_the_groups_in_its_own_way() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let conf = bed.engine_conf(None);
    for web in Web::ALL {
        for kem in KEMS {
            let what = format!("{web:?}, {}", kem.name);
            let list = format!("{}:X25519", kem.name);
            let server = started(web.serve(&bed, &conf, backend.address, Some(&list)));
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            assert_page(&curl(&bed, &conf, "https", tap.address(), &["--curves", &list]), &what);
            let said = next(&tap);
            assert_eq!(said.client_hellos()[0].groups.as_deref(), Some(&[kem.group, X25519][..]), "{what}");
            shares(&said, kem, &what);
            // curl without the engine.
            assert_page(&curl(&bed, Path::new("/dev/null"), "https", tap.address(), &[]), &what);
            assert_eq!(next(&tap).negotiated().unwrap().group, Some(X25519), "{what}");
            // Both finish what they serve and end.
            let end = server.end(if matches!(web, Web::Nginx) { "QUIT" } else { "USR1" });
            assert!(end.status.success(), "{what}: {end:?}");
        }
    }
}

/// No program is told anything: the `Groups` line of openssl.cnf serves servers and clients alike, also the client sides of
/// nginx and haproxy, which have no option for groups (A4).
#[test]
fn openssl_cnf_alone_serves_programs_that_are_told_nothing() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    for kem in KEMS {
        let conf = bed.engine_conf(Some(&format!("{}:X25519", kem.name)));
        for (front, back) in [(Web::Nginx, Web::Haproxy), (Web::Haproxy, Web::Nginx)] {
            let what = format!("{front:?} to {back:?}, {}", kem.name);
            let server = started(back.serve(&bed, &conf, backend.address, None));
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            assert_page(&curl(&bed, &conf, "https", tap.address(), &[]), &what);
            let said = next(&tap);
            assert_eq!(said.client_hellos()[0].groups.as_deref(), Some(&[kem.group, X25519][..]), "{what}");
            shares(&said, kem, &what);

            let client = started(front.connect(&bed, &conf, tap.address()));
            assert_page(&curl(&bed, &conf, "http", client.address, &[]), &what);
            drop(client);
            let said = next(&tap);
            assert_eq!(said.client_hellos()[0].groups.as_deref(), Some(&[kem.group, X25519][..]), "{what}");
            shares(&said, kem, &what);
        }
    }
}

/// A group that OpenSSL does not know is an error that names the list or the option (A1).
#[test]
fn an_unknown_group_is_reported() {
    let bed = Bed::new();
    let conf = bed.engine_conf(None);
    let nowhere = "127.0.0.1:9".parse().unwrap();
    for (web, words) in
        [(Web::Nginx, "SSL_CTX_set1_curves_list(\"sntrup761:sntrup999\") failed"), (Web::Haproxy, "curves")]
    {
        let Err(end) = web.serve(&bed, &conf, nowhere, Some("sntrup761:sntrup999")) else {
            panic!("{web:?} started with an unknown group")
        };
        assert!(!end.status.success() && end.all().contains(words), "{web:?}: {}", end.all());
    }
    // curl reads the list once it is connected.
    let server = bed.server(&bed.bare, &[]);
    let end = curl(&bed, &conf, "https", server.address, &["--curves", "sntrup761:sntrup999"]);
    assert_eq!(end.status.code(), Some(59), "{}", end.all());
    assert!(end.stderr.contains("sntrup761:sntrup999"), "{}", end.all());
}

/// nginx as a client: two workers that were forked after the engine was loaded, and new workers after a HUP half-way. Over 200
/// connections no public key is seen twice, though each worker fills a stock of its own.
#[test]
fn workers_of_nginx_never_share_a_key() {
    let bed = Bed::new();
    let conf = bed.engine_conf(Some("sntrup761"));
    let backend = Backend::page("A page", 0);
    let server = started(Web::Haproxy.serve(&bed, &conf, backend.address, None));
    let tap = Tap::start(server.address, Settings::default()).unwrap();
    let client = started(Web::Nginx.connect(&bed, &conf, tap.address()));
    let mut seen = HashSet::new();
    for round in 0..20 {
        if round == 10 {
            proc::signal(client.id(), "HUP");
        }
        // One curl with ten connections at a time: both workers get some.
        let url = format!("http://127.0.0.1:{}/", client.address.port());
        let mut arguments = vec!["-sS", "--parallel", "--no-keepalive"];
        for _ in 0..10 {
            arguments.extend_from_slice(&["-o", "/dev/null", &url]);
        }
        let end = App::curl().run(&conf, &arguments);
        assert!(end.status.success(), "{}", end.all());
        for _ in 0..10 {
            let (public_key, _) = shares(&next(&tap), KEMS[0], "nginx to haproxy");
            assert!(seen.insert(public_key), "a public key came twice");
        }
    }
    assert_eq!(seen.len(), 200);
    assert!(client.end("TERM").status.success());
}

/// SIGTERM while connections are open ends both at once, nginx with status 0 and haproxy by that very signal: neither crashes (A2).
#[test]
fn sigterm_with_open_connections_is_a_clean_end() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let conf = bed.engine_conf(Some("sntrup761"));
    for (web, expected) in [(Web::Nginx, (Some(0), None)), (Web::Haproxy, (None, Some(15)))] {
        let server = started(web.serve(&bed, &conf, backend.address, None));
        let mut open = Vec::new();
        for _ in 0..3 {
            let address = server.address.to_string();
            let client =
                Process::start(bed.engine.command(&["s_client", "-connect", &address, "-groups", "sntrup761"]));
            let client = client.unwrap();
            let connected =
                client.wait_for(PATIENCE, |out, _| out.contains("Server Temp Key: sntrup761").then_some(()));
            assert!(connected.is_some(), "{web:?}: {:?}", client.printed());
            open.push(client);
        }
        let end = server.end("TERM");
        assert_eq!((end.status.code(), end.status.signal()), expected, "{web:?}: {end:?}");
    }
}

/// What one side of early data looks like to the other.
#[derive(Debug, PartialEq, Eq)]
enum Early {
    Accepted,
    Rejected,
    NotSent,
}

/// A server that s_client meets twice.
struct Meeting<'a> {
    bed: &'a Bed,
    client: &'a OpenSsl,
    tap: &'a Tap,
    session: PathBuf,
}

impl Meeting<'_> {
    /// A full handshake; the ticket goes to the session file.
    fn first(&self, groups: &str) -> Conversation {
        let _ = std::fs::remove_file(&self.session);
        let session = self.session.display().to_string();
        let mut client = self.start(&["-groups", groups, "-sess_out", &session]);
        let stored = proc::wait_until(PATIENCE, || {
            let text = std::fs::read_to_string(&self.session).unwrap_or_default();
            text.contains("END SSL SESSION").then_some(())
        });
        assert!(stored.is_some(), "no ticket came: {:?}", client.printed());
        client.say("Q\n");
        drop(client.finish(PATIENCE));
        next(self.tap)
    }

    /// A resumed one, with a request as early data.
    fn again(&self, groups: &str) -> (Conversation, Early) {
        let session = self.session.display().to_string();
        let request = self.bed.path("request");
        std::fs::write(&request, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
        let request = request.display().to_string();
        let mut client = self.start(&["-groups", groups, "-sess_in", &session, "-early_data", &request]);
        let verdict = client.wait_for(PATIENCE, |stdout, _| {
            let verdicts = [("accepted", Early::Accepted), ("rejected", Early::Rejected), ("not sent", Early::NotSent)];
            verdicts
                .into_iter()
                .find_map(|(word, verdict)| stdout.contains(&format!("Early data was {word}")).then_some(verdict))
        });
        let verdict = verdict.unwrap_or_else(|| panic!("no verdict on early data: {:?}", client.printed()));
        client.say("Q\n");
        drop(client.finish(PATIENCE));
        (next(self.tap), verdict)
    }

    fn start(&self, arguments: &[&str]) -> Process {
        let address = self.tap.address().to_string();
        let mut command = self.client.command(&["s_client", "-connect", &address, "-servername", "localhost"]);
        command.arg("-CAfile").arg(&self.bed.certificate.certificate).args(arguments);
        Process::start(command).unwrap()
    }
}

/// Resumption with psk_dhe_ke over a KEM group (W10): a ticket is used, and yet both shares are fresh and differ from the first
/// connection's. Early data is accepted; after a HelloRetryRequest it is rejected, and the connection goes on.
#[test]
fn a_resumed_connection_has_shares_of_its_own_and_early_data() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let conf = bed.engine_conf(None);
    for kem in KEMS {
        for web in [Some(Web::Nginx), Some(Web::Haproxy), None] {
            let what = format!("{}, {}", web.map_or("s_server".to_owned(), |web| format!("{web:?}")), kem.name);
            let mut plain: Option<Server> = None;
            let mut running: Option<Running> = None;
            let address = match web {
                Some(web) => {
                    let server = started(web.serve(&bed, &conf, backend.address, Some(kem.name)));
                    running.insert(server).address
                }
                None => plain.insert(early_server(&bed, kem.name)).address,
            };
            let tap = Tap::start(address, Settings::default()).unwrap();
            let meeting = Meeting { bed: &bed, client: &bed.engine, tap: &tap, session: bed.path("session.pem") };

            let first = shares(&meeting.first(kem.name), kem, &what);
            let (said, early) = meeting.again(kem.name);
            let second = shares(&said, kem, &what);
            assert_eq!(said.client_hellos()[0].psk_identities, 1, "{what}");
            let answered = said.server_hello().unwrap().extensions.iter().any(|one| one.kind == PRE_SHARED_KEY);
            assert!(answered, "{what}: the ticket was not taken");
            assert!(first.0 != second.0 && first.1 != second.1, "{what}: a share came twice");
            assert_eq!(early, Early::Accepted, "{what}");
            // nginx and haproxy let tickets be used again; s_server takes early data of each ticket once.
            let expected = if plain.is_some() { Early::Rejected } else { Early::Accepted };
            assert_eq!(meeting.again(kem.name).1, expected, "{what}: the same ticket again");

            let _ = meeting.first(kem.name);
            let (said, early) = meeting.again(&format!("X25519:{}", kem.name));
            assert!(said.retry().is_some(), "{what}: no retry");
            let third = shares(&said, kem, &what);
            assert!(third.0 != first.0 && third.0 != second.0, "{what}: a share came twice");
            assert_eq!(early, Early::Rejected, "{what}: after a retry");
            drop((plain, running));
        }
    }
}

/// An s_server that takes early data.
fn early_server(bed: &Bed, groups: &str) -> Server {
    let mut command = bed.engine.command(&["s_server", "-accept", "127.0.0.1:0", "-early_data", "-groups", groups]);
    command.arg("-cert").arg(&bed.certificate.certificate).arg("-key").arg(&bed.certificate.key);
    Server::start(command).unwrap_or_else(|end| panic!("{end:?}"))
}

/// A client that lists X25519 only meets servers that want sntrup761 only: refused, and the next client is served (W2).
#[test]
fn a_classical_client_is_refused_where_only_sntrup_is_spoken() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let conf = bed.engine_conf(None);
    for web in Web::ALL {
        let server = started(web.serve(&bed, &conf, backend.address, Some("sntrup761")));
        let refused = curl(&bed, &conf, "https", server.address, &["--tlsv1.3", "--curves", "X25519"]);
        assert_eq!(refused.status.code(), Some(35), "{web:?}: {}", refused.all());
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        assert_page(&curl(&bed, &conf, "https", tap.address(), &["--curves", "sntrup761"]), "the next client");
        assert_eq!(next(&tap).negotiated().unwrap().group, Some(SNTRUP761), "{web:?}");
    }
}
