//! KeyGen, Encap and Decap (specification, section "Streamlined NTRU Prime KEM"), in the specification's steps.

use std::fmt;

use zeroize::Zeroizing;

use crate::backend::Kernels;
use crate::backend::multiplier::{Multiplier, Operand, Prepared, Transformed};
use crate::codec::{key, radix, small};
use crate::ct::{self, Disclosed};
use crate::drbg::Drbg;
use crate::error::Error;
use crate::hash::{self, Hash, Hasher, hash_into};
use crate::keys::{Ciphertext, KeyPair, PublicKey, SecretKey, SharedSecret};
use crate::params::{HASH_BYTES, Params};
use crate::ring::{Folded, R3, Rounded, Rq, Short};
use crate::rng::RandomSource;
use crate::sampling::{self, draw, element_bytes};
use crate::wipe::{Array, Secret};

/// Makes a key pair (KeyGen).
///
/// Asks the random source for 4p bytes (g), again for each g without an inverse modulo 3 (for sntrup653 one in 27, else
/// practically none), for 4p bytes (f), and for (p+3)/4 bytes (rho).
///
/// # Errors
/// [`Error::Random`] if the random source fails.
pub fn generate_key<P: Params>(mut rng: &mut (impl RandomSource + ?Sized)) -> Result<KeyPair<P>, Error> {
    P::generate_key(&mut rng)
}

/// Makes a session key and the ciphertext that carries it to the holder of the secret key (Encap).
///
/// Asks the random source once, for 4p bytes.
///
/// # Errors
/// [`Error::Random`] if the random source fails.
pub fn encapsulate<P: Params>(
    key: &PublicKey<P>,
    mut rng: &mut (impl RandomSource + ?Sized),
) -> Result<(Ciphertext<P>, SharedSecret), Error> {
    P::encapsulate(key, &mut rng)
}

/// Recovers the session key (Decap).
///
/// There is no error: a ciphertext that [`encapsulate`] did not make for this key yields a secret that depends on the
/// secret key and the ciphertext (implicit rejection), in the same time.
pub fn decapsulate<P: Params>(ciphertext: &Ciphertext<P>, key: &SecretKey<P>) -> SharedSecret {
    P::decapsulate(ciphertext, key)
}

/// KeyGen.
pub(crate) fn key_gen<P: Params>(rng: &mut dyn RandomSource, k: impl Kernels) -> Result<KeyPair<P>, Error> {
    let (g, g_recip) = loop {
        let g = sampling::small::<P>(&draw(rng, element_bytes::<P>())?);
        let (g_recip, invertible) = g.recip(k);
        // Harmless: a rejected g is never used, and an accepted one is known to be invertible anyway.
        if ct::declassify(invertible, Disclosed::Invertible) {
            break (g, g_recip);
        }
    };
    let f = sampling::short::<P>(&draw(rng, element_bytes::<P>())?, k);
    let rho = draw(rng, P::SmallBytes::LEN)?;
    // h = g/(3f). The known answers leave no random bytes for the blinding of the inversion, so its seed is Hash_5(rho). That
    // is as good as random bytes of its own: rho holds at least 1300 uniform bits that are independent of f and g, nobody but
    // the key's owner learns them, and their only other use is Hash_3(rho), which tells nothing of Hash_5(rho) since the
    // prefixes keep the two apart (the specification uses 0 to 4).
    let m = &mut Multiplier::new(k);
    let mut seed = Zeroizing::new([0; HASH_BYTES]);
    hash_into(hash::BLINDING, [&rho, &[]], &mut seed, k);
    let reciprocal = Folded::reciprocal_of_three(f.transform(m).view(), &mut Drbg::from_seed(&seed, k), m);
    let h = Rq::product(g.transform(m).view(), reciprocal.transform(m).view(), m);
    let mut pair = [key::assemble(&f, &g_recip, &h, &rho, k)];
    key::hash_public_keys(&mut pair, k);
    let [pair] = pair;
    Ok(pair)
}

