//! What an application sees that links libssl, knows nothing of the engine, and gets it from openssl.cnf (program tls-app).

use engntru_tests::bed::{Bed, KEMS, SNTRUP761, X25519, isolate};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::proc::{self, Finished};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(180);

/// Runs tls-app under a configuration.
fn app(bed: &Bed, conf: Option<&Path>, arguments: &[&str]) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tls-app"));
    isolate(&mut command, conf);
    command.env("LD_LIBRARY_PATH", env::openssl().join("lib"));
    command.arg(&bed.certificate.certificate).arg(&bed.certificate.key).args(arguments);
    proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"))
}

/// As [`app`], under the engine's configuration with these lines added, for a run that has to end well; its lines.
fn app_lines(bed: &Bed, lines: &[&str], groups: Option<&str>, arguments: &[&str]) -> Vec<String> {
    let mut conf = Conf::engine(&env::engine());
    for line in lines {
        conf = conf.command(line);
    }
    if let Some(groups) = groups {
        conf = conf.groups(groups);
    }
    let file = conf.write(bed.path("app.cnf")).unwrap();
    let end = app(bed, Some(&file), arguments);
    assert!(end.status.success(), "{arguments:?}: {}", end.all());
    assert_eq!(end.stderr, "", "{arguments:?}");
    end.stdout.lines().map(str::to_owned).collect()
}

/// One line of tls-app: the group, and the beginnings of both shares and of the exported secret.
struct Connection {
    group: u16,
    client_share: String,
    server_share: String,
    secret: String,
}

fn connection(line: &str) -> Connection {
    let fields: Vec<&str> = line.split(' ').collect();
    let [group, client_share, server_share, secret] = fields.as_slice() else { panic!("not a connection: {line}") };
    let own = |text: &str| {
        assert_eq!(text.len(), 32, "{line}");
        text.to_owned()
    };
    Connection {
        group: u16::from_str_radix(group, 16).unwrap(),
        client_share: own(client_share),
        server_share: own(server_share),
        secret: own(secret),
    }
}

/// All lines are connections over this group, and no share and no secret is seen twice.
fn all_distinct(lines: &[String], group: u16, count: usize) {
    let connections: Vec<Connection> = lines.iter().map(|line| connection(line)).collect();
    assert_eq!(connections.len(), count);
    assert!(connections.iter().all(|connection| connection.group == group));
    let distinct = |field: fn(&Connection) -> &String| connections.iter().map(field).collect::<HashSet<_>>().len();
    assert_eq!(distinct(|connection| &connection.client_share), count, "a client's share was used twice");
    assert_eq!(distinct(|connection| &connection.server_share), count, "a server's share was used twice");
    assert_eq!(distinct(|connection| &connection.secret), count, "a secret came out twice");
}

/// The configuration is enough for any program: with the group list in it, and with the program's own list.
#[test]
fn an_application_gets_the_engine_from_the_configuration_alone() {
    let bed = Bed::new();
    for kem in KEMS {
        all_distinct(&app_lines(&bed, &[], None, &["handshakes", kem.name, "3"]), kem.group, 3);
        all_distinct(&app_lines(&bed, &[], Some(kem.name), &["handshakes", "-", "3"]), kem.group, 3);
    }
    // `init` instead of default_algorithms suffices for the openssl tool, which registers every engine, but for no other.
    let mut conf = Conf::engine(&env::engine());
    conf.engine[2] = "init = 1".to_owned();
    let end = app(&bed, Some(&conf.write(bed.path("init.cnf")).unwrap()), &["handshakes", "sntrup761", "1"]);
    assert!(!end.status.success() && end.stderr.contains("no engine provides it"), "{}", end.all());
}

/// The error queue is empty after the load, after every handshake (with and without a refill of the stock) and every read that
/// would block, which is therefore never taken for a failure (L6).
#[test]
fn the_error_queue_stays_empty() {
    let bed = Bed::new();
    for kem in KEMS {
        // tls-app itself looks into the queue at every step, and fails when it finds something.
        for batch in ["BATCH_SIZE = 1", "BATCH_SIZE = 3", "BATCH_SIZE = 32"] {
            let lines = app_lines(&bed, &[batch], None, &["handshakes", kem.name, "8"]);
            all_distinct(&lines, kem.group, 8);
        }
    }
    all_distinct(&app_lines(&bed, &[], None, &["handshakes", "X25519", "3"]), X25519, 3);
}

