//! Loading the engine, being without it, and leaving again.

use engntru_tests::bed::{Bed, KEMS, OpenSsl, PATIENCE, SNTRUP761, SNTRUP857, X25519};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::proc::{self, Finished};
use engntru_tests::raw::{Hello, RawPeer};
use engntru_tests::tap::{Settings, Tap};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Under valgrind everything takes its time.
const VALGRIND_PATIENCE: Duration = Duration::from_secs(300);
/// The exit status by which valgrind reports what it found.
const VALGRIND_FOUND: i32 = 99;

/// Keys that stand above dynamic_path are a readable error, never a crash; the order of the others does not matter (L1).
#[test]
fn the_order_of_the_engines_lines_is_an_error_or_does_not_matter() {
    let bed = Bed::new();
    let path = format!("dynamic_path = {}", env::engine().display());
    let server = (&bed.engine, &["-groups", "sntrup761:X25519"][..]);
    for (lines, works) in [
        (vec!["engine_id = engntru", &path, "BATCH_SIZE = 4", "BACKEND = auto", "default_algorithms = ALL"], true),
        (vec!["engine_id = engntru", &path, "default_algorithms = ALL", "BATCH_SIZE = 4"], true),
        (vec![&path, "engine_id = engntru", "init = 1", "default_algorithms = ALL"], true),
        (vec![&path, "default_algorithms = PKEY", "init = 0"], true),
        (vec!["init = 1", &path, "default_algorithms = ALL"], false),
        (vec!["BATCH_SIZE = 4", "engine_id = engntru", &path, "default_algorithms = ALL"], false),
        (vec!["default_algorithms = ALL", "engine_id = engntru", &path], false),
    ] {
        let conf = Conf { engine: lines.iter().map(ToString::to_string).collect(), ..Conf::default() };
        let program = bed.configured("order.cnf", &conf);
        let meeting = bed.connect(server, (&program, &["-groups", "sntrup761"]));
        if works {
            assert_eq!(meeting.group(), SNTRUP761, "{lines:?}");
        } else {
            assert_eq!(meeting.client.end.status.code(), Some(1), "{lines:?}: {meeting:?}");
            assert!(meeting.client.end.stderr.contains("no engine provides it"), "{lines:?}: {meeting:?}");
            assert!(meeting.said.client_hellos().is_empty(), "{lines:?}: {meeting:?}");
        }
    }
}

/// A configuration that names the engine twice, or that a program loads a second time with `-engine`, works (L1).
#[test]
fn an_engine_that_is_loaded_twice_works() {
    let bed = Bed::new();
    let engine = env::engine().display().to_string();
    let server = (&bed.engine, &["-groups", "sntrup761"][..]);
    let twice = Conf::engine(&env::engine())
        .to_string()
        .replace("engntru = engntru\n", "a.engntru = engntru\nb.engntru = engntru\n");
    let file = bed.path("twice.cnf");
    std::fs::write(&file, twice).unwrap();
    let program = bed.bare.with_conf(file);
    for arguments in [
        &["-groups", "sntrup761"][..],
        &["-groups", "sntrup761", "-engine", "engntru"],
        &["-groups", "sntrup761", "-engine", &engine],
    ] {
        for program in [&program, &bed.engine] {
            let meeting = bed.connect(server, (program, arguments));
            assert_eq!(meeting.group(), SNTRUP761, "{arguments:?}");
        }
    }
}

/// The other ways to the engine: `-engine PATH`, and OPENSSL_ENGINES with the file under the engine's id.
#[test]
fn the_engine_is_found_by_path_and_by_directory() {
    let bed = Bed::new();
    let engine = env::engine().display().to_string();
    let server = bed.server(&bed.engine, &["-groups", "sntrup761"]);
    let connect = server.address.to_string();
    let arguments = ["s_client", "-connect", &connect, "-groups", "sntrup761", "-engine"];
    let run = engntru_tests::bed::talk(bed.bare.command(&[&arguments[..], &[&engine]].concat()));
    assert!(run.succeeded(), "{run:?}");
    let directory = bed.path("engines");
    std::fs::create_dir(&directory).unwrap();
    std::fs::copy(&engine, directory.join("engntru.so")).unwrap();
    let mut command = bed.bare.command(&[&arguments[..], &["engntru"]].concat());
    command.env("OPENSSL_ENGINES", &directory);
    let run = engntru_tests::bed::talk(command);
    assert!(run.succeeded(), "{run:?}");
    // Without -engine the configuration may do it, with no path in it.
    let conf = Conf {
        engine: vec!["engine_id = engntru".to_owned(), "default_algorithms = ALL".to_owned()],
        ..Conf::default()
    };
    let mut command = bed.configured("directory.cnf", &conf).command(&arguments[..5]);
    command.env("OPENSSL_ENGINES", &directory);
    let run = engntru_tests::bed::talk(command);
    assert!(run.succeeded(), "{run:?}");
}

