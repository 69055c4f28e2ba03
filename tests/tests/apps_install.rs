//! scripts/install, scripts/uninstall and scripts/package-deb to the end: what is installed keys connections, and goes away
//! without a trace. The first run compiles OpenSSL for each of the two places. The package is tried in a chroot, as root.

use engntru_tests::bed::{Bed, KEMS, Kem, PROVIDER_KEMS, Server, isolate, talk};
use engntru_tests::env;
use engntru_tests::proc::{self, Finished};
use engntru_tests::tap::{Settings, Tap};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Compiling OpenSSL is part of the first run.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Runs a command that has to end within [`PATIENCE`], under the settings of nobody's OpenSSL.
fn run(mut command: Command) -> Finished {
    isolate(&mut command, None);
    command.env_remove("OPENSSL_CONF");
    proc::run(command, PATIENCE).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs one of the tree's scripts.
fn script(name: &str, arguments: &[&str]) -> Finished {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(name));
    command.args(arguments);
    run(command)
}

fn assert_success(end: &Finished) {
    assert!(end.status.success(), "{}", end.all());
}

/// A place for trying things in, beside the applications: its path is compiled into OpenSSL and has to be the same each time.
fn place(name: &str) -> PathBuf {
    let apps = env::path(env::APPS).unwrap_or_else(|problem| panic!("{problem} --apps"));
    let place = apps.join("install-tests").join(name);
    // What an interrupted run left.
    if place.exists() {
        fs::remove_dir_all(&place).unwrap();
    }
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    place
}

/// Everything below a directory by its path from there, directories too, but for what lies below one of `except`.
fn files(directory: &Path, except: &[&str]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display())) {
            let entry = entry.unwrap();
            let name = entry.path().strip_prefix(directory).unwrap().to_path_buf();
            if except.iter().any(|except| name.starts_with(except)) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
            found.insert(name);
        }
    }
    found
}

/// The system's OpenSSL: its files, with what changes when one is written.
fn system_openssl() -> Vec<(PathBuf, u64, u64, i64, i64)> {
    let mut found = Vec::new();
    let libraries = Path::new("/usr/lib/x86_64-linux-gnu");
    let is_part = |name: &Path| {
        let name = name.to_string_lossy();
        ["libssl.", "libcrypto.", "engines-", "ossl-modules"].iter().any(|start| name.starts_with(start))
    };
    let names = files(libraries, &[]).into_iter().filter(|name| is_part(name)).map(|name| libraries.join(name));
    let fixed = ["/usr/bin/openssl", "/etc/ssl/openssl.cnf", "/usr/lib/ssl", "/etc/ld.so.conf.d", "/etc/ld.so.cache"];
    for path in names.chain(fixed.map(PathBuf::from)) {
        let data = fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        found.push((path, data.ino(), data.len(), data.mtime(), data.ctime()));
    }
    assert!(found.len() > 7, "{found:?}");
    found
}

/// A connection between s_server and s_client, each started with `openssl`, a command line up to the program's name: over the
/// first group of the installed openssl.cnf, as the wire shows.
fn assert_connection(openssl: &dyn Fn() -> Command, kem: Kem, certificate: &str, key: &str) {
    let mut command = openssl();
    command.args(["s_server", "-accept", "127.0.0.1:0", "-rev", "-cert", certificate, "-key", key]);
    let server = Server::start(command).unwrap_or_else(|end| panic!("{}", end.all()));
    let tap = Tap::start(server.address, Settings::default()).unwrap();
    let mut command = openssl();
    command.args(["s_client", "-connect", &tap.address().to_string()]);
    command.args(["-CAfile", certificate, "-verify_return_error"]);
    let client = talk(command);
    assert!(client.succeeded(), "{client:?}");
    let said = tap.next(Duration::from_secs(60)).expect("a finished connection").conversation().unwrap();
    assert_eq!(said.negotiated().unwrap().group, Some(kem.group));
    assert_eq!(said.client_hellos()[0].share(kem.group).unwrap().len(), kem.public_key);
}

/// `engntru-env PROGRAM ARGUMENT...` of an installation.
fn under(prefix: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(prefix.join("bin/engntru-env"));
    isolate(&mut command, None);
    command.env_remove("OPENSSL_CONF");
    command.args(arguments);
    command
}

