//! Thousands of damaged hellos against real programs: the right alert, no crash, and the next connection is served.
//!
//! ENGNTRU_MUTATIONS is how many of each kind are sent, 400 if it is not set; `scripts/test --long` sets it, and lets the programs
//! be those of an OpenSSL under AddressSanitizer, which ends at the first invalid access.

use std::collections::BTreeMap;

use engntru_tests::bed::{Bed, KEMS, Kem, PATIENCE, Server, X25519};
use engntru_tests::mutate::{Mutator, mend_length};
use engntru_tests::proc::Process;
use engntru_tests::raw::{Hello, RawPeer, RawServer, ServerReply};
use engntru_tests::wire::{Alert, Conversation, HANDSHAKE, Message, Spoken, TLS12, to_records};

fn mutations() -> u64 {
    match std::env::var("ENGNTRU_MUTATIONS") {
        Ok(count) => count.parse().expect("ENGNTRU_MUTATIONS is a number"),
        Err(_) => 400,
    }
}

/// Alerts with which a hello may be refused (RFC 8446, section 6.2): unexpected_message, record_overflow, handshake_failure,
/// illegal_parameter, decode_error, decrypt_error, protocol_version, inappropriate_fallback, missing_extension,
/// unsupported_extension, unrecognized_name. internal_error is not among them: it would be our fault and not the peer's.
const REFUSALS: [u8; 11] = [10, 22, 40, 47, 50, 51, 70, 86, 109, 110, 112];

fn share(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index * 37 + 9) as u8 & 0x7f).collect()
}

/// What came of the hellos: how often which alert, or none.
type Outcomes = BTreeMap<Option<u8>, usize>;

fn check_alert(alert: Option<Alert>, outcomes: &mut Outcomes, what: &str) {
    if let Some(alert) = alert {
        // close_notify is what a program says that gives up after the peer has gone.
        let allowed = alert.level == 2 && REFUSALS.contains(&alert.description)
            || (alert.level, alert.description) == (1, Alert::CLOSE_NOTIFY);
        assert!(allowed, "{what}: {alert:?}");
    }
    *outcomes.entry(alert.map(|alert| alert.description)).or_default() += 1;
}

/// An honest client is served.
fn still_serves(bed: &Bed, server: &mut Server, kem: Kem, after: &str) {
    let run = bed.client(&bed.engine, server.address, &["-groups", kem.name]);
    assert!(run.succeeded() && server.is_running(), "after {after}: {run:?} {}", server.log());
}

