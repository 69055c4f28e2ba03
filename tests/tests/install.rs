//! scripts/install and scripts/uninstall refuse places that are not the engine's own, before they build anything.

use engntru_tests::bed::Bed;
use engntru_tests::proc::{self, Finished};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs a script that has to end soon: one that goes as far as building takes longer than it is given.
fn script(name: &str, arguments: &[&str]) -> Finished {
    let mut command = Command::new("bash");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts").join(name)).args(arguments);
    command.env_remove("HOME");
    proc::run(command, Duration::from_secs(10)).unwrap_or_else(|error| panic!("{error}"))
}

/// The system's directories, by any name, directories of others, and paths that cannot be compiled in.
#[test]
fn shared_and_doubtful_places_are_refused() {
    let bed = Bed::new();
    let occupied = bed.path("").display().to_string();
    let linked = bed.path("link");
    std::os::unix::fs::symlink("/usr", &linked).unwrap();
    let linked = linked.display().to_string();
    for (prefix, status, said) in [
        ("/", 1, "is shared with other programs"),
        ("/usr", 1, "is shared with other programs"),
        ("/usr/", 1, "is shared with other programs"),
        ("//usr///local/", 1, "is shared with other programs"),
        ("/opt/../usr", 1, "is shared with other programs"),
        (&linked, 1, "is shared with other programs"),
        ("/etc", 1, "is shared with other programs"),
        ("/usr/lib/ssl", 1, "was not made by this script"),
        (&occupied, 1, "was not made by this script"),
        ("relative/path", 2, "wants a path that starts with /"),
        ("", 2, "wants a path that starts with /"),
        ("/tmp/with space", 2, "cannot be part of the path"),
        ("/tmp/with:colon", 2, "cannot be part of the path"),
        ("/tmp/with|bar", 2, "cannot be part of the path"),
    ] {
        let end = script("install", &["--prefix", prefix]);
        assert_eq!(end.status.code(), Some(status), "{prefix}: {}", end.all());
        assert!(end.stderr.contains(said), "{prefix}: {}", end.all());
    }
    for arguments in [&["--prefix"][..], &["--bogus"], &["/opt/engntru"]] {
        assert_eq!(script("install", arguments).status.code(), Some(2), "{arguments:?}");
        assert_eq!(script("uninstall", arguments).status.code(), Some(2), "{arguments:?}");
    }
    for prefix in ["/usr", &occupied] {
        let end = script("uninstall", &["--prefix", prefix]);
        assert_eq!(end.status.code(), Some(1), "{prefix}: {}", end.all());
        assert!(end.stderr.contains("nothing is installed in"), "{prefix}: {}", end.all());
    }
    assert!(bed.path("engine.cnf").exists());
}
