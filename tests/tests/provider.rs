//! The provider on the system's unmodified OpenSSL 3.0: handshakes between real programs, judged by what is on the wire.

use engntru_tests::bed::{
    Bed, KEMS, Kem, OpenSsl, P256, PATIENCE, PROVIDER_KEMS, SNTRUP761, SNTRUP857, Server, X25519, X25519SNTRUP761,
};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::proc::Process;
use engntru_tests::raw::{Hello, RawPeer, RawServer, ServerReply};
use engntru_tests::tap::{Settings, Tap};
use engntru_tests::wire::{Alert, ClientHello, Conversation, TLS12};

/// A bed, and the system's openssl with the provider.
fn bed() -> (Bed, OpenSsl) {
    let bed = Bed::new();
    let ours = bed.with_provider(&bed.system);
    (bed, ours)
}

/// The first ClientHello that a client sends with these arguments.
fn hello_of(bed: &Bed, server: &OpenSsl, client: &OpenSsl, arguments: &[&str]) -> ClientHello {
    let server = (server, &["-groups", "X25519sntrup761:sntrup761:sntrup857:X25519:P-256"][..]);
    let meeting = bed.connect(server, (client, arguments));
    let hellos = meeting.said.client_hellos();
    (*hellos.first().unwrap_or_else(|| panic!("no hello: {meeting:?}"))).clone()
}

/// Each group keys TLS 1.3 connections under its code point (W4), and a share is nothing but the encoding: 1158 and 1039
/// bytes, 1322 and 1184 bytes, and in the hybrid 32 bytes more (W5).
#[test]
fn each_group_keys_connections_with_shares_of_the_published_sizes() {
    let (bed, ours) = bed();
    for kem in PROVIDER_KEMS {
        let meeting = bed.connect((&ours, &["-groups", kem.name]), (&ours, &["-groups", kem.name]));
        assert_eq!(meeting.group(), kem.group);
        let negotiated = meeting.said.negotiated().unwrap();
        assert_eq!((negotiated.client_share, negotiated.server_share), (Some(kem.public_key), Some(kem.ciphertext)));
        assert!(!negotiated.retried);
    }
}

/// Nothing but openssl.cnf: its `Groups` line decides, for the server and for the client.
#[test]
fn the_groups_line_of_openssl_cnf_serves_programs_without_an_option() {
    let (bed, _) = bed();
    for kem in PROVIDER_KEMS {
        let conf = Conf::provider(&env::provider()).groups(&format!("{}:X25519", kem.name));
        let program = bed.with(&bed.system, "groups.cnf", &conf);
        let meeting = bed.connect((&program, &[]), (&program, &[]));
        assert_eq!(meeting.group(), kem.group);
        assert_eq!(meeting.said.client_hellos()[0].groups.as_deref(), Some(&[kem.group, X25519][..]));
    }
}

/// The engine on the patched 1.1.1w and the provider understand each other, in both roles.
#[test]
fn engine_and_provider_understand_each_other() {
    let (bed, ours) = bed();
    for kem in KEMS {
        let arguments = &["-groups", kem.name][..];
        for (server, client) in [(&bed.engine, &ours), (&ours, &bed.engine)] {
            let meeting = bed.connect((server, arguments), (client, arguments));
            assert_eq!(meeting.group(), kem.group, "{meeting:?}");
        }
    }
}

/// A provider that is loaded but not asked for leaves the ClientHello as it is without it (W1).
#[test]
fn the_hello_of_a_classical_client_is_the_same_with_and_without_the_provider() {
    let (bed, ours) = bed();
    let shape = |hello: ClientHello| {
        let shares: Vec<_> =
            hello.key_shares.iter().flatten().map(|share| (share.group, share.key_exchange.len())).collect();
        let extensions: Vec<_> =
            hello.extensions.iter().map(|extension| (extension.kind, extension.body.len())).collect();
        (hello.length, hello.groups, shares, extensions, hello.cipher_suites)
    };
    for arguments in [&["-groups", "X25519"][..], &["-groups", "P-256:X25519"], &[]] {
        let with = shape(hello_of(&bed, &ours, &ours, arguments));
        let without = shape(hello_of(&bed, &ours, &bed.system, arguments));
        assert_eq!(with, without, "{arguments:?}");
    }
}

