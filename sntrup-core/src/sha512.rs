//! SHA-512 (FIPS 180-4).

use sha2::{Digest, Sha512};

/// SHA-512 of the parts, one after the other; the hash state is wiped when dropped.
pub(crate) fn sha512(parts: &[&[u8]], out: &mut [u8; 64]) {
    let mut state = Sha512::new();
    for part in parts {
        state.update(part);
    }
    state.finalize_into(out.into());
}
