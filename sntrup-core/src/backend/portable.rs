//! The portable backend: for any processor of the target.

pub(crate) use super::lanes::Portable;
use super::{Kernels, chacha20, codec, sample, sha512, sort, values};
use crate::params::Params;
use crate::wipe::Array as _;

impl Kernels for Portable {
    fn weight_is_w<P: Params>(self, a: &P::Coeffs) -> u32 {
        values::weight_is_w_portable::<P>(a)
    }

    fn short(self, words: &[u8], weight: usize, out: &mut [i16]) {
        sort::short_portable(words, weight, out);
    }

    fn compress(self, state: &mut sha512::State, blocks: &[sha512::Block]) {
        sha512::compress_portable(state, blocks);
    }

    fn compress2(self, [a, b]: [&mut sha512::State; 2], blocks: [&[sha512::Block]; 2]) {
        sha512::compress_portable(a, blocks[0]);
        sha512::compress_portable(b, blocks[1]);
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

    fn head(self, trial: &sample::Trial, random: &[u64], choice: u64, chosen: &mut [u64]) -> (u32, u32) {
        sample::head_portable(trial, random, choice, chosen)
    }

    fn sort_tails(self, tails: &mut sample::Tails) -> ([u64; 8], u32) {
        sample::sort_tails_portable(tails)
    }

    fn encode_rq<P: Params>(self, out: &mut [u8], h: &P::Coeffs) {
        codec::encode_rq_portable::<P>(out, h.as_slice());
    }

    fn decode_rq<P: Params>(self, h: &mut P::Coeffs, s: &[u8]) {
        codec::decode_rq_portable::<P>(h.as_mut_slice(), s);
    }

    fn encode_rounded<P: Params>(self, out: &mut [u8], c: &P::Coeffs) {
        codec::encode_rounded_portable::<P>(out, c.as_slice());
    }

    fn decode_rounded<P: Params>(self, c: &mut P::Coeffs, s: &[u8]) {
        codec::decode_rounded_portable::<P>(c.as_mut_slice(), s);
    }

    fn encode_small<P: Params>(self, out: &mut [u8], a: &P::Coeffs) {
        codec::encode_small_portable::<P>(out, a.as_slice());
    }

    fn decode_small<P: Params>(self, a: &mut P::Coeffs, s: &[u8], two: i16) {
        codec::decode_small_portable::<P>(a.as_mut_slice(), s, two);
    }
}