/// A server that also lists X25519 serves clients that have never heard of the provider, with TLS 1.3 and 1.2 (W2); one
/// that lists the KEM alone refuses them, and says why.
#[test]
fn clients_without_the_provider_get_x25519_or_a_reason() {
    let (bed, ours) = bed();
    for kem in PROVIDER_KEMS {
        let list = format!("{}:X25519:P-256", kem.name);
        for client in [&bed.system, &bed.bare] {
            let meeting = bed.connect((&ours, &["-groups", &list]), (client, &[]));
            assert_eq!(meeting.group(), X25519, "{meeting:?}");
            let meeting = bed.connect((&ours, &["-groups", &list]), (client, &["-tls1_2"]));
            let negotiated = meeting.said.negotiated().unwrap_or_else(|| panic!("{meeting:?}"));
            assert!(meeting.client.succeeded() && negotiated.version == TLS12, "{meeting:?}");
            assert!(matches!(negotiated.group, Some(X25519 | P256)), "{negotiated}");

            let meeting = bed.connect((&ours, &["-groups", kem.name]), (client, &["-tls1_3"]));
            assert!(!meeting.client.echoed && !meeting.client.end.status.success(), "{meeting:?}");
            let alert = meeting.said.server.alert.map(|alert| (alert.level, alert.description));
            assert_eq!(alert, Some((2, Alert::HANDSHAKE_FAILURE)));
            assert!(meeting.server_log.contains("no suitable key share"), "{}", meeting.server_log);
        }
    }
}

/// With TLS 1.3 switched off a KEM group alone is a failure, never a TLS 1.2 session; with others beside it TLS 1.2 goes on
/// without the KEM, and offers nothing of it (W3).
#[test]
fn without_tls_1_3_a_kem_group_is_not_used() {
    let (bed, ours) = bed();
    for kem in PROVIDER_KEMS {
        let all = format!("{}:X25519:P-256", kem.name);
        let meeting = bed.connect((&ours, &["-groups", &all]), (&ours, &["-groups", kem.name, "-no_tls1_3"]));
        assert!(!meeting.client.echoed, "{meeting:?}");
        let meeting = bed.connect((&ours, &["-groups", &all]), (&ours, &["-groups", &all, "-tls1_2"]));
        let negotiated = meeting.said.negotiated().unwrap_or_else(|| panic!("{meeting:?}"));
        assert_eq!((negotiated.version, negotiated.group), (TLS12, Some(X25519)));
        assert_eq!(meeting.said.client_hellos()[0].groups.as_deref(), Some(&[X25519, P256][..]));
    }
}

/// The client sends a share that the server does not want, and is asked for the other one. No share is sent twice (W8).
#[test]
fn a_retry_leads_from_either_group_to_the_other() {
    let (bed, ours) = bed();
    let mut shares = Vec::new();
    for (first, second, expected) in [
        ("X25519", "sntrup761", SNTRUP761),
        ("sntrup761", "X25519", X25519),
        ("X25519", "X25519sntrup761", X25519SNTRUP761),
        ("X25519sntrup761", "sntrup761", SNTRUP761),
        ("sntrup857", "X25519sntrup761", X25519SNTRUP761),
        ("X25519sntrup761", "P-256", P256),
        ("sntrup761", "sntrup857", SNTRUP857),
    ] {
        let list = format!("{first}:{second}");
        let meeting = bed.connect((&ours, &["-groups", second]), (&ours, &["-groups", &list]));
        assert_eq!(meeting.group(), expected, "{list}");
        assert_eq!(meeting.said.retry().and_then(|retry| retry.group), Some(expected), "{list}");
        for hello in meeting.said.client_hellos() {
            let [share] = hello.key_shares.as_deref().unwrap() else { panic!("{list}: not one share") };
            shares.push(share.key_exchange.clone());
        }
    }
    let count = shares.len();
    shares.sort();
    shares.dedup();
    assert_eq!(shares.len(), count, "a key share was sent twice");
}

