//! sntrup761 in libcrypto itself, by the optional patch, against the engine: handshakes, keys and exchanges.

use engntru_tests::bed::{Bed, KEMS, OpenSsl, PATIENCE, SNTRUP761};
use engntru_tests::proc::Finished;
use engntru_tests::{env, proc};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The OpenSSL with the optional patch, without an engine.
fn builtin() -> OpenSsl {
    OpenSsl::bare(env::builtin().join("bin/openssl"))
}

/// A command that has to succeed; what it printed on standard output.
fn succeed(program: &OpenSsl, arguments: &[&str]) -> String {
    let end = program.run(arguments);
    assert!(end.status.success(), "{arguments:?}: {}", end.all());
    end.stdout
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary path in plain letters")
}

/// TLS has the group without any engine, with shares of the same sizes and the same code point.
#[test]
fn a_connection_needs_no_engine() {
    let bed = Bed::new();
    let program = builtin();
    let meeting = bed.connect((&program, &["-groups", "sntrup761"]), (&program, &["-groups", "sntrup761"]));
    assert_eq!(meeting.group(), SNTRUP761);
    let negotiated = meeting.said.negotiated().unwrap();
    let shares = (negotiated.client_share, negotiated.server_share);
    assert_eq!(shares, (Some(KEMS[0].public_key), Some(KEMS[0].ciphertext)));
}

/// One end has the engine and the other libcrypto's own, in both directions, also after a HelloRetryRequest.
#[test]
fn the_two_implementations_understand_each_other() {
    let bed = Bed::new();
    let program = builtin();
    for (server, client) in [(&program, &bed.engine), (&bed.engine, &program)] {
        for (groups, retried) in [("sntrup761", false), ("X25519:sntrup761", true)] {
            let meeting = bed.connect((server, &["-groups", "sntrup761"]), (client, &["-groups", groups]));
            assert_eq!(meeting.group(), SNTRUP761);
            assert_eq!(meeting.said.negotiated().unwrap().retried, retried);
        }
    }
}

/// sntrup857 is the engine's alone: without it a list of nothing else fails, and says why.
#[test]
fn the_other_set_still_needs_the_engine() {
    let bed = Bed::new();
    let program = builtin();
    let meeting = bed.connect((&bed.engine, &[]), (&program, &["-groups", "sntrup857"]));
    assert!(!meeting.client.succeeded());
    assert!(meeting.client.end.stderr.contains("sntrup857: no engine provides it"), "{meeting:?}");
}

/// Private and public keys in PEM go from one to the other and back, and come back byte for byte.
#[test]
fn keys_move_between_the_two() {
    let bed = Bed::new();
    let program = builtin();
    for (name, from, to) in [("builtin", &program, &bed.engine), ("engine", &bed.engine, &program)] {
        let [key, public] = ["key", "public"].map(|part| bed.path(&format!("{name}-{part}.pem")));
        succeed(from, &["genpkey", "-algorithm", "sntrup761", "-out", text(&key)]);
        succeed(from, &["pkey", "-in", text(&key), "-pubout", "-out", text(&public)]);
        let [key_pem, public_pem] = [&key, &public].map(|path| fs::read_to_string(path).expect("openssl wrote it"));
        assert!(key_pem.starts_with("-----BEGIN PRIVATE KEY-----"), "{name}");
        assert_eq!(succeed(to, &["pkey", "-in", text(&key)]), key_pem, "{name}");
        assert_eq!(succeed(to, &["pkey", "-in", text(&key), "-pubout"]), public_pem, "{name}");
        assert_eq!(succeed(to, &["pkey", "-pubin", "-in", text(&public)]), public_pem, "{name}");
        let shown = succeed(from, &["pkey", "-in", text(&key), "-noout", "-text"]);
        assert_eq!(succeed(to, &["pkey", "-in", text(&key), "-noout", "-text"]), shown, "{name}");
    }
}

/// Compiles a program of the folder `builtin` against the OpenSSL with the optional patch.
fn compile(bed: &Bed, name: &str, libraries: &[&OsStr]) -> PathBuf {
    let prefix = env::builtin();
    let (source, program) = (format!("{}/builtin/{name}.c", env!("CARGO_MANIFEST_DIR")), bed.path(name));
    let mut cc = Command::new("cc");
    cc.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", &source, "-o"]).arg(&program);
    cc.arg("-I").arg(prefix.join("include")).arg("-L").arg(prefix.join("lib")).args(libraries);
    cc.arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
    let built = proc::run(cc, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
    assert!(built.status.success(), "{}", built.all());
    program
}

/// Runs a program to its end, with no configuration around it.
fn run(mut command: Command) -> Finished {
    command.env("OPENSSL_CONF", "/dev/null").env_remove("LD_LIBRARY_PATH");
    proc::run(command, Duration::from_secs(600)).unwrap_or_else(|error| panic!("{error}"))
}

/// A thousand exchanges in each direction in one process. The program also sees that the engine, once registered, takes the
/// type over, and that both reject a forged ciphertext with the same secret.
#[test]
fn a_thousand_exchanges_in_each_direction() {
    let bed = Bed::new();
    let mut exchange = Command::new(compile(&bed, "exchange", &["-lcrypto".as_ref()]));
    exchange.arg(env::engine()).arg("1000");
    let end = run(exchange);
    assert!(end.status.success(), "{}", end.all());
    assert_eq!(end.stdout, "2 x 1000 exchanges\n");
}

/// Under valgrind, with secrets that it takes for undefined, no branch and no address of libcrypto's KEM depends on one; in
/// key generation one branch does, which throws a candidate for g away.
#[test]
fn no_branch_and_no_address_depends_on_a_secret() {
    let bed = Bed::new();
    let archive = env::builtin().join("lib/libcrypto.a");
    let secrets = compile(&bed, "secrets", &[archive.as_ref(), "-ldl".as_ref(), "-lpthread".as_ref()]);
    let places = |what| {
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--num-callers=1"]).arg(&secrets).arg(what);
        let end = run(valgrind);
        assert!(end.status.success(), "{what}: {}", end.all());
        // Of each report the function, which is the only line with an address.
        end.stderr.lines().filter_map(|line| line.split_once(" at 0x")).map(|(_, at)| at.to_owned()).collect::<Vec<_>>()
    };
    for what in ["encapsulate", "decapsulate", "reject"] {
        assert_eq!(places(what), Vec::<String>::new(), "{what}");
    }
    let keygen = places("keygen");
    assert!(keygen.len() == 1 && keygen[0].contains("sntrup761_keypair"), "{keygen:?}");
}
