//! check-config against the mistakes that people make in an openssl.cnf. OpenSSL 1.1.1 reports none of them.

use engntru_tests::bed::{Bed, PATIENCE, SNTRUP761};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use engntru_tests::proc::{self, Finished};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

/// Runs check-config on a file.
fn check(file: &Path) -> Finished {
    let mut command = Command::new(env!("CARGO_BIN_EXE_check-config"));
    command.arg(file).env(env::OPENSSL, env::openssl()).env_remove("OPENSSL_ENGINES");
    proc::run(command, PATIENCE).unwrap()
}

/// The good configuration, as lines.
fn good() -> Vec<String> {
    let conf = Conf::engine(&env::engine()).command("BATCH_SIZE = 16").groups("sntrup761:sntrup857:X25519");
    conf.to_string().lines().map(str::to_owned).collect()
}

/// A configuration with one thing changed: the first line that starts with `old` becomes `new` (which may hold several).
fn changed(old: &str, new: &str) -> String {
    let mut lines = good();
    let at = lines.iter().position(|line| line.starts_with(old)).unwrap_or_else(|| panic!("no line {old}"));
    lines[at] = new.to_owned();
    lines.join("\n") + "\n"
}

/// check-config says "FILE:LINE: what", with exactly this line number, and exits 1.
fn expect(bed: &Bed, text: &str, line: usize, what: &str) -> String {
    let file = bed.path("checked.cnf");
    std::fs::write(&file, text).unwrap();
    let end = check(&file);
    let expected = format!("{}:{line}: {what}", file.display());
    assert_eq!(end.status.code(), Some(1), "{what}: {}\n{text}", end.all());
    assert!(end.stdout.lines().any(|said| said.starts_with(&expected)), "no \"{expected}\" in\n{}\n{text}", end.all());
    end.stdout
}

/// As [`expect`]; and that file, which says `dynamic_path` or the like wrongly, lets no handshake pass: `s_client -groups
/// sntrup761` fails and falls back to nothing (L4).
fn expect_no_fallback(bed: &Bed, text: &str, line: usize, what: &str) {
    expect(bed, text, line, what);
    let broken = bed.bare.with_conf(bed.path("checked.cnf"));
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:X25519"]);
    let run = bed.client(&broken, server.address, &["-groups", "sntrup761"]);
    assert_eq!(run.end.status.code(), Some(1), "{what}: {run:?}");
    assert!(run.end.stderr.contains("no engine provides it"), "{what}: {run:?}");
}

/// A right file is called right, with what was seen; so is one that uses includes, variables and continued lines.
#[test]
fn a_right_file_is_called_right() {
    let bed = Bed::new();
    let file = bed.path("right.cnf");
    std::fs::write(&file, good().join("\n")).unwrap();
    let end = check(&file);
    assert_eq!(end.status.code(), Some(0), "{}", end.all());
    for seen in
        ["sntrup761 (0xFEB1), sntrup857 (0xFEB2), X25519 (0x001D)", "sntrup761 (0xFEB1), 1158 bytes", "all right"]
    {
        assert!(end.stdout.contains(seen), "no \"{seen}\" in {}", end.all());
    }
    assert!(!end.stdout.contains("note:"), "{}", end.all());

    // OpenSSL takes the first module that starts with the name.
    std::fs::write(&file, changed("engines =", "engine = engines")).unwrap();
    let end = check(&file);
    assert_eq!(end.status.code(), Some(0), "{}", end.all());

    let included = bed.path("included.cnf");
    let engine = env::engine();
    let (directory, name) = (engine.parent().unwrap().display(), engine.file_name().unwrap().to_string_lossy());
    std::fs::write(&included, format!("[engntru]\ndynamic_path = ${{where}}/{name}\ndefault_algorithms = ALL\n"))
        .unwrap();
    let outer = format!(
        "where = \"{directory}\" # a comment\nopenssl_conf = \\\n  openssl_init\n[ openssl_init ]\nssl_conf = ssl\nengines = engines\n\
         [engines]\nour.engntru = engntru\n.include {}\n[ssl]\nsystem_default = tls\n[tls]\nMinProtocol = TLSv1.2\nGroups = sntrup857\n",
        included.display()
    );
    std::fs::write(&file, outer).unwrap();
    let end = check(&file);
    assert_eq!(end.status.code(), Some(0), "{}", end.all());
    assert!(end.stdout.contains("sntrup857 (0xFEB2), 1322 bytes"), "{}", end.all());
}

