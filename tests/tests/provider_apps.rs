//! Unmodified applications with the provider and nothing but openssl.cnf: Debian 12's nginx, haproxy, curl, stunnel and
//! Python on the system's OpenSSL 3.0, and Debian 13's nginx, curl and stunnel on its 3.5.

use engntru_tests::apps::{self, App, Place, Running, Stunnel};
use engntru_tests::backend::Backend;
use engntru_tests::bed::{self, Bed, Kem, PATIENCE, PROVIDER_KEMS, X25519};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::gnome;
use engntru_tests::proc::{self, Finished, Process};
use engntru_tests::show;
use engntru_tests::tap::{Settings, Tap};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An openssl.cnf with the provider, and with this group first.
fn conf(bed: &Bed, kem: Kem) -> PathBuf {
    let conf = Conf::provider(&env::provider()).groups(&format!("{}:X25519", kem.name));
    conf.write(bed.path(&format!("{}.cnf", kem.name))).expect("a file in the temporary directory")
}

/// An openssl.cnf with the provider and no group list, for applications that have one of their own.
fn bare_conf(bed: &Bed) -> PathBuf {
    Conf::provider(&env::provider()).write(bed.path("provider.cnf")).expect("a file in the temporary directory")
}

fn nginx(app: &App, bed: &Bed, conf: &Path, backend: SocketAddr, curves: &str) -> Running {
    let server = format!(
        // Before 1.23.4 nginx speaks TLS 1.2 at most unless it is told.
        "listen 127.0.0.1:PORT ssl;\nssl_protocols TLSv1.2 TLSv1.3;\nssl_certificate {};\nssl_certificate_key {};\n{curves}\n\
         location / {{ proxy_pass http://{backend}; }}",
        bed.certificate.certificate.display(),
        bed.certificate.key.display(),
    );
    apps::start_this_nginx(app, bed, conf, &server).unwrap_or_else(|end| panic!("nginx ended: {}", end.all()))
}

fn haproxy(app: &App, bed: &Bed, conf: &Path, backend: SocketAddr, curves: &str) -> Running {
    let certificate = apps::joined_certificate(bed);
    let sections = format!(
        "listen web\n  bind 127.0.0.1:PORT ssl crt {} {curves}\n  server plain {backend}",
        certificate.display()
    );
    apps::start_this_haproxy(app, bed, conf, &sections).unwrap_or_else(|end| panic!("haproxy ended: {}", end.all()))
}

/// Fetches a page with curl, with the certificate checked.
fn curl(app: &App, bed: &Bed, conf: &Path, address: SocketAddr, arguments: &[&str]) -> Finished {
    let authority = bed.certificate.certificate.display().to_string();
    let url = format!("https://localhost:{}/", address.port());
    let mut all = vec!["-sS", "--max-time", "60", "--cacert", &authority];
    all.extend_from_slice(arguments);
    all.push(&url);
    app.run(conf, &all)
}

/// The group of the next finished connection, which has to be TLS, and the client's share.
fn negotiated(tap: &Tap) -> (Option<u16>, Vec<u8>) {
    let said = tap.next(PATIENCE).expect("a finished connection").conversation().expect("TLS on the wire");
    let group = said.negotiated().and_then(|negotiated| negotiated.group);
    let hello = said.client_hellos().last().copied().cloned();
    let share = hello.and_then(|hello| hello.share(group?).map(<[u8]>::to_vec)).unwrap_or_default();
    (group, share)
}

fn assert_page(end: &Finished, what: &str) {
    assert!(end.status.success() && end.stdout.contains("<h1>A page</h1>"), "{what}: {}", end.all());
}

