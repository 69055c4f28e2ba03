//! SHA-512 (FIPS 180-4): padding around the compression function of the backend, for messages in parts, one or two at
//! once, and for four messages of equal length at once.

use crate::backend::Kernels;
use crate::backend::sha512::{BLOCK_BYTES, Block, INITIAL, State, State4};
use crate::wipe::wipe;

/// Blocks that are gathered before they are compressed: the AVX2 kernel takes a message's blocks in pairs.
const GATHERED: usize = 2;
/// Bytes after a message: the bit 1, and its length in bits as 128-bit number.
const TRAILER_BYTES: usize = 17;
/// Room for a rest of less than [`GATHERED`] blocks with its padding.
const BUFFER_BYTES: usize = (GATHERED + 1) * BLOCK_BYTES;

/// The hash of a message that comes in parts. All scratch is wiped.
pub(crate) struct Sha512<K: Kernels> {
    state: State,
    buffer: [u8; BUFFER_BYTES],
    /// Bytes in the buffer, at most [`GATHERED`] blocks.
    held: usize,
    /// Bytes of the message so far.
    total: usize,
    kernels: K,
}

impl<K: Kernels> Sha512<K> {
    pub(crate) fn new(kernels: K) -> Self {
        Self { state: INITIAL, buffer: [0; BUFFER_BYTES], held: 0, total: 0, kernels }
    }

    /// Appends a part to the message.
    pub(crate) fn absorb(&mut self, mut part: &[u8]) {
        if self.held > 0 {
            part = self.gather(part);
            if self.held < GATHERED * BLOCK_BYTES {
                return;
            }
            self.kernels.compress(&mut self.state, blocks(&self.buffer[..self.held]));
        }
        // The buffer is empty: whole pairs of blocks need not pass through it.
        let (pairs, rest) = part.split_at(part.len() - (part.len() & (GATHERED * BLOCK_BYTES - 1)));
        self.kernels.compress(&mut self.state, blocks(pairs));
        self.total += pairs.len();
        self.held = 0;
        self.gather(rest);
    }

    /// Fills the buffer up from the start of `part`; returns what it has no room for.
    fn gather<'a>(&mut self, part: &'a [u8]) -> &'a [u8] {
        let (start, rest) = part.split_at(part.len().min(GATHERED * BLOCK_BYTES - self.held));
        self.buffer[self.held..][..start.len()].copy_from_slice(start);
        self.held += start.len();
        self.total += start.len();
        rest
    }

    /// Writes the first bytes of the hash, as many as `out` holds (a multiple of eight, at most 64). It is the last use of the
    /// hash, which stays where it is until it is wiped: a move would leave a copy behind.
    pub(crate) fn finish(&mut self, out: &mut [u8]) {
        let blocks = pad(&mut self.buffer, self.held, self.total);
        self.kernels.compress(&mut self.state, blocks);
        write(&self.state, out);
    }
}

impl<K: Kernels> Drop for Sha512<K> {
    fn drop(&mut self) {
        wipe(&mut self.state);
        wipe(&mut self.buffer);
    }
}

/// Appends a part to each of two messages; faster than one after the other where the kernels make use of it.
pub(crate) fn absorb_both<K: Kernels>([a, b]: [&mut Sha512<K>; 2], [mut to_a, mut to_b]: [&[u8]; 2]) {
    loop {
        (to_a, to_b) = (a.gather(to_a), b.gather(to_b));
        if a.held.min(b.held) < GATHERED * BLOCK_BYTES {
            break;
        }
        a.kernels.compress2([&mut a.state, &mut b.state], [&a.buffer, &b.buffer].map(|b| &blocks(b)[..GATHERED]));
        (a.held, b.held) = (0, 0);
    }
    a.absorb(to_a);
    b.absorb(to_b);
}

/// Writes the first half of SHA-512 of the byte `prefix` and a message, for four messages of equal length. They must
/// be public: nothing is wiped.
pub(crate) fn sha512_half_of_four(prefix: u8, messages: [&[u8]; 4], k: impl Kernels) -> [[u8; 32]; 4] {
    let len = messages[0].len();
    assert!(messages.iter().all(|message| message.len() == len), "four messages at once must have equal lengths");
    let mut state: State4 = INITIAL.map(|word| [word; 4]);
    let mut first = [[0; BUFFER_BYTES]; 4];
    let filled = len.min(BLOCK_BYTES - 1);
    for (buffer, message) in first.iter_mut().zip(messages) {
        buffer[0] = prefix;
        buffer[1..=filled].copy_from_slice(&message[..filled]);
    }
    let mut held = 1 + filled;
    if held == BLOCK_BYTES {
        k.compress4(&mut state, first.each_ref().map(|buffer| blocks(&buffer[..held])));
        let rests = messages.map(|message| message[filled..].as_chunks::<BLOCK_BYTES>());
        k.compress4(&mut state, rests.map(|(whole, _)| whole));
        held = rests[0].1.len();
        for (buffer, (_, rest)) in first.iter_mut().zip(rests) {
            buffer[..held].copy_from_slice(rest);
        }
    }
    k.compress4(&mut state, first.each_mut().map(|buffer| pad(buffer, held, 1 + len)));
    let mut out = [[0; 32]; 4];
    for (m, out) in out.iter_mut().enumerate() {
        write(&state.map(|words| words[m]), out);
    }
    out
}

