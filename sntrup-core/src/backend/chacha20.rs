//! The ChaCha20 block function (RFC 8439, section 2.3) for eight block counters side by side: lane i of every vector
//! belongs to block i.
//!
//! This serves a generator of random numbers, not a cipher: the words stay in the order in which they are computed.
//! Word w of the eight blocks of an octet comes out as one row, so that nothing has to be transposed.

use super::words::{U32x8, portable};
#[cfg(target_arch = "x86_64")]
use super::{entry::avx2_logic_kernel, lanes::Avx2, words::avx2};

/// Eight consecutive blocks: word w of block i is `[w][i]`.
pub(crate) type Octet = [[u32; 8]; 16];
/// Words of an octet.
pub(crate) const OCTET_WORDS: usize = 8 * 16;

/// Writes the blocks 0, 1, 2, ... of `key` with an all-zero nonce.
pub(crate) fn keystream_portable(key: &[u32; 8], out: &mut [Octet]) {
    keystream::<portable::Words32>((), key, out);
}

#[cfg(target_arch = "x86_64")]
avx2_logic_kernel! {
    /// [`keystream_portable`] with AVX2.
    pub(crate) fn keystream_avx2(token: Avx2, key: &[u32; 8], out: &mut [Octet]) {
        keystream::<avx2::Words32>(token, key, out);
    }
}

/// The first row of the state: "expand 32-byte k", read as little-endian words.
const SIGMA: [u32; 4] = {
    let (words, rest) = b"expand 32-byte k".as_chunks::<4>();
    assert!(words.len() == 4 && rest.is_empty());
    [
        u32::from_le_bytes(words[0]),
        u32::from_le_bytes(words[1]),
        u32::from_le_bytes(words[2]),
        u32::from_le_bytes(words[3]),
    ]
};

#[inline(always)]
fn keystream<V: U32x8>(token: V::Token, key: &[u32; 8], out: &mut [Octet]) {
    let mut start = [V::splat(token, 0); 16];
    for i in 0..4 {
        start[i] = V::splat(token, SIGMA[i]);
    }
    for i in 0..8 {
        start[4 + i] = V::splat(token, key[i]);
    }
    start[12] = V::load(token, &[0, 1, 2, 3, 4, 5, 6, 7]);
    for octet in out {
        let mut x = start;
        for _ in 0..10 {
            for i in 0..4 {
                quarter_round(&mut x, [i, 4 + i, 8 + i, 12 + i]);
            }
            quarter_round(&mut x, [0, 5, 10, 15]);
            quarter_round(&mut x, [1, 6, 11, 12]);
            quarter_round(&mut x, [2, 7, 8, 13]);
            quarter_round(&mut x, [3, 4, 9, 14]);
        }
        for i in 0..16 {
            x[i].add(start[i]).store(&mut octet[i]);
        }
        start[12] = start[12].add(V::splat(token, 8));
    }
}

/// The quarter round (RFC 8439, section 2.1) on the words with indices a, b, c, d.
#[inline(always)]
fn quarter_round<V: U32x8>(x: &mut [V; 16], [a, b, c, d]: [usize; 4]) {
    x[a] = x[a].add(x[b]);
    x[d] = x[d].xor(x[a]).rotl::<16, 16>();
    x[c] = x[c].add(x[d]);
    x[b] = x[b].xor(x[c]).rotl::<12, 20>();
    x[a] = x[a].add(x[b]);
    x[d] = x[d].xor(x[a]).rotl::<8, 24>();
    x[c] = x[c].add(x[d]);
    x[b] = x[b].xor(x[c]).rotl::<7, 25>();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key, a block counter and the block, from RFC 8439, appendix A.1, test vectors 1, 2 and 4.
    const VECTORS: [([u8; 32], usize, &str); 3] = [
        (
            [0; 32],
            0,
            "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
             da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
        ),
        (
            [0; 32],
            1,
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed\
             29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f",
        ),
        (
            {
                let mut key = [0; 32];
                key[1] = 0xff;
                key
            },
            2,
            "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca\
             13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096",
        ),
    ];

    /// One block, step by step as RFC 8439 says it.
    fn oracle(key: &[u32; 8], counter: u32) -> [u32; 16] {
        let mut state = [0; 16];
        state[..4].copy_from_slice(&SIGMA);
        state[4..12].copy_from_slice(key);
        state[12] = counter;
        let start = state;
        for round in 0..20 {
            for i in 0..4 {
                // Columns in even rounds, diagonals in odd ones.
                let diagonal = round & 1;
                let [a, b, c, d] = [0, 1, 2, 3].map(|row| 4 * row + ((i + row * diagonal) & 3));
                for (x, y, z, rotation) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                    state[x] = state[x].wrapping_add(state[y]);
                    state[z] = (state[z] ^ state[x]).rotate_left(rotation);
                }
            }
        }
        std::array::from_fn(|i| state[i].wrapping_add(start[i]))
    }

    fn check(keystream: impl Fn(&[u32; 8], &mut [Octet])) {
        for (key, counter, expected) in VECTORS {
            let key: [u32; 8] = std::array::from_fn(|i| u32::from_le_bytes(*key[4 * i..].first_chunk().unwrap()));
            let mut out = [[[0; 8]; 16]];
            keystream(&key, &mut out);
            let block: String = out[0].iter().map(|row| format!("{:08x}", row[counter].swap_bytes())).collect();
            assert_eq!(block, expected);
        }
        // The second octet continues where the first ends: its first block is block 8.
        let key = [1, 2, 3, 4, 5, 6, 7, 8];
        let mut out = [[[0; 8]; 16]; 3];
        keystream(&key, &mut out);
        for (i, octet) in out.iter().enumerate() {
            for (block, counter) in (8 * i..8 * i + 8).enumerate() {
                let column: [u32; 16] = std::array::from_fn(|word| octet[word][block]);
                assert_eq!(column, oracle(&key, counter as u32));
            }
        }
    }

    #[test]
    fn known_answers_portable() {
        check(keystream_portable);
        check(|key, out| keystream::<super::super::words::array::Words32>((), key, out));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn known_answers_avx2() {
        let token = Avx2::detect().expect("this test needs a processor with AVX2");
        for token in [token, token.without_avx512vl()] {
            check(|key, out| keystream_avx2(token, key, out));
            let (mut fast, mut oracle) = ([[[0; 8]; 16]; 5], [[[0; 8]; 16]; 5]);
            keystream_avx2(token, &[9; 8], &mut fast);
            keystream_portable(&[9; 8], &mut oracle);
            assert_eq!(fast, oracle);
        }
    }
}
