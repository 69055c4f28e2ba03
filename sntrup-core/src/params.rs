//! Parameter sets (specification, section "Parameters"): everything follows from (p, q, w), and const assertions hold
//! the results to the published sizes.

use crate::operations::Operations;
use crate::wipe::Array;

/// Number of coefficients that a SIMD register of 256 bits holds; arrays are padded with zeros to a multiple of it.
pub(crate) const LANES: usize = 16;

/// A parameter set of Streamlined NTRU Prime: R = Z\[x\]/(x^p - x - 1), modulus q, weight w of short elements.
///
/// Sealed by its hidden operations: the sets are [`Sntrup653`], [`Sntrup761`] and [`Sntrup857`].
pub trait Params: Operations + Send + Sync + 'static {
    /// Name of the set, such as `sntrup761`.
    const NAME: &'static str;
    /// Degree p of the ring, a prime.
    const P: usize;
    /// Modulus q, a prime; x^p - x - 1 is irreducible modulo q.
    const Q: i16;
    /// Number w of non-zero coefficients of a short element.
    const W: usize;
    /// Bytes of a public key.
    const PUBLIC_KEY_BYTES: usize;
    /// Bytes of a secret key.
    const SECRET_KEY_BYTES: usize;
    /// Bytes of a ciphertext.
    const CIPHERTEXT_BYTES: usize;

    #[doc(hidden)]
    const PUBLIC_KEY: &'static str;
    #[doc(hidden)]
    const SECRET_KEY: &'static str;
    #[doc(hidden)]
    const CIPHERTEXT: &'static str;
    /// Coefficients, least significant first, padded with zeros to a multiple of 16.
    #[doc(hidden)]
    type Coeffs: Array<Item = i16>;
    /// Two times the padded length: room for an operand and its multiples by powers of x.
    #[doc(hidden)]
    type Double: Array<Item = i16>;
    /// A small element, two bits a coefficient.
    #[doc(hidden)]
    type SmallBytes: Array<Item = u8>;
    #[doc(hidden)]
    type PublicKeyBytes: Array<Item = u8>;
    #[doc(hidden)]
    type SecretKeyBytes: Array<Item = u8>;
    #[doc(hidden)]
    type CiphertextBytes: Array<Item = u8>;
}

/// Bytes of a hash value (half of SHA-512), of a confirmation and of a session key.
pub(crate) const HASH_BYTES: usize = 32;

/// Bytes of a small element: four coefficients to a byte.
pub(crate) const fn small_bytes(p: usize) -> usize {
    p.div_ceil(4)
}

/// Largest representative (q-1)/2 of R/q.
pub(crate) const fn half(q: i16) -> i16 {
    (q - 1) >> 1
}

/// Number of values of a rounded coefficient: the multiples of 3 in [-(q-1)/2, (q-1)/2].
#[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "q is public")]
pub(crate) const fn rounded_radix(q: i16) -> u32 {
    (q as u32).div_ceil(3)
}

macro_rules! parameter_sets {
    ($($set:ident = $name:literal ($p:literal, $q:literal, $w:literal), published $pk:literal $sk:literal $ct:literal;)*) => {$(
        #[doc = concat!("The parameter set ", $name, ": p = ", $p, ", q = ", $q, ", w = ", $w, "; public key ", $pk,
            ", secret key ", $sk, ", ciphertext ", $ct, " bytes.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $set;

        impl Params for $set {
            const NAME: &'static str = $name;
            const P: usize = $p;
            const Q: i16 = $q;
            const W: usize = $w;
            const PUBLIC_KEY_BYTES: usize = Plan::new($p, $q).bytes;
            const SECRET_KEY_BYTES: usize = 3 * small_bytes($p) + Self::PUBLIC_KEY_BYTES + HASH_BYTES;
            const CIPHERTEXT_BYTES: usize = Plan::new($p, rounded_radix($q)).bytes + HASH_BYTES;
            const PUBLIC_KEY: &'static str = concat!($name, " public key");
            const SECRET_KEY: &'static str = concat!($name, " secret key");
            const CIPHERTEXT: &'static str = concat!($name, " ciphertext");
            type Coeffs = [i16; ($p as usize).next_multiple_of(LANES)];
            type Double = [i16; 2 * ($p as usize).next_multiple_of(LANES)];
            type SmallBytes = [u8; small_bytes($p)];
            type PublicKeyBytes = [u8; Self::PUBLIC_KEY_BYTES];
            type SecretKeyBytes = [u8; Self::SECRET_KEY_BYTES];
            type CiphertextBytes = [u8; Self::CIPHERTEXT_BYTES];
        }

        const _: () = {
            assert!(<$set>::PUBLIC_KEY_BYTES == $pk && <$set>::SECRET_KEY_BYTES == $sk && <$set>::CIPHERTEXT_BYTES == $ct);
            // Conditions of the specification: q >= 16w + 1 (no decryption failure), 2p >= 3w, q = 1 mod 6.
            assert!($q > 16 * $w && 2 * $p >= 3 * $w);
            #[allow(clippy::integer_division_remainder_used, clippy::modulo_arithmetic, reason = "p and q are public")]
            const { assert!($q % 6 == 1 && $p % 4 == 1); }
            // The inverters store p + 1 coefficients and read one zero after them.
            assert!(<$set as Params>::Coeffs::LEN >= $p + 2);
        };
    )*};
}

