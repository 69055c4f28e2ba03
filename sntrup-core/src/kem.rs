//! KeyGen, Encap and Decap (specification, section "Streamlined NTRU Prime KEM"), in the specification's steps.

use zeroize::Zeroizing;

use crate::backend::{Kernels, with_backend};
use crate::codec::{key, radix, small};
use crate::ct::{self, Disclosed};
use crate::error::Error;
use crate::hash::{self, Hash, hash_into};
use crate::keys::{Ciphertext, KeyPair, PublicKey, SecretKey, SharedSecret};
use crate::params::{HASH_BYTES, Params};
use crate::ring::{Rq, Short};
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
    with_backend!(k => key_gen(&mut rng, k))
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
    with_backend!(k => encap(key, &mut rng, k))
}

/// Recovers the session key (Decap).
///
/// There is no error: a ciphertext that [`encapsulate`] did not make for this key yields a secret that depends on the
/// secret key and the ciphertext (implicit rejection), in the same time.
pub fn decapsulate<P: Params>(ciphertext: &Ciphertext<P>, key: &SecretKey<P>) -> SharedSecret {
    with_backend!(k => decap(ciphertext, key, k))
}

/// KeyGen.
fn key_gen<P: Params>(rng: &mut dyn RandomSource, k: impl Kernels) -> Result<KeyPair<P>, Error> {
    let (g, g_recip) = loop {
        let g = sampling::small::<P>(&draw(rng, element_bytes::<P>())?);
        let (g_recip, invertible) = g.recip(k);
        // Harmless: a rejected g is never used, and an accepted one is known to be invertible anyway.
        if ct::declassify(invertible, Disclosed::Invertible) {
            break (g, g_recip);
        }
    };
    let f = sampling::short::<P>(&draw(rng, element_bytes::<P>())?, k);
    let h = Rq::from_short(&f).triple().recip(k).mul(&Rq::from_small(&g), k);
    let rho = draw(rng, P::SmallBytes::LEN)?;
    let mut pair = [key::assemble(&f, &g_recip, &h, &rho, k)];
    key::hash_public_keys(&mut pair, k);
    let [pair] = pair;
    Ok(pair)
}

/// Encap.
fn encap<P: Params>(
    key: &PublicKey<P>,
    rng: &mut dyn RandomSource,
    k: impl Kernels,
) -> Result<(Ciphertext<P>, SharedSecret), Error> {
    let r = sampling::short::<P>(&draw(rng, element_bytes::<P>())?, k);
    let mut key_hash = [0; HASH_BYTES];
    hash_into(hash::PUBLIC_KEY, [key.as_bytes(), &[]], &mut key_hash, k);
    let (ciphertext, r_hash) = hide(&r, key.as_bytes(), &key_hash, k);
    let secret = SharedSecret::build(|out| hash_into(hash::SESSION, [&*r_hash, ciphertext.as_bytes()], out, k));
    Ok((ciphertext, secret))
}

/// Decap.
fn decap<P: Params>(ciphertext: &Ciphertext<P>, key: &SecretKey<P>, k: impl Kernels) -> SharedSecret {
    let key = key::split::<P>(key.as_bytes());
    let r = decrypt::<P>(&ciphertext.as_bytes()[..P::CIPHERTEXT_BYTES - HASH_BYTES], key.f, key.g_recip, k);
    let (again, mut input_hash) = hide(&r, key.public_key, key.public_key_hash, k);
    let mut rho_hash = Zeroizing::new([0; HASH_BYTES]);
    hash_into(hash::INPUT, [key.rho, &[]], &mut rho_hash, k);
    let genuine = ct::equal(again.as_bytes(), ciphertext.as_bytes());
    ct::replace_bytes(&mut *input_hash, &*rho_hash, !genuine);
    let mut prefix = [hash::SESSION];
    ct::replace_bytes(&mut prefix, &[hash::SESSION_REJECTED], !genuine);
    SharedSecret::build(|out| hash_into(prefix[0], [&*input_hash, ciphertext.as_bytes()], out, k))
}

/// Hide: the ciphertext of r, and Hash_3(r), which the session key needs too.
fn hide<P: Params>(
    r: &Short<P>,
    public_key: &[u8],
    public_key_hash: &Hash,
    k: impl Kernels,
) -> (Ciphertext<P>, Zeroizing<Hash>) {
    let mut r_bytes = Secret::<P::SmallBytes>::zeroed();
    small::encode::<P>(r.coeffs(), r_bytes.as_mut_slice(), k);
    let mut r_hash = Zeroizing::new([0; HASH_BYTES]);
    hash_into(hash::INPUT, [r_bytes.as_slice(), &[]], &mut r_hash, k);
    // Encrypt: c = Round(h r).
    let h: Rq<P> = radix::decode_rq(public_key, k);
    let c = h.mul(&Rq::from_short(r), k).round(k);
    let ciphertext = Ciphertext::build(|out| {
        let (body, confirmation) = out.split_at_mut(P::CIPHERTEXT_BYTES - HASH_BYTES);
        radix::encode_rounded(&c, body, k);
        let confirmation: &mut Hash = confirmation.try_into().expect("32 bytes are left");
        hash_into(hash::CONFIRM, [&*r_hash, public_key_hash], confirmation, k);
    });
    (ciphertext, r_hash)
}

/// Decrypt: e = 3 f c in R/q, then r = e/g in R/3; an r of the wrong weight gives way to a fixed one.
fn decrypt<P: Params>(c: &[u8], f: &[u8], g_recip: &[u8], k: impl Kernels) -> Short<P> {
    let c = radix::decode_rounded::<P>(c, k).to_rq();
    let e = c.mul(&small::decode_rq(f, k), k).triple_mod3(k);
    let r = e.mul(&small::decode_r3(g_recip, k), k);
    let right = k.weight_is_w::<P>(r.coeffs());
    r.or_short(&Short::fallback(), !right)
}
