//! The kernels one by one, for the instruction counts and timings of `examples/kernels.rs`. Not part of the interface.

#![allow(clippy::integer_division_remainder_used, reason = "the operands are no secrets")]

use crate::backend::divsteps3::*;
use crate::backend::euclid::*;
use crate::backend::lanes::{Chunk, Level, Portable};
use crate::backend::sample::Tails;
use crate::backend::transform::*;
use crate::backend::{Kernels, sha512};
use crate::drbg::Drbg;
use crate::params::{Params, Sntrup653, Sntrup761, Sntrup857, half};
use crate::sampling::exact;
use crate::wipe::{Array, Secret};
use core::marker::PhantomData;

/// A kernel with its operands, to be run as often as wanted.
pub type Probe = (String, Box<dyn FnMut()>);

/// Operands that are random enough: zero from coefficient p on, all within the canonical range.
fn operand<T: Transform>(seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut rows = vec![[0; 16]; T::CHUNKS];
    for x in &mut rows.as_flattened_mut()[..T::P] {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *x = ((state >> 40) % (2 * T::HALF as u64 + 1)) as i16 - T::HALF as i16;
    }
    rows
}

fn products<T: Transform>(probes: &mut Vec<Probe>, level: impl Level, name: &str) {
    let set = PhantomData::<T>;
    let chunks = |n: usize| vec![Chunk::ZERO; n];
    let points = |seed| {
        let (mut points, mut scratch) = (chunks(T::POINTS), chunks(T::SCRATCH));
        level.run(Forward { input: &operand::<T>(seed), points: &mut points, scratch: &mut scratch, set });
        points
    };
    let mut add = |kernel: &str, run: Box<dyn FnMut()>| probes.push((format!("{name} {kernel}"), run));

    let (input, mut out, mut scratch) = (operand::<T>(1), chunks(T::POINTS), chunks(T::SCRATCH));
    add(
        "forward",
        Box::new(move || level.run(Forward { input: &input, points: &mut out, scratch: &mut scratch, set })),
    );

    let (a, b, mut c, mut scratch) = (points(1), points(2), chunks(T::POINTS), chunks(T::SCRATCH));
    add(
        "multiply",
        Box::new(move || level.run(Multiply { a: [&a], b: &b, products: [&mut c], scratch: &mut scratch, set })),
    );
    let (a, b, mut c, mut d, mut scratch) =
        (points(1), points(2), chunks(T::POINTS), chunks(T::POINTS), chunks(T::SCRATCH));
    add(
        "multiply two",
        Box::new(move || {
            level.run(Multiply { a: [&a, &b], b: &b, products: [&mut c, &mut d], scratch: &mut scratch, set })
        }),
    );
    let (a, mut prepared) = (points(1), chunks(4 * T::POINTS));
    add("prepare", Box::new(move || level.run(Prepare { points: &a, prepared: &mut prepared, set })));
    let (a, b, mut prepared, mut c) = (points(1), points(2), chunks(4 * T::POINTS), chunks(T::POINTS));
    level.run(Prepare { points: &b, prepared: &mut prepared, set });
    add(
        "multiply prepared",
        Box::new(move || level.run(MultiplyPrepared { a: &a, prepared: &prepared, product: &mut c, set })),
    );
    let (mut product, mut scratch) = (points(3), chunks(T::SCRATCH));
    add("interpolate", Box::new(move || level.run(Interpolate { product: &mut product, scratch: &mut scratch, set })));
    fn fold<T: Transform, F: Finish>(level: impl Level) -> Box<dyn FnMut()> {
        let (wide, mut out) = (vec![Chunk::splat(1); T::WIDE], operand::<T>(0));
        Box::new(move || level.run(Fold::<T, F> { wide: &wide, out: &mut out, set: PhantomData }))
    }
    add("fold", fold::<T, Loose>(level));
    add("fold canonical", fold::<T, Canonical>(level));
    add("fold ternary", fold::<T, Ternary>(level));
    add("fold rounded", fold::<T, Rounded>(level));
    add("fold triple ternary", fold::<T, TripleTernary>(level));
}

fn reciprocal<T: Scalars>(probes: &mut Vec<Probe>, level: impl Level, name: &str) {
    let (x, mut out, mut work) = (operand::<T>(6), operand::<T>(0), vec![Chunk::ZERO; work_chunks::<T>()]);
    let mut run = move || level.run(ReciprocalOfThree::<T> { x: &x, out: &mut out, work: &mut work, set: PhantomData });
    assert!(run(), "the operand of this probe has a leading coefficient that vanishes");
    probes.push((format!("{name} reciprocal"), Box::new(move || assert!(run()))));
}

fn reciprocal_ternary<T: Transform>(probes: &mut Vec<Probe>, level: impl Level, name: &str) {
    let mut a = operand::<T>(7);
    a.as_flattened_mut().iter_mut().for_each(|x| *x = x.signum());
    let mut out = operand::<T>(0);
    let mut run = move || level.run(ReciprocalTernary::<T> { a: &a, out: &mut out, set: PhantomData });
    probes.push((
        format!("{name} reciprocal ternary"),
        Box::new(move || {
            run();
        }),
    ));
}