/// What Encap needs of a public key.
struct Recipient<'a, P: Params> {
    h: Operand<'a, P>,
    hash: KeyHash<'a>,
}

/// Hash_4 of a public key, or the key that it is to be computed of.
enum KeyHash<'a> {
    Known(&'a Hash),
    Of(&'a [u8]),
}

/// What Decap needs of a secret key.
struct Owner<'a, P: Params> {
    f: Operand<'a, P>,
    g_recip: Operand<'a, P>,
    h: Operand<'a, P>,
    public_key_hash: &'a Hash,
    rho_hash: RhoHash<'a>,
}

/// Hash_3(rho), or the rho that it is to be computed of.
enum RhoHash<'a> {
    Known(&'a Hash),
    Of(&'a [u8]),
}

/// The transform of a public key's element.
fn open_public<P: Params, K: Kernels>(key: &[u8], m: &mut Multiplier<P, K>, k: K) -> Transformed<P> {
    radix::decode_rq(key, k).transform(m)
}

/// Encap to the holder of a public key.
pub(crate) fn encap_to<P: Params>(
    key: &PublicKey<P>,
    rng: &mut dyn RandomSource,
    k: impl Kernels,
) -> Result<(Ciphertext<P>, SharedSecret), Error> {
    let m = &mut Multiplier::new(k);
    let h = open_public(key.as_bytes(), m, k);
    encap(&Recipient { h: h.view().into(), hash: KeyHash::Of(key.as_bytes()) }, rng, m, k)
}

/// Decap with a secret key.
pub(crate) fn decap_with<P: Params>(ciphertext: &Ciphertext<P>, key: &SecretKey<P>, k: impl Kernels) -> SharedSecret {
    let key = key::split::<P>(key.as_bytes());
    let m = &mut Multiplier::new(k);
    let (f, g_recip) = (small::decode_rq(key.f, k).transform(m), small::decode_r3(key.g_recip, k).transform(m));
    let h = open_public(key.public_key, m, k);
    let owner = Owner {
        f: f.view().into(),
        g_recip: g_recip.view().into(),
        h: h.view().into(),
        public_key_hash: key.public_key_hash,
        rho_hash: RhoHash::Of(key.rho),
    };
    decap(ciphertext, &owner, m, k)
}

/// Encap.
fn encap<P: Params, K: Kernels>(
    recipient: &Recipient<P>,
    rng: &mut dyn RandomSource,
    m: &mut Multiplier<P, K>,
    k: K,
) -> Result<(Ciphertext<P>, SharedSecret), Error> {
    let r = sampling::short::<P>(&draw(rng, element_bytes::<P>())?, k);
    let mut r_hash = Zeroizing::new([0; HASH_BYTES]);
    hash_into(hash::INPUT, [encode(&r, k).as_slice(), &[]], &mut r_hash, k);
    let c = encrypt(&r, recipient.h, m);
    let mut session = Hasher::new(hash::SESSION, k);
    session.absorb(&*r_hash);
    let ciphertext = Ciphertext::build(|out| {
        let (body, confirmation) = out.split_at_mut(P::CIPHERTEXT_BYTES - HASH_BYTES);
        radix::encode_rounded(&c, body, k);
        // Hash_4 of the public key and all of the session key's hash but its end do not wait for each other.
        let mut key_hash = [0; HASH_BYTES];
        let key_hash = match recipient.hash {
            KeyHash::Known(hash) => {
                session.absorb(body);
                hash
            }
            KeyHash::Of(key) => {
                let mut hasher = Hasher::new(hash::PUBLIC_KEY, k);
                Hasher::absorb_both([&mut session, &mut hasher], [body, key]);
                hasher.finish(&mut key_hash);
                &key_hash
            }
        };
        confirm(&r_hash, key_hash, confirmation, k);
        session.absorb(confirmation);
    });
    Ok((ciphertext, SharedSecret::build(|out| session.finish(out))))
}

/// Decap.
fn decap<P: Params, K: Kernels>(
    ciphertext: &Ciphertext<P>,
    owner: &Owner<P>,
    m: &mut Multiplier<P, K>,
    k: K,
) -> SharedSecret {
    let r = decrypt(&ciphertext.as_bytes()[..P::CIPHERTEXT_BYTES - HASH_BYTES], owner, m, k);
    let (mut input_hash, mut rho_hash) = (Zeroizing::new([0; HASH_BYTES]), Zeroizing::new([0; HASH_BYTES]));
    let mut hasher = Hasher::new(hash::INPUT, k);
    match owner.rho_hash {
        RhoHash::Known(hash) => {
            rho_hash.copy_from_slice(hash);
            hasher.absorb(encode(&r, k).as_slice());
        }
        RhoHash::Of(rho) => {
            let mut of_rho = Hasher::new(hash::INPUT, k);
            Hasher::absorb_both([&mut hasher, &mut of_rho], [encode(&r, k).as_slice(), rho]);
            of_rho.finish(&mut rho_hash);
        }
    }
    hasher.finish(&mut input_hash);
    // Hide: encrypt again.
    let c = encrypt(&r, owner.h, m);
    let again = Ciphertext::<P>::build(|out| {
        let (body, confirmation) = out.split_at_mut(P::CIPHERTEXT_BYTES - HASH_BYTES);
        radix::encode_rounded(&c, body, k);
        confirm(&input_hash, owner.public_key_hash, confirmation, k);
    });
    let genuine = ct::equal(again.as_bytes(), ciphertext.as_bytes());
    ct::replace_bytes(&mut *input_hash, &*rho_hash, !genuine);
    let mut prefix = [hash::SESSION];
    ct::replace_bytes(&mut prefix, &[hash::SESSION_REJECTED], !genuine);
    SharedSecret::build(|out| hash_into(prefix[0], [&*input_hash, ciphertext.as_bytes()], out, k))
}

/// r as bytes.
fn encode<P: Params>(r: &Short<P>, k: impl Kernels) -> Secret<P::SmallBytes> {
    let mut bytes = Secret::<P::SmallBytes>::zeroed();
    small::encode::<P>(r.coeffs(), bytes.as_mut_slice(), k);
    bytes
}

/// Encrypt: c = Round(h r).
fn encrypt<P: Params, K: Kernels>(r: &Short<P>, h: Operand<P>, m: &mut Multiplier<P, K>) -> Rounded<P> {
    Rounded::product(r.transform(m).view(), h, m)
}

/// Writes the confirmation, Hash_2 of Hash_3(r) and Hash_4 of the public key, to the 32 bytes of `out`.
fn confirm(r_hash: &Hash, key_hash: &Hash, out: &mut [u8], k: impl Kernels) {
    let out = out.try_into().expect("32 bytes are left");
    hash_into(hash::CONFIRM, [r_hash, key_hash], out, k);
}

/// Decrypt: e = 3 f c in R/q, then r = e/g in R/3; an r of the wrong weight gives way to a fixed one.
fn decrypt<P: Params, K: Kernels>(c: &[u8], owner: &Owner<P>, m: &mut Multiplier<P, K>, k: K) -> Short<P> {
    let c = radix::decode_rounded::<P>(c, k);
    let e = R3::triple_product(c.transform(m).view(), owner.f, m);
    let r = R3::product(e.transform(m).view(), owner.g_recip, m);
    let right = k.weight_is_w::<P>(r.coeffs());
    r.or_short(&Short::fallback(), !right)
}

/// A public key prepared for many encapsulations.
///
/// It takes about 14 kB of memory for sntrup653, 15 kB for sntrup761 and 17 kB for sntrup857, and saves a third of each
/// encapsulation; preparing costs less than it saves the first time.
pub struct PreparedPublicKey<P: Params> {
    h: Prepared<P>,
    hash: Hash,
}

impl<P: Params> PreparedPublicKey<P> {
    /// Prepares a public key.
    pub fn new(key: &PublicKey<P>) -> Self {
        P::prepare_public(key)
    }

    pub(crate) fn prepare(key: &PublicKey<P>, k: impl Kernels) -> Self {
        let mut hash = [0; HASH_BYTES];
        hash_into(hash::PUBLIC_KEY, [key.as_bytes(), &[]], &mut hash, k);
        Self::from_parts(key.as_bytes(), hash, k)
    }

    fn from_parts<K: Kernels>(key: &[u8], hash: Hash, k: K) -> Self {
        let m = &mut Multiplier::new(k);
        let h = open_public(key, m, k);
        Self { h: m.prepare(&h), hash }
    }

    /// The same as [`encapsulate`] with the key that was prepared.
    ///
    /// # Errors
    /// [`Error::Random`] if the random source fails.
    pub fn encapsulate(
        &self,
        mut rng: &mut (impl RandomSource + ?Sized),
    ) -> Result<(Ciphertext<P>, SharedSecret), Error> {
        P::encapsulate_prepared(self, &mut rng)
    }

    pub(crate) fn encap(
        &self,
        rng: &mut dyn RandomSource,
        k: impl Kernels,
    ) -> Result<(Ciphertext<P>, SharedSecret), Error> {
        encap(&Recipient { h: (&self.h).into(), hash: KeyHash::Known(&self.hash) }, rng, &mut Multiplier::new(k), k)
    }
}

impl<P: Params> fmt::Debug for PreparedPublicKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (prepared)", P::PUBLIC_KEY)
    }
}

