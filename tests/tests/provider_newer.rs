//! The provider on OpenSSL 3.5, 3.6 and 4.0 as later Debians have them: among themselves, with the system's 3.0, and with
//! the engine on the patched 1.1.1w.

use engntru_tests::bed::{Bed, KEMS, OpenSsl, PROVIDER_KEMS, SNTRUP761, X25519, X25519SNTRUP761};
use engntru_tests::conf::Conf;
use engntru_tests::env;

/// The directories of scripts/get-apps, and what their openssl says of itself.
const NEWER: [(&str, &str); 3] =
    [("debian13", "OpenSSL 3.5."), ("openssl-3.6", "OpenSSL 3.6."), ("openssl-4", "OpenSSL 4.")];

/// Each of them without the provider.
fn newer() -> Vec<OpenSsl> {
    NEWER
        .iter()
        .map(|(name, series)| {
            let openssl = OpenSsl::of_debian(name);
            let version = openssl.run(&["version"]);
            assert!(version.stdout.starts_with(series), "{name}: {}", version.all());
            openssl
        })
        .collect()
}

/// Every pair of versions, in both roles, with every group that both have; people are shown the group by name (W12).
#[test]
fn all_versions_understand_each_other() {
    let bed = Bed::new();
    let mut all = vec![bed.with_provider(&bed.system)];
    all.extend(newer().iter().map(|openssl| bed.with_provider(openssl)));
    for (i, client) in all.iter().enumerate() {
        for server in &all {
            for kem in PROVIDER_KEMS {
                let arguments = &["-groups", kem.name][..];
                let meeting = bed.connect((server, arguments), (client, arguments));
                assert_eq!(meeting.group(), kem.group, "{meeting:?}");
                let negotiated = meeting.said.negotiated().unwrap();
                assert_eq!(negotiated.server_share, Some(kem.ciphertext));
                if i > 0 {
                    let line = format!("Negotiated TLS1.3 group: {}", kem.name);
                    assert!(meeting.client.end.stdout.contains(&line), "{meeting:?}");
                }
            }
        }
        for kem in KEMS {
            let arguments = &["-groups", kem.name][..];
            for pair in [(client, &bed.engine), (&bed.engine, client)] {
                assert_eq!(bed.connect((pair.0, arguments), (pair.1, arguments)).group(), kem.group);
            }
        }
    }
}

/// The syntax of 3.5 and later: `?` passes over what is unknown, `*` predicts a share, `/` ranks; names in any case.
#[test]
fn the_group_syntax_of_3_5() {
    let bed = Bed::new();
    for openssl in newer() {
        let ours = bed.with_provider(&openssl);
        let server = (&ours, &["-groups", "sntrup761:X25519sntrup761:X25519"][..]);
        let shares = |list: &str| {
            let meeting = bed.connect(server, (&ours, &["-groups", list]));
            assert!(meeting.client.succeeded(), "{list}: {meeting:?}");
            let hello = meeting.said.client_hellos()[0].clone();
            let shares: Vec<_> = hello.key_shares.iter().flatten().map(|share| share.group).collect();
            (hello.groups.unwrap_or_default(), shares, meeting.group())
        };
        assert_eq!(shares("?nosuch:sntrup761:X25519"), (vec![SNTRUP761, X25519], vec![SNTRUP761], SNTRUP761));
        assert_eq!(shares("SNTRUP761"), (vec![SNTRUP761], vec![SNTRUP761], SNTRUP761));
        let (groups, sent, group) = shares("*X25519sntrup761:*X25519/sntrup761");
        assert_eq!(groups, [X25519SNTRUP761, X25519, SNTRUP761]);
        assert_eq!((sent, group), (vec![X25519SNTRUP761, X25519], X25519SNTRUP761));
        let (groups, sent, group) = shares("?*X25519sntrup761/DEFAULT");
        assert!(groups.len() > 3 && groups[0] == X25519SNTRUP761, "{groups:?}");
        assert!(sent.contains(&X25519SNTRUP761) && group == X25519SNTRUP761, "{sent:?}");
        // A server that ranks the KEM above X25519 asks for it, though a share for X25519 is there.
        let ranking = (&ours, &["-groups", "sntrup761/X25519"][..]);
        let meeting = bed.connect(ranking, (&ours, &["-groups", "*X25519:sntrup761"]));
        assert_eq!(meeting.group(), SNTRUP761, "{meeting:?}");
        assert_eq!(meeting.said.retry().and_then(|retry| retry.group), Some(SNTRUP761));
    }
}

/// One list of groups in openssl.cnf serves every version; peers without the provider get X25519 or ML-KEM as before.
#[test]
fn one_openssl_cnf_for_all() {
    let bed = Bed::new();
    for openssl in newer() {
        let conf = Conf::provider(&env::provider()).groups("X25519sntrup761:sntrup761:X25519");
        let ours = bed.with(&openssl, "one.cnf", &conf);
        assert_eq!(bed.connect((&ours, &[]), (&ours, &[])).group(), X25519SNTRUP761);
        assert_eq!(bed.connect((&ours, &[]), (&bed.system, &[])).group(), X25519);
        assert_eq!(bed.connect((&openssl, &[]), (&ours, &[])).group(), X25519);
    }
}
