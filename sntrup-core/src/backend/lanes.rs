//! Sixteen signed 16-bit lanes: the one vector type that every arithmetic kernel is written over.
//!
//! A kernel is generic over [`V16`]. Three types implement it and give the same bits: `array::Lanes` (plain loops, any
//! processor), `sse2::Lanes` (part of every x86-64 processor) and `avx2::Lanes`. A value of a lane type can only be made
//! from its token, and the token of AVX2 only comes from [`Avx2::detect`], so that no instruction can run on a processor
//! that lacks it.
//!
//! Helpers of a kernel are `#[inline(always)]` and carry no target feature; [`Level::run`] is the only place where a
//! function with a target feature starts, and everything is inlined into it. Otherwise vectors travel through memory.

#[cfg(any(test, not(target_arch = "x86_64")))]
pub(crate) mod array;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
pub(crate) mod bits;
#[cfg(target_arch = "x86_64")]
pub(crate) mod sse2;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;

/// Sixteen coefficients in memory, aligned for one 256-bit register.
#[repr(C, align(32))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chunk(pub(crate) [i16; 16]);

impl Chunk {
    /// All lanes zero.
    pub(crate) const ZERO: Self = Self([0; 16]);

    /// The same value in all lanes.
    pub(crate) const fn splat(value: i16) -> Self {
        Self([value; 16])
    }

    /// The pair `(even, odd)` in all eight pairs of lanes.
    pub(crate) const fn splat_pair(even: i16, odd: i16) -> Self {
        let mut lanes = [even; 16];
        let mut i = 1;
        while i < 16 {
            lanes[i] = odd;
            i += 2;
        }
        Self(lanes)
    }
}

/// A position in an array of `N` chunks, checked when it is made (at compile time), so that its use needs no check.
#[derive(Clone, Copy)]
pub(crate) struct Place<const N: usize>(u32);

impl<const N: usize> Place<N> {
    /// Position `index`, below `N`.
    pub(crate) const fn new(index: usize) -> Self {
        assert!(index < N, "a place beyond the end of its array");
        Self((index * size_of::<Chunk>()) as u32)
    }

    /// The chunk at this place.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) fn of(self, chunks: &mut [Chunk; N]) -> &mut Chunk {
        // SAFETY: `new` has checked that the byte offset is that of one of the N chunks.
        unsafe { &mut *chunks.as_mut_ptr().byte_add(self.0 as usize) }
    }
}

#[allow(unsafe_code)]
// SAFETY: a chunk is an array of integers, aligned to 32.
unsafe impl crate::wipe::Plain for Chunk {}

/// The lanes of consecutive chunks as one slice.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn flat(chunks: &[Chunk]) -> &[i16] {
    // SAFETY: a Chunk is exactly sixteen i16 without padding, and the result borrows the same memory for as long.
    unsafe { core::slice::from_raw_parts(chunks.as_ptr().cast(), chunks.len() * 16) }
}

/// The lanes of consecutive chunks as one mutable slice.
#[inline(always)]
#[allow(unsafe_code)]
pub(crate) fn flat_mut(chunks: &mut [Chunk]) -> &mut [i16] {
    // SAFETY: as in `flat`; every bit pattern is a valid i16, and the exclusive borrow is handed on.
    unsafe { core::slice::from_raw_parts_mut(chunks.as_mut_ptr().cast(), chunks.len() * 16) }
}

/// Sixteen signed 16-bit lanes. Arithmetic wraps; kernels keep it from wrapping, and `array::Lanes` checks that.
pub(crate) trait V16: Copy {
    /// Proof that the instructions may be used.
    type Token: Copy;
    /// Eight signed 32-bit lanes.
    type Wide: Copy;
    /// The register as a string of bits.
    type Bits: Bits<Token = Self::Token>;

    /// The same value in every lane.
    fn splat(token: Self::Token, value: i16) -> Self;
    /// The pair `(even, odd)` in every pair of lanes.
    fn splat_pair(token: Self::Token, even: i16, odd: i16) -> Self;
    /// Reads a chunk.
    fn load(token: Self::Token, from: &Chunk) -> Self;
    /// Reads sixteen lanes at any position of a slice.
    fn load_at(token: Self::Token, from: &[i16; 16]) -> Self;
    /// Writes a chunk.
    fn store(self, to: &mut Chunk);
    /// Writes sixteen lanes at any position of a slice.
    fn store_at(self, to: &mut [i16; 16]);