/// A secret key prepared for many decapsulations; as secret as the key, and wiped when dropped.
///
/// It takes about 35 kB of memory for sntrup653, 38 kB for sntrup761 and 44 kB for sntrup857, and saves a quarter of each
/// decapsulation; preparing pays from the second one on.
pub struct PreparedSecretKey<P: Params> {
    f: Prepared<P>,
    g_recip: Prepared<P>,
    public: PreparedPublicKey<P>,
    rho_hash: Secret<Hash>,
}

impl<P: Params> PreparedSecretKey<P> {
    /// Prepares a secret key.
    pub fn new(key: &SecretKey<P>) -> Self {
        P::prepare_secret(key)
    }

    pub(crate) fn prepare(key: &SecretKey<P>, k: impl Kernels) -> Self {
        let key = key::split::<P>(key.as_bytes());
        let m = &mut Multiplier::new(k);
        let (f, g_recip) = (small::decode_rq(key.f, k).transform(m), small::decode_r3(key.g_recip, k).transform(m));
        let mut rho_hash = Secret::<Hash>::zeroed();
        hash_into(hash::INPUT, [key.rho, &[]], &mut rho_hash, k);
        Self {
            f: m.prepare(&f),
            g_recip: m.prepare(&g_recip),
            public: PreparedPublicKey::from_parts(key.public_key, *key.public_key_hash, k),
            rho_hash,
        }
    }

    /// The same as [`decapsulate`] with the key that was prepared.
    pub fn decapsulate(&self, ciphertext: &Ciphertext<P>) -> SharedSecret {
        P::decapsulate_prepared(ciphertext, self)
    }

    pub(crate) fn decap(&self, ciphertext: &Ciphertext<P>, k: impl Kernels) -> SharedSecret {
        let owner = Owner {
            f: (&self.f).into(),
            g_recip: (&self.g_recip).into(),
            h: (&self.public.h).into(),
            public_key_hash: &self.public.hash,
            rho_hash: RhoHash::Known(&self.rho_hash),
        };
        decap(ciphertext, &owner, &mut Multiplier::new(k), k)
    }
}

impl<P: Params> fmt::Debug for PreparedSecretKey<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (prepared, redacted)", P::SECRET_KEY)
    }
}
