//! check-config on the configuration of applications, and on applications that run.

use engntru_tests::apps::{App, Place, Stunnel};
use engntru_tests::backend::Backend;
use engntru_tests::bed::Bed;
use engntru_tests::check::{self, Report};
use engntru_tests::conf::Conf;
use engntru_tests::env;
use std::path::Path;

fn judge(bed: &Bed, name: &str, text: &str) -> Report {
    let file = bed.path(name);
    std::fs::write(&file, text).unwrap();
    check::check_application(&file, &env::openssl().join("bin/openssl")).unwrap_or_else(|problem| panic!("{problem}"))
}

fn findings(report: &Report) -> String {
    report.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// Each application's own words for groups are found; a wrong name is told with its line and the right one (A1).
#[test]
fn lists_in_applications_are_judged() {
    let bed = Bed::new();
    for (name, text, line) in [
        ("stunnel.conf", "pid =\n[web]\naccept = 8443\nconnect = 80\ncurves = LIST\n", 5),
        ("nginx.conf", "events {}\nhttp {\n  server {\n    listen 443 ssl;\n    ssl_ecdh_curve LIST;\n  }\n}\n", 5),
        (".curlrc", "# mine\nsilent\n--curves = \"LIST\"\n", 3),
        ("haproxy.cfg", "frontend web\n  bind :443 ssl crt a.pem curves LIST\n  default_backend b\n", 2),
    ] {
        let right = judge(&bed, name, &text.replace("LIST", "sntrup761:X25519"));
        assert!(right.is_right(), "{name}: {}", findings(&right));
        assert!(right.facts.iter().any(|fact| fact.contains("lists sntrup761:X25519")), "{name}: {:?}", right.facts);
        for (list, said) in [
            ("sntrup716:X25519", "OpenSSL knows no group \"sntrup716\": write sntrup761"),
            ("sntrup761:sntrup761", "sntrup761 stands twice"),
            ("X25519:P-256", "names none of the engine's groups"),
        ] {
            let wrong = judge(&bed, name, &text.replace("LIST", list));
            assert!(!wrong.is_right(), "{name}, {list}");
            let told = findings(&wrong);
            assert!(told.contains(said) && told.contains(&format!("{name}:{line}: ")), "{name}, {list}: {told}");
        }
    }
}

/// An application that lists nothing: stunnel then never offers the engine's groups, nginx and haproxy leave it to openssl.cnf.
/// TLS 1.3 switched off is told as well.
#[test]
fn missing_lists_and_old_versions_are_told() {
    let bed = Bed::new();
    let stunnel = judge(&bed, "stunnel.conf", "[web]\naccept = 8443\n[mail]\naccept = 8465\ncurves = sntrup761\n");
    assert!(!stunnel.is_right() && findings(&stunnel).contains("[web] has no curves"), "{}", findings(&stunnel));
    assert!(!findings(&stunnel).contains("[mail]"), "{}", findings(&stunnel));
    // One list before all services serves each of them.
    assert!(judge(&bed, "stunnel.conf", "curves = sntrup761\n[web]\naccept = 8443\n").is_right());

    let nginx = judge(&bed, "nginx.conf", "http {\n  ssl_protocols TLSv1.2;\n}\n");
    assert!(findings(&nginx).contains("nginx.conf:2: ssl_protocols leaves TLS 1.3 out"), "{}", findings(&nginx));
    let nginx = judge(&bed, "nginx.conf", "http {\n  server {\n    listen 443 ssl;\n  }\n}\n");
    let told = findings(&nginx);
    assert!(nginx.is_right() && told.contains("nginx.conf: note: no ssl_protocols here"), "{told}");
    assert!(told.contains("nginx.conf: note: no ssl_ecdh_curve here") && !told.contains("proxy_ssl"), "{told}");
    let nginx = judge(&bed, "nginx.conf", "server {\n  location / { \n    proxy_pass https://a;\n  }\n}\n");
    assert!(findings(&nginx).contains("note: no proxy_ssl_protocols here"), "{}", findings(&nginx));
    let stunnel = judge(&bed, "stunnel.conf", "[web]\ncurves = sntrup761\noptions = NO_TLSv1.3\n");
    assert!(findings(&stunnel).contains("stunnel.conf:3: options = NO_TLSv1.3 switches"), "{}", findings(&stunnel));
    let curl = judge(&bed, "curlrc", "tls-max 1.2\n");
    assert!(findings(&curl).contains("curlrc:1: tls-max 1.2 switches TLS 1.3 off"), "{}", findings(&curl));
    assert!(findings(&curl).contains("curlrc: note: no curves here"), "{}", findings(&curl));
    let haproxy =
        judge(&bed, "haproxy.cfg", "listen a\n  bind :443 ssl crt a.pem\n  server b 10.0.0.1:443 ssl verify none\n");
    assert!(haproxy.is_right(), "{}", findings(&haproxy));
    assert_eq!(haproxy.findings.len(), 2, "{}", findings(&haproxy));
    let old = judge(&bed, "haproxy.cfg", "listen a\n  bind :443 ssl crt a.pem curves sntrup761 ssl-max-ver TLSv1.2\n");
    assert!(findings(&old).contains("switches TLS 1.3 off"), "{}", findings(&old));
}

/// A running stunnel: with the engine, and started without the configuration that loads it.
#[test]
fn a_running_program_is_looked_into() {
    let bed = Bed::new();
    let backend = Backend::reversing();
    let service = [
        format!("connect = {}", backend.address),
        format!("cert = {}", bed.certificate.certificate.display()),
        format!("key = {}", bed.certificate.key.display()),
        "curves = sntrup761".to_owned(),
    ];
    let conf = Conf::engine(&env::engine()).write(bed.path("app.cnf")).unwrap();
    for (conf, right) in [(conf.as_path(), true), (Path::new("/dev/null"), false)] {
        let server = Stunnel::start(&bed, &App::stunnel(), "server", Place::Foreground, conf, &service);
        let server = server.unwrap_or_else(|end| panic!("{end:?}"));
        let report = check::check_process(&server.id().to_string(), &env::openssl()).unwrap();
        assert_eq!(report.is_right(), right, "{report:?}");
        assert!(right || findings(&report).contains("not loaded the engine"), "{report:?}");
    }
    // This test is no TLS program.
    let own = check::check_process(&std::process::id().to_string(), &env::openssl()).unwrap();
    assert!(!own.is_right());
    assert!(check::check_process("0", &env::openssl()).is_err());
    assert!(check::check_process("../1", &env::openssl()).is_err());
}