/// `openssl engine` shows the engine as available, with both algorithms and with a description of each control command.
#[test]
fn the_openssl_tool_lists_the_engine() {
    let bed = Bed::new();
    let end = bed.engine.run(&["engine", "-t", "-c", "-vvv", "engntru"]);
    assert!(end.status.success(), "{}", end.all());
    for expected in ["(engntru)", "[sntrup761, sntrup857]", "[ available ]", "BATCH_SIZE: ", "BACKEND: ", "VERSION: "] {
        assert!(end.stdout.contains(expected), "no \"{expected}\" in {}", end.all());
    }
    assert_eq!(end.stderr, "");
}

/// What a program's exit status is, and what valgrind finds, with one configuration.
fn under_valgrind(program: &OpenSsl, arguments: &[&str], line: Option<&str>) -> Finished {
    let inner = program.command(arguments);
    let mut command = Command::new("valgrind");
    command.args(["--quiet", &format!("--error-exitcode={VALGRIND_FOUND}"), "--"]);
    command.arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let mut process =
        proc::Process::start(command).unwrap_or_else(|error| panic!("{error}: scripts/test installs valgrind"));
    if let Some(line) = line {
        process.say(line);
    }
    process.finish(VALGRIND_PATIENCE).unwrap()
}

/// The openssl tool ends with the same exit status as without the engine, and valgrind finds no invalid read or write and no
/// decision on uninitialised memory: listing engines, asking for the version, a name that `speed` does not know, a connection
/// that succeeds and one that is refused (L2).
#[test]
fn the_openssl_tool_ends_as_without_the_engine_and_valgrind_is_content() {
    let bed = Bed::new();
    let engine = bed.configured("small.cnf", &Conf::engine(&env::engine()).command("BATCH_SIZE = 2"));
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:sntrup857:X25519"]);
    let strict = bed.server(&bed.engine, &["-groups", "P-256"]);
    let (connect, refuse) = (server.address.to_string(), strict.address.to_string());
    let client =
        |groups: &'static str| ["s_client", "-connect", &connect, "-groups", groups].map(str::to_owned).to_vec();
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    // With the engine, without it, and the exit status of both.
    let cases = [
        (words(&["engine", "-t", "-c", "-vvv"]), words(&["engine", "-t", "-c", "-vvv"]), 0),
        (words(&["version"]), words(&["version"]), 0),
        (words(&["speed", "nosuch"]), words(&["speed", "nosuch"]), 1),
        (client("sntrup761"), client("X25519"), 0),
        (client("sntrup857"), client("X25519"), 0),
        (
            words(&["s_client", "-connect", &refuse, "-groups", "sntrup761"]),
            words(&["s_client", "-connect", &refuse, "-groups", "X25519"]),
            1,
        ),
        (
            words(&["s_client", "-connect", "127.0.0.1:1", "-groups", "sntrup761"]),
            words(&["s_client", "-connect", "127.0.0.1:1", "-groups", "X25519"]),
            1,
        ),
    ];
    for (with, without, status) in cases {
        let [with, without] = [&with, &without].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        let plain = bed.bare.run(&without);
        assert_eq!(plain.status.code(), Some(status), "{without:?}: {}", plain.all());
        let end = under_valgrind(&engine, &with, None);
        assert_eq!(end.status.code(), Some(status), "{with:?}: {}", end.all());
        assert!(!end.stderr.contains("=="), "valgrind: {with:?}: {}", end.all());
    }
}

/// A server under valgrind meets shares of wrong sizes and an honest client: no memory error (W6).
#[test]
fn valgrind_is_content_with_a_server_that_meets_malformed_shares() {
    let bed = Bed::new();
    let engine = bed.configured("small.cnf", &Conf::engine(&env::engine()).command("BATCH_SIZE = 1"));
    for kem in KEMS {
        let mut command = Command::new("valgrind");
        let log = bed.path("valgrind.log");
        command.args([
            "--quiet",
            &format!("--error-exitcode={VALGRIND_FOUND}"),
            &format!("--log-file={}", log.display()),
            "--",
        ]);
        let inner = engine.command(&["s_server", "-accept", "127.0.0.1:0", "-rev", "-groups", kem.name]);
        command.arg(inner.get_program()).args(inner.get_args());
        for (name, value) in inner.get_envs().filter_map(|(name, value)| Some((name, value?))) {
            command.env(name, value);
        }
        command.arg("-cert").arg(&bed.certificate.certificate).arg("-key").arg(&bed.certificate.key);
        let server = engntru_tests::bed::Server::start(command).unwrap();
        let right = kem.public_key;
        for length in [0, 1, right - 1, right + 1, 2 * right, 65_000, right] {
            let shares = vec![(kem.group, vec![0xff; length])];
            let hello = Hello { groups: vec![kem.group], shares, ..Hello::default() };
            let mut peer = RawPeer::connect(server.address).unwrap();
            peer.send(&hello.records()).unwrap();
            let said = peer.answer().unwrap();
            assert_eq!(said.server_hello().is_some(), length == right, "{length}: {said:?} {}", server.log());
            assert_eq!(said.server.alert.is_some(), length != right, "{length}: {said:?}");
        }
        let run = bed.client(&bed.engine, server.address, &["-groups", kem.name]);
        assert!(run.succeeded(), "{run:?} {}", server.log());
        let printed = server.stop();
        let found = std::fs::read_to_string(&log).unwrap();
        assert_eq!(found, "", "{printed}");
    }
}