/// Installed once and twice, used, and taken away: nothing is left, and the system's OpenSSL is as it was. An edited
/// configuration outlives an installation, files of others outlive everything.
#[test]
fn an_installation_works_and_goes_away_without_a_trace() {
    let prefix = place("prefix");
    let named = prefix.display().to_string();
    let before = system_openssl();
    assert_success(&script("install", &["--prefix", &named]));
    let installed = files(&prefix, &[]);
    let conf = prefix.join("ssl/openssl.cnf");
    let shipped = fs::read_to_string(&conf).unwrap();

    let mut check = Command::new(prefix.join("bin/engntru-check-config"));
    check.arg(&conf);
    let check = run(check);
    assert!(check.status.success() && check.stdout.contains("all right"), "{}", check.all());
    let bed = Bed::new();
    let (certificate, key) =
        (bed.certificate.certificate.display().to_string(), bed.certificate.key.display().to_string());
    assert_connection(&|| under(&prefix, &["openssl"]), KEMS[0], &certificate, &key);
    a_program_under_engntru_env(&prefix);
    for name in &installed {
        let data = fs::symlink_metadata(prefix.join(name)).unwrap();
        assert!(data.is_symlink() || data.mode() & 0o022 == 0, "others may write to {}", name.display());
    }

    // A second time, and a third over an edited configuration.
    assert_success(&script("install", &["--prefix", &named]));
    let again = files(&prefix, &[]);
    assert!(again == installed, "{:?}", again.symmetric_difference(&installed).collect::<Vec<_>>());
    let edited = format!("# edited\n{shipped}");
    fs::write(&conf, &edited).unwrap();
    let end = script("install", &["--prefix", &named]);
    assert_success(&end);
    assert!(end.stderr.contains("keeping"), "{}", end.all());
    assert_eq!(fs::read_to_string(&conf).unwrap(), edited);
    assert_eq!(fs::read_to_string(prefix.join("ssl/openssl.cnf.new")).unwrap(), shipped);

    // A list that leads out of the directory is refused.
    let list = prefix.join("share/engntru/files");
    let good = fs::read_to_string(&list).unwrap();
    let outside = prefix.with_file_name("outside");
    fs::write(&outside, "not ours").unwrap();
    fs::write(&list, format!("../outside\n{good}")).unwrap();
    let end = script("uninstall", &["--prefix", &named]);
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(outside.exists() && end.stderr.contains("which is not below"), "{}", end.all());
    fs::remove_file(&outside).unwrap();
    fs::write(&list, good).unwrap();

    let foreign = prefix.join("ssl/foreign");
    fs::write(&foreign, "somebody else's").unwrap();
    let end = script("uninstall", &["--prefix", &named]);
    assert_success(&end);
    assert!(end.stderr.contains(&foreign.display().to_string()), "{}", end.all());
    assert_eq!(files(&prefix, &[]), ["ssl", "ssl/foreign"].map(PathBuf::from).into());
    // Beside files of others nothing is installed.
    let end = script("install", &["--prefix", &named]);
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(end.stderr.contains("was not made by this script"), "{}", end.all());
    fs::remove_dir_all(&prefix).unwrap();

    assert_success(&script("install", &["--prefix", &named]));
    assert_success(&script("uninstall", &["--prefix", &named]));
    assert!(!prefix.exists(), "left: {:?}", files(&prefix, &[]));
    assert_eq!(script("uninstall", &["--prefix", &named]).status.code(), Some(1), "there is nothing to take away");
    assert!(system_openssl() == before, "the system's OpenSSL was touched: {before:?}, then {:?}", system_openssl());
}

/// The same of the provider, on the system's own OpenSSL, by nothing but the openssl.cnf that is installed.
#[test]
fn an_installed_provider_works_and_goes_away_without_a_trace() {
    let prefix = place("provider");
    let named = prefix.display().to_string();
    let before = system_openssl();
    assert_success(&script("install", &["--provider", "--prefix", &named]));
    let installed = files(&prefix, &[]);
    let bed = Bed::new();
    let (certificate, key) =
        (bed.certificate.certificate.display().to_string(), bed.certificate.key.display().to_string());
    let openssl = || {
        let mut command = Command::new("openssl");
        isolate(&mut command, Some(&prefix.join("ssl/openssl.cnf")));
        command
    };
    assert_connection(&openssl, PROVIDER_KEMS[2], &certificate, &key);
    assert_success(&script("install", &["--provider", "--prefix", &named]));
    assert_eq!(files(&prefix, &[]), installed);
    assert_success(&script("uninstall", &["--prefix", &named]));
    assert!(!prefix.exists(), "left: {:?}", files(&prefix, &[]));
    assert!(system_openssl() == before, "the system's OpenSSL was touched: {before:?}, then {:?}", system_openssl());
}