parameter_sets! {
    Sntrup653 = "sntrup653" (653, 4621, 288), published 994 1518 897;
    Sntrup761 = "sntrup761" (761, 4591, 286), published 1158 1763 1039;
    Sntrup857 = "sntrup857" (857, 5167, 322), published 1322 1999 1184;
}

/// Most levels that a mixed-radix encoding of up to 2^10 coefficients has.
const MAX_LEVELS: usize = 11;

/// A level of the mixed-radix encoding: `len` values, all below `radix` but the last, which is below `last`.
#[derive(Clone, Copy)]
pub(crate) struct Level {
    pub(crate) len: usize,
    pub(crate) radix: Divisor,
    pub(crate) last: Divisor,
    /// How to divide merged pairs by `radix` with 16-bit products.
    pub(crate) quotient: Quotient,
    /// Bytes written for each merged pair but the last, and for the last pair (when `len` is even).
    pub(crate) pair_bytes: usize,
    pub(crate) last_pair_bytes: usize,
    /// Position of the level's first byte in the string.
    pub(crate) offset: usize,
}

/// The shape of the mixed-radix encoding of n values below m (specification, section "Encoding of integer sequences").
///
/// Neighbours merge in pairs, level by level, and low bytes leave a merged value while its radix is 2^14 or more. All
/// values of a level have the same radix but the last, so a few numbers a level tell everything.
pub(crate) struct Plan {
    pub(crate) levels: [Level; MAX_LEVELS],
    /// Number of levels in use; the last of them has one value.
    pub(crate) depth: usize,
    /// Bytes of the last value.
    pub(crate) top_bytes: usize,
    /// Bytes of the string.
    pub(crate) bytes: usize,
}

impl Plan {
    /// The plan for `n` (1 to 1024) values below `m` (64 to 16384).
    pub(crate) const fn new(n: usize, m: u32) -> Self {
        assert!(n >= 1 && n <= 1024 && m >= 64 && m <= 16384);
        let unused = Divisor { value: 0, reciprocal: 0 };
        let quotient = Quotient { shift: 0, factor: 0 };
        let mut levels =
            [Level { len: 0, radix: unused, last: unused, quotient, pair_bytes: 0, last_pair_bytes: 0, offset: 0 };
                MAX_LEVELS];
        let (mut len, mut radix, mut last, mut offset, mut depth) = (n, m, m, 0, 0);
        while len > 1 {
            let (merged, pair_bytes) = reduce(radix * radix);
            let (merged_last, last_pair_bytes) = if len & 1 == 0 { reduce(radix * last) } else { (last, 0) };
            levels[depth] = Level {
                len,
                radix: Divisor::new(radix),
                last: Divisor::new(last),
                quotient: Quotient::new(radix, merged, pair_bytes),
                pair_bytes,
                last_pair_bytes,
                offset,
            };
            offset += ((len - 1) >> 1) * pair_bytes + last_pair_bytes;
            (len, radix, last, depth) = ((len + 1) >> 1, merged, merged_last, depth + 1);
        }
        let divisor = Divisor::new(last);
        levels[depth] =
            Level { len, radix: divisor, last: divisor, quotient, pair_bytes: 0, last_pair_bytes: 0, offset };
        let top_bytes = if last > 256 { 2 } else { 1 };
        Self { levels, depth: depth + 1, top_bytes, bytes: offset + top_bytes }
    }
}