/// The way to the modules is broken: no openssl_conf line, or one where OpenSSL does not look, or a wrong section name.
#[test]
fn a_broken_way_to_the_modules_is_shown() {
    let bed = Bed::new();
    expect_no_fallback(&bed, &changed("openssl_conf", ""), 1, "there is no openssl_conf line");
    expect(&bed, &changed("openssl_conf", "openssl_config = openssl_init"), 1, "there is no openssl_conf line");
    expect(
        &bed,
        &changed("openssl_conf", "[first]\nopenssl_conf = openssl_init"),
        2,
        "this openssl_conf line belongs to [first]",
    );
    let said = expect(
        &bed,
        &changed("openssl_conf", "openssl_conf = openssl_int"),
        1,
        "openssl_conf names a section [openssl_int]",
    );
    assert!(said.contains("did you mean [openssl_init]?"), "{said}");
    expect(&bed, &changed("engines =", ""), 3, "[openssl_init] has no engines line");
    expect(
        &bed,
        &changed("engines =", "engins = engines"),
        4,
        "OpenSSL knows no module \"engins\" and stops here: write engines",
    );
    expect(&bed, &changed("engines =", "providers = p\nengines = engines"), 4, "\"providers\" belongs to OpenSSL 3");
    expect_no_fallback(&bed, &changed("engines =", "engines = engnes"), 4, "engines names a section [engnes]");
    expect(&bed, &changed("engntru =", ""), 7, "the section [engines] is empty");
    expect(&bed, &changed("engntru =", "engntru = other"), 8, "engntru names a section [other]");
    expect(&bed, &changed("openssl_conf", "openssl_conf openssl_init"), 1, "the line has no equal sign");
    expect(&bed, &changed("[engines]", "[engines"), 7, "the section line has no closing ]");
    expect(&bed, &changed("engine_id", "engine_id = $id"), 11, "the variable $id has no value");
    expect(
        &bed,
        &changed("engine_id", "engine_id = $ENV::ENGNTRU_UNSET"),
        11,
        "the environment has no variable ENGNTRU_UNSET",
    );
    let end = check(&bed.path("no such file"));
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(end.stdout.contains("cannot be read"), "{}", end.all());
}

/// The snippet appended to a stock openssl.cnf that has an `openssl_conf` line of its own: the second line is ignored, and
/// with it the whole snippet (L5).
#[test]
fn a_snippet_appended_to_a_stock_file_is_shown() {
    let bed = Bed::new();
    // The skeleton of what Debian ships with OpenSSL 1.1.1.
    let stock = "HOME = .\noid_section = new_oids\nopenssl_conf = default_conf\n\n[new_oids]\ntsa_policy1 = 1.2.3.4.1\n\n\
                 [default_conf]\nssl_conf = ssl_sect\n\n[ssl_sect]\nsystem_default = system_default_sect\n\n\
                 [system_default_sect]\nMinProtocol = TLSv1.2\nCipherString = DEFAULT@SECLEVEL=2\n\n";
    let appended = format!("{stock}{}\n", good().join("\n"));
    let line = stock.lines().count() + 1;
    let said = expect(&bed, &appended, line, "this openssl_conf line belongs to [system_default_sect]");
    assert!(said.contains("put the lines of [openssl_init] into [default_conf]"), "{said}");
    // The same two lines in one section, one after the other: the later one wins.
    let said = expect(
        &bed,
        &changed("openssl_conf", "openssl_conf = openssl_init\nopenssl_conf = other\n[other]\nssl_conf = ssl"),
        1,
        "there is a second openssl_conf line at",
    );
    assert!(said.contains("OpenSSL never reads [openssl_init]"), "{said}");
    // What the advice leads to.
    let stock = stock.replace("[default_conf]\n", "[default_conf]\nengines = engines\n");
    let stock = stock.replace("SECLEVEL=2\n", "SECLEVEL=2\nGroups = sntrup761:X25519\n");
    let engine: Vec<String> =
        good().into_iter().skip_while(|line| line != "[engines]").take_while(|line| line != "[ssl]").collect();
    let file = bed.path("mended.cnf");
    std::fs::write(&file, format!("{stock}{}\n", engine.join("\n"))).unwrap();
    let end = check(&file);
    assert_eq!(end.status.code(), Some(0), "{}", end.all());
}

