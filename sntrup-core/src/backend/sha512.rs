//! The compression function of SHA-512 (FIPS 180-4, section 6.4): one message, or four of equal length side by side.
//!
//! One message: the rounds are a chain in which nothing can be done side by side, so they stay in scalar registers.
//! The message schedule can: the AVX2 form computes it for two consecutive blocks at once, between the rounds of the
//! first block. Four messages: lane i of every vector belongs to message i.

#[cfg(target_arch = "x86_64")]
use super::entry::{avx2_kernel, avx2_logic_kernel};
#[cfg(target_arch = "x86_64")]
use super::lanes::Avx2;
#[cfg(target_arch = "x86_64")]
use super::words::avx2;
use super::words::{U64x4, portable};
use crate::wipe::wipe;

/// Writes `$body` out once for each listed value of the constant `$i`. The compiler does not unroll loops as long as
/// these, and the rounds are worth it only where the roles of the working variables are known when compiling.
macro_rules! for_each {
    ($i:ident in $($value:literal)* $body:block) => {
        $({
            const $i: usize = $value;
            $body
        })*
    };
}

/// Bytes in a message block.
pub(crate) const BLOCK_BYTES: usize = 128;
/// A message block.
pub(crate) type Block = [u8; BLOCK_BYTES];
/// The chaining value of one message.
pub(crate) type State = [u64; 8];
/// The chaining values of four messages: word i of message m is `[i][m]`.
pub(crate) type State4 = [[u64; 4]; 8];

/// The chaining value that a message starts from: the first 64 bits of the fractional parts of the square roots of the
/// first eight primes (FIPS 180-4, section 5.3.5).
pub(crate) const INITIAL: State = root_fractions(2);
/// The round constants: likewise, cube roots of the first eighty primes (FIPS 180-4, section 4.2.3).
const K: [u64; 80] = root_fractions(3);

/// The first 64 bits of the fractional part of the `degree`-th root (2 or 3) of the first `N` primes.
#[allow(clippy::integer_division_remainder_used, reason = "evaluated by the compiler")]
const fn root_fractions<const N: usize>(degree: u32) -> [u64; N] {
    let mut out = [0; N];
    let (mut found, mut candidate) = (0, 2);
    while found < N {
        let mut divisor = 2;
        while candidate % divisor != 0 {
            divisor += 1;
        }
        if divisor == candidate {
            out[found] = root_fraction(candidate, degree);
            found += 1;
        }
        candidate += 1;
    }
    out
}

/// The first 64 bits of the fractional part of the `degree`-th root of the prime `p`.
const fn root_fraction(p: u64, degree: u32) -> u64 {
    let mut whole = 1;
    while (whole + 1_u64).pow(degree) <= p {
        whole += 1;
    }
    // The largest f with (whole + f/2^64)^degree <= p, bit by bit from the top. Scaled by 2^(64 degree) the power is
    // an integer of at most four limbs, and equality cannot occur as p is no power: it is below p exactly if its top
    // limb is.
    let mut fraction = 0;
    let mut bit = 1 << 63;
    while bit != 0 {
        let x = [fraction | bit, whole, 0, 0];
        let mut power = x;
        let mut i = 1;
        while i < degree {
            power = product(power, x);
            i += 1;
        }
        if power[degree as usize] < p {
            fraction |= bit;
        }
        bit >>= 1;
    }
    fraction
}

/// The product of two integers of four 64-bit limbs, least significant first, modulo 2^256.
const fn product(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    let mut out = [0; 4];
    let mut i = 0;
    while i < 4 {
        let mut carry = 0;
        let mut j = 0;
        while i + j < 4 {
            let sum = out[i + j] as u128 + a[i] as u128 * b[j] as u128 + carry;
            out[i + j] = sum as u64;
            carry = sum >> 64;
            j += 1;
        }
        i += 1;
    }
    out
}

/// Advances `state` over `blocks`.
pub(crate) fn compress_portable(state: &mut State, blocks: &[Block]) {
    let mut words = [0; 16];
    for block in blocks {
        for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        let mut working = Working::start(state);
        for t in (0..80).step_by(16) {
            for_each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 {
                working.round(I, words[I].wrapping_add(K[t + I]));
                // The word that takes this one's place sixteen rounds on; those computed in the last pass are not used.
                let (w1, w14) = (words[(I + 1) & 15], words[(I + 14) & 15]);
                let s0 = w1.rotate_right(1) ^ w1.rotate_right(8) ^ w1 >> 7;
                let s1 = w14.rotate_right(19) ^ w14.rotate_right(61) ^ w14 >> 6;
                words[I] = words[I].wrapping_add(s0).wrapping_add(words[(I + 9) & 15]).wrapping_add(s1);
            });
        }
        working.finish(state);
    }
    wipe(&mut words);
}