/// nginx, haproxy and curl take the groups from openssl.cnf alone, and from their own options; a client without the provider
/// gets X25519 from the same server.
#[test]
fn web_servers_and_curl() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let old_curl = App::debian12("curl of Debian 12", "usr/bin/curl");
    let new_curl = App::debian13("curl of Debian 13", "usr/bin/curl");
    let servers: [(&str, App); 3] = [
        ("nginx", App::debian12("nginx of Debian 12", "usr/sbin/nginx")),
        ("nginx", App::debian13("nginx of Debian 13", "usr/sbin/nginx")),
        ("haproxy", App::debian12("haproxy of Debian 12", "usr/sbin/haproxy")),
    ];
    for kem in PROVIDER_KEMS {
        let list = format!("{}:X25519", kem.name);
        for (kind, app) in &servers {
            let (with_groups, without) = (conf(&bed, kem), bare_conf(&bed));
            let own = if *kind == "nginx" { format!("ssl_ecdh_curve {list};") } else { format!("curves {list}") };
            for (file, curves) in [(&with_groups, ""), (&without, own.as_str())] {
                let what = format!("{}, {}, {curves:?}", app.name, kem.name);
                let server = if *kind == "nginx" {
                    nginx(app, &bed, file, backend.address, curves)
                } else {
                    haproxy(app, &bed, file, backend.address, curves)
                };
                let tap = Tap::start(server.address, Settings::default()).unwrap();
                for client in [&old_curl, &new_curl] {
                    assert_page(&curl(client, &bed, &with_groups, tap.address(), &[]), &what);
                    assert_eq!(negotiated(&tap).0, Some(kem.group), "{what}, {}", client.name);
                    assert_page(&curl(client, &bed, &without, tap.address(), &["--curves", &list]), &what);
                    assert_eq!(negotiated(&tap).0, Some(kem.group), "{what}, {}", client.name);
                    assert_page(&curl(client, &bed, Path::new("/dev/null"), tap.address(), &[]), &what);
                    assert_eq!(negotiated(&tap).0, Some(X25519), "{what}, {}", client.name);
                }
                let end = server.end(if *kind == "nginx" { "QUIT" } else { "USR1" });
                assert!(end.status.success(), "{what}: {end:?}");
            }
        }
    }
}

/// nginx reads openssl.cnf in its master and forks: its workers, and those after a reload, serve, and no server share comes twice.
/// That no stock of keys outlives a fork is shown by the test `forks` of engine and provider (P1).
#[test]
fn forked_workers_serve() {
    let bed = Bed::new();
    let backend = Backend::page("A page", 0);
    let kem = PROVIDER_KEMS[2];
    let file = conf(&bed, kem);
    let server = nginx(&App::debian12("nginx of Debian 12", "usr/sbin/nginx"), &bed, &file, backend.address, "");
    let tap = Tap::start(server.address, Settings::default()).unwrap();
    let client = App::debian12("curl of Debian 12", "usr/bin/curl");
    let mut shares = HashSet::new();
    for i in 0..40 {
        if i == 20 {
            proc::signal(server.id(), "HUP");
        }
        assert_page(&curl(&client, &bed, &file, tap.address(), &[]), "nginx");
        let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
        assert_eq!(said.negotiated().unwrap().group, Some(kem.group));
        let reply = said.server_hello().and_then(|hello| hello.key_exchange.clone()).unwrap();
        assert!(shares.insert(reply), "a server share was sent twice");
    }
}

/// Python's ssl module, of the system's own Python, as a client.
#[test]
fn python() {
    const CLIENT: &str = "
import socket, ssl, sys
context = ssl.create_default_context(cafile=sys.argv[2])
with socket.create_connection(('127.0.0.1', int(sys.argv[1]))) as plain:
    with context.wrap_socket(plain, server_hostname='localhost') as tls:
        tls.sendall(b'hello\\n')
        print(tls.version(), tls.recv(100).decode().strip())
";
    let bed = Bed::new();
    for kem in PROVIDER_KEMS {
        let file = conf(&bed, kem);
        let server = bed.server(&bed.system.with_conf(file.clone()), &[]);
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let mut command = Command::new("/usr/bin/python3");
        bed::isolate(&mut command, Some(&file));
        command.args(["-c", CLIENT, &tap.address().port().to_string()]).arg(&bed.certificate.certificate);
        let end = proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(end.stdout.trim(), "TLSv1.3 olleh", "{}", end.all());
        assert_eq!(negotiated(&tap).0, Some(kem.group));
    }
}

/// stunnel as server and as client, with its `curves` line: it does not read the groups of openssl.cnf.
#[test]
fn stunnel() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    let file = bare_conf(&bed);
    let certificate = bed.certificate.certificate.display().to_string();
    let key = bed.certificate.key.display().to_string();
    for app in [
        App::debian12("stunnel 5.68 of Debian 12", "usr/bin/stunnel4"),
        App::debian13("stunnel 5.74 of Debian 13", "usr/bin/stunnel4"),
    ] {
        for kem in PROVIDER_KEMS {
            let curves = format!("curves = {}:X25519", kem.name);
            let start = |name: &str, lines: Vec<String>| {
                Stunnel::start(&bed, &app, name, Place::Foreground, &file, &lines)
                    .unwrap_or_else(|end| panic!("{}: {}", app.name, end.all()))
            };
            let server = start(
                "server",
                vec![
                    format!("connect = {}", backend.address),
                    format!("cert = {certificate}"),
                    format!("key = {key}"),
                    curves.clone(),
                ],
            );
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            let client = start(
                "client",
                vec![
                    "client = yes".to_owned(),
                    format!("connect = {}", tap.address()),
                    "verifyChain = yes".to_owned(),
                    format!("CAfile = {certificate}"),
                    "checkHost = localhost".to_owned(),
                    curves.clone(),
                ],
            );
            assert_eq!(line_through(client.address), "olleh");
            assert_eq!(negotiated(&tap).0, Some(kem.group), "{}, {}", app.name, kem.name);
            assert_eq!((client.terminate(), server.terminate()), (Some(0), Some(0)));
        }
    }
}

