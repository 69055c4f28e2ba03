//! X25519 (RFC 7748), by the fastest of two crates that the processor runs.
//!
//! graviola is Rust around s2n-bignum's assembly, which is proved correct and constant-time; it needs a processor of 2014
//! or later (ADX, AVX2) and stops with a panic on an older one, or under valgrind, which does not know ADX. There
//! x25519-dalek computes: portable, constant-time, half as fast.

use std::sync::OnceLock;

use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, Reason};

/// Bytes of a scalar, a share and a shared secret.
pub(crate) const BYTES: usize = 32;

/// One of the two crates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Implementation {
    Graviola,
    Dalek,
}

impl Implementation {
    /// The one for this processor. It is asked once.
    fn active() -> Self {
        static ACTIVE: OnceLock<Implementation> = OnceLock::new();
        *ACTIVE.get_or_init(|| if graviola_runs() { Self::Graviola } else { Self::Dalek })
    }

    fn public_key(self, secret: &[u8; BYTES]) -> [u8; BYTES] {
        match self {
            Self::Graviola => {
                graviola::key_agreement::x25519::StaticPrivateKey::from_array(secret).public_key().as_bytes()
            }
            Self::Dalek => x25519_dalek::x25519(*secret, x25519_dalek::X25519_BASEPOINT_BYTES),
        }
    }

    /// False if the result is all zeros.
    fn agree(self, secret: &[u8; BYTES], peer: &[u8; BYTES], out: &mut [u8; BYTES]) -> bool {
        match self {
            Self::Graviola => {
                use graviola::key_agreement::x25519::{PublicKey, StaticPrivateKey};
                let result = StaticPrivateKey::from_array(secret).diffie_hellman(&PublicKey::from_array(peer));
                // The crate refuses the result itself.
                result.map(|shared| out.copy_from_slice(&shared.0)).is_ok()
            }
            Self::Dalek => {
                let shared = Zeroizing::new(x25519_dalek::x25519(*secret, *peer));
                out.copy_from_slice(&*shared);
                // Whether all bytes are zero is public: it depends on the peer's share alone.
                out.iter().fold(0, |all, byte| all | byte) != 0
            }
        }
    }
}

/// Whether graviola runs here: the features that it asks for, and the mulx instruction of its multiplications.
fn graviola_runs() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("adx")
            && is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("avx")
            && is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("pclmulqdq")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// A secret scalar, on the heap so that moving it leaves no copy, wiped when it is dropped.
pub(crate) struct Secret(Box<[u8; BYTES]>);

impl Secret {
    /// The scalar that `write` puts over zeros.
    ///
    /// Errors: those of `write`.
    pub(crate) fn build(write: impl FnOnce(&mut [u8; BYTES]) -> Result<(), Error>) -> Result<Self, Error> {
        let mut secret = Self(Box::new([0; BYTES]));
        write(&mut secret.0)?;
        Ok(secret)
    }

    /// The 32 bytes. A copy of them is as secret as the scalar.
    pub(crate) fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The share that belongs to it.
    pub(crate) fn public_key(&self) -> [u8; BYTES] {
        Implementation::active().public_key(&self.0)
    }

    /// Writes the secret that is shared with `peer`.
    ///
    /// Errors: [`Reason::BadPoint`] if it is all zeros, as it is for shares of small order (RFC 7748, section 6.1).
    pub(crate) fn agree(&self, peer: &[u8; BYTES], out: &mut [u8; BYTES]) -> Result<(), Error> {
        if Implementation::active().agree(&self.0, peer, out) { Ok(()) } else { Err(Error::new(Reason::BadPoint)) }
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Implementation; 2] = [Implementation::Graviola, Implementation::Dalek];

    fn hex(text: &str) -> [u8; BYTES] {
        std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
    }

    /// The answers of RFC 7748, section 6.1.
    #[test]
    fn both_implementations_give_the_published_answers() {
        assert!(graviola_runs(), "this test needs a processor that runs both");
        let alice = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let alice_share = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        let bob = hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb");
        let bob_share = hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
        let expected = hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
        for implementation in BOTH {
            assert_eq!(implementation.public_key(&alice), alice_share);
            assert_eq!(implementation.public_key(&bob), bob_share);
            for (secret, peer) in [(&alice, &bob_share), (&bob, &alice_share)] {
                let mut shared = [0; BYTES];
                assert!(implementation.agree(secret, peer, &mut shared));
                assert_eq!(shared, expected);
            }
        }
    }

    /// The seven encodings of points whose order divides 8, from the list at cr.yp.to/ecdh.html: the result is all zeros.
    #[test]
    fn shares_of_small_order_are_refused() {
        let p = hex("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
        let plus = |n: u8| {
            let mut point = p;
            point[0] = point[0].wrapping_add(n);
            point
        };
        let minus_one = hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f");
        let mut one = [0; BYTES];
        one[0] = 1;
        let eighth = hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
        let other = hex("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157");
        for implementation in BOTH {
            for point in [[0; BYTES], one, eighth, other, minus_one, p, plus(1)] {
                for secret in [[0x55; BYTES], [0xff; BYTES]] {
                    assert!(!implementation.agree(&secret, &point, &mut [0; BYTES]), "{implementation:?} {point:?}");
                }
            }
        }
    }

    /// Both crates agree on random scalars and shares, also on those that are not reduced or have the top bit set.
    #[test]
    fn both_implementations_agree() {
        let mut state = 1u64;
        let mut next = || -> [u8; BYTES] {
            std::array::from_fn(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
        };
        for _ in 0..200 {
            let (secret, peer) = (next(), next());
            let mut results = BOTH.map(|_| [0; BYTES]);
            for (implementation, out) in BOTH.into_iter().zip(&mut results) {
                assert!(implementation.agree(&secret, &peer, out));
            }
            assert_eq!(results[0], results[1]);
            assert_eq!(BOTH[0].public_key(&secret), BOTH[1].public_key(&secret));
        }
    }
}
