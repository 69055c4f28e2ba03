//! GNOME's TLS, glib-networking with its OpenSSL backend, over the KEM groups: a small Gio client for every day.

use engntru_tests::apps::{App, Place, Stunnel};
use engntru_tests::backend::Backend;
use engntru_tests::bed::{Bed, KEMS, PATIENCE, SNTRUP761, SNTRUP857, X25519};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::gnome;
use engntru_tests::proc;
use engntru_tests::tap::{Settings, Tap};
use std::collections::HashSet;

/// The application has no option for groups: those of openssl.cnf are offered exactly and in order (A4). The second connection
/// resumes (A3), with a fresh share all the same.
#[test]
fn a_gio_client_offers_what_openssl_cnf_says_and_resumes() {
    let bed = Bed::new();
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:sntrup857:X25519"]);
    for (list, expected) in [
        ("sntrup761:X25519", vec![SNTRUP761, X25519]),
        ("sntrup857:sntrup761", vec![SNTRUP857, SNTRUP761]),
        ("sntrup857", vec![SNTRUP857]),
    ] {
        let conf = Conf::engine(&env::engine()).groups(list).write(bed.path("gio.cnf")).unwrap();
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let count = 3;
        let client = gnome::gio_client(
            gnome::Backend::Patched,
            &conf,
            &bed.certificate.certificate,
            tap.address().port(),
            count,
        );
        let end = proc::run(client, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        assert!(end.status.success(), "{list}: {}", end.all());
        let answers = "niaga kcab dna ereht\n".repeat(count);
        assert_eq!(end.stdout, format!("GTlsBackendOpenssl\n{answers}"), "{list}");
        let kem = KEMS.into_iter().find(|kem| kem.group == expected[0]).unwrap();
        let mut shares = HashSet::new();
        // Connections are reported as they end, which on a busy machine is not the order in which they began.
        let mut resumed = 0;
        for _ in 0..count {
            let said = tap.next(PATIENCE).expect("a finished connection").conversation().unwrap();
            let hello = said.client_hellos()[0];
            assert_eq!(hello.groups.as_deref(), Some(&expected[..]), "{list}");
            assert_eq!(said.negotiated().unwrap().group, Some(kem.group), "{list}");
            assert!(shares.insert(hello.share(kem.group).unwrap().to_vec()), "{list}: a public key came twice");
            resumed += hello.psk_identities;
        }
        assert_eq!(resumed, count - 1, "{list}: all but the first connection bring a ticket");
    }
}

/// What a browser does, in small: connections to stunnel over each group, with shares of their own.
#[test]
fn a_gio_client_meets_stunnel_over_both_groups() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    for kem in KEMS {
        let service = [
            format!("connect = {}", backend.address),
            format!("cert = {}", bed.certificate.certificate.display()),
            format!("key = {}", bed.certificate.key.display()),
            format!("curves = {}", kem.name),
        ];
        let conf = bed.engine_conf(Some(kem.name));
        let server = Stunnel::start(&bed, &App::stunnel(), kem.name, Place::Foreground, &conf, &service);
        let server = server.unwrap_or_else(|end| panic!("stunnel ended: {}", end.all()));
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let count = 8;
        let client = gnome::gio_client(
            gnome::Backend::Patched,
            &conf,
            &bed.certificate.certificate,
            tap.address().port(),
            count,
        );
        let end = proc::run(client, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        assert!(end.status.success(), "{}: {}", kem.name, end.all());
        let answers = "niaga kcab dna ereht\n".repeat(count);
        assert_eq!(end.stdout, format!("GTlsBackendOpenssl\n{answers}"), "{}", kem.name);
        let mut shares = HashSet::new();
        for _ in 0..count {
            let said = tap.next(PATIENCE).expect("a finished connection").conversation().unwrap();
            assert_eq!(said.negotiated().unwrap().group, Some(kem.group));
            let public_key = said.client_hellos()[0].share(kem.group).unwrap();
            let ciphertext = said.server_hello().unwrap().key_exchange.clone().unwrap();
            assert_eq!((public_key.len(), ciphertext.len()), (kem.public_key, kem.ciphertext));
            assert!(shares.insert(public_key.to_vec()), "{}: a public key came twice", kem.name);
            assert!(shares.insert(ciphertext), "{}: a ciphertext came twice", kem.name);
        }
        assert_eq!(server.terminate(), Some(0), "{}", kem.name);
    }
}

/// Without the engine, or with a name that OpenSSL does not know, the program says nothing and the default groups are used: what
/// is negotiated tells, and so does check-config.
#[test]
fn a_wrong_openssl_cnf_is_passed_over_in_silence() {
    let bed = Bed::new();
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:X25519"]);
    for (name, conf) in [
        ("unknown group", Conf::engine(&env::engine()).groups("sntrup761:sntrup999")),
        ("engine missing", Conf::engine(&bed.path("nowhere.so")).groups("sntrup761:X25519")),
    ] {
        let conf = conf.write(bed.path("gio.cnf")).unwrap();
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let client =
            gnome::gio_client(gnome::Backend::Patched, &conf, &bed.certificate.certificate, tap.address().port(), 1);
        let end = proc::run(client, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
        assert!(end.status.success(), "{name}: {}", end.all());
        let said = tap.next(PATIENCE).expect("a finished connection").conversation().unwrap();
        assert_eq!(said.negotiated().unwrap().group, Some(X25519), "{name}");
        let report = engntru_tests::check::check(&conf, &env::openssl().join("bin/openssl")).unwrap();
        assert!(!report.is_right(), "{name}: {report:?}");
    }
}