/// Sends a line over plain TCP and gives the line that comes back.
fn line_through(address: SocketAddr) -> String {
    use std::io::{BufRead, BufReader, Write};
    let mut stream = std::net::TcpStream::connect(address).expect("stunnel listens");
    stream.write_all(b"hello\n").expect("stunnel reads");
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).expect("stunnel answers");
    line.trim().to_owned()
}

/// glib-networking's OpenSSL backend on the system's library: a Gio client, as GNOME's programs are.
#[test]
fn gio() {
    let bed = Bed::new();
    for kem in PROVIDER_KEMS {
        let file = conf(&bed, kem);
        let server = bed.server(&bed.system.with_conf(file.clone()), &[]);
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let authority = &bed.certificate.certificate;
        let command = gnome::gio_client(gnome::Backend::System, &file, authority, tap.address().port(), 1);
        let end = proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        assert!(end.status.success() && end.stdout.contains("niaga kcab dna ereht"), "{}", end.all());
        assert_eq!(negotiated(&tap).0, Some(kem.group));
    }
}

/// GNOME Web opens a page with images over the hybrid, from a stunnel of Debian 12; every connection has fresh shares.
#[test]
fn gnome_web() {
    let bed = Bed::new();
    let kem = PROVIDER_KEMS[2];
    let picture = show::pictures().join("epiphany-X25519sntrup761.png");
    let stunnel = App::debian12("stunnel 5.68 of Debian 12", "usr/bin/stunnel4");
    let view = show::browse_on(&bed, kem, &picture, gnome::Backend::System, &stunnel, &conf(&bed, kem));
    assert!(view.connections.len() > show::IMAGES, "{} connections", view.connections.len());
    let mut shares = HashSet::new();
    for said in &view.connections {
        assert_eq!(said.negotiated().expect("a ServerHello").group, Some(kem.group));
        let hello = said.client_hellos()[0];
        assert!(shares.insert(hello.share(kem.group).expect("a share").to_vec()), "a public key came twice");
    }
    assert!(view.colours > 200, "{}: the picture has {} colours", picture.display(), view.colours);
}

/// A wrong name in the list of an application that has one of its own is reported by name; nothing starts.
#[test]
fn a_wrong_name_is_reported() {
    let bed = Bed::new();
    let server = bed.server(&bed.system, &[]);
    let app = App::debian12("curl of Debian 12", "usr/bin/curl");
    let end = curl(&app, &bed, &bare_conf(&bed), server.address, &["--curves", "sntrup999"]);
    assert!(!end.status.success() && end.all().contains("sntrup999"), "{}", end.all());
    let app = App::debian12("haproxy of Debian 12", "usr/sbin/haproxy");
    let sections = format!(
        "listen web\n  bind 127.0.0.1:PORT ssl crt {} curves sntrup999\n  server plain 127.0.0.1:1",
        apps::joined_certificate(&bed).display()
    );
    let Err(end) = apps::start_this_haproxy(&app, &bed, &bare_conf(&bed), &sections) else {
        panic!("haproxy starts with an unknown group")
    };
    assert!(end.all().contains("sntrup999"), "{}", end.all());
}

/// A process that has loaded the provider and used it ends by SIGTERM with connections open (A2).
#[test]
fn servers_end_by_a_signal() {
    let bed = Bed::new();
    let ours = bed.system.with_conf(conf(&bed, PROVIDER_KEMS[0]));
    let server = bed.server(&ours, &[]);
    let address = server.address.to_string();
    // One is being served, and has its answer; two wait, since s_server serves one at a time.
    let mut open: Vec<Process> =
        (0..3).map(|_| Process::start(ours.command(&["s_client", "-connect", &address])).unwrap()).collect();
    for client in &mut open {
        client.say("there\n");
    }
    let served = || open.iter().any(|client| client.printed().0.contains("ereht"));
    assert!(proc::wait_until(PATIENCE, || served().then_some(())).is_some(), "{}", server.log());
    // What a connection is like s_server says on both streams; at its end it has nothing more to say.
    let said = server.log();
    let end = server.end("TERM");
    assert_eq!((end.status.code(), end.status.signal()), (None, Some(15)), "{end:?}");
    assert_eq!(end.all(), said);
    drop(open);
}