/// A resumed connection (psk_dhe_ke) makes fresh shares on both sides (W10).
#[test]
fn a_resumed_connection_makes_fresh_shares() {
    let (bed, ours) = bed();
    for kem in PROVIDER_KEMS {
        let server = bed.server(&ours, &["-groups", kem.name]);
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        let session = bed.path("session.pem").display().to_string();
        let shares = |option: &str| {
            let run = bed.client(&ours, tap.address(), &["-groups", kem.name, option, &session]);
            assert!(run.succeeded(), "{run:?}");
            let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
            assert_eq!(said.negotiated().unwrap().group, Some(kem.group));
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

/// OpenSSL's security levels count sntrup761 and the hybrid as 128 bits, sntrup857 as 192: level 4 leaves that one only.
#[test]
fn security_levels_admit_the_groups_by_their_strength() {
    let (bed, ours) = bed();
    let list = "X25519sntrup761:sntrup761:sntrup857";
    for (level, expected) in [
        (1, vec![X25519SNTRUP761, SNTRUP761, SNTRUP857]),
        (3, vec![X25519SNTRUP761, SNTRUP761, SNTRUP857]),
        (4, vec![SNTRUP857]),
    ] {
        let cipher = format!("ALL:@SECLEVEL={level}");
        let hello = hello_of(&bed, &ours, &ours, &["-groups", list, "-cipher", &cipher]);
        assert_eq!(hello.groups, Some(expected), "level {level}");
    }
}

/// Each code point can be set in openssl.cnf, so that peers with other private numbers are reached; peers must agree.
#[test]
fn code_points_are_what_openssl_cnf_says() {
    let (bed, ours) = bed();
    let conf = Conf::provider(&env::provider())
        .setting("TLS_GROUP_ID_SNTRUP761 = 0x0233")
        .setting("TLS_GROUP_ID_X25519SNTRUP761 = 12211")
        .setting("TLS_GROUP_ID_SNTRUP857 = none");
    let other = bed.with(&bed.system, "numbers.cnf", &conf);
    for (name, number) in [("sntrup761", 0x0233), ("X25519sntrup761", 0x2FB3)] {
        let both = (&other, &["-groups", name][..]);
        assert_eq!(bed.connect(both, both).group(), number);
        let meeting = bed.connect((&ours, &["-groups", name]), both);
        assert_eq!(meeting.said.server.alert.map(|alert| alert.description), Some(Alert::HANDSHAKE_FAILURE));
    }
    let meeting = bed.connect((&ours, &[]), (&other, &["-groups", "sntrup857"]));
    assert!(!meeting.client.end.status.success() && meeting.said.client_hellos().is_empty(), "{meeting:?}");
}

/// The provider named twice in openssl.cnf serves as one does. Without the default provider libssl has no ciphers, and with
/// a wrong path there is no group: both are errors that say so, and nothing is sent.
#[test]
fn loaded_twice_or_alone_or_not_at_all() {
    let (bed, ours) = bed();
    let text = Conf::provider(&env::provider()).to_string();
    let write = |name: &str, text: String| {
        let path = bed.path(name);
        std::fs::write(&path, text).unwrap();
        bed.system.with_conf(path)
    };
    let twice =
        write("twice.cnf", text.replace("ntruprime = ntruprime\n", "ntruprime = ntruprime\nagain = ntruprime\n"));
    for kem in PROVIDER_KEMS {
        for (server, client) in [(&twice, &ours), (&ours, &twice)] {
            let arguments = &["-groups", kem.name][..];
            assert_eq!(bed.connect((server, arguments), (client, arguments)).group(), kem.group);
        }
    }
    let alone = write("alone.cnf", text.replace("default = default_provider\n", ""));
    let missing = bed.with(&bed.system, "missing.cnf", &Conf::provider(&bed.path("nowhere.so")));
    for (client, reason) in [(&alone, "no ciphers"), (&missing, "sntrup761")] {
        let meeting = bed.connect((&ours, &["-groups", "sntrup761:X25519"]), (client, &["-groups", "sntrup761"]));
        assert_eq!(meeting.client.end.status.code(), Some(1), "{meeting:?}");
        assert!(meeting.client.end.stderr.contains(reason), "{meeting:?}");
        assert!(meeting.said.client_hellos().is_empty(), "{meeting:?}");
    }
}

/// Sends a hello to a server and gives what it answers.
fn answer_to(server: &Server, kem: Kem, share: Vec<u8>) -> Conversation {
    let hello = Hello { groups: vec![kem.group], shares: vec![(kem.group, share)], ..Hello::default() };
    let mut peer = RawPeer::connect(server.address).unwrap();
    peer.send(&hello.records()).unwrap();
    peer.answer().unwrap()
}

/// Client shares of a wrong size, and in the hybrid X25519 shares of small order, end the connection with a fatal alert; any
/// bytes of the right size are a key of sntrup. The next connection works (W6).
#[test]
fn malformed_client_shares_are_refused() {
    let (bed, ours) = bed();
    for kem in PROVIDER_KEMS {
        let mut server = bed.server(&ours, &["-groups", kem.name]);
        let right = kem.public_key;
        for length in [0, 1, 32, kem.ciphertext, right - 1, right + 1, right + 32, 2 * right, 65_000] {
            let said = answer_to(&server, kem, (0..length).map(|index| (index * 37 + 9) as u8 & 0x7f).collect());
            let alert = said.server.alert.filter(|alert| alert.level == 2).map(|alert| alert.description);
            assert!(alert.is_some() && said.server.messages.is_empty(), "{} with {length} bytes: {said:?}", kem.name);
        }
        for byte in [0x55, 0xff] {
            let said = answer_to(&server, kem, vec![byte; right]);
            let reply = said.server_hello().unwrap_or_else(|| panic!("{said:?} {}", server.log()));
            assert_eq!(reply.key_exchange.as_ref().map(Vec::len), Some(kem.ciphertext));
        }
        let zeros = answer_to(&server, kem, vec![0; right]);
        if kem.group == X25519SNTRUP761 {
            assert!(zeros.server_hello().is_none() && zeros.server.alert.is_some(), "{zeros:?}");
            assert!(server.logs("small order"), "{}", server.log());
        } else {
            assert!(zeros.server_hello().is_some(), "{zeros:?}");
        }
        let run = bed.client(&ours, server.address, &["-groups", kem.name]);
        assert!(run.succeeded() && server.is_running(), "{run:?} {}", server.log());
    }
}

/// Server shares of a wrong size, and in the hybrid X25519 shares of small order, make the client give up with a fatal alert,
/// and nothing worse (W6).
#[test]
fn malformed_server_shares_are_refused() {
    let (_bed, ours) = bed();
    let server = RawServer::new().unwrap();
    for kem in PROVIDER_KEMS {
        let right = kem.ciphertext;
        let mut shares: Vec<Vec<u8>> = [0, 1, 32, right - 1, right + 1, right + 32, kem.public_key, 15_000]
            .map(|length| (0..length).map(|index| (index * 37 + 9) as u8 & 0x7f).collect())
            .into();
        if kem.group == X25519SNTRUP761 {
            shares.push(vec![0; right]);
        }
        for share in shares {
            let what = format!("{} with {} bytes", kem.name, share.len());
            let address = server.address().unwrap().to_string();
            let command = ours.command(&["s_client", "-connect", &address, "-groups", kem.name]);
            let client = Process::start(command).unwrap();
            let (mut peer, said) = server.accept(PATIENCE).unwrap().expect("a client");
            let session_id = said.client_hellos()[0].session_id.clone();
            let reply = ServerReply { session_id, share: Some((kem.group, share)), ..ServerReply::default() };
            peer.send(&reply.records()).unwrap();
            let alert = peer.answer().unwrap().client.alert;
            assert!(alert.is_some_and(|alert| alert.level == 2), "{what}: {alert:?}");
            drop(peer);
            let end = client.finish(PATIENCE).unwrap();
            assert_eq!(end.status.code(), Some(1), "{what}: {end:?}");
        }
    }
}