/// Hashing, sampling and the generator: the same work for every set.
fn strings(probes: &mut Vec<Probe>, k: impl Kernels, name: &str) {
    let mut add = |kernel: &str, run: Box<dyn FnMut()>| probes.push((format!("{name} {kernel}"), run));
    let (blocks, mut state) = ([[7; 128]; 8], sha512::INITIAL);
    add("sha512 of 8 blocks", Box::new(move || k.compress(&mut state, &blocks)));
    let mut state = sha512::INITIAL;
    add("sha512 of 1 block", Box::new(move || k.compress(&mut state, &blocks[..1])));
    let mut states = sha512::INITIAL.map(|word| [word; 4]);
    add("sha512 of 4 times 8 blocks", Box::new(move || k.compress4(&mut states, [&blocks; 4])));
    let mut octets = vec![[[0; 8]; 16]; 8];
    add("chacha20 of 4096 bytes", Box::new(move || k.keystream(&[1, 2, 3, 4, 5, 6, 7, 8], &mut octets)));
    let start: Tails = core::array::from_fn(|i| {
        core::array::from_fn(|lane| (8 * i + lane) as u32).map(|x| x.wrapping_mul(0x9e37_79b9))
    });
    add(
        "tails of 8 elements",
        Box::new(move || {
            let mut tails = start;
            k.sort_tails(&mut tails);
        }),
    );
}

/// Encodings, and what else works on the coefficients of one element.
fn elements<P: Params>(probes: &mut Vec<Probe>, k: impl Kernels, name: &str) {
    let mut add = |kernel: &str, run: Box<dyn FnMut()>| probes.push((format!("{name} {kernel}"), run));
    let element = |bound: i16| {
        let mut a = Secret::<P::Coeffs>::zeroed();
        for (i, x) in a.as_mut_slice()[..P::P].iter_mut().enumerate() {
            *x = (i as i16).wrapping_mul(7919).rem_euclid(2 * bound + 1) - bound;
        }
        a
    };
    let (h, small) = (element(half(P::Q)), element(1));
    let mut rounded = element(half(P::Q));
    rounded.as_mut_slice()[..P::P].iter_mut().for_each(|x| *x -= (*x + 1).rem_euclid(3) - 1);
    let (key_bytes, ciphertext_bytes) = (P::PUBLIC_KEY_BYTES, P::CIPHERTEXT_BYTES - 32);

    let mut out = vec![0; key_bytes];
    add("encode rq", Box::new(move || k.encode_rq::<P>(&mut out, &h)));
    let mut out = vec![0; ciphertext_bytes];
    add("encode rounded", Box::new(move || k.encode_rounded::<P>(&mut out, &rounded)));
    let (s, mut a) = (vec![0x5a; key_bytes], element(1));
    add("decode rq", Box::new(move || k.decode_rq::<P>(&mut a, &s)));
    let (s, mut a) = (vec![0x5a; ciphertext_bytes], element(1));
    add("decode rounded", Box::new(move || k.decode_rounded::<P>(&mut a, &s)));
    let (mut out, a) = (vec![0; P::SmallBytes::LEN], element(1));
    add("encode small", Box::new(move || k.encode_small::<P>(&mut out, &a)));
    let (s, mut a) = (vec![0x24; P::SmallBytes::LEN], element(1));
    add("decode small", Box::new(move || k.decode_small::<P>(&mut a, &s, 2)));
    add(
        "weight",
        Box::new(move || {
            k.weight_is_w::<P>(&small);
        }),
    );
    let words: Vec<u8> = (0..4 * P::P).map(|i| (i as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]).collect();
    let mut a = element(1);
    add("short by sorting", Box::new(move || k.short(&words, P::W, a.as_mut_slice())));
    let mut drbg = Drbg::from_seed(&[9; 32], k);
    add("exact small, generator included", Box::new(move || drop(exact::small::<P, _>(&mut drbg))));
    let mut drbg = Drbg::from_seed(&[9; 32], k);
    add("8 exact short, generator included", Box::new(move || drop(exact::short::<P, _>(8, &mut drbg))));
}

fn all(probes: &mut Vec<Probe>, level: impl Kernels, name: &str) {
    strings(probes, level, name);
    elements::<Sntrup653>(probes, level, &format!("{name} 653"));
    elements::<Sntrup761>(probes, level, &format!("{name} 761"));
    elements::<Sntrup857>(probes, level, &format!("{name} 857"));
    products::<cyclic::Ring653>(probes, level, &format!("{name} 653"));
    reciprocal::<cyclic::Ring653>(probes, level, &format!("{name} 653"));
    reciprocal_ternary::<cyclic::Ring653>(probes, level, &format!("{name} 653"));
    products::<phi17::Ring761>(probes, level, &format!("{name} 761"));
    reciprocal::<phi17::Ring761>(probes, level, &format!("{name} 761"));
    reciprocal_ternary::<phi17::Ring761>(probes, level, &format!("{name} 761"));
    products::<phi7::Ring857>(probes, level, &format!("{name} 857"));
    reciprocal::<phi7::Ring857>(probes, level, &format!("{name} 857"));
    reciprocal_ternary::<phi7::Ring857>(probes, level, &format!("{name} 857"));
}

/// Every kernel, on every instruction set of this machine.
pub fn probes() -> Vec<Probe> {
    let mut probes = Vec::new();
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = crate::backend::lanes::Avx2::detect() {
        all(&mut probes, avx2, "avx2");
    }
    all(&mut probes, Portable, "portable");
    probes
}
