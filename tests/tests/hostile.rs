//! Peers that send what no honest peer would: raw hellos against real programs.

use engntru_tests::bed::{Bed, KEMS, Kem, P256, PATIENCE, SNTRUP761, SNTRUP857, Server, X25519};
use engntru_tests::proc::{Finished, Process};
use engntru_tests::raw::{Hello, RawPeer, RawServer, ServerReply};
use engntru_tests::wire::{Alert, ClientHello, Conversation, HANDSHAKE, TLS13, to_records};

/// A key share that is well-formed for any of the groups: a point on X25519, or the encoding of some public key.
fn share(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 37 + 9) as u8 & 0x7f).collect()
}

/// Sends a hello to a server and gives what it answers.
fn answer_to(server: &Server, hello: &Hello) -> Conversation {
    let mut peer = RawPeer::connect(server.address).unwrap();
    peer.send(&hello.records()).unwrap();
    peer.answer().unwrap()
}

/// The fatal alert with which a side ended the connection.
fn fatal(alert: Option<Alert>, what: &str) -> u8 {
    match alert {
        Some(Alert { level: 2, description }) => description,
        other => panic!("{what}: no fatal alert but {other:?}"),
    }
}

/// The server still serves an honest client.
fn still_serves(bed: &Bed, server: &mut Server, kem: Kem, after: &str) {
    let run = bed.client(&bed.engine, server.address, &["-groups", kem.name]);
    assert!(run.succeeded() && server.is_running(), "after {after}: {run:?} {}", server.log());
}

/// Client shares of a wrong size end the connection with illegal_parameter or decode_error, and the next connection works (W6).
#[test]
fn client_shares_of_a_wrong_size_are_refused() {
    let bed = Bed::new();
    for kem in KEMS {
        let mut server = bed.server(&bed.engine, &["-groups", kem.name]);
        let right = kem.public_key;
        for length in [0, 1, 32, kem.ciphertext, right - 1, right + 1, 2 * right, 65_000] {
            let what = format!("{} with {length} bytes", kem.name);
            let hello = Hello { groups: vec![kem.group], shares: vec![(kem.group, share(length))], ..Hello::default() };
            let said = answer_to(&server, &hello);
            let alert = fatal(said.server.alert, &what);
            assert!([Alert::ILLEGAL_PARAMETER, Alert::DECODE_ERROR].contains(&alert), "{what}: alert {alert}");
            assert!(said.server.messages.is_empty(), "{what}: {said:?}");
            still_serves(&bed, &mut server, kem, &what);
        }
    }
}

/// A share of the other set's size under this set's code point is one of a wrong size.
#[test]
fn the_other_sets_share_under_this_sets_code_point_is_refused() {
    let bed = Bed::new();
    let mut server = bed.server(&bed.engine, &["-groups", "sntrup761:sntrup857"]);
    for (group, length) in [(SNTRUP857, 1158), (SNTRUP761, 1322)] {
        let hello = Hello { groups: vec![group], shares: vec![(group, share(length))], ..Hello::default() };
        let alert = fatal(answer_to(&server, &hello).server.alert, "a foreign share");
        assert!([Alert::ILLEGAL_PARAMETER, Alert::DECODE_ERROR].contains(&alert), "alert {alert}");
    }
    still_serves(&bed, &mut server, KEMS[1], "foreign shares");
}

/// Any bytes of the right length are a public key: the encoding has no holes that the specification tells to refuse. The
/// server answers with a ciphertext, also to 1158 bytes of 0xFF (W6).
#[test]
fn any_bytes_of_the_right_length_are_a_public_key() {
    let bed = Bed::new();
    for kem in KEMS {
        let mut server = bed.server(&bed.engine, &["-groups", kem.name]);
        for bytes in [vec![0xff; kem.public_key], vec![0; kem.public_key], share(kem.public_key)] {
            let hello = Hello { groups: vec![kem.group], shares: vec![(kem.group, bytes)], ..Hello::default() };
            let said = answer_to(&server, &hello);
            let reply = said.server_hello().unwrap_or_else(|| panic!("{said:?} {}", server.log()));
            assert_eq!((reply.version, reply.group), (TLS13, Some(kem.group)));
            assert_eq!(reply.key_exchange.as_ref().map(Vec::len), Some(kem.ciphertext));
        }
        still_serves(&bed, &mut server, kem, "odd keys");
    }
}

/// Starts s_client with the engine towards a raw server and gives its first hello and the means to answer.
fn client_towards(bed: &Bed, server: &RawServer, groups: &str) -> (Process, RawPeer, ClientHello) {
    let address = server.address().unwrap().to_string();
    let client = Process::start(bed.engine.command(&["s_client", "-connect", &address, "-groups", groups])).unwrap();
    let (peer, said) = server.accept(PATIENCE).unwrap().expect("a client");
    let hello = said.client_hellos()[0].clone();
    (client, peer, hello)
}

