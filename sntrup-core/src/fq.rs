//! Scalar arithmetic modulo 3, and the range of canonical coefficients modulo q.

use std::marker::PhantomData;

use crate::params::{Params, half};

/// The field Z/q of a parameter set. Canonical representatives lie in [-(q-1)/2, (q-1)/2].
pub(crate) struct Fq<P>(PhantomData<P>);

impl<P: Params> Fq<P> {
    /// Largest canonical representative (q-1)/2.
    pub(crate) const HALF: i16 = half(P::Q);
}

/// Representative in {-1, 0, 1} of `x` modulo 3; |x| < 2^14.
///
/// 10923/2^15 exceeds 1/3 by 1/(3 * 2^15), so x/3 is estimated to within 1/6, the distance to where rounding changes.
#[inline(always)]
pub(crate) const fn mod3(x: i16) -> i16 {
    debug_assert!(x > -(1 << 14) && x < 1 << 14);
    // Rounded in two steps, as a vector instruction does it.
    let quotient = (((x as i32 * 10923) >> 14) + 1) >> 1;
    x - 3 * quotient as i16
}

#[cfg(test)]
#[allow(clippy::integer_division_remainder_used, clippy::modulo_arithmetic, reason = "the oracle divides")]
mod tests {
    use super::*;

    #[test]
    fn representatives_modulo_3_are_exact() {
        for x in -(1 << 14) + 1..1 << 14 {
            assert_eq!(mod3(x), (x + 1).rem_euclid(3) - 1);
        }
    }
}