/// Radix that is left of `m` and number of bytes that left it, when bytes leave until it is below 2^14.
const fn reduce(mut m: u32) -> (u32, usize) {
    let mut bytes = 0;
    while m >= 16384 {
        m = (m + 255) >> 8;
        bytes += 1;
    }
    (m, bytes)
}

/// How to divide a merged pair x by the radix m with 16-bit products: its quotient is floor(x / m) or one less:
/// `factor` * floor(x / 2^`shift`) / 2^16, rounded down, with `factor` = floor(2^(16 + `shift`) / m).
#[derive(Clone, Copy)]
pub(crate) struct Quotient {
    pub(crate) shift: u32,
    pub(crate) factor: u16,
}

impl Quotient {
    /// For merged pairs x < `merged` * 256^`pair_bytes`; the shift is at most the number of bits that left the pair.
    ///
    /// Dropping the low bits loses less than 2^shift/m, rounding the factor loses less than its missing part times the
    /// dropped dividend. The assertion says that together they lose less than 1.
    #[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "constants of the encoding")]
    const fn new(m: u32, merged: u32, pair_bytes: usize) -> Self {
        let (m, largest, mut shift) = (m as u64, ((merged as u64) << (8 * pair_bytes)) - 1, 0);
        while largest >> shift >= 1 << 16 {
            shift += 1;
        }
        let (factor, missing) = ((1 << (16 + shift)) / m, (1 << (16 + shift)) % m);
        assert!(factor < 1 << 16 && shift as usize <= 8 * pair_bytes);
        assert!((((1 << shift) - 1) << 16) + (largest >> shift) * missing < m << 16);
        // The quotient is below 2m, so that one subtraction brings it below m.
        assert!(largest / m < 2 * m);
        Self { shift, factor: factor as u16 }
    }
}

/// A public divisor with its Barrett reciprocal, so that secret or hostile numbers meet no division instruction.
#[derive(Clone, Copy)]
pub(crate) struct Divisor {
    /// The divisor: 1 to 16384.
    pub(crate) value: u32,
    /// ceil(2^43 / value).
    reciprocal: u64,
}

impl Divisor {
    const SHIFT: u32 = 43;

    /// A divisor of 1 to 16384.
    #[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "a constant of the encoding")]
    pub(crate) const fn new(value: u32) -> Self {
        assert!(value >= 1 && value <= 16384);
        Self { value, reciprocal: (1u64 << Self::SHIFT).div_ceil(value as u64) }
    }

    /// Quotient and remainder of `x` by the divisor; `x` < 2^29 and `x` < 2^20 * divisor.
    ///
    /// The reciprocal exceeds 2^43/m by less than 1, so the product exceeds 2^43 x/m by less than 2^29, which is less
    /// than the 2^43/m that is missing to the next quotient; x < 2^20 m keeps the product below 2^64.
    #[inline(always)]
    pub(crate) const fn div_rem(self, x: u32) -> (u32, u32) {
        debug_assert!(x < 1 << 29 && (x as u64) < (self.value as u64) << 20);
        let quotient = ((x as u64 * self.reciprocal) >> Self::SHIFT) as u32;
        (quotient, x - quotient * self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quotients grow with the dividend, so exactness at both ends of every run is exactness everywhere.
    #[allow(clippy::integer_division, clippy::integer_division_remainder_used, reason = "the oracle divides")]
    fn exact(divisor: Divisor, limit: u64) {
        let m = divisor.value;
        let limit = limit.min(1 << 29).min((m as u64) << 20) as u32;
        let mut start = 0;
        while start < limit {
            for x in [start, (start + (m - 1)).min(limit - 1)] {
                assert_eq!(divisor.div_rem(x), (x / m, x % m), "{x} by {m}");
            }
            start += m;
        }
    }

    #[test]
    fn every_division_of_every_encoding_is_exact() {
        for (p, q) in [(653, 4621), (761, 4591), (857, 5167)] {
            for plan in [Plan::new(p, q as u32), Plan::new(p, rounded_radix(q))] {
                assert_eq!(plan.levels[plan.depth - 1].len, 1);
                for level in &plan.levels[..plan.depth] {
                    // Largest dividend: a pair of values below radix * last, plus what a hostile string can add.
                    let limit = 1 << 29;
                    exact(level.radix, limit);
                    exact(level.last, limit);
                }
            }
        }
    }
}