#[cfg(target_arch = "x86_64")]
avx2_kernel! {
    /// [`compress_portable`] with AVX2 and BMI.
    pub(crate) fn compress_avx2(token: Avx2, state: &mut State, blocks: &[Block]) {
        let (pairs, rest) = blocks.as_chunks();
        if !pairs.is_empty() {
            let mut schedule = [[0; 4]; 40];
            for [first, second] in pairs {
                compress_pair::<avx2::Words64, 40>(token, state, first, second, &mut schedule);
            }
            wipe(&mut schedule);
        }
        if let [block] = rest {
            compress_pair::<avx2::Words64, 0>(token, state, block, block, &mut []);
        }
    }
}

/// Advances `state` over `first` and then over `second`; with a schedule of no entries, over `first` alone. `schedule` is
/// scratch, and holds secrets afterwards.
///
/// Entry i of the schedule holds words 2i and 2i+1 of the first block, then those of the second, each with its round
/// constant added. The first block's are used up on the way, eight entries behind, so that only the second block's
/// need to be kept.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compress_pair<V: U64x4, const KEPT: usize>(
    token: V::Token,
    state: &mut State,
    first: &Block,
    second: &Block,
    schedule: &mut [[u64; 4]; KEPT],
) {
    const { assert!(KEPT == 0 || KEPT == PAIRED_K.len()) };
    let [first_words, second_words] = [first, second].map(|block| block.as_chunks().0);
    let with_constants = |w: V, k: &[u64; 4]| w.add(V::load(token, k)).to_array();
    let mut w: [V; 8] = std::array::from_fn(|i| V::load_be(token, &first_words[i], &second_words[i]));
    let mut near = [[0; 4]; 8];
    let k = PAIRED_K.as_chunks::<8>().0;
    for i in 0..8 {
        near[i] = with_constants(w[i], &k[0][i]);
    }
    if KEPT > 0 {
        schedule[..8].copy_from_slice(&near);
    }
    let mut working = Working::start(state);
    for t in 1..5 {
        for_each!(I in 0 1 2 3 4 5 6 7 {
            working.round(2 * I, near[I][0]);
            let (w1, w9) = (w[I].straddle(w[(I + 1) & 7]), w[(I + 4) & 7].straddle(w[(I + 5) & 7]));
            w[I] = w[I].add(sigma0(w1)).add(w9.add(sigma1(w[(I + 7) & 7])));
            working.round(2 * I + 1, near[I][1]);
            near[I] = with_constants(w[I], &k[t][I]);
            if KEPT > 0 {
                schedule[8 * t + I] = near[I];
            }
        });
    }
    working.rounds(&near, 0);
    working.finish(state);
    if KEPT > 0 {
        let mut working = Working::start(state);
        for pairs in schedule.as_chunks::<8>().0 {
            working.rounds(pairs, 2);
        }
        working.finish(state);
    }
    wipe(&mut near);
}

/// The round constants in the order of `compress_pair`'s schedule.
#[cfg(target_arch = "x86_64")]
static PAIRED_K: [[u64; 4]; 40] = {
    let mut out = [[0; 4]; 40];
    let mut i = 0;
    while i < 40 {
        out[i] = [K[2 * i], K[2 * i + 1], K[2 * i], K[2 * i + 1]];
        i += 1;
    }
    out
};

/// The working variables a..h of one block, and b ^ c, which the majority function of the next round needs again as a
/// ^ b.
struct Working {
    variables: State,
    b_xor_c: u64,
}

impl Working {
    #[inline(always)]
    fn start(state: &State) -> Self {
        Self { variables: *state, b_xor_c: state[1] ^ state[2] }
    }

    /// Round `t`, which must be a constant once inlined, modulo 8; `kw` is the sum of round constant and schedule word.
    ///
    /// Instead of passing every variable on to its neighbour, the roles move: in round t, variable n is entry n - t
    /// modulo 8.
    #[inline(always)]
    fn round(&mut self, t: usize, kw: u64) {
        let at = |n: usize| n.wrapping_sub(t) & 7;
        let [a, b, e, f, g, h] = [0, 1, 4, 5, 6, 7].map(|n| self.variables[at(n)]);
        // Ch(e,f,g) as a sum of its two disjoint halves, so that the sum can be taken term by term.
        let h = h.wrapping_add(kw).wrapping_add(e & f).wrapping_add(!e & g);
        let h = h.wrapping_add(e.rotate_right(14) ^ e.rotate_right(18) ^ e.rotate_right(41));
        let d = &mut self.variables[at(3)];
        *d = d.wrapping_add(h);
        // Maj(a,b,c) = b ^ ((a ^ b) & (b ^ c))
        let a_xor_b = a ^ b;
        let majority = b ^ (a_xor_b & self.b_xor_c);
        self.b_xor_c = a_xor_b;
        let sum0 = a.rotate_right(28) ^ a.rotate_right(34) ^ a.rotate_right(39);
        self.variables[at(7)] = h.wrapping_add(sum0).wrapping_add(majority);
    }

