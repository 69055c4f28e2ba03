//! stunnel, unmodified, over the KEM groups: as server and as client, in the foreground and as a daemon.

use engntru_tests::apps::{App, Place, Stunnel};
use engntru_tests::backend::Backend;
use engntru_tests::bed::{Bed, KEMS, Kem, PATIENCE, SNTRUP761, X25519};
use engntru_tests::proc;
use engntru_tests::tap::{Settings, Tap};
use engntru_tests::wire::Conversation;
use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

/// Debian 12's version built against the patched OpenSSL, and Debian 11's binary run on it.
fn stunnels() -> [App; 2] {
    [App::stunnel(), App::stunnel_debian11()]
}

/// The lines of a service that takes TLS and hands on plain text to `backend`.
fn serving(bed: &Bed, backend: SocketAddr, curves: &str) -> Vec<String> {
    vec![
        format!("connect = {backend}"),
        format!("cert = {}", bed.certificate.certificate.display()),
        format!("key = {}", bed.certificate.key.display()),
        format!("curves = {curves}"),
    ]
}

/// The lines of a service that takes plain text and hands it on over TLS to `server`.
fn connecting(bed: &Bed, server: SocketAddr) -> Vec<String> {
    vec![
        "client = yes".to_owned(),
        format!("connect = {server}"),
        format!("CAfile = {}", bed.certificate.certificate.display()),
        "verifyChain = yes".to_owned(),
        "checkHost = localhost".to_owned(),
    ]
}

/// A stunnel that serves: `curves` says over which groups.
fn server(bed: &Bed, app: &App, place: Place, backend: SocketAddr, curves: &str) -> Stunnel {
    let service = serving(bed, backend, curves);
    Stunnel::start(bed, app, &format!("server-{curves}"), place, &bed.engine_conf(None), &service)
        .unwrap_or_else(|end| panic!("{} ended: {end:?}", app.name))
}

/// A stunnel that connects: `curves` says over which groups, or openssl.cnf for a version that has no such option.
fn client(bed: &Bed, app: &App, place: Place, server: SocketAddr, curves: &str) -> Stunnel {
    let mut service = connecting(bed, server);
    let conf = if app.name.contains("5.56") {
        bed.engine_conf(Some(curves))
    } else {
        service.push(format!("curves = {curves}"));
        bed.engine_conf(None)
    };
    Stunnel::start(bed, app, &format!("client-{curves}"), place, &conf, &service)
        .unwrap_or_else(|end| panic!("{} ended: {end:?}", app.name))
}

/// A line through whatever is there, which has to come back reversed.
fn send_line(address: SocketAddr, line: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the client's stunnel accepts");
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer).unwrap();
    let reversed: String = line.chars().rev().collect();
    assert_eq!(answer.trim_end(), reversed);
    stream
}

/// The next finished connection, which must be a full or resumed TLS 1.3 handshake over this group, with shares.
fn next_over(tap: &Tap, kem: Kem) -> Conversation {
    let observed = tap.next(PATIENCE).expect("a finished connection");
    let said = observed.conversation().expect("TLS on the wire");
    let negotiated = said.negotiated().unwrap_or_else(|| panic!("nothing negotiated: {said:?}"));
    assert_eq!(negotiated.group, Some(kem.group), "{negotiated}");
    assert_eq!((negotiated.client_share, negotiated.server_share), (Some(kem.public_key), Some(kem.ciphertext)));
    said
}