/// engntru-env gives a program its arguments as they are, its environment and its exit status; what it cannot serve it names.
fn a_program_under_engntru_env(prefix: &Path) {
    let env_of = |arguments: &[&str]| proc::run(under(prefix, arguments), PATIENCE).unwrap();
    let end = env_of(&["sh", "-c", "printf '<%s>' \"$@\"; exit 7", "sh", "a b", "", "*"]);
    assert_eq!((end.status.code(), end.stdout.as_str()), (Some(7), "<a b><><*>"));
    let variables = "echo $OPENSSL_CONF; echo $LD_LIBRARY_PATH";
    let (conf, libraries) = (prefix.join("ssl/openssl.cnf"), prefix.join("lib"));
    let end = env_of(&["sh", "-c", variables]);
    assert_eq!(end.stdout, format!("{}\n{}\n", conf.display(), libraries.display()));
    let mut own = under(prefix, &["sh", "-c", variables]);
    own.env("OPENSSL_CONF", "/own.cnf").env("LD_LIBRARY_PATH", "/own");
    let end = proc::run(own, PATIENCE).unwrap();
    assert_eq!(end.stdout, format!("/own.cnf\n{}:/own\n", libraries.display()));
    let end = env_of(&["openssl", "version"]);
    assert!(end.stdout.starts_with("OpenSSL 1.1.1w"), "{}", end.all());

    let end = env_of(&["/usr/bin/openssl", "version"]);
    assert_eq!(end.status.code(), Some(1), "{}", end.all());
    assert!(end.stdout.is_empty() && end.stderr.contains("is linked with OpenSSL 3"), "{}", end.all());
    let end = env_of(&["no-such-program"]);
    assert_eq!(end.status.code(), Some(127), "{}", end.all());
    assert!(end.stderr.contains("there is no program no-such-program"), "{}", end.all());
    let end = env_of(&[]);
    assert!(end.status.code() == Some(2) && end.stderr.contains("usage: engntru-env"), "{}", end.all());
    let end = env_of(&["--help"]);
    assert!(end.status.code() == Some(0) && end.stdout.contains("usage: engntru-env"), "{}", end.all());
}

/// The Debian package in a fresh Debian 12: dpkg installs it with nothing else missing, a connection by an ordinary user is keyed
/// by it, and a purge leaves the system as it was.
#[test]
fn the_package_works_in_a_fresh_debian_and_goes_away_without_a_trace() {
    let out = place("deb");
    let end = script("package-deb", &["--out", &out.display().to_string()]);
    assert_success(&end);
    let package = PathBuf::from(end.stdout.lines().last().expect("the package's name"));
    let root = place("root");
    let mut copy = Command::new("cp");
    copy.arg("-a").arg(env::app("chroot12").join("")).arg(&root);
    assert_success(&run(copy));
    fs::copy(&package, root.join("engntru.deb")).unwrap();
    let inside = |user: &str, arguments: &[&str]| {
        let mut command = Command::new("chroot");
        command.arg(format!("--userspec={user}:{user}")).arg(&root).args(arguments);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C");
        command
    };
    let as_root = |arguments: &[&str]| proc::run(inside("0", arguments), PATIENCE).unwrap();
    // What dpkg writes for itself, and the processes' own places.
    let except = ["var/lib/dpkg", "var/log", "var/cache", "proc", "sys", "dev", "tmp"];
    let before = files(&root, &except);
    let end = as_root(&["dpkg", "-i", "/engntru.deb"]);
    assert_success(&end);
    let end = as_root(&["dpkg", "--verify", "engntru"]);
    assert!(end.status.success() && end.stdout.is_empty(), "{}", end.all());
    let brought: BTreeSet<PathBuf> = files(&root, &except).difference(&before).cloned().collect();
    for name in &brought {
        let own = ["opt/engntru", "usr/bin/engntru-env", "usr/share/doc/engntru"];
        assert!(own.iter().any(|own| name.starts_with(own)), "the package brings {}", name.display());
        let data = fs::symlink_metadata(root.join(name)).unwrap();
        assert!(data.uid() == 0 && (data.is_symlink() || data.mode() & 0o022 == 0), "{}", name.display());
    }

    let nobody = "65534";
    let end = inside(nobody, &["/opt/engntru/bin/engntru-check-config", "/opt/engntru/ssl/openssl.cnf"]);
    let end = proc::run(end, PATIENCE).unwrap();
    assert!(end.status.success() && end.stdout.contains("all right"), "{}", end.all());
    let bed = Bed::new();
    for (file, name) in [(&bed.certificate.certificate, "tmp/certificate.pem"), (&bed.certificate.key, "tmp/key.pem")] {
        fs::write(root.join(name), fs::read(file).unwrap()).unwrap();
    }
    let openssl = || inside(nobody, &["engntru-env", "openssl"]);
    assert_connection(&openssl, KEMS[0], "/tmp/certificate.pem", "/tmp/key.pem");

    // An edited configuration file stays when the package is removed, and goes when it is purged.
    let conf = root.join("opt/engntru/ssl/openssl.cnf");
    fs::write(&conf, format!("# edited\n{}", fs::read_to_string(&conf).unwrap())).unwrap();
    assert_success(&as_root(&["dpkg", "--remove", "engntru"]));
    let left: BTreeSet<PathBuf> = files(&root, &except).difference(&before).cloned().collect();
    let kept = ["opt/engntru", "opt/engntru/ssl", "opt/engntru/ssl/openssl.cnf"];
    assert_eq!(left, kept.map(PathBuf::from).into());
    assert_success(&as_root(&["dpkg", "--purge", "engntru"]));
    // dpkg takes the empty /opt along, which belongs to no package of a fresh Debian.
    let after = files(&root, &except);
    let changed: Vec<_> = after.symmetric_difference(&before).filter(|name| *name != Path::new("opt")).collect();
    assert!(changed.is_empty(), "{changed:?}");
    fs::remove_dir_all(&root).unwrap();
}