/// A key above dynamic_path, a wrong path, a file that nobody may read, a library that is none, is another engine, or belongs
/// to OpenSSL 3 (L1, L3, L4).
#[test]
fn a_library_that_does_not_load_is_shown() {
    let bed = Bed::new();
    let engine = env::engine().display().to_string();
    let path = |new: &str| changed("dynamic_path", &format!("dynamic_path = {new}"));
    expect_no_fallback(
        &bed,
        &changed("dynamic_path", &format!("BATCH_SIZE = 8\ndynamic_path = {engine}")).replacen(
            "BATCH_SIZE = 16\n",
            "",
            1,
        ),
        12,
        "BATCH_SIZE stands above dynamic_path",
    );
    expect_no_fallback(
        &bed,
        &changed("dynamic_path", &format!("default_algorithms = ALL\ndynamic_path = {engine}")).replacen(
            "default_algorithms = ALL\nBATCH",
            "BATCH",
            1,
        ),
        12,
        "default_algorithms stands above dynamic_path",
    );
    expect_no_fallback(&bed, &changed("dynamic_path", ""), 10, "[engntru] has no dynamic_path");
    expect_no_fallback(
        &bed,
        &path("/nowhere/libengntru.so"),
        12,
        "dynamic_path: \"/nowhere/libengntru.so\" cannot be opened",
    );
    expect(&bed, &path("libengntru.so"), 12, "dynamic_path: \"libengntru.so\" cannot be opened");
    let text = bed.path("text.so");
    std::fs::write(&text, "not a library").unwrap();
    expect_no_fallback(
        &bed,
        &path(&text.display().to_string()),
        12,
        "OpenSSL cannot load this library (could not load",
    );
    expect(&bed, &path(&bed.path("").display().to_string()), 12, "OpenSSL cannot load this library");
    let other = env::openssl().join("lib/engines-1.1/padlock.so").display().to_string();
    expect(&bed, &path(&other), 12, "this library is the engine \"padlock\"");
    expect_no_fallback(&bed, &path(&env::engine_3().display().to_string()), 12, "this library was built for OpenSSL 3");
    // A file that may not be read.
    let secret = bed.path("secret.so");
    std::fs::copy(&engine, &secret).unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    let file = bed.path("checked.cnf");
    std::fs::write(&file, path(&secret.display().to_string())).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_check-config"));
    command.arg(&file).env(env::OPENSSL, env::openssl());
    let end = proc::run(without_override(command), PATIENCE).unwrap();
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    let expected = format!("{}:12: dynamic_path: \"{}\" cannot be opened", file.display(), secret.display());
    assert!(end.stdout.contains(&expected), "no \"{expected}\" in {}", end.all());
    let broken = bed.bare.with_conf(file);
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:X25519"]);
    let client = broken.command(&["s_client", "-connect", &server.address.to_string(), "-groups", "sntrup761"]);
    let end = proc::run(without_override(client), PATIENCE).unwrap();
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(end.stderr.contains("no engine provides it"), "{}", end.all());
}

/// The same command; for root, who may read every file, without that privilege.
fn without_override(command: Command) -> Command {
    let privileged = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    if !privileged {
        return command;
    }
    let mut wrapped = Command::new("setpriv");
    wrapped.args(["--bounding-set", "-dac_override,-dac_read_search", "--"]);
    wrapped.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    wrapped
}