/// 200 handshakes through two stunnels, with a HUP to both half-way, in the foreground and in the background (P2): each has
/// the group and shares of its own on the wire, also where a session is resumed, and SIGTERM ends both with status 0.
#[test]
fn two_hundred_connections_with_a_reload_half_way() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    for app in stunnels() {
        for place in [Place::Foreground, Place::Background] {
            for kem in KEMS {
                let what = format!("{}, {place:?}, {}", app.name, kem.name);
                let server = server(&bed, &app, place, backend.address, kem.name);
                let tap = Tap::start(server.address, Settings::default()).unwrap();
                let client = client(&bed, &app, place, tap.address(), kem.name);
                let mut shares = HashSet::new();
                let mut resumed = 0;
                for number in 0..200 {
                    if number == 100 {
                        server.reload();
                        client.reload();
                    }
                    drop(send_line(client.address, &format!("line {number}")));
                    let said = next_over(&tap, kem);
                    let public_key = said.client_hellos()[0].share(kem.group).unwrap();
                    let ciphertext = said.server_hello().unwrap().key_exchange.clone().unwrap();
                    resumed += usize::from(said.client_hellos()[0].psk_identities > 0);
                    assert!(shares.insert(public_key.to_vec()), "{what}: a public key came twice");
                    assert!(shares.insert(ciphertext), "{what}: a ciphertext came twice");
                }
                assert!(resumed > 0, "{what}: no session was resumed");
                let expected = (place == Place::Foreground).then_some(0);
                assert_eq!(client.terminate(), expected, "{what}: the client's status");
                assert_eq!(server.terminate(), expected, "{what}: the server's status");
            }
        }
    }
}

/// `curves = sntrup761:X25519` is a list (A1): a peer with the engine gets sntrup761, one without gets X25519, whichever side
/// stunnel is on; and its log names the group (W12).
#[test]
fn a_list_of_curves_serves_both_kinds_of_peers() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    for app in stunnels() {
        let server = server(&bed, &app, Place::Foreground, backend.address, "sntrup761:X25519");
        for (program, arguments, expected) in [
            (&bed.engine, &["-groups", "sntrup761:X25519"][..], SNTRUP761),
            (&bed.bare, &[], X25519),
            (&bed.system, &[], X25519),
        ] {
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            let run = bed.client(program, tap.address(), arguments);
            assert!(run.succeeded(), "{}: {run:?}", app.name);
            let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
            assert_eq!(said.negotiated().unwrap().group, Some(expected), "{}", app.name);
        }
        let log = server.log();
        assert_eq!(server.terminate(), Some(0));
        for (program, arguments, expected) in
            [(&bed.engine, &["-groups", "sntrup761:X25519"][..], SNTRUP761), (&bed.bare, &[], X25519)]
        {
            let server = bed.server(program, arguments);
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            let client = client(&bed, &app, Place::Foreground, tap.address(), "sntrup761:X25519");
            drop(send_line(client.address, "to a server of another kind"));
            assert_eq!(client.terminate(), Some(0));
            let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
            assert_eq!(said.client_hellos()[0].groups.as_deref(), Some(&[SNTRUP761, X25519][..]));
            assert_eq!(said.negotiated().unwrap().group, Some(expected), "{}", app.name);
        }
        // 5.56 does not log the peer's temporary key.
        if app.name.contains("5.68") {
            assert!(log.contains("Peer temporary key: sntrup761, 9264 bits"), "{log}");
        }
    }
}

/// A group that OpenSSL does not know (A1): stunnel 5.68 does not start and names the option. 5.56 starts, with an error in its
/// log, and serves the default groups: one more reason to look at the wire.
#[test]
fn an_unknown_curve_is_reported_at_the_start() {
    let bed = Bed::new();
    let service = serving(&bed, "127.0.0.1:9".parse().unwrap(), "sntrup761:sntrup999");
    let conf = bed.engine_conf(None);
    let start = |app: &App| Stunnel::start(&bed, app, "unknown", Place::Foreground, &conf, &service);
    let Err(end) = start(&App::stunnel()) else { panic!("stunnel 5.68 started with an unknown group") };
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(end.all().contains("Invalid groups list in 'curves'"), "{}", end.all());

    let old = start(&App::stunnel_debian11()).unwrap_or_else(|end| panic!("{end:?}"));
    let refused = bed.client(&bed.engine, old.address, &["-groups", "sntrup761"]);
    assert!(!refused.end.status.success(), "{refused:?}");
    assert!(old.log().contains("SSL_CTX_set1_groups_list"), "{}", old.log());
}

