//! Handshakes between real programs, judged by what is seen on the wire.

use engntru_tests::bed::{Bed, KEMS, KeyKind, OpenSsl, P256, PATIENCE, SNTRUP761, SNTRUP857, X25519};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::raw::{Hello, RawPeer};
use engntru_tests::tap::{Delivery, Settings, Tap};
use engntru_tests::wire::{Alert, ClientHello, TLS12};
use std::time::Duration;

/// The first ClientHello that a client sends with these arguments.
fn hello_of(bed: &Bed, client: &OpenSsl, arguments: &[&str]) -> ClientHello {
    let server = (&bed.engine, &["-groups", "sntrup761:sntrup857:X25519:P-256"][..]);
    let meeting = bed.connect(server, (client, arguments));
    let hellos = meeting.said.client_hellos();
    (*hellos.first().unwrap_or_else(|| panic!("no hello: {meeting:?}"))).clone()
}

/// Both groups key TLS 1.3 connections, named by code points that never change: 0xFEB1 and 0xFEB2 (W4), and a share is
/// nothing but the encoding, 1158 and 1039 bytes, 1322 and 1184 bytes (W5).
#[test]
fn both_groups_key_connections_with_shares_of_the_published_sizes() {
    let bed = Bed::new();
    for kem in KEMS {
        let meeting = bed.connect((&bed.engine, &["-groups", kem.name]), (&bed.engine, &["-groups", kem.name]));
        assert_eq!(meeting.group(), kem.group);
        let negotiated = meeting.said.negotiated().unwrap();
        assert_eq!((negotiated.client_share, negotiated.server_share), (Some(kem.public_key), Some(kem.ciphertext)));
        assert!(!negotiated.retried);
        let hellos = meeting.said.client_hellos();
        assert_eq!(hellos[0].groups.as_deref(), Some(&[kem.group][..]));
        assert_eq!(hellos[0].key_shares.as_ref().unwrap().len(), 1);
    }
}

/// Nothing but openssl.cnf: its `Groups` line decides, for the server and for the client.
#[test]
fn the_groups_line_of_openssl_cnf_serves_programs_without_an_option() {
    let bed = Bed::new();
    for kem in KEMS {
        let conf = Conf::engine(&env::engine()).groups(&format!("{}:X25519", kem.name));
        let program = bed.configured("groups.cnf", &conf);
        let meeting = bed.connect((&program, &[]), (&program, &[]));
        assert_eq!(meeting.group(), kem.group);
        assert_eq!(meeting.said.client_hellos()[0].groups.as_deref(), Some(&[kem.group, X25519][..]));
    }
}

/// A set that is left out changes nothing for the other one: each keeps its code point in every list (W4).
#[test]
fn code_points_stay_when_the_other_set_is_left_out() {
    let bed = Bed::new();
    for (list, expected) in [
        ("sntrup761:sntrup857", vec![SNTRUP761, SNTRUP857]),
        ("sntrup857:sntrup761", vec![SNTRUP857, SNTRUP761]),
        ("sntrup857", vec![SNTRUP857]),
        ("sntrup761", vec![SNTRUP761]),
        ("P-256:sntrup857:X25519", vec![P256, SNTRUP857, X25519]),
    ] {
        assert_eq!(hello_of(&bed, &bed.engine, &["-groups", list]).groups, Some(expected), "{list}");
    }
}

/// An engine that is loaded but not asked for leaves the ClientHello as it is without the engine (W1).
#[test]
fn the_hello_of_a_classical_client_is_the_same_with_and_without_the_engine() {
    let bed = Bed::new();
    // Only what is random or depends on it may differ.
    let shape = |hello: ClientHello| {
        let shares: Vec<_> =
            hello.key_shares.iter().flatten().map(|share| (share.group, share.key_exchange.len())).collect();
        let extensions: Vec<_> =
            hello.extensions.iter().map(|extension| (extension.kind, extension.body.len())).collect();
        (hello.length, hello.groups, shares, extensions, hello.cipher_suites)
    };
    for arguments in [&["-groups", "X25519"][..], &["-groups", "P-256:X25519"], &[]] {
        let with = shape(hello_of(&bed, &bed.engine, arguments));
        let without = shape(hello_of(&bed, &bed.bare, arguments));
        assert_eq!(with, without, "{arguments:?}");
    }
}

