//! The openssl command-line tool with the provider: lists, key files, settings; and key files of the engine.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Target, clean_environment, path, run, scratch, succeed};

const ALGORITHMS: [(&str, usize); 3] = [("sntrup761", 32), ("sntrup857", 32), ("X25519sntrup761", 64)];

/// The tool with the provider.
fn tool(target: &Target, arguments: &[&str]) -> Command {
    let mut command = target.openssl();
    command.args(arguments).env("OPENSSL_CONF", target.configuration("tool", &["BATCH_SIZE = 2"]));
    command
}

fn file(target: &Target, name: &str) -> String {
    scratch().join(format!("{}-{name}", target.name)).display().to_string()
}

/// Whether the tool is of this version or a later one.
fn at_least(target: &Target, wanted: (u32, u32)) -> bool {
    let version = succeed(target.openssl().arg("version"));
    let mut numbers = version.split([' ', '.']).filter_map(|part| part.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= wanted
}

on_each_openssl! {
    /// What is served is listed: the provider, key managers, KEMs, encoders, decoders, and from 3.5 on TLS groups.
    fn lists(target) {
        let shown = succeed(&mut tool(target, &["list", "-providers", "-verbose"]));
        for line in ["name: ntruprime: Streamlined NTRU Prime (engNTRU)", "version: 0.1.0", "status: active", "stock-level: "] {
            assert!(shown.contains(line), "no \"{line}\" in {shown}");
        }
        for (name, _) in ALGORITHMS {
            for what in ["-kem-algorithms", "-key-managers", "-encoders", "-decoders"] {
                let shown = succeed(&mut tool(target, &["list", what, "-propquery", "provider=ntruprime"]));
                assert!(shown.contains(&format!("{name} @ ntruprime")), "{what}: {shown}");
            }
            if at_least(target, (3, 5)) {
                let shown = succeed(&mut tool(target, &["list", "-tls-groups"]));
                assert!(shown.split([':', '\n']).any(|group| group == name), "{shown}");
            }
        }
    }

    /// Keys are made, checked, shown, and written and read as PEM and DER; from 3.4 on the tool encapsulates with them.
    fn key_files(target) {
        for (name, secret) in ALGORITHMS {
            let [private, public, der, ciphertext, sent, received] =
                ["private.pem", "public.pem", "private.der", "ciphertext", "sent", "received"]
                    .map(|kind| file(target, &format!("{name}-{kind}")));
            succeed(&mut tool(target, &["genpkey", "-algorithm", name, "-out", &private]));
            assert!(fs::read_to_string(&private).unwrap().starts_with("-----BEGIN PRIVATE KEY-----\n"));
            let checked = succeed(&mut tool(target, &["pkey", "-in", &private, "-check", "-noout"]));
            assert!(checked.contains("Key is valid"), "{checked}");
            succeed(&mut tool(target, &["pkey", "-in", &private, "-pubout", "-out", &public]));
            succeed(&mut tool(target, &["pkey", "-in", &private, "-outform", "DER", "-out", &der]));
            let again = succeed(&mut tool(target, &["pkey", "-inform", "DER", "-in", &der, "-pubout"]));
            assert_eq!(again, fs::read_to_string(&public).unwrap());
            let text = succeed(&mut tool(target, &["pkey", "-in", &private, "-text", "-noout"]));
            assert!(text.starts_with(&format!("{name} Private-Key:\npriv:\n    ")) && text.contains("\npub:\n    "), "{text}");
            let text = succeed(&mut tool(target, &["pkey", "-pubin", "-in", &public, "-text", "-noout"]));
            assert!(text.starts_with(&format!("{name} Public-Key:\npub:\n    ")) && !text.contains("priv"), "{text}");
            if at_least(target, (3, 4)) {
                let encapsulate = ["pkeyutl", "-encap", "-pubin", "-inkey", &public, "-out", &ciphertext, "-secret", &sent];
                succeed(&mut tool(target, &encapsulate));
                let decapsulate = ["pkeyutl", "-decap", "-inkey", &private, "-in", &ciphertext, "-secret", &received];
                succeed(&mut tool(target, &decapsulate));
                let (sent, received) = (fs::read(sent).unwrap(), fs::read(received).unwrap());
                assert!(sent == received && sent.len() == secret, "{name}: {} bytes", sent.len());
            }
        }
    }

    /// An encrypted private key is written by `pkcs8` and read again; `genpkey` with a cipher says so, and writes nothing.
    fn encrypted_keys(target) {
        let (plain, encrypted) = (file(target, "plain.pem"), file(target, "encrypted.pem"));
        // What an earlier run left would hide that nothing is written.
        let _ = fs::remove_file(&encrypted);
        let arguments = ["genpkey", "-algorithm", "sntrup761", "-aes256", "-pass", "pass:word", "-out", &encrypted];
        let (output, _, errors) = run(&mut tool(target, &arguments));
        assert!(!output.status.success() && errors.contains("openssl pkcs8 -topk8"), "{errors}");
        assert!(!fs::read_to_string(&encrypted).unwrap_or_default().contains("PRIVATE KEY"));
        succeed(&mut tool(target, &["genpkey", "-algorithm", "sntrup761", "-out", &plain]));
        succeed(&mut tool(target, &["pkcs8", "-topk8", "-in", &plain, "-passout", "pass:word", "-out", &encrypted]));
        assert!(fs::read_to_string(&encrypted).unwrap().starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        let of = |from: &str| succeed(&mut tool(target, &["pkey", "-in", from, "-passin", "pass:word", "-pubout"]));
        assert_eq!(of(&encrypted), of(&plain));
    }

    /// Keys that are wrong inside are refused: parts that do not fit, another length, another algorithm.
    fn wrong_keys(target) {
        let (private, bad) = (file(target, "good.der"), file(target, "bad.der"));
        succeed(&mut tool(target, &["genpkey", "-algorithm", "sntrup761", "-outform", "DER", "-out", &private]));
        let key = fs::read(&private).unwrap();
        let flipped = |at: usize| {
            let mut key = key.clone();
            key[at] ^= 1;
            key
        };
        for (what, bytes) in [
            ("a part that does not fit", flipped(key.len() - 1)),
            ("cut short", key[..key.len() - 1].to_vec()),
            ("another algorithm", flipped(30)),
        ] {
            fs::write(&bad, &bytes).unwrap();
            let (output, _, errors) = run(&mut tool(target, &["pkey", "-inform", "DER", "-in", &bad, "-check", "-noout"]));
            // OpenSSL tries many decoders and keeps the reason of none of them.
            assert!(!output.status.success() && errors.contains("ould not "), "{what}: {errors}");
        }
        fs::write(&bad, &key).unwrap();
        succeed(&mut tool(target, &["pkey", "-inform", "DER", "-in", &bad, "-check", "-noout"]));
    }

    /// Key files move between the engine on OpenSSL 1.1.1 and the provider, and both print the same.
    fn keys_of_the_engine(target) {
        let (prefix, engine) = (path("ENGNTRU_OPENSSL"), path("ENGNTRU_ENGINE").display().to_string());
        let old = |arguments: &[&str]| {
            let mut command = Command::new(prefix.join("bin/openssl"));
            clean_environment(&mut command);
            command.args(&arguments[..1]).args(["-engine", &engine]).args(&arguments[1..]);
            command
        };
        for name in ["sntrup761", "sntrup857"] {
            let [ours, theirs] = ["provider.pem", "engine.pem"].map(|kind| file(target, &format!("{name}-{kind}")));
            succeed(&mut tool(target, &["genpkey", "-algorithm", name, "-out", &ours]));
            succeed(&mut old(&["genpkey", "-algorithm", name, "-out", &theirs]));
            for key in [&ours, &theirs] {
                for how in [&["-text"][..], &["-pubout"], &["-outform", "PEM"]] {
                    let arguments = [&["pkey", "-in", key][..], how].concat();
                    assert_eq!(succeed(&mut tool(target, &arguments)), succeed(&mut old(&arguments)), "{key} {how:?}");
                }
            }
        }
    }

    /// The provider is found by its name in the directory of OPENSSL_MODULES, and by -provider-path.
    fn module_directory(target) {
        let directory: PathBuf = Path::new(&file(target, "modules")).to_owned();
        fs::create_dir_all(&directory).expect("the directory can be made");
        fs::copy(&target.module, directory.join("ntruprime.so")).expect("the provider can be copied");
        let providers = ["-provider", "ntruprime", "-provider", "default"];
        let mut by_variable = target.openssl();
        by_variable.args(["list", "-kem-algorithms"]).args(providers).env("OPENSSL_MODULES", &directory);
        assert!(succeed(&mut by_variable).contains("sntrup857 @ ntruprime"));
        let mut by_option = target.openssl();
        by_option.args(["list", "-kem-algorithms", "-provider-path"]).arg(&directory).args(providers);
        assert!(succeed(&mut by_option).contains("sntrup857 @ ntruprime"));
    }

    /// Without the default provider nothing is lost of what is ours: keys are made and written.
    fn without_the_default_provider(target) {
        let directory = Path::new(&file(target, "alone")).to_owned();
        fs::create_dir_all(&directory).expect("the directory can be made");
        fs::copy(&target.module, directory.join("ntruprime.so")).expect("the provider can be copied");
        let mut alone = target.openssl();
        alone.args(["genpkey", "-algorithm", "sntrup761", "-provider-path"]).arg(&directory).args(["-provider", "ntruprime"]);
        assert!(succeed(&mut alone).starts_with("-----BEGIN PRIVATE KEY-----\n"));
    }

    /// A bad value is said on standard error, where OpenSSL itself may be silent, and the reason is in the error queue.
    fn bad_settings(target) {
        let configuration = target.configuration("bad", &["BACKEND = abacus"]);
        let (_, _, errors) = run(target.openssl().args(["list", "-providers"]).env("OPENSSL_CONF", configuration));
        assert!(errors.contains("ntruprime: not loaded: bad value for BACKEND: BACKEND = abacus: this processor has auto, "));
    }
}
