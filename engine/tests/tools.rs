//! Configuration files, and the openssl command-line tool: key files, control commands, exit statuses.

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{Target, run, scratch, succeed};

/// Output of the program `config`: loads the file `times` times.
fn load(target: &Target, file: &PathBuf, times: &str) -> String {
    let mut command = Command::new(target.compile("config"));
    succeed(command.arg(file).arg(times).env_remove("OPENSSL_CONF").env_remove("OPENSSL_ENGINES"))
}

/// How to name the engine to the tool: by its path, or by a configuration file.
fn by_path(target: &Target) -> (Vec<String>, PathBuf) {
    (vec!["-engine".into(), target.module.display().to_string()], PathBuf::from("/dev/null"))
}

fn by_configuration(target: &Target) -> (Vec<String>, PathBuf) {
    let lines = ["dynamic_path = ENGINE", "BATCH_SIZE = 2", "default_algorithms = ALL"];
    (Vec::new(), target.configuration("tool", &lines))
}

on_each_openssl! {
    /// A configuration that is as it should be: both schemes are served, and with `default_algorithms = ALL` X25519, P-256
    /// and RSA still work (L10).
    fn configuration(target) {
        let lines = ["dynamic_path = ENGINE", "BATCH_SIZE = 4", "BACKEND = auto", "default_algorithms = ALL"];
        let report = load(target, &target.configuration("good", &lines), "1");
        assert!(report.starts_with("load: ok\nschemes: 2\n"), "{report}");
    }

    /// Lines in an order that does not work, and a file that is loaded twice: a readable error, or it works (L1).
    fn configuration_in_another_order(target) {
        let report = load(target, &target.configuration("above", &["BATCH_SIZE = 4", "dynamic_path = ENGINE"]), "1");
        assert!(report.contains("no such engine") && report.contains("schemes: 0"), "{report}");
        let lines = ["default_algorithms = ALL", "dynamic_path = ENGINE"];
        let report = load(target, &target.configuration("first", &lines), "1");
        assert!(report.contains("schemes: 2") || report.contains("no such engine"), "{report}");
        let lines = ["dynamic_path = ENGINE", "default_algorithms = ALL"];
        let report = load(target, &target.configuration("twice", &lines), "2");
        assert!(report.starts_with("load: ok\n") && report.contains("schemes: 2"), "{report}");
        assert!(report.contains("load: failed\n") && report.contains("init failed"), "{report}");
    }

    /// A bad value in the configuration is named, with its line, in the error.
    fn configuration_with_a_bad_value(target) {
        for (line, named) in [
            ("BATCH_SIZE = 5000", "BATCH_SIZE = 5000: give 1 to 1024"),
            ("BATCH_SIZE = many", "name=BATCH_SIZE, value=many"),
            ("BACKEND = abacus", "BACKEND = abacus: this processor has auto, "),
            ("NO_SUCH_COMMAND = 1", "name=NO_SUCH_COMMAND, value=1"),
        ] {
            let lines = ["dynamic_path = ENGINE", line, "default_algorithms = ALL"];
            let report = load(target, &target.configuration("bad", &lines), "1");
            assert!(report.starts_with("load: failed\n") && report.contains(named), "{line}: {report}");
        }
    }

    /// The engine is found by its name in the directory of OPENSSL_ENGINES.
    fn engine_directory(target) {
        let directory = scratch().join(format!("{}-engines", target.name));
        fs::create_dir_all(&directory).expect("the directory can be made");
        // OpenSSL 1.1.1 looks for engntru.so; 3 does too.
        fs::copy(&target.module, directory.join("engntru.so")).expect("the engine can be copied");
        let report = succeed(target.openssl().args(["engine", "-t", "-c", "engntru"]).env("OPENSSL_ENGINES", &directory));
        assert!(report.contains("[sntrup761, sntrup857]") && report.contains("[ available ]"), "{report}");
    }

    /// `openssl engine` describes the commands, prints the read-outs, and names a bad value.
    fn engine_commands(target) {
        let path = target.module.display().to_string();
        let (_, report, _) = run(target.openssl().args(["engine", "-vvv", "-t", "-c", &path]));
        let described = [
            "BATCH_SIZE: Key pairs",
            "BACKEND: Which",
            "VERSION: Tells",
            "BACKEND_IN_USE: Tells",
            "STOCK_LEVEL: Tells",
            "BACKGROUND_REFILL: Whether",
        ];
        for text in described {
            assert!(report.contains(text), "{text}: {report}");
        }
        assert!(!report.contains("INJECT_PANIC"), "a shipped library has no command for tests");
        let (_, report, errors) = run(target.openssl().args([
            "engine", "-pre", "VERSION", "-pre", "BACKEND:auto", "-pre", "BACKEND_IN_USE", "-pre", "STOCK_LEVEL",
            "-pre", "BATCH_SIZE:0", &path,
        ]));
        assert!(report.contains(&format!("{}\n", env!("CARGO_PKG_VERSION"))), "{report}");
        assert!(report.contains("sntrup761=0 sntrup857=0\n"), "{report}");
        assert!(report.contains("[Failure]: BATCH_SIZE:0"), "{report}");
        assert!(report.contains("BATCH_SIZE = 0: give 1 to 1024") || errors.contains("BATCH_SIZE = 0: give 1 to 1024"));
    }

    /// The tool ends with the same status as without the engine, and valgrind finds no invalid access (L2).
    fn exit_statuses(target) {
        let (_, configuration) = by_configuration(target);
        let uses: [&[&str]; 4] = [
            &["version"],
            &["engine", "-t", "-c", "-vvv"],
            &["speed", "nosuch"],
            &["genpkey", "-algorithm", "nosuch"],
        ];
        for arguments in uses {
            let (without, ..) = run(target.openssl().args(arguments));
            let (with, ..) = run(target.openssl().args(arguments).env("OPENSSL_CONF", &configuration));
            assert_eq!(with.status, without.status, "{arguments:?}");

            let tool = target.openssl();
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["-q", "--error-exitcode=99"]).arg(tool.get_program()).args(arguments);
            for (variable, value) in tool.get_envs() {
                match value {
                    Some(value) => valgrind.env(variable, value),
                    None => valgrind.env_remove(variable),
                };
            }
            let (checked, _, report) = run(valgrind.env("OPENSSL_CONF", &configuration));
            assert_eq!(checked.status, without.status, "{arguments:?}: {report}");
        }
    }

    /// genpkey, pkey -text, -pubout, PEM and DER both ways, encrypted PKCS#8; with -engine and with a configuration file.
    fn key_files(target) {
        for (name, (engine, configuration)) in [("path", by_path(target)), ("conf", by_configuration(target))] {
            for (algorithm, public_bytes, secret_bytes) in [("sntrup761", 1158, 1763), ("sntrup857", 1322, 1999)] {
                let file = |kind: &str| scratch().join(format!("{}-{name}-{algorithm}-{kind}", target.name));
                let tool = |command: &str, arguments: &[&str]| {
                    let mut tool = target.openssl();
                    tool.env("OPENSSL_CONF", &configuration).arg(command).args(&engine).args(arguments);
                    tool
                };
                let text = |path: &PathBuf| path.to_str().expect("a plain path").to_owned();

                let private = text(&file("private.pem"));
                succeed(&mut tool("genpkey", &["-algorithm", algorithm, "-out", &private]));
                let pem = fs::read_to_string(&private).expect("genpkey wrote the key");
                assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"), "{pem}");

                let public = text(&file("public.pem"));
                succeed(&mut tool("pkey", &["-in", &private, "-pubout", "-out", &public]));
                let pem = fs::read_to_string(&public).expect("pkey wrote the key");
                assert!(pem.starts_with("-----BEGIN PUBLIC KEY-----\n"), "{pem}");

                // The text of the private key ends with that of the public key.
                let shown = succeed(&mut tool("pkey", &["-in", &private, "-text", "-noout"]));
                let shown_public = succeed(&mut tool("pkey", &["-pubin", "-in", &public, "-text", "-noout"]));
                let hex = |text: &str| {
                    let lines = text.lines().filter(|line| line.starts_with("    "));
                    lines.map(|line| line.matches(|c: char| c.is_ascii_hexdigit()).count() / 2).sum::<usize>()
                };
                assert!(shown.starts_with(&format!("{algorithm} Private-Key:\npriv:\n")), "{shown}");
                assert!(shown_public.starts_with(&format!("{algorithm} Public-Key:\npub:\n")), "{shown_public}");
                assert_eq!((hex(&shown), hex(&shown_public)), (secret_bytes + public_bytes, public_bytes));
                assert!(shown.ends_with(shown_public.split_once('\n').expect("two lines").1));

                // DER, and back to the same PEM.
                let (der, again) = (text(&file("private.der")), text(&file("again.pem")));
                succeed(&mut tool("pkey", &["-in", &private, "-outform", "DER", "-out", &der]));
                succeed(&mut tool("pkey", &["-inform", "DER", "-in", &der, "-out", &again]));
                assert_eq!(fs::read(&private).unwrap(), fs::read(&again).unwrap());
                let der = fs::read(&der).unwrap();
                let public_der = text(&file("public.der"));
                succeed(&mut tool("pkey", &["-pubin", "-in", &public, "-pubout", "-outform", "DER", "-out", &public_der]));
                let public_der = fs::read(&public_der).unwrap();
                // The keys are the raw strings, at the end of the structures, and the secret key contains the public one.
                let raw_public = &public_der[public_der.len() - public_bytes..];
                assert!(der[der.len() - secret_bytes..].windows(public_bytes).any(|window| window == raw_public));
                assert_eq!((der.len(), public_der.len()), (38 + secret_bytes, 36 + public_bytes));

                // Encrypted PKCS#8, made in one step and in two.
                let encrypted = text(&file("encrypted.pem"));
                let password = ["-aes-256-cbc", "-pass", "pass:p", "-out", &encrypted];
                succeed(tool("genpkey", &["-algorithm", algorithm]).args(password));
                let pem = fs::read_to_string(&encrypted).expect("genpkey wrote the key");
                assert!(pem.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"), "{pem}");
                succeed(&mut tool("pkey", &["-in", &encrypted, "-passin", "pass:p", "-noout"]));
                let (refused, ..) = run(&mut tool("pkey", &["-in", &encrypted, "-passin", "pass:q", "-noout"]));
                assert!(!refused.status.success(), "a wrong password must not open the key");
                succeed(&mut tool("pkcs8", &["-topk8", "-in", &private, "-passout", "pass:p", "-out", &encrypted]));
                succeed(&mut tool("pkcs8", &["-in", &encrypted, "-passin", "pass:p", "-out", &again]));
                assert_eq!(fs::read(&private).unwrap(), fs::read(&again).unwrap());

                damaged_keys_are_refused(&tool, &der, &public_der, &text(&file("damaged.der")));
            }
        }
    }
}