/// A server that lists sntrup761 and X25519 serves clients that have never heard of the engine (W2).
#[test]
fn clients_without_the_engine_connect_to_a_server_that_also_lists_x25519() {
    let bed = Bed::new();
    let server = (&bed.engine, &["-groups", "sntrup761:X25519"][..]);
    for (client, arguments) in [
        (&bed.system, &[][..]),
        (&bed.system, &["-tls1_3"]),
        (&bed.bare, &[]),
        (&bed.bare, &["-groups", "sntrup761:X25519"]),
    ] {
        assert_eq!(bed.connect(server, (client, arguments)).group(), X25519, "{client:?} {arguments:?}");
    }
    for client in [&bed.system, &bed.bare] {
        let meeting = bed.connect(server, (client, &["-tls1_2"]));
        assert!(meeting.client.succeeded(), "{meeting:?}");
        let negotiated = meeting.said.negotiated().unwrap();
        assert_eq!((negotiated.version, negotiated.group), (TLS12, Some(X25519)));
    }
}

/// A server with sntrup761 only refuses them with handshake_failure, and its log says why (W2).
#[test]
fn a_server_with_sntrup761_only_refuses_others_and_says_why() {
    let bed = Bed::new();
    let server = (&bed.engine, &["-groups", "sntrup761"][..]);
    for (client, arguments, reason) in [
        (&bed.system, &["-tls1_3"][..], "no suitable key share"),
        (&bed.system, &[], "no suitable key share"),
        (&bed.bare, &["-groups", "X25519"], "no suitable key share"),
        (&bed.system, &["-tls1_2"], "sntrup761: it needs TLS 1.3"),
    ] {
        let meeting = bed.connect(server, (client, arguments));
        assert!(!meeting.client.echoed && !meeting.client.end.status.success(), "{meeting:?}");
        let alert = meeting.said.server.alert.map(|alert| (alert.level, alert.description));
        assert_eq!(alert, Some((2, Alert::HANDSHAKE_FAILURE)), "{arguments:?}");
        assert!(meeting.server_log.contains(reason), "{arguments:?}: {}", meeting.server_log);
    }
}

/// With TLS 1.3 switched off on either side a KEM group leads to a failure that says so, never to a TLS 1.2 session (W3).
#[test]
fn without_tls_1_3_a_kem_group_is_a_clear_failure() {
    let bed = Bed::new();
    for kem in KEMS {
        for off in ["-no_tls1_3", "-tls1_2"] {
            // P-256 stands in the list because the certificate's key lies on it, which TLS 1.2 demands.
            let all = format!("{}:X25519:P-256", kem.name);
            // The client alone: it does not even send a hello.
            let meeting = bed.connect((&bed.engine, &["-groups", &all]), (&bed.engine, &["-groups", kem.name, off]));
            assert!(!meeting.client.end.status.success(), "{meeting:?}");
            assert!(meeting.client.end.stderr.contains(&format!("{}: it needs TLS 1.3", kem.name)), "{meeting:?}");
            assert_eq!(meeting.said.server_hello(), None);
            // The server: handshake_failure, or a refusal to start.
            match bed.try_server(&bed.engine, &["-groups", kem.name, off]) {
                Err(end) => assert_eq!(end.status.code(), Some(1), "{end:?}"),
                Ok(mut server) => {
                    for arguments in [&["-groups", &all][..], &["-groups", "X25519"], &["-tls1_2"]] {
                        let run = bed.client(&bed.engine, server.address, arguments);
                        assert!(!run.echoed && !run.end.status.success(), "{off} {arguments:?}: {run:?}");
                    }
                    assert!(server.logs("it needs TLS 1.3"), "{}", server.log());
                    assert!(server.is_running(), "{}", server.log());
                }
            }
            // With another group in the list TLS 1.2 goes on without the KEM, and offers nothing of it.
            let meeting = bed.connect((&bed.engine, &["-groups", &all]), (&bed.engine, &["-groups", &all, off]));
            assert!(meeting.client.succeeded(), "{meeting:?}");
            let negotiated = meeting.said.negotiated().unwrap();
            assert_eq!((negotiated.version, negotiated.group), (TLS12, Some(X25519)));
            assert_eq!(meeting.said.client_hellos()[0].groups.as_deref(), Some(&[X25519, P256][..]));
        }
    }
}