/// Lines that the engine or OpenSSL refuses once the library is loaded (L4).
#[test]
fn a_refused_command_is_shown() {
    let bed = Bed::new();
    let command = |new: &str| changed("BATCH_SIZE", new);
    expect(&bed, &command("BATCHSIZE = 16"), 14, "the engine has no control command BATCHSIZE: write BATCH_SIZE");
    // The lines above it have taken effect: the engine is there, and the connection is keyed by what was asked for.
    let broken = bed.bare.with_conf(bed.path("checked.cnf"));
    let server = (&bed.engine, &["-groups", "sntrup761:X25519"][..]);
    assert_eq!(bed.connect(server, (&broken, &["-groups", "sntrup761"])).group(), SNTRUP761);
    expect(&bed, &command("COLOUR = blue"), 14, "the engine has no control command COLOUR");
    let said = expect(&bed, &command("BATCH_SIZE = 0"), 14, "the engine refuses BATCH_SIZE = 0");
    assert!(said.contains("1 to 1024"), "{said}");
    expect(&bed, &command("BATCH_SIZE = many"), 14, "the engine refuses BATCH_SIZE = many");
    expect(&bed, &command("BACKEND = abacus"), 14, "the engine refuses BACKEND = abacus");
    expect(&bed, &command("init = 2"), 14, "init cannot be \"2\"");
    let algorithms = |new: &str| changed("default_algorithms", new);
    expect(&bed, &algorithms(""), 10, "[engntru] has no default_algorithms");
    expect(&bed, &algorithms("default_algorithms = EVERYTHING"), 13, "default_algorithms does not know \"EVERYTHING\"");
    expect(
        &bed,
        &algorithms("default_algorithms = RSA,EC"),
        13,
        "these default_algorithms leave the engine's keys out",
    );
    for good in ["PKEY", "PKEY_CRYPTO,PKEY_ASN1", "RAND, PKEY"] {
        let file = bed.path("algorithms.cnf");
        std::fs::write(&file, algorithms(&format!("default_algorithms = {good}"))).unwrap();
        let end = check(&file);
        assert_eq!(end.status.code(), Some(0), "{good}: {}", end.all());
    }
}

/// The groups: a name that OpenSSL does not know drops the whole list in silence and skips what follows it, TLS 1.3 may be
/// switched off, the lines may stand in the wrong section, or there may be none.
#[test]
fn groups_that_are_not_offered_are_shown() {
    let bed = Bed::new();
    let groups = |new: &str| changed("Groups", new);
    let said = expect(
        &bed,
        &groups("Groups = sntrup716:X25519\nMinProtocol = TLSv1.3"),
        20,
        "OpenSSL knows no group \"sntrup716\"",
    );
    assert!(said.contains("write sntrup761"), "{said}");
    assert!(said.contains("checked.cnf:21: note: OpenSSL does not come to this line"), "{said}");
    expect(&bed, &groups("Groups = X25519:kyber768"), 20, "OpenSSL knows no group \"kyber768\"");
    expect(&bed, &groups("Groups = SNTRUP761"), 20, "OpenSSL knows no group \"SNTRUP761\"");
    expect(&bed, &groups("Groups = sntrup761,X25519"), 20, "OpenSSL knows no group \"sntrup761,X25519\"");
    expect(&bed, &groups("Groups = sntrup761::X25519"), 20, "there is an empty name");
    expect(&bed, &groups("Groups = sntrup761:sntrup761"), 20, "sntrup761 stands twice");
    expect(&bed, &groups("Groups = X25519:P-256"), 20, "Groups names none of the engine's groups");
    expect(&bed, &groups("Grops = sntrup761"), 20, "OpenSSL does not take Grops");
    expect(&bed, &groups("MinProtocol = TLSv1.4\nGroups = sntrup761"), 20, "OpenSSL does not take MinProtocol");
    expect(
        &bed,
        &groups("MaxProtocol = TLSv1.2\nGroups = sntrup761"),
        20,
        "MaxProtocol = TLSv1.2 switches TLS 1.3 off",
    );
    expect(
        &bed,
        &groups("Protocol = ALL,-TLSv1.3\nGroups = sntrup761"),
        20,
        "Protocol = ALL,-TLSv1.3 switches TLS 1.3 off",
    );
    expect(&bed, &groups(""), 19, "the section [tls] is empty");
    expect(&bed, &groups("MinProtocol = TLSv1.2"), 19, "[tls] has no Groups line");
    expect(
        &bed,
        &changed("system_default", "system-default = tls"),
        17,
        "\"system-default\" is not read by all programs",
    );
    expect(&bed, &changed("system_default", "server = tls"), 16, "[ssl] has no system_default line");
    expect(&bed, &changed("system_default", "system_default = tsl"), 17, "system_default names a section [tsl]");
    expect(&bed, &changed("ssl_conf", ""), 3, "[openssl_init] has no ssl_conf line");
    expect(&bed, &changed("ssl_conf", "ssl_conf = nothing"), 5, "ssl_conf names a section [nothing]");
    expect(
        &bed,
        &changed("ssl_conf", "").replace("[tls]", "[tls]\nssl_conf = ssl"),
        20,
        "this ssl_conf line belongs to [tls]",
    );
    // Groups that are known but not in reach: the security level forbids them, which only a trial shows.
    let said = expect(&bed, &groups("CipherString = DEFAULT@SECLEVEL=5\nGroups = sntrup761"), 1, "with this file");
    assert!(!said.contains("all right"), "{said}");
}