/// A private key whose hash, f or length is wrong, and algorithms with parameters, do not load.
fn damaged_keys_are_refused(tool: &dyn Fn(&str, &[&str]) -> Command, private: &[u8], public: &[u8], file: &str) {
    let refuse = |der: &[u8], kind: &[&str], what: &str| {
        fs::write(file, der).expect("the key can be written");
        let (output, ..) = run(tool("pkey", &["-inform", "DER", "-in", file, "-noout"]).args(kind));
        assert!(!output.status.success(), "{what} was accepted");
    };
    let mut hash = private.to_vec();
    *hash.last_mut().expect("a key") ^= 1;
    refuse(&hash, &[], "a private key with a wrong hash");
    let mut f = private.to_vec();
    f[38] ^= 1;
    refuse(&f, &[], "a private key with a wrong f");
    refuse(&private[..private.len() - 1], &[], "a private key that is cut off");
    // One byte less in the inner string: every length on the way in is one less.
    let shorter = |der: &[u8], lengths: &[usize]| {
        let mut der = der[..der.len() - 1].to_vec();
        for &at in lengths {
            let length = u16::from_be_bytes([der[at], der[at + 1]]) - 1;
            der[at..at + 2].copy_from_slice(&length.to_be_bytes());
        }
        der
    };
    refuse(&shorter(private, &[2, 36]), &[], "a private key that is too short");
    refuse(&shorter(public, &[2, 33]), &["-pubin"], "a public key that is too short");
    // NULL parameters after the object identifier: the sequence of the algorithm and the whole grow by two bytes.
    let with_null = |der: &[u8], algorithm: usize| {
        let mut der = der.to_vec();
        let length = u16::from_be_bytes([der[2], der[3]]) + 2;
        der[2..4].copy_from_slice(&length.to_be_bytes());
        der[algorithm + 1] += 2;
        let end = algorithm + der[algorithm + 1] as usize;
        der.splice(end..end, [5, 0]);
        der
    };
    refuse(&with_null(private, 7), &[], "a private key with parameters");
    refuse(&with_null(public, 4), &["-pubin"], "a public key with parameters");
}