/// A ClientHello that arrives in pieces, byte by byte, or in two records is as good as a whole one (W7).
#[test]
fn hellos_in_pieces_are_put_together() {
    let bed = Bed::new();
    let pause = Duration::from_millis(20);
    for kem in KEMS {
        for delivery in [
            Delivery::CutAt(vec![1, 5, 9, 100, 1400], pause),
            Delivery::CutAt(vec![1400], pause),
            Delivery::ByteByByte(2000),
            Delivery::SplitRecord(1),
            Delivery::SplitRecord(700),
        ] {
            let settings = Settings { to_server: delivery.clone(), to_client: delivery.clone(), rewrite: None };
            let both = (&bed.engine, &["-groups", kem.name][..]);
            assert_eq!(bed.connect_through(settings, both, both).group(), kem.group, "{delivery:?}");
        }
    }
}

/// The client sends a share that the server does not want, and is asked for the other one: from X25519 to the KEM, back, and
/// from one KEM to the other. The abandoned key is not used again (W8).
#[test]
fn a_retry_leads_from_either_group_to_the_other() {
    let bed = Bed::new();
    let mut shares = Vec::new();
    for (first, second, expected) in [
        ("X25519", "sntrup761", SNTRUP761),
        ("sntrup761", "X25519", X25519),
        ("X25519", "sntrup857", SNTRUP857),
        ("sntrup857", "P-256", P256),
        ("sntrup761", "sntrup857", SNTRUP857),
        ("sntrup857", "sntrup761", SNTRUP761),
        ("sntrup761", "sntrup857", SNTRUP857),
    ] {
        let list = format!("{first}:{second}");
        let meeting = bed.connect((&bed.engine, &["-groups", second]), (&bed.engine, &["-groups", &list]));
        assert_eq!(meeting.group(), expected, "{list}");
        assert_eq!(meeting.said.retry().and_then(|retry| retry.group), Some(expected), "{list}");
        let hellos = meeting.said.client_hellos();
        assert_eq!(hellos.len(), 2, "{list}");
        for hello in hellos {
            let [share] = hello.key_shares.as_deref().unwrap() else { panic!("{list}: not one share") };
            shares.push(share.key_exchange.clone());
        }
    }
    let count = shares.len();
    shares.sort();
    shares.dedup();
    assert_eq!(shares.len(), count, "a key share was sent twice");
}

