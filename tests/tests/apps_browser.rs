//! GNOME Web, unmodified, opens a page with images from stunnel over the KEM groups. Slow: `scripts/test --apps` runs it.

use engntru_tests::bed::{Bed, KEMS};
use engntru_tests::show;
use std::collections::HashSet;

/// The page and its images arrive, each over a TLS 1.3 connection with this group and a public key of its own; the picture
/// of the screen shows them.
#[test]
fn gnome_web_opens_a_page_over_both_groups() {
    let bed = Bed::new();
    for kem in KEMS {
        let picture = show::pictures().join(format!("epiphany-{}.png", kem.name));
        let view = show::browse(&bed, kem, &picture);
        assert!(view.connections.len() > show::IMAGES, "{}: {} connections", kem.name, view.connections.len());
        let mut shares = HashSet::new();
        for said in &view.connections {
            let negotiated = said.negotiated().expect("a ServerHello");
            assert_eq!(negotiated.group, Some(kem.group), "{negotiated}");
            let hello = said.client_hellos()[0];
            assert_eq!(hello.groups.as_deref(), Some(&[kem.group][..]), "{}", kem.name);
            assert!(shares.insert(hello.share(kem.group).expect("a share").to_vec()), "a public key came twice");
            assert!(
                shares.insert(said.server_hello().unwrap().key_exchange.clone().unwrap()),
                "a ciphertext came twice"
            );
        }
        // Text and six tinted images, smoothed at the edges.
        assert!(view.colours > 200, "{}: the picture has {} colours", picture.display(), view.colours);
    }
}