/// SIGTERM with connections open on both sides: both end at once with status 0 (A2).
#[test]
fn sigterm_with_open_connections_is_a_clean_end() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    for app in stunnels() {
        let server = server(&bed, &app, Place::Foreground, backend.address, "sntrup761");
        let client = client(&bed, &app, Place::Foreground, server.address, "sntrup761");
        let open: Vec<_> = (0..5).map(|_| send_line(client.address, "stays open")).collect();
        assert_eq!(server.terminate(), Some(0), "{}: the server", app.name);
        assert_eq!(client.terminate(), Some(0), "{}: the client", app.name);
        drop(open);
    }
}

/// Repeated HUPs cost no more memory with the engine than without (A2). Each makes a new SSL_CTX.
#[test]
fn repeated_reloads_do_not_leak() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    let app = App::stunnel();
    let growth = |name: &str, curves: &str, conf: &PathBuf| {
        let service = serving(&bed, backend.address, curves);
        let server =
            Stunnel::start(&bed, &app, name, Place::Foreground, conf, &service).unwrap_or_else(|end| panic!("{end:?}"));
        let rounds = |count| {
            for _ in 0..count {
                server.reload();
            }
            proc::resident(server.id())
        };
        let before = rounds(20);
        let after = rounds(100);
        assert_eq!(server.terminate(), Some(0));
        after.saturating_sub(before)
    };
    let empty = bed.path("empty.cnf");
    std::fs::write(&empty, "").unwrap();
    let without = growth("without", "X25519", &empty);
    let with = growth("with", "sntrup761:X25519", &bed.engine_conf(None));
    assert!(with <= without + 256, "100 reloads: {with} KiB more with the engine, {without} KiB without");
}

/// stunnel's threads have 64 KiB of stack. All of a handshake fits into half of that, batch key generation
/// included, on both sides.
#[test]
fn the_kem_fits_the_stack_of_stunnels_threads() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    let conf = bed.engine_conf(None);
    let start = |name: &str, service: Vec<String>| {
        Stunnel::start(&bed, &App::stunnel(), name, Place::Foreground, &conf, &service)
            .unwrap_or_else(|end| panic!("{end:?}"))
    };
    for kem in KEMS {
        let stack = "stack = 32768".to_owned();
        let mut service = serving(&bed, backend.address, kem.name);
        service.push(stack.clone());
        let server = start("server", service);
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let mut service = connecting(&bed, tap.address());
        service.extend([format!("curves = {}", kem.name), stack]);
        let client = start("client", service);
        for _ in 0..70 {
            drop(send_line(client.address, "three batches"));
            let _ = next_over(&tap, kem);
        }
        assert_eq!(client.terminate(), Some(0));
        assert_eq!(server.terminate(), Some(0));
    }
}

/// 2000 short-lived threads, one handshake each (P5): memory stays flat on both sides.
#[test]
fn two_thousand_short_lived_threads_leave_memory_flat() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    let app = App::stunnel();
    let server = server(&bed, &app, Place::Foreground, backend.address, "sntrup761");
    let client = client(&bed, &app, Place::Foreground, server.address, "sntrup761");
    let mut memory = Vec::new();
    for number in 1..=2000 {
        drop(send_line(client.address, "one thread each"));
        // Caches of sessions fill at first.
        if number == 1000 || number == 2000 {
            std::thread::sleep(Duration::from_millis(300));
            memory.push((proc::resident(server.id()), proc::resident(client.id())));
        }
    }
    let [(server_half, client_half), (server_end, client_end)] = memory[..] else { unreachable!() };
    assert!(server_end <= server_half + 512, "server: {server_half} KiB, then {server_end} KiB");
    assert!(client_end <= client_half + 512, "client: {client_half} KiB, then {client_end} KiB");
    assert_eq!(client.terminate(), Some(0));
    assert_eq!(server.terminate(), Some(0));
}