/// Both sides list sntrup761 and X25519, but the client's only share is for X25519, because it lists that first (W9). Then
/// X25519 keys the connection at once, whatever order the server prefers: an OpenSSL 1.1.1 server takes the client's first
/// share that it can use, and asks for another one only when there is none. So a client that wants sntrup761 lists it first,
/// and a server that insists on it lists nothing else.
#[test]
fn a_share_that_is_there_wins_over_a_preferred_group_without_one() {
    let bed = Bed::new();
    for list in ["sntrup761:X25519", "X25519:sntrup761"] {
        for arguments in [&["-groups", list][..], &["-groups", list, "-serverpref"]] {
            let meeting = bed.connect((&bed.engine, arguments), (&bed.engine, &["-groups", "X25519:sntrup761"]));
            assert_eq!(meeting.said.client_hellos()[0].groups.as_deref(), Some(&[X25519, SNTRUP761][..]));
            assert_eq!(meeting.group(), X25519, "{arguments:?}");
            assert_eq!(meeting.said.retry(), None, "{arguments:?}");
            // The other way round the KEM is used, even by a server that lists X25519 first.
            let meeting = bed.connect((&bed.engine, arguments), (&bed.engine, &["-groups", "sntrup761:X25519"]));
            assert_eq!(meeting.group(), SNTRUP761, "{arguments:?}");
            assert_eq!(meeting.said.retry(), None, "{arguments:?}");
            // Of two shares the first one is used, in the client's order.
            let server = bed.server(&bed.engine, arguments);
            let shares = [(X25519, vec![9; 32]), (SNTRUP761, vec![0x55; 1158])];
            for shares in [shares.to_vec(), shares.iter().rev().cloned().collect()] {
                let hello = Hello { groups: vec![SNTRUP761, X25519], shares: shares.clone(), ..Hello::default() };
                let mut peer = RawPeer::connect(server.address).unwrap();
                peer.send(&hello.records()).unwrap();
                let said = peer.answer().unwrap();
                let group = said.server_hello().and_then(|hello| hello.group);
                assert_eq!(group, Some(shares[0].0), "{arguments:?}");
            }
        }
    }
}

/// A resumed connection (psk_dhe_ke) makes fresh shares on both sides (W10).
#[test]
fn a_resumed_connection_makes_fresh_shares() {
    let bed = Bed::new();
    for kem in KEMS {
        let server = bed.server(&bed.engine, &["-groups", kem.name]);
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let session = bed.path("session.pem").display().to_string();
        let shares = |option: &str| {
            let run = bed.client(&bed.engine, tap.address(), &["-groups", kem.name, option, &session]);
            assert!(run.succeeded(), "{run:?}");
            let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
            let negotiated = said.negotiated().unwrap();
            assert_eq!(
                (negotiated.group, negotiated.client_share, negotiated.server_share),
                (Some(kem.group), Some(kem.public_key), Some(kem.ciphertext))
            );
            let hello = said.client_hellos()[0].clone();
            let server_share = said.server_hello().unwrap().key_exchange.clone().unwrap();
            (hello.share(kem.group).unwrap().to_vec(), server_share, hello.psk_identities, run.end.stdout)
        };
        let first = shares("-sess_out");
        let second = shares("-sess_in");
        assert_eq!((first.2, second.2), (0, 1));
        assert!(first.3.contains("New, TLSv1.3") && second.3.contains("Reused, TLSv1.3"), "{}", second.3);
        assert_ne!(first.0, second.0, "the client's share was used again");
        assert_ne!(first.1, second.1, "the server's share was used again");
    }
}

/// The first group has no engine behind it: the next one is used, or there is a clear failure; never an empty share or an
/// empty list (W11).
#[test]
fn a_group_without_an_engine_is_passed_over_or_named() {
    let bed = Bed::new();
    let server = (&bed.engine, &["-groups", "sntrup761:X25519"][..]);
    let meeting = bed.connect(server, (&bed.bare, &["-groups", "sntrup761:X25519"]));
    assert_eq!(meeting.group(), X25519);
    let hello = meeting.said.client_hellos()[0];
    assert_eq!(hello.groups.as_deref(), Some(&[X25519][..]));
    assert_eq!(hello.share(X25519).map(<[u8]>::len), Some(32));
    // Nothing usable: no hello leaves the client, and it says what is missing.
    for groups in ["sntrup761", "sntrup857:sntrup761"] {
        let meeting = bed.connect(server, (&bed.bare, &["-groups", groups]));
        assert_eq!(meeting.client.end.status.code(), Some(1), "{meeting:?}");
        assert!(meeting.client.end.stderr.contains("no engine provides it"), "{meeting:?}");
        assert!(meeting.said.client_hellos().is_empty(), "{meeting:?}");
    }
    // A server without the engine serves its other group, or refuses and says why.
    let client = (&bed.engine, &["-groups", "sntrup761:X25519"][..]);
    let meeting = bed.connect((&bed.bare, &["-groups", "sntrup761:X25519"]), client);
    assert_eq!(meeting.group(), X25519);
    let meeting = bed.connect((&bed.bare, &["-groups", "sntrup761"]), client);
    assert!(!meeting.client.end.status.success(), "{meeting:?}");
    assert_eq!(meeting.said.server.alert.map(|alert| alert.description), Some(Alert::HANDSHAKE_FAILURE));
    assert!(meeting.server_log.contains("no engine provides it"), "{}", meeting.server_log);
}