/// Damaged ClientHellos, first ones and second ones after a HelloRetryRequest, to a server of both KEM groups.
#[test]
fn damaged_client_hellos_are_refused_or_answered_rightly() {
    let bed = Bed::new();
    let mut server = bed.server(&bed.engine, &["-groups", "sntrup761:sntrup857"]);
    let (mut outcomes, mut answered, mut second) = (Outcomes::new(), 0, 0);
    for seed in 0..mutations() {
        let kem = KEMS[seed as usize % 2];
        let mut mutator = Mutator::new(seed);
        let retry = mutator.below(4) == 0;
        // server_name, psk_key_exchange_modes, status_request, ALPN.
        let extra = vec![
            (0, [&[0, 12, 0, 0, 9][..], b"localhost"].concat()),
            (45, vec![1, 1]),
            (5, vec![1, 0, 0, 0, 0]),
            (16, vec![0, 3, 2, b'h', b'2']),
        ];
        let groups = vec![X25519, kem.group];
        let first = Hello { groups: groups.clone(), shares: vec![(X25519, share(32))], ..Hello::default() };
        let length = mutator.length(kem.public_key);
        let hello = Hello { groups, shares: vec![(kem.group, share(length))], extra, ..Hello::default() };
        let mut message = hello.message();
        if length == kem.public_key || mutator.below(2) == 0 {
            mutator.damage(&mut message);
        }
        if mutator.below(4) != 0 {
            mend_length(&mut message);
        }
        let mut records = to_records(HANDSHAKE, 0x0301, &message);
        if mutator.below(8) == 0 {
            mutator.damage(&mut records);
        }
        let what = format!("seed {seed}");
        let mut peer = RawPeer::connect(server.address).unwrap();
        if retry {
            peer.send(&first.records()).unwrap();
            let said = peer.read_until(|said| said.retry().is_some() || said.server.alert.is_some()).unwrap();
            assert_eq!(said.retry().and_then(|retry| retry.group), Some(kem.group), "{what}: {said:?}");
            second += 1;
        }
        // The server may have refused and gone before all was sent.
        let _ = peer.send(&records).and_then(|()| peer.end());
        let said = match peer.answer() {
            Ok(said) => said,
            // OpenSSL refuses a version that it does not know in a record of that version, which is no TLS for us.
            Err(_) => {
                let [.., 21, _, _, 0, 2, level, description] = *peer.received() else {
                    panic!("{what}: {:02x?}", peer.received());
                };
                assert_eq!((level, description), (2, Alert::PROTOCOL_VERSION), "{what}");
                Conversation {
                    server: Spoken { alert: Some(Alert { level, description }), ..Spoken::default() },
                    ..Conversation::default()
                }
            }
        };
        check_alert(said.server.alert, &mut outcomes, &what);
        if let Some(reply) = said.server_hello()
            && let Some(chosen) = KEMS.into_iter().find(|kem| reply.group == Some(kem.group))
        {
            answered += 1;
            assert_eq!(reply.key_exchange.as_ref().map(Vec::len), Some(chosen.ciphertext), "{what}");
            // Where we can read what the server read, it answered a share that is there and whole. It reads more than we do:
            // trailing or unknown things that are of no concern to it.
            if let Some(Message::ClientHello(sent)) = message.get(4..).and_then(|body| Message::read(1, body).ok())
                && records == to_records(HANDSHAKE, 0x0301, &message)
            {
                assert_eq!(sent.share(chosen.group).map(<[u8]>::len), Some(chosen.public_key), "{what}");
            }
        }
        assert!(server.is_running(), "{what}: {}", server.log());
        if seed % 100 == 99 {
            still_serves(&bed, &mut server, kem, &what);
        }
    }
    println!("server: {outcomes:?}, answered {answered}, second hellos {second}");
    let refused: usize = outcomes.iter().filter_map(|(alert, count)| alert.map(|_| count)).sum();
    let all = mutations() as usize;
    assert!(refused > all / 4 && answered > all / 20 && second > all / 10, "{outcomes:?}, {answered}, {second}");
    still_serves(&bed, &mut server, KEMS[0], "all of them");
}

/// Damaged ServerHellos and HelloRetryRequests to clients of either KEM group.
#[test]
fn damaged_server_hellos_are_refused() {
    let bed = Bed::new();
    let server = RawServer::new().unwrap();
    let address = server.address().unwrap().to_string();
    let mut outcomes = Outcomes::new();
    for seed in 0..mutations() {
        let kem = KEMS[seed as usize % 2];
        let other = KEMS[(seed as usize + 1) % 2];
        let groups = format!("{}:{}", kem.name, other.name);
        let client = bed.engine.command(&["s_client", "-connect", &address, "-groups", &groups]);
        let client = Process::start(client).unwrap();
        let (mut peer, said) = server.accept(PATIENCE).unwrap().expect("a client");
        let session_id = said.client_hellos()[0].session_id.clone();
        let mut mutator = Mutator::new(seed);
        let reply = if mutator.below(4) == 0 {
            ServerReply { session_id, retry_for: Some(other.group), ..ServerReply::default() }
        } else {
            let length = mutator.length(kem.ciphertext);
            ServerReply { session_id, share: Some((kem.group, share(length))), ..ServerReply::default() }
        };
        let mut message = reply.message();
        mutator.damage(&mut message);
        if mutator.below(4) != 0 {
            mend_length(&mut message);
        }
        let mut records = to_records(HANDSHAKE, TLS12, &message);
        if mutator.below(8) == 0 {
            mutator.damage(&mut records);
        }
        let what = format!("seed {seed}");
        let _ = peer.send(&records).and_then(|()| peer.end());
        let said = peer.read_until(|said| said.client.alert.is_some() || said.client.encrypted).unwrap();
        check_alert(said.client.alert, &mut outcomes, &what);
        drop(peer);
        let end = client.finish(PATIENCE).unwrap();
        assert_eq!(end.status.code(), Some(1), "{what}: {end:?}");
        assert!(!end.all().contains("AddressSanitizer"), "{what}: {end:?}");
    }
    println!("client: {outcomes:?}");
    let refused: usize = outcomes.iter().filter_map(|(alert, count)| alert.map(|_| count)).sum();
    assert!(refused > mutations() as usize / 4, "{outcomes:?}");
}