    /// Sixteen rounds over words `lane` and `lane + 1` of eight schedule entries.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn rounds(&mut self, pairs: &[[u64; 4]; 8], lane: usize) {
        for_each!(I in 0 1 2 3 4 5 6 7 {
            self.round(2 * I, pairs[I][lane]);
            self.round(2 * I + 1, pairs[I][lane + 1]);
        });
    }

    #[inline(always)]
    fn finish(self, state: &mut State) {
        for (word, variable) in state.iter_mut().zip(self.variables) {
            *word = word.wrapping_add(variable);
        }
    }
}

/// The function of the message schedule written with a small sigma, index 0.
#[inline(always)]
fn sigma0<V: U64x4>(x: V) -> V {
    x.rotr::<1, 63>().xor(x.rotr8()).xor(x.shr::<7>())
}

/// The function of the message schedule written with a small sigma, index 1.
#[inline(always)]
fn sigma1<V: U64x4>(x: V) -> V {
    x.rotr::<19, 45>().xor(x.rotr::<61, 3>()).xor(x.shr::<6>())
}

/// Advances four chaining values, message m over `blocks[m]`; the four slices must be of equal length.
pub(crate) fn compress4_portable(state: &mut State4, blocks: [&[Block]; 4]) {
    compress4::<portable::Words64>((), state, blocks);
}

#[cfg(target_arch = "x86_64")]
avx2_logic_kernel! {
    /// [`compress4_portable`] with AVX2.
    pub(crate) fn compress4_avx2(token: Avx2, state: &mut State4, blocks: [&[Block]; 4]) {
        compress4::<avx2::Words64>(token, state, blocks);
    }
}

/// Advances two chaining values, each over its own blocks, equally many.
///
/// Four messages side by side take less time than two one after the other only with AVX-512VL.
#[cfg(target_arch = "x86_64")]
pub(crate) fn compress2_avx2(token: Avx2, [a, b]: [&mut State; 2], blocks: [&[Block]; 2]) {
    if !token.has_avx512vl() {
        compress_avx2(token, a, blocks[0]);
        compress_avx2(token, b, blocks[1]);
        return;
    }
    let mut both: State4 = std::array::from_fn(|i| [a[i], b[i], 0, 0]);
    compress4_avx2(token, &mut both, [blocks[0], blocks[1], blocks[1], blocks[1]]);
    for (i, [from_a, from_b, ..]) in both.iter().enumerate() {
        (a[i], b[i]) = (*from_a, *from_b);
    }
    wipe(&mut both);
}

#[inline(always)]
fn compress4<V: U64x4>(token: V::Token, state: &mut State4, [m0, m1, m2, m3]: [&[Block]; 4]) {
    assert!([m1, m2, m3].iter().all(|m| m.len() == m0.len()), "four messages side by side must have equal lengths");
    let mut chain = [V::splat(token, 0); 8];
    for i in 0..8 {
        chain[i] = V::load(token, &state[i]);
    }
    for (((b0, b1), b2), b3) in m0.iter().zip(m1).zip(m2).zip(m3) {
        let halves = [b0, b1, b2, b3].map(|block| block.as_chunks::<16>().0);
        let mut w = [V::splat(token, 0); 16];
        for i in 0..4 {
            let rows = halves.map(|block| V::load_be(token, &block[2 * i], &block[2 * i + 1]));
            w[4 * i..][..4].copy_from_slice(&V::transpose(rows));
        }
        let mut v = chain;
        for t in (0..80).step_by(16) {
            for_each!(I in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 {
                if t > 0 {
                    let near = w[I].add(sigma0(w[(I + 1) & 15]));
                    w[I] = near.add(w[(I + 9) & 15]).add(sigma1(w[(I + 14) & 15]));
                }
                round4(&mut v, I, w[I].add(V::splat(token, K[t + I])));
            });
        }
        for i in 0..8 {
            chain[i] = chain[i].add(v[i]);
        }
    }
    for i in 0..8 {
        state[i] = chain[i].to_array();
    }
}

