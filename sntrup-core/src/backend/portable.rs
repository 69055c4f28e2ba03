//! The portable backend: plain loops over 16-bit integers that the compiler vectorises for any processor.

use super::{Kernels, chacha20, sample, sha512};
use crate::params::{Params, Plan, rounded_radix};

mod codec;
mod mul_r3;
mod mul_rq;
mod recip_r3;
mod recip_rq;
mod toeplitz;
mod values;

/// Token of the portable backend; every processor can run it.
#[derive(Clone, Copy)]
pub(crate) struct Portable;

/// The encodings of a parameter set.
struct Plans<P>(std::marker::PhantomData<P>);

impl<P: Params> Plans<P> {
    const RQ: Plan = Plan::new(P::P, P::Q as u32);
    const ROUNDED: Plan = Plan::new(P::P, rounded_radix(P::Q));
}

impl Kernels for Portable {
    fn mul_rq<P: Params>(self, h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs) {
        mul_rq::mul_rq::<P>(h, a, b);
    }

    fn mul_r3<P: Params>(self, h: &mut P::Coeffs, a: &P::Coeffs, b: &P::Coeffs) {
        mul_r3::mul_r3::<P>(h, a, b);
    }

    fn recip_rq<P: Params>(self, out: &mut P::Coeffs, a: &P::Coeffs) {
        recip_rq::recip_rq::<P>(out, a);
    }

    fn recip_r3<P: Params>(self, out: &mut P::Coeffs, a: &P::Coeffs) -> u32 {
        recip_r3::recip_r3::<P>(out, a)
    }

    fn round<P: Params>(self, a: &mut P::Coeffs) {
        values::round::<P>(a);
    }

    fn triple_mod3<P: Params>(self, e: &mut P::Coeffs, a: &P::Coeffs) {
        values::triple_mod3::<P>(e, a);
    }

    fn weight_is_w<P: Params>(self, a: &P::Coeffs) -> u32 {
        values::weight_is_w::<P>(a)
    }

    fn sort(self, words: &mut [u32]) {
        super::sort::sort_portable(words);
    }

    fn compress(self, state: &mut sha512::State, blocks: &[sha512::Block]) {
        sha512::compress_portable(state, blocks);
    }

    fn compress4(self, state: &mut sha512::State4, blocks: [&[sha512::Block]; 4]) {
        sha512::compress4_portable(state, blocks);
    }

    fn keystream(self, key: &[u32; 8], out: &mut [chacha20::Octet]) {
        chacha20::keystream_portable(key, out);
    }

    fn trits(self, bytes: &mut [[i16; 16]], out: &mut [[i16; 16]]) {
        sample::trits_portable(bytes, out);
    }

    fn expand(self, nonzero: &[u64], negative: &[u64], out: &mut [[i16; 16]]) {
        sample::expand_portable(nonzero, negative, out);
    }

    fn sort_tails(self, tails: &mut sample::Tails) -> ([u64; 8], u32) {
        sample::sort_tails_portable(tails)
    }

    fn encode_rq<P: Params>(self, out: &mut [u8], h: &P::Coeffs) {
        codec::encode::<P>(&const { Plans::<P>::RQ }, out, h, codec::unsigned::<P>);
    }

    fn decode_rq<P: Params>(self, h: &mut P::Coeffs, s: &[u8]) {
        codec::decode::<P>(&const { Plans::<P>::RQ }, h, s, codec::signed::<P>);
    }

    fn encode_rounded<P: Params>(self, out: &mut [u8], c: &P::Coeffs) {
        codec::encode::<P>(&const { Plans::<P>::ROUNDED }, out, c, codec::unsigned_third::<P>);
    }

    fn decode_rounded<P: Params>(self, c: &mut P::Coeffs, s: &[u8]) {
        codec::decode::<P>(&const { Plans::<P>::ROUNDED }, c, s, codec::signed_triple::<P>);
    }
}