/// What works but deserves a word: another group first, groups that are not last, a line that a later one replaces.
#[test]
fn notes_do_not_make_a_file_wrong() {
    let bed = Bed::new();
    let groups = |new: &str| changed("Groups", new);
    for (text, note) in [
        (groups("Groups = X25519:sntrup761"), "note: clients send a share for another group"),
        (groups("Groups = sntrup761\nMinProtocol = TLSv1.3"), "checked.cnf:20: note: further lines follow the groups"),
        (groups("Groups = X25519\nGroups = sntrup761"), "checked.cnf:20: note: this line is without effect"),
        (
            changed("[ssl]", "[ssl]\nopenssl_conf = openssl_init"),
            "checked.cnf:17: note: this openssl_conf line belongs to [ssl]",
        ),
        (changed("[ssl]", ".include /nowhere.cnf\n[ssl]"), "checked.cnf:16: note: /nowhere.cnf cannot be read"),
    ] {
        let file = bed.path("checked.cnf");
        std::fs::write(&file, &text).unwrap();
        let end = check(&file);
        assert_eq!(end.status.code(), Some(0), "{}\n{text}", end.all());
        assert!(end.stdout.contains(note), "no \"{note}\" in {}\n{text}", end.all());
    }
}

/// Wrong use, or no OpenSSL to try the file with, is told apart from a wrong file.
#[test]
fn what_cannot_be_tried_is_told_apart() {
    let bed = Bed::new();
    let run = |arguments: &[&str], prefix: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_check-config"));
        command.args(arguments).env(env::OPENSSL, prefix);
        proc::run(command, PATIENCE).unwrap()
    };
    assert_eq!(run(&[], &env::openssl()).status.code(), Some(2));
    assert_eq!(run(&["--wrong"], &env::openssl()).status.code(), Some(2));
    assert_eq!(run(&["--help"], &env::openssl()).status.code(), Some(0));
    let end = run(&["/dev/null"], &bed.path("nowhere"));
    assert_eq!(end.status.code(), Some(2), "{}", end.all());
    // The system's OpenSSL 3 reads configurations by other rules.
    let end = run(&["/dev/null"], Path::new("/usr"));
    assert_eq!(end.status.code(), Some(2), "{}", end.all());
    assert!(end.stderr.contains("is not OpenSSL 1.1.1"), "{}", end.all());
}