/// People see the group's name: in s_client's temp key line and in the trace of the hellos (W12).
#[test]
fn groups_are_shown_to_people_by_name() {
    let bed = Bed::new();
    for (kem, bits) in KEMS.into_iter().zip([8 * 1158, 8 * 1322]) {
        let meeting =
            bed.connect((&bed.engine, &["-groups", kem.name]), (&bed.engine, &["-groups", kem.name, "-trace"]));
        assert_eq!(meeting.group(), kem.group);
        let shown = &meeting.client.end.stdout;
        for expected in [
            format!("Server Temp Key: {}, {bits} bits", kem.name),
            format!("{} ({})", kem.name, kem.group),
            format!("NamedGroup: {} ({})", kem.name, kem.group),
        ] {
            assert!(shown.contains(&expected), "no \"{expected}\" in {shown}");
        }
        assert!(!shown.contains("UNKNOWN"), "{shown}");
    }
}

/// With `default_algorithms = ALL` everything that OpenSSL does by itself goes on: X25519, P-256 and RSA (L10).
#[test]
fn classical_groups_and_rsa_work_beside_the_engine() {
    for kind in [KeyKind::P256, KeyKind::Rsa] {
        let bed = Bed::with_key(kind);
        for (group, code_point) in [("X25519", X25519), ("P-256", P256), ("sntrup761", SNTRUP761)] {
            let both = (&bed.engine, &["-groups", group][..]);
            assert_eq!(bed.connect(both, both).group(), code_point, "{kind:?}");
        }
        for cipher in ["ECDHE", "DHE", "kRSA"] {
            if kind == KeyKind::P256 && cipher != "ECDHE" {
                continue;
            }
            let arguments = &["-tls1_2", "-cipher", cipher, "-groups", "X25519:P-256"];
            let meeting = bed.connect((&bed.engine, &["-cipher", "ALL"]), (&bed.engine, arguments));
            assert!(meeting.client.succeeded(), "{cipher}: {meeting:?}");
        }
        // Keys made, written and read again, signatures made and checked, all with the engine loaded.
        let key = bed.path("fresh.pem").display().to_string();
        let algorithm = match kind {
            KeyKind::P256 => &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"][..],
            KeyKind::Rsa => &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            KeyKind::Ed25519 => &["-algorithm", "Ed25519"],
        };
        let run = |arguments: &[&str]| {
            let end = bed.engine.run(arguments);
            assert!(end.status.success(), "{arguments:?}: {}", end.all());
            end
        };
        run(&[&["genpkey", "-out", &key][..], algorithm].concat());
        let signature = bed.path("signature").display().to_string();
        run(&["dgst", "-sha256", "-sign", &key, "-out", &signature, &key]);
        assert!(
            run(&["dgst", "-sha256", "-prverify", &key, "-signature", &signature, &key]).stdout.contains("Verified OK")
        );
    }
    let bed = Bed::new();
    let end = bed.engine.run(&["genpkey", "-algorithm", "X25519"]);
    assert!(end.status.success(), "{}", end.all());
}