/// How the client ended. It waits half a second for a peer that keeps the line open, so ours hangs up first.
fn ended(client: Process, peer: RawPeer) -> Finished {
    drop(peer);
    client.finish(PATIENCE).unwrap()
}

/// Server shares of a wrong size make the client give up with illegal_parameter or decode_error, and nothing worse (W6).
#[test]
fn server_shares_of_a_wrong_size_are_refused() {
    let bed = Bed::new();
    let server = RawServer::new().unwrap();
    for kem in KEMS {
        let right = kem.ciphertext;
        for length in [0, 1, 32, right - 1, right + 1, 2 * right, kem.public_key, 15_000] {
            let what = format!("{} with {length} bytes", kem.name);
            let (client, mut peer, hello) = client_towards(&bed, &server, kem.name);
            let reply = ServerReply {
                session_id: hello.session_id,
                share: Some((kem.group, share(length))),
                ..ServerReply::default()
            };
            peer.send(&reply.records()).unwrap();
            let alert = fatal(peer.answer().unwrap().client.alert, &what);
            assert!([Alert::ILLEGAL_PARAMETER, Alert::DECODE_ERROR].contains(&alert), "{what}: alert {alert}");
            let end = ended(client, peer);
            assert_eq!(end.status.code(), Some(1), "{what}: {end:?}");
        }
    }
}

/// A server share for a group that the client sent no share for is refused, KEM or not.
#[test]
fn a_server_share_for_another_group_is_refused() {
    let bed = Bed::new();
    let server = RawServer::new().unwrap();
    for (list, group, length) in [
        ("sntrup761:sntrup857", SNTRUP857, 1184),
        ("sntrup761:X25519", X25519, 32),
        ("X25519:sntrup761", SNTRUP761, 1039),
        ("sntrup761", 0xFEB3, 1039),
    ] {
        let (client, mut peer, hello) = client_towards(&bed, &server, list);
        let session_id = hello.session_id;
        let reply = ServerReply { session_id, share: Some((group, share(length))), ..ServerReply::default() };
        peer.send(&reply.records()).unwrap();
        assert_eq!(fatal(peer.answer().unwrap().client.alert, list), Alert::ILLEGAL_PARAMETER, "{list}");
        assert_eq!(ended(client, peer).status.code(), Some(1));
    }
}

/// A ciphertext of the right length that belongs to nobody: decapsulation gives a secret all the same (implicit rejection),
/// and the connection ends where the two sides' keys differ, with bad_record_mac rather than a sign of what was wrong.
#[test]
fn a_wrong_ciphertext_is_not_told_apart_before_the_keys_differ() {
    let bed = Bed::new();
    let server = RawServer::new().unwrap();
    for kem in KEMS {
        for bytes in [vec![0xff; kem.ciphertext], vec![0; kem.ciphertext], share(kem.ciphertext)] {
            let (client, mut peer, hello) = client_towards(&bed, &server, kem.name);
            let reply =
                ServerReply { session_id: hello.session_id, share: Some((kem.group, bytes)), ..ServerReply::default() };
            peer.send(&reply.records()).unwrap();
            // An encrypted record that no key of the client's opens.
            peer.send(&to_records(23, 0x0303, &share(60))).unwrap();
            let end = ended(client, peer);
            assert_eq!(end.status.code(), Some(1), "{end:?}");
            assert!(end.stderr.contains("decryption failed or bad record mac"), "{end:?}");
            assert!(!end.stderr.contains("engntru"), "{end:?}");
        }
    }
}