/// A flipped bit in the server's share leads to keys that differ, and to the record layer's error alone: the engine adds none of
/// its own, which would tell the faults apart, and leaves nothing behind for the next connection (L6).
#[test]
fn a_changed_ciphertext_fails_in_the_record_layer_only() {
    let bed = Bed::new();
    for kem in KEMS {
        let lines = app_lines(&bed, &[], None, &["tampered", kem.name]);
        let [refused, good] = lines.as_slice() else { panic!("{lines:?}") };
        assert!(refused.starts_with("refused: client:") && refused.contains("bad record mac"), "{refused}");
        assert!(!refused.to_lowercase().contains("engntru"), "{refused}");
        assert_eq!(connection(good).group, kem.group);
    }
}

/// Children that are forked after the stock was filled, and their children, use none of the parent's keys: 17 processes with 64
/// connections each, and all shares and secrets differ (P1).
#[test]
fn forked_children_never_share_a_key() {
    let bed = Bed::new();
    for kem in KEMS {
        let lines = app_lines(&bed, &[], None, &["fork", kem.name, "8", "64"]);
        all_distinct(&lines, kem.group, 1 + 17 * 64);
    }
}

/// 64 threads behind a barrier make the first call of all, the loading of the engine included (P4).
#[test]
fn sixty_four_threads_may_come_first() {
    let bed = Bed::new();
    for kem in KEMS {
        for batch in ["BATCH_SIZE = 1", "BATCH_SIZE = 32"] {
            let lines = app_lines(&bed, &[batch], None, &["threads", kem.name, "64"]);
            all_distinct(&lines, kem.group, 64);
        }
    }
}

/// An SSL_CTX that was made before the engine was loaded: until then the next group in its list is used, afterwards the KEM;
/// with nothing else in the list there is a clear failure (W11).
#[test]
fn an_engine_that_is_loaded_late_is_used_from_then_on() {
    let bed = Bed::new();
    let engine = env::engine().display().to_string();
    let end = app(&bed, None, &["late", "sntrup761:X25519", &engine]);
    assert!(end.status.success(), "{}", end.all());
    let groups: Vec<u16> = end.stdout.lines().map(|line| connection(line).group).collect();
    assert_eq!(groups, [X25519, SNTRUP761]);
    let end = app(&bed, None, &["late", "sntrup761", &engine]);
    assert!(!end.status.success(), "{}", end.all());
    assert!(end.stderr.contains("no engine provides it"), "{}", end.all());
}

/// Runs connections and then the end of OpenSSL with the given number of keys drawn from the stock; gives the connections.
fn lifetime(bed: &Bed, groups: &str, count: usize, keys: usize) -> Vec<String> {
    let mut lines = app_lines(bed, &[], None, &["lifetime", groups, &count.to_string()]);
    let ending = lines.split_off(count);
    let [before, after, finished, destroyed] = ending.as_slice() else { panic!("{ending:?}") };
    // Batches of 32 are made as they are needed; what is left of the last one lies in stock.
    let left = keys.next_multiple_of(32) - keys;
    assert_eq!(before, &format!("before cleanup: {left} f, {left} 1/g, {left} rho"), "{groups}");
    assert_eq!(after, "after cleanup: 0 f, 0 1/g, 0 rho", "{groups}");
    assert_eq!(finished, "finished 1 times", "{groups}");
    assert_eq!(destroyed, "destroyed 1 times", "{groups}");
    lines
}

/// 1000 handshakes, then the end of OpenSSL: finish and destroy run once, and no secret of the stock is left in memory. Before
/// that the secrets of exactly those keys are there that are still in stock: every key that was used is gone (L8).
#[test]
fn after_a_thousand_handshakes_nothing_is_left() {
    let bed = Bed::new();
    for kem in KEMS {
        all_distinct(&lifetime(&bed, kem.name, 1000, 1000), kem.group, 1000);
    }
}

/// A HelloRetryRequest makes the client abandon a key pair: it is wiped like one that was used (W8).
#[test]
fn a_key_that_a_retry_abandons_is_wiped() {
    let bed = Bed::new();
    for kem in KEMS {
        let lines = lifetime(&bed, &format!("{}:X25519/X25519", kem.name), 40, 40);
        all_distinct(&lines, X25519, 40);
    }
}
