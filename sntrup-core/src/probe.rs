//! The kernels one by one, for the instruction counts and timings of `examples/kernels.rs`. Not part of the interface.

use crate::backend::divsteps3::*;
use crate::backend::euclid::*;
use crate::backend::lanes::{Chunk, Level, Portable};
use crate::backend::transform::*;
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
    add("forward", Box::new(move || level.run(Forward { input: &input, points: &mut out, scratch: &mut scratch, set })));

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
    fn reduce<T: Transform, F: Finish>(level: impl Level, product: Vec<Chunk>) -> Box<dyn FnMut()> {
        let chunks = |n: usize| vec![Chunk::ZERO; n];
        let (mut out, mut scratch, mut wide) = (operand::<T>(0), chunks(T::SCRATCH), chunks(T::WIDE));
        Box::new(move || {
            level.run(Reduce::<T, F> {
                product: &product,
                out: &mut out,
                scratch: &mut scratch,
                wide: &mut wide,
                set: PhantomData,
            })
        })
    }
    let product = points(3);
    add("reduce", reduce::<T, Loose>(level, product.clone()));
    add("reduce canonical", reduce::<T, Canonical>(level, product.clone()));
    add("reduce ternary", reduce::<T, Ternary>(level, product));
}

fn reciprocal<T: Scalars>(probes: &mut Vec<Probe>, level: impl Level, name: &str) {
    let (x, mut out, mut work) =
        (operand::<T>(6), operand::<T>(0), vec![Chunk::ZERO; work_chunks::<T>()]);
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

fn all(probes: &mut Vec<Probe>, level: impl Level, name: &str) {
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