/// After a HelloRetryRequest the second hello is held to it: the wrong group, two shares, the asked-for group with the other
/// set's length, no share, or no key_share at all end the connection with a fatal alert (W8).
#[test]
fn a_second_hello_that_is_wrong_is_refused() {
    let bed = Bed::new();
    for kem in KEMS {
        let other = if kem.group == SNTRUP761 { KEMS[1] } else { KEMS[0] };
        let mut server = bed.server(&bed.engine, &["-groups", kem.name]);
        let good = (kem.group, share(kem.public_key));
        let second_hellos = [
            ("the wrong group again", vec![(X25519, share(32))], true),
            ("another wrong group", vec![(P256, share(65))], true),
            ("the other KEM", vec![(other.group, share(other.public_key))], true),
            ("the other KEM's length", vec![(kem.group, share(other.public_key))], true),
            ("two shares", vec![good.clone(), (X25519, share(32))], true),
            ("two shares, the right one last", vec![(X25519, share(32)), good.clone()], true),
            ("the right share twice", vec![good.clone(), good.clone()], true),
            ("no share", vec![], true),
            ("no key_share extension", vec![], false),
        ];
        for (what, shares, with_key_share) in second_hellos {
            let groups = vec![X25519, kem.group, other.group, P256];
            let first = Hello { groups: groups.clone(), shares: vec![(X25519, share(32))], ..Hello::default() };
            let mut peer = RawPeer::connect(server.address).unwrap();
            peer.send(&first.records()).unwrap();
            let said = peer.read_until(|said| said.retry().is_some() || said.server.alert.is_some()).unwrap();
            assert_eq!(said.retry().and_then(|retry| retry.group), Some(kem.group), "{what}: {said:?}");
            let second = Hello { groups, shares, with_key_share, ..Hello::default() };
            peer.send(&second.records()).unwrap();
            let said = peer.answer().unwrap();
            let alert = fatal(said.server.alert, what);
            let expected =
                [Alert::ILLEGAL_PARAMETER, Alert::DECODE_ERROR, Alert::HANDSHAKE_FAILURE, Alert::MISSING_EXTENSION];
            assert!(expected.contains(&alert), "{what}: alert {alert}");
            assert_eq!(said.server_hello(), None, "{what}");
        }
        still_serves(&bed, &mut server, kem, "malformed second hellos");
        // The same way with a right second hello leads on: what was refused above was refused for its fault.
        let mut peer = RawPeer::connect(server.address).unwrap();
        let groups = vec![X25519, kem.group];
        let first = Hello { groups: groups.clone(), shares: vec![(X25519, share(32))], ..Hello::default() };
        peer.send(&first.records()).unwrap();
        peer.read_until(|said| said.retry().is_some()).unwrap();
        peer.send(&Hello { groups, shares: vec![good], ..Hello::default() }.records()).unwrap();
        let said = peer.answer().unwrap();
        assert_eq!(said.server_hello().and_then(|hello| hello.group), Some(kem.group), "{said:?}");
    }
}

/// A server's HelloRetryRequest is held to the rules as well: one that asks for a group whose share was already sent, or that
/// was never offered, is refused; one for another KEM is answered with that KEM's share.
#[test]
fn a_retry_request_that_is_wrong_is_refused_by_the_client() {
    let bed = Bed::new();
    let server = RawServer::new().unwrap();
    for (list, asked) in
        [("sntrup761:X25519", SNTRUP761), ("sntrup761", SNTRUP857), ("X25519", SNTRUP761), ("sntrup761", 0)]
    {
        let (client, mut peer, hello) = client_towards(&bed, &server, list);
        let session_id = hello.session_id;
        peer.send(&ServerReply { session_id, retry_for: Some(asked), ..ServerReply::default() }.records()).unwrap();
        let said = peer.answer().unwrap();
        assert_eq!(fatal(said.client.alert, list), Alert::ILLEGAL_PARAMETER, "{list} asked for {asked:#06x}");
        assert_eq!(said.client_hellos().len(), 1, "{list}");
        assert_eq!(ended(client, peer).status.code(), Some(1));
    }
    let (client, mut peer, hello) = client_towards(&bed, &server, "sntrup761:sntrup857");
    let retry =
        ServerReply { session_id: hello.session_id.clone(), retry_for: Some(SNTRUP857), ..ServerReply::default() };
    peer.send(&retry.records()).unwrap();
    let said = peer.read_until(|said| said.client_hellos().len() == 2 || said.client.alert.is_some()).unwrap();
    let hellos = said.client_hellos();
    assert_eq!(hellos.len(), 2, "{said:?}");
    let [second] = hellos[1].key_shares.as_deref().unwrap() else { panic!("{:?}", hellos[1]) };
    assert_eq!((second.group, second.key_exchange.len()), (SNTRUP857, 1322));
    // After one retry there is no second one.
    peer.send(&retry.records()).unwrap();
    let alert = fatal(peer.read_until(|said| said.client.alert.is_some()).unwrap().client.alert, "a second retry");
    assert_eq!(alert, 10, "unexpected_message");
    assert_eq!(ended(client, peer).status.code(), Some(1));
}

/// A ClientHello cut off anywhere, or with a length field turned around, leaves the server standing.
#[test]
fn damaged_hellos_leave_the_server_standing() {
    let bed = Bed::new();
    let kem = KEMS[0];
    let mut server = bed.server(&bed.engine, &["-groups", kem.name]);
    let hello = Hello { groups: vec![kem.group], shares: vec![(kem.group, share(kem.public_key))], ..Hello::default() };
    let records = hello.records();
    for cut in [1, 4, 5, 6, 43, 100, 600, records.len() - 1] {
        RawPeer::connect(server.address).unwrap().send(&records[..cut]).unwrap();
    }
    let message = hello.message();
    let mut refused = 0;
    for at in (1..4).chain(70..170) {
        let mut changed = message.clone();
        changed[at] ^= 0xff;
        let mut peer = RawPeer::connect(server.address).unwrap();
        peer.send(&to_records(HANDSHAKE, 0x0301, &changed)).unwrap();
        // Some lengths leave the server waiting for more; then it is we who hang up.
        if at >= 4 {
            let said = peer.answer().unwrap();
            refused += usize::from(said.server.alert.is_some());
        }
    }
    assert!(refused > 20, "only {refused} damaged hellos were refused");
    still_serves(&bed, &mut server, kem, "damaged hellos");
}