/// Whole blocks of `bytes`.
fn blocks(bytes: &[u8]) -> &[Block] {
    bytes.as_chunks().0
}

/// Pads the last `held` bytes of a message of `total` bytes (FIPS 180-4, section 5.1.2) and returns the blocks.
fn pad(buffer: &mut [u8; BUFFER_BYTES], held: usize, total: usize) -> &[Block] {
    let end = (held + TRAILER_BYTES).next_multiple_of(BLOCK_BYTES);
    buffer[held..end].fill(0);
    buffer[held] = 0x80;
    buffer[end - 16..end].copy_from_slice(&(8 * total as u128).to_be_bytes());
    blocks(&buffer[..end])
}

/// Writes as many big-endian words of `state` as `out` holds.
fn write(state: &State, out: &mut [u8]) {
    for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Portable;
    use sha2::Digest;

    fn message(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i as u8).wrapping_mul(151) ^ (i >> 8) as u8).collect()
    }

    fn sha512(parts: &[&[u8]], out: &mut [u8; 64]) {
        let mut hasher = Sha512::new(Portable);
        parts.iter().for_each(|part| hasher.absorb(part));
        hasher.finish(out);
    }

    #[test]
    fn parts_of_every_length() {
        let mut out = [0; 64];
        for len in (0..=6 * BLOCK_BYTES).chain([1073, 1159, 1323, 5000]) {
            let message = message(len);
            let expected = sha2::Sha512::digest(&message);
            for cut in [0, 1, 2, 32, 127, 128, 255, 256, 257, len] {
                let (first, rest) = message.split_at(cut.min(len));
                let (second, third) = rest.split_at(rest.len().min(130));
                sha512(&[first, second, &[], third], &mut out);
                assert_eq!(out[..], expected[..], "{len} bytes, cut at {cut}");
            }
        }
    }

    #[test]
    fn many_small_parts() {
        let message = message(700);
        let parts: Vec<&[u8]> = message.chunks(7).collect();
        let mut out = [0; 64];
        sha512(&parts, &mut out);
        assert_eq!(out[..], sha2::Sha512::digest(&message)[..]);
    }

    fn two_at_once(k: impl Kernels) {
        for (first, len_a, len_b) in
            (0..=300).flat_map(|n| [(n, 1, 700), (n, 700, 1100), (n, 1158, 1007), (n, 256, 256)])
        {
            let (a, b) = (message(first + len_a), message(2 * first + len_b));
            let (mut hash_a, mut hash_b) = (Sha512::new(k), Sha512::new(k));
            hash_a.absorb(&a[..first]);
            hash_b.absorb(&b[..2 * first]);
            absorb_both([&mut hash_a, &mut hash_b], [&a[first..], &b[2 * first..]]);
            hash_a.absorb(&b);
            for (mut hasher, expected) in [(hash_a, [&a[..], &b].concat()), (hash_b, b.clone())] {
                let mut out = [0; 64];
                hasher.finish(&mut out);
                assert_eq!(out[..], sha2::Sha512::digest(&expected)[..], "{first} bytes, then {len_a} and {len_b}");
            }
        }
    }

    #[test]
    fn two_at_once_with_every_backend() {
        two_at_once(Portable);
        #[cfg(target_arch = "x86_64")]
        {
            let token = crate::backend::Avx2::detect().expect("this test needs a processor with AVX2");
            two_at_once(token);
            two_at_once(token.without_avx512vl());
        }
    }

    #[test]
    fn four_at_once() {
        for len in (0..=4 * BLOCK_BYTES + 1).chain([994, 1158, 1322]) {
            let messages = [1, 2, 3, 4].map(|m| message(len + m)[m..].to_vec());
            let out = sha512_half_of_four(4, messages.each_ref().map(|message| &message[..]), Portable);
            for (out, message) in out.iter().zip(&messages) {
                let expected = sha2::Sha512::new().chain_update([4]).chain_update(message).finalize();
                assert_eq!(out[..], expected[..32], "{len} bytes");
            }
        }
    }
}