/// [`Working::round`] for four messages.
#[inline(always)]
fn round4<V: U64x4>(v: &mut [V; 8], t: usize, kw: V) {
    let at = |n: usize| n.wrapping_sub(t) & 7;
    let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|n| v[at(n)]);
    let choice = g.xor(e.and(f.xor(g)));
    let sum1 = e.rotr::<14, 50>().xor(e.rotr::<18, 46>()).xor(e.rotr::<41, 23>());
    let h = h.add(kw).add(choice).add(sum1);
    let majority = b.xor(a.xor(b).and(b.xor(c)));
    let sum0 = a.rotr::<28, 36>().xor(a.rotr::<34, 30>()).xor(a.rotr::<39, 25>());
    v[at(3)] = d.add(h);
    v[at(7)] = h.add(sum0).add(majority);
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used, reason = "the oracle divides")]
mod tests {
    use super::*;
    use sha2::Digest;

    /// SHA-512 of `message` by way of a compression function.
    fn digest(message: &[u8], compress: impl Fn(&mut State, &[Block])) -> [u8; 64] {
        let blocks = padded(message);
        let mut state = INITIAL;
        compress(&mut state, &blocks);
        bytes(state)
    }

    /// `message` with the padding of FIPS 180-4, section 5.1.2.
    fn padded(message: &[u8]) -> Vec<Block> {
        let mut padded = message.to_vec();
        padded.push(0x80);
        while padded.len() % BLOCK_BYTES != BLOCK_BYTES - 16 {
            padded.push(0);
        }
        padded.extend((8 * message.len() as u128).to_be_bytes());
        padded.as_chunks().0.to_vec()
    }

    fn bytes(state: State) -> [u8; 64] {
        let mut out = [0; 64];
        for (chunk, word) in out.as_chunks_mut().0.iter_mut().zip(state) {
            *chunk = word.to_be_bytes();
        }
        out
    }

    fn message(len: usize, seed: u8) -> Vec<u8> {
        (0..len).map(|i| (i as u8).wrapping_mul(seed).wrapping_add(seed >> 1)).collect()
    }

    fn lengths() -> impl Iterator<Item = usize> {
        (0..=6 * BLOCK_BYTES + 1).chain([1159, 1323, 4000, 4096, 65_537])
    }

    /// The digest of "abc" (FIPS 180-2, appendix C.1), to have something that no crate computed.
    const ABC: &str = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                       2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";

    fn check(compress: impl Fn(&mut State, &[Block])) {
        let hex: String = digest(b"abc", &compress).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, ABC);
        for len in lengths() {
            let message = message(len, 167);
            assert_eq!(digest(&message, &compress)[..], sha2::Sha512::digest(&message)[..], "{len} bytes");
        }
    }

    fn check4(compress4: impl Fn(&mut State4, [&[Block]; 4])) {
        for len in lengths() {
            let messages = [167, 89, 255, 1].map(|seed| message(len, seed));
            let blocks = messages.each_ref().map(|message| padded(message));
            let mut state = INITIAL.map(|word| [word; 4]);
            compress4(&mut state, blocks.each_ref().map(|blocks| &blocks[..]));
            for (m, message) in messages.iter().enumerate() {
                let mine = bytes(state.map(|words| words[m]));
                assert_eq!(mine[..], sha2::Sha512::digest(message)[..], "{len} bytes, message {m}");
            }
        }
    }

    fn check2(compress2: impl Fn([&mut State; 2], [&[Block]; 2])) {
        for len in lengths() {
            let messages = [167, 89].map(|seed| message(len, seed));
            let [a_blocks, b_blocks] = messages.each_ref().map(|message| padded(message));
            let (mut a, mut b) = (INITIAL, INITIAL);
            compress2([&mut a, &mut b], [&a_blocks, &b_blocks]);
            for (state, message) in [a, b].into_iter().zip(&messages) {
                assert_eq!(bytes(state)[..], sha2::Sha512::digest(message)[..], "{len} bytes");
            }
        }
    }

    #[test]
    fn agrees_with_sha2_portable() {
        check(compress_portable);
        check4(compress4_portable);
        check4(|state, blocks| compress4::<super::super::words::array::Words64>((), state, blocks));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn agrees_with_sha2_avx2() {
        let token = Avx2::detect().expect("this test needs a processor with AVX2");
        check(|state, blocks| compress_avx2(token, state, blocks));
        for token in [token, token.without_avx512vl()] {
            check4(|state, blocks| compress4_avx2(token, state, blocks));
            check2(|states, blocks| compress2_avx2(token, states, blocks));
        }
    }

    #[test]
    fn four_messages_of_different_lengths_are_refused() {
        let blocks = [[0; BLOCK_BYTES]; 2];
        let mut state = INITIAL.map(|word| [word; 4]);
        let mixed = [&blocks[..], &blocks[..1], &blocks[..], &blocks[..]];
        assert!(std::panic::catch_unwind(move || compress4_portable(&mut state, mixed)).is_err());
    }
}