    /// Lane-wise sum.
    fn add(self, other: Self) -> Self;
    /// Lane-wise difference.
    fn sub(self, other: Self) -> Self;
    /// Low halves of the lane-wise products.
    fn mullo(self, other: Self) -> Self;
    /// High halves of the lane-wise signed products.
    fn mulhi(self, other: Self) -> Self;
    /// round(x·c / 2¹⁵) in every lane, for a constant `0 ≤ c < 2¹⁴`.
    fn mulhrs(self, token: Self::Token, c: i16) -> Self;
    /// All ones where `self > other`, else zero.
    fn greater(self, other: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;

    /// Even lanes of `self`, odd lanes of `odd`.
    fn blend_odd(self, odd: Self) -> Self;
    /// Exchanges the two lanes of each pair.
    fn swap_pairs(self, token: Self::Token) -> Self;
    /// Pairs `(self_i, other_i)` for the even `i`.
    fn pairs_even(self, other: Self) -> Self;
    /// Pairs `(self_i, other_i)` for the odd `i`.
    fn pairs_odd(self, other: Self) -> Self;
    /// Transposes an 8×8 matrix whose entries are pairs of lanes.
    fn transpose(rows: [Self; 8]) -> [Self; 8];

    /// For each pair of lanes the sum of the two products, in 32 bits.
    fn madd(self, other: Self) -> Self::Wide;
    /// Lane-wise sum of 32-bit lanes.
    fn add_wide(a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Low halves of `even` into the even lanes and of `odd` into the odd lanes.
    fn low_halves(even: Self::Wide, odd: Self::Wide) -> Self;
    /// High halves of `even` into the even lanes and of `odd` into the odd lanes.
    fn high_halves(even: Self::Wide, odd: Self::Wide) -> Self;

    /// Hides from the compiler where the reference points, so that it reads operands from memory where they are used
    /// instead of keeping too many of them in registers.
    fn hide<T>(token: Self::Token, from: &T) -> &T;

    /// Zero in every lane.
    #[inline(always)]
    fn zero(token: Self::Token) -> Self {
        Self::splat(token, 0)
    }

    /// Debug builds check that every lane lies in `-limit..=limit`.
    #[inline(always)]
    fn within(self, limit: i32) -> Self {
        if cfg!(debug_assertions) {
            let mut lanes = Chunk::ZERO;
            self.store(&mut lanes);
            assert_within(&lanes, limit);
        }
        self
    }
}

#[inline(never)]
fn assert_within(lanes: &Chunk, limit: i32) {
    let largest = lanes.0.iter().map(|x| i32::from(*x).abs()).max();
    assert!(largest <= Some(limit), "a lane holds {largest:?}, beyond the proven {limit}");
}

/// A string of 256 bits: bit t is bit ⌊t/4⌋ of word t mod 4, so that a shift by one moves whole words.
pub(crate) trait Bits: Copy {
    /// Proof that the instructions may be used.
    type Token: Copy;

    /// The same word four times.
    fn splat(token: Self::Token, word: u64) -> Self;
    /// Reads four words.
    fn load(token: Self::Token, from: &[u64; 4]) -> Self;
    /// Writes four words.
    fn store(self, to: &mut [u64; 4]);
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bit t moves to t + 1; bit 255 is lost.
    fn up(self) -> Self;
    /// Bit t moves to t - 1; bit 0 is lost.
    fn down(self) -> Self;
    /// The word with bits 0, 4, 8, …
    fn first_word(self) -> u64;
}

/// A kernel: its operands, waiting for a lane type.
pub(crate) trait Kernel {
    /// What the kernel returns.
    type Output;
    /// Whether it is mostly bitwise logic, for which AVX-512VL has better instructions.
    const LOGIC: bool = false;
    /// Runs the kernel. Implementations are `#[inline(always)]`.
    fn run<V: V16>(self, token: V::Token) -> Self::Output;
}

/// An instruction set that kernels can run on.
pub(crate) trait Level: Copy + Send + Sync + 'static {
    /// Runs a kernel with this instruction set.
    fn run<K: Kernel>(self, kernel: K) -> K::Output;
}

/// The instructions that every processor of the target has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Level for Portable {
    #[inline(always)]
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[inline(never)]
        fn portable<K: Kernel>(kernel: K) -> K::Output {
            #[cfg(target_arch = "x86_64")]
            return kernel.run::<sse2::Lanes>(());
            #[cfg(not(target_arch = "x86_64"))]
            return kernel.run::<array::Lanes>(());
        }
        portable(kernel)
    }
}

/// Plain loops, with overflow checks in debug builds: the oracle of the other two.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oracle;

#[cfg(test)]
impl Level for Oracle {
    fn run<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run::<array::Lanes>(())
    }
}
