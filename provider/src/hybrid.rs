//! X25519 and sntrup761 side by side: whoever breaks one of them has not broken the connection.
//!
//! Everything is X25519's part followed by sntrup761's: public keys (32 + 1158 bytes), secret keys (32 + 1763), ciphertexts
//! (32 + 1039), where X25519's part is the share of a key made for this one exchange, and shared secrets (32 + 32). So had
//! it oqs-provider's x25519_sntrup761. The parts are concatenated as draft-ietf-tls-hybrid-design says: the key schedule
//! of TLS 1.3 hashes the secret together with both hellos, that is with both public keys and the ciphertext.

use std::ffi::CStr;

use sntrup_core::{Params, RandomSource, SHARED_SECRET_BYTES, Sntrup761};
use zeroize::{Zeroize, Zeroizing};

use crate::error::{Error, Reason};
use crate::key::{Key, require_length};
use crate::plain::Plain;
use crate::rng::OsRandom;
use crate::x25519::{self, Secret};

type Ntru = Plain<Sntrup761>;

/// A key of the hybrid.
pub(crate) struct Hybrid {
    /// The encoded public key.
    public: Box<[u8]>,
    curve: Option<Secret>,
    ntru: Ntru,
}

impl Hybrid {
    fn new(curve: Secret, ntru: Ntru) -> Self {
        Self { public: [&curve.public_key(), ntru.public()].concat().into(), curve: Some(curve), ntru }
    }
}

/// A new scalar.
fn new_scalar() -> Result<Secret, Error> {
    Secret::build(|scalar| Ok(OsRandom.fill(scalar)?))
}

/// X25519's part and sntrup's.
///
/// Errors: [`Reason::WrongLength`] unless there are `expected` bytes.
fn split<'b>(what: &CStr, expected: usize, bytes: &'b [u8]) -> Result<(&'b [u8; x25519::BYTES], &'b [u8]), Error> {
    require_length(what, expected, bytes)?;
    bytes.split_first_chunk().ok_or_else(|| Error::new(Reason::WrongLength))
}

impl Key for Hybrid {
    const NAME: &'static CStr = c"X25519sntrup761";
    // Arc 2, next to the arc of the schemes: hybrids with X25519 first.
    const OID: &'static CStr = c"2.25.324341873410083312134409510976690305945.2.761";
    const DESCRIPTION: &'static CStr = c"X25519 and Streamlined NTRU Prime 761 (engNTRU)";
    const SECURITY_BITS: u16 = Ntru::SECURITY_BITS;
    const GROUP: u16 = 0xFEB3;
    const GROUP_SETTING: &'static CStr = c"TLS_GROUP_ID_X25519SNTRUP761";
    const PUBLIC_KEY_BYTES: usize = x25519::BYTES + Ntru::PUBLIC_KEY_BYTES;
    const CIPHERTEXT_BYTES: usize = x25519::BYTES + Ntru::CIPHERTEXT_BYTES;
    const SHARED_SECRET_BYTES: usize = x25519::BYTES + SHARED_SECRET_BYTES;

    fn generate() -> Result<Self, Error> {
        Ok(Self::new(new_scalar()?, Ntru::generate()?))
    }

    fn from_public(bytes: &[u8]) -> Result<Self, Error> {
        let (_, ntru) = split(c"X25519sntrup761 public key", Self::PUBLIC_KEY_BYTES, bytes)?;
        Ok(Self { public: bytes.into(), curve: None, ntru: Ntru::from_public(ntru)? })
    }

    fn from_secret(bytes: &[u8]) -> Result<Self, Error> {
        let expected = x25519::BYTES + Sntrup761::SECRET_KEY_BYTES;
        let (curve, ntru) = split(c"X25519sntrup761 secret key", expected, bytes)?;
        let curve = Secret::build(|scalar| {
            scalar.copy_from_slice(curve);
            Ok(())
        })?;
        Ok(Self::new(curve, Ntru::from_secret(ntru)?))
    }

    fn public(&self) -> &[u8] {
        &self.public
    }

    fn with_secret<T>(&self, take: impl FnOnce(&[u8]) -> T) -> Result<T, Error> {
        let curve = self.curve.as_ref().ok_or_else(|| Error::new(Reason::PublicOnly))?;
        self.ntru.with_secret(|ntru| take(&Zeroizing::new([curve.as_bytes(), ntru].concat())))
    }

    fn has_secret(&self) -> bool {
        self.curve.is_some()
    }

    fn check(&self) -> Result<(), Error> {
        self.ntru.check()?;
        let curve = self.curve.as_ref().ok_or_else(|| Error::new(Reason::PublicOnly))?;
        let fits = self.public.starts_with(&curve.public_key());
        if fits { Ok(()) } else { Err(Error::new(Reason::InconsistentKey)) }
    }

    fn encapsulate(&self, ciphertext: &mut [u8], secret: &mut [u8]) -> Result<(), Error> {
        let (ours, ntru_ciphertext) = ciphertext.split_at_mut(x25519::BYTES);
        let (peer, _) = split(Self::NAME, Self::PUBLIC_KEY_BYTES, &self.public)?;
        let scalar = new_scalar()?;
        agree(&scalar, peer, secret, |secret| self.ntru.encapsulate(ntru_ciphertext, secret))?;
        ours.copy_from_slice(&scalar.public_key());
        Ok(())
    }

    fn decapsulate(&self, ciphertext: &[u8], secret: &mut [u8]) -> Result<(), Error> {
        let (peer, ntru) = split(c"X25519sntrup761 ciphertext", Self::CIPHERTEXT_BYTES, ciphertext)?;
        let scalar = self.curve.as_ref().ok_or_else(|| Error::new(Reason::PublicOnly))?;
        agree(scalar, peer, secret, |secret| self.ntru.decapsulate(ntru, secret))
    }
}

/// Writes X25519's secret, then lets `ntru` write its own behind it; if that fails, nothing of the first is left.
///
/// Errors: [`Reason::BadPoint`], and those of `ntru`.
fn agree(
    scalar: &Secret,
    peer: &[u8; x25519::BYTES],
    secret: &mut [u8],
    ntru: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let too_short = || Error::new(Reason::BufferTooSmall);
    let (curve_secret, ntru_secret) = secret.split_first_chunk_mut().ok_or_else(too_short)?;
    scalar.agree(peer, curve_secret)?;
    ntru(ntru_secret).inspect_err(|_| curve_secret.zeroize())
}