/// The engine of one OpenSSL series in the other: a clear refusal on both sides, no crash (L3).
#[test]
fn the_engine_of_another_series_is_refused() {
    let bed = Bed::new();
    // Built for 3.x, loaded into 1.1.1.
    let program = bed.configured("other.cnf", &Conf::engine(&env::engine_3()));
    let meeting = bed.connect((&bed.engine, &["-groups", "sntrup761:X25519"]), (&program, &["-groups", "sntrup761"]));
    assert_eq!(meeting.client.end.status.code(), Some(1), "{meeting:?}");
    assert!(meeting.client.end.stderr.contains("no engine provides it"), "{meeting:?}");
    let load = |program: &OpenSsl, path: &Path, libraries: Option<&Path>| {
        let path = format!("SO_PATH:{}", path.display());
        let arguments = ["engine", "-t", "-pre", &path, "-pre", "LIST_ADD:2", "-pre", "LOAD", "dynamic"];
        let mut command = program.command(&arguments);
        if let Some(libraries) = libraries {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let end = proc::run(command, PATIENCE).unwrap();
        // A crash would be a signal and no exit status.
        assert!(end.status.code().is_some(), "{end:?}");
        end
    };
    let end = load(&bed.bare, &env::engine_3(), None);
    assert!(end.stdout.contains("[Failure]: LOAD"), "{}", end.all());
    // Built for 1.1.1, loaded into 3.x: its libcrypto is not there; and where it is there, the engine turns the other one away.
    for libraries in [None, Some(env::openssl().join("lib"))] {
        let end = load(&bed.system, &env::engine(), libraries.as_deref());
        assert!(end.stdout.contains("[Failure]: LOAD"), "{}", end.all());
    }
    // Each with its own series is fine, so that the refusals above are for the series.
    for (program, engine) in [(&bed.bare, env::engine()), (&bed.system, env::engine_3())] {
        let end = load(program, &engine, None);
        assert!(end.stdout.contains("[Success]: LOAD") && end.stdout.contains("Loaded: (engntru)"), "{}", end.all());
    }
}

/// The library brings no libcrypto of its own: it needs the shared one of its series, and defines none of its symbols (L3).
#[test]
fn there_is_no_libcrypto_inside_the_library() {
    for (engine, needed) in [(env::engine(), "libcrypto.so.1.1"), (env::engine_3(), "libcrypto.so.3")] {
        let read = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).arg(&engine);
            let end = proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"));
            assert!(end.status.success(), "{}", end.all());
            end.stdout
        };
        let dynamic = read("readelf", &["-d"]);
        assert!(dynamic.contains(&format!("Shared library: [{needed}]")), "{dynamic}");
        let symbols = read("nm", &["-D", "--defined-only"]);
        let mut names: Vec<&str> = symbols.lines().filter_map(|line| line.split_whitespace().last()).collect();
        names.sort_unstable();
        assert_eq!(names, ["bind_engine", "v_check"], "{symbols}");
        // Nor is one hidden inside: libcrypto carries its version as text wherever it goes.
        let bytes = std::fs::read(&engine).unwrap();
        for text in [&b"OpenSSL 1.1.1"[..], b"OpenSSL 3."] {
            assert!(!bytes.windows(text.len()).any(|window| window == text), "{}", engine.display());
        }
    }
}

/// Connections with and without the engine take turns on one server that lists both kinds of groups.
#[test]
fn one_server_serves_both_kinds_of_clients_in_turn() {
    let bed = Bed::new();
    let server = bed.server(&bed.engine, &["-groups", "sntrup857:sntrup761:X25519"]);
    let tap = Tap::start(server.address, Settings::default()).unwrap();
    for (client, groups, expected) in [
        (&bed.engine, "sntrup857", SNTRUP857),
        (&bed.bare, "X25519", X25519),
        (&bed.engine, "sntrup761", SNTRUP761),
        (&bed.system, "X25519", X25519),
        (&bed.engine, "sntrup857", SNTRUP857),
    ] {
        let run = bed.client(client, tap.address(), &["-groups", groups]);
        assert!(run.succeeded(), "{groups}: {run:?}");
        let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
        assert_eq!(said.negotiated().and_then(|negotiated| negotiated.group), Some(expected));
    }
}
