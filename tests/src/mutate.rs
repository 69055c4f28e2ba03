//! Damage to messages, repeatable from a seed.

/// A generator of damage (xorshift).
#[derive(Clone, Debug)]
pub struct Mutator(u64);

/// Numbers at which lengths and counts go wrong.
const EXTREMES: [u8; 8] = [0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff, 0x04, 0x20];

impl Mutator {
    /// The generator of a seed; every seed is one.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mutator = Mutator(seed ^ 0x9e37_79b9_7f4a_7c15);
        if mutator.0 == 0 {
            mutator.0 = 1;
        }
        // Small seeds differ in few bits: the first numbers would be alike.
        for _ in 0..16 {
            mutator.next();
        }
        mutator
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }

    /// A place in `bytes`: mostly near its start, where the lengths and the numbers stand.
    fn place(&mut self, bytes: &[u8]) -> usize {
        let length = bytes.len().max(1);
        let bound = if self.below(4) == 0 { length } else { length.min(200) };
        self.below(bound)
    }

    /// A length near the right one, or any up to twice as much; one time in three the right one.
    pub fn length(&mut self, right: usize) -> usize {
        match self.below(3) {
            0 => right,
            1 => right + self.below(5) - 2,
            _ => self.below(2 * right),
        }
    }

    /// Damages `bytes` in one to four places. They may come out as they were.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.place(bytes);
            let upto = (at + 1 + self.below(40)).min(bytes.len());
            match (self.below(8), bytes.get_mut(at)) {
                (0 | 1, Some(byte)) => *byte ^= 1 << self.below(8),
                (2 | 3, Some(byte)) => *byte = EXTREMES[self.below(EXTREMES.len())],
                (4, Some(byte)) => *byte = byte.wrapping_add(if self.below(2) == 0 { 1 } else { 0xff }),
                // Twice the same, as with an extension that stands there twice.
                (5, Some(_)) => {
                    let copy = bytes[at..upto].to_vec();
                    bytes.splice(at..at, copy);
                }
                (6, Some(_)) => {
                    bytes.drain(at..upto);
                }
                (_, Some(_)) if self.below(4) == 0 => bytes.truncate(at),
                _ => {
                    let count = 1 + self.below(300);
                    let new: Vec<u8> = (0..count).map(|_| self.next() as u8).collect();
                    bytes.splice(at.min(bytes.len())..at.min(bytes.len()), new);
                }
            }
        }
    }
}

/// Writes a handshake message's length anew, so that damage to its body is not all hidden behind a wrong length.
pub fn mend_length(message: &mut [u8]) {
    if let Some(body) = message.len().checked_sub(4) {
        message[1..4].copy_from_slice(&(body as u32).to_be_bytes()[1..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_is_repeatable_and_various() {
        let damaged = |seed| {
            let mut bytes = vec![7; 300];
            Mutator::new(seed).damage(&mut bytes);
            bytes
        };
        let all: std::collections::HashSet<Vec<u8>> = (0..1000).map(damaged).collect();
        assert!(all.len() > 900, "{} different ones", all.len());
        assert!(all.iter().any(|bytes| bytes.len() < 300) && all.iter().any(|bytes| bytes.len() > 300));
        assert_eq!(damaged(5), damaged(5));
        Mutator::new(0).damage(&mut Vec::new());
    }

    #[test]
    fn a_length_is_mended() {
        let mut message = vec![1, 9, 9, 9, 5, 6, 7];
        mend_length(&mut message);
        assert_eq!(message, [1, 0, 0, 3, 5, 6, 7]);
        mend_length(&mut [1, 2]);
    }
}
