//! Every kernel of every backend against schoolbook arithmetic, at the extremes of its range and at random.
#![allow(
    clippy::integer_division,
    clippy::integer_division_remainder_used,
    clippy::modulo_arithmetic,
    reason = "the oracles divide"
)]

#[cfg(target_arch = "x86_64")]
use super::Avx2;
use super::multiplier::{Multiplier, reciprocal_ternary};
use super::transform::{Canonical, Finish, Rounded, Ternary, TripleTernary};
use super::{Kernels, Portable};
use crate::params::{Params, Sntrup653, Sntrup761, Sntrup857, half, rounded_radix};
use crate::wipe::{Array, Secret};

/// A small generator of repeatable test values (xorshift64*).
struct Values(u64);

impl Values {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 20
    }

    /// A number in [-bound, bound].
    fn within(&mut self, bound: i16) -> i16 {
        (self.next() % (2 * bound as u64 + 1)) as i16 - bound
    }
}

/// Representative of `x` modulo odd `m` in [-(m-1)/2, (m-1)/2].
fn centre(x: i64, m: i64) -> i64 {
    (x + (m - 1) / 2).rem_euclid(m) - (m - 1) / 2
}

/// The product modulo x^p - x - 1 and m, by the definition.
fn schoolbook(a: &[i16], b: &[i16], p: usize, m: i64) -> Vec<i16> {
    let mut c = vec![0i64; 2 * p - 1];
    for (i, &x) in a[..p].iter().enumerate() {
        for (c, &y) in c[i..].iter_mut().zip(&b[..p]) {
            *c += i64::from(x) * i64::from(y);
        }
    }
    for i in (p..2 * p - 1).rev() {
        c[i - p] += c[i];
        c[i - p + 1] += c[i];
    }
    c[..p].iter().map(|&x| centre(x, m) as i16).collect()
}

/// The greatest common divisor over F_3 of two polynomials, without leading zeros.
fn gcd3(mut a: Vec<i16>, mut b: Vec<i16>) -> Vec<i16> {
    let trim = |v: &mut Vec<i16>| v.truncate(v.iter().rposition(|&c| c != 0).map_or(0, |i| i + 1));
    trim(&mut a);
    trim(&mut b);
    while !b.is_empty() {
        while a.len() >= b.len() {
            let shift = a.len() - b.len();
            let factor = a[a.len() - 1] * b[b.len() - 1];
            for (i, &c) in b.iter().enumerate() {
                a[shift + i] = centre(i64::from(a[shift + i] - factor * c), 3) as i16;
            }
            trim(&mut a);
        }
        std::mem::swap(&mut a, &mut b);
    }
    a
}

/// x^p - x - 1.
fn modulus(p: usize) -> Vec<i16> {
    let mut m = vec![0; p + 1];
    (m[0], m[1], m[p]) = (-1, -1, 1);
    m
}

/// The product of all factors of x^p - x - 1 modulo 3 whose degree divides `degree`: its gcd with x^(3^degree) - x.
fn factor3(p: usize, degree: usize) -> Vec<i16> {
    let mut power = vec![0i64; p];
    power[1] = 1;
    for _ in 0..degree {
        // a(x)^3 = a(x^3) modulo 3
        let mut cube = vec![0i64; 3 * p];
        for (i, &c) in power.iter().enumerate() {
            cube[3 * i] = c;
        }
        for i in (p..3 * p).rev() {
            cube[i - p] += cube[i];
            cube[i - p + 1] += cube[i];
        }
        power = cube[..p].iter().map(|&c| centre(c, 3)).collect();
    }
    power[1] -= 1;
    gcd3(modulus(p), power.iter().map(|&c| centre(c, 3) as i16).collect())
}

fn padded<P: Params>(values: impl IntoIterator<Item = i16>) -> Secret<P::Coeffs> {
    let mut a = Secret::<P::Coeffs>::zeroed();
    for (x, value) in a.as_mut_slice()[..P::P].iter_mut().zip(values) {
        *x = value;
    }
    a
}

/// Elements with coefficients in [-bound, bound]: zero, units, extremes, patterns, random ones.
fn elements<P: Params>(bound: i16, random: usize) -> Vec<Secret<P::Coeffs>> {
    let mut values = Values(0x9e37_79b9 + P::P as u64);
    let unit = |at: usize, value: i16| padded::<P>((0..P::P).map(move |i| if i == at { value } else { 0 }));
    let mut list = vec![
        padded::<P>([]),
        unit(0, 1),
        unit(0, -1),
        unit(1, 1),
        unit(P::P - 1, bound),
        padded::<P>((0..P::P).map(|_| bound)),
        padded::<P>((0..P::P).map(|_| -bound)),
        padded::<P>((0..P::P).map(|i| if i & 1 == 0 { bound } else { -bound })),
        padded::<P>((0..P::P).map(|i| if 2 * i < P::P { bound } else { -bound })),
    ];
    list.extend((0..random).map(|_| padded::<P>((0..P::P).map(|_| values.within(bound)))));
    // Random signs of the extreme value.
    list.extend((0..random).map(|_| padded::<P>((0..P::P).map(|_| values.within(1).signum() * bound))));
    list
}

fn assert_element<P: Params>(got: &P::Coeffs, expected: &[i16], what: &str) {
    assert_eq!(&got.as_slice()[..P::P], expected, "{what} of {}", P::NAME);
    assert!(got.as_slice()[P::P..].iter().all(|&x| x == 0), "padding after {what} of {}", P::NAME);
}

/// An array full of rubbish, to see that a kernel writes all of its output.
fn rubbish<P: Params>() -> Secret<P::Coeffs> {
    let mut a = Secret::<P::Coeffs>::zeroed();
    a.as_mut_slice().fill(0x5555);
    a
}

/// A product, finished as `F` says.
fn product<P: Params, F: Finish>(k: impl Kernels, a: &P::Coeffs, b: &P::Coeffs) -> Secret<P::Coeffs> {
    let m = &mut Multiplier::<P, _>::new(k);
    let (a, b) = (m.transform(a), m.transform(b));
    let mut h = rubbish::<P>();
    m.product::<F>(a.view(), &m.prepare(&b), &mut h);
    let (mut first, mut second) = (rubbish::<P>(), rubbish::<P>());
    m.products::<F, F>([a.view(), b.view()], b.view(), &mut first, &mut second);
    assert!(first.as_slice() == h.as_slice(), "one product and two differ");
    m.product::<F>(a.view(), b.view(), &mut second);
    assert!(second.as_slice() == h.as_slice(), "products by either form of an operand differ");
    h
}

fn products<P: Params>(k: impl Kernels) {
    let (big, small) = (elements::<P>(half(P::Q), 3), elements::<P>(1, 3));
    for a in &big {
        for b in big.iter().chain(&small) {
            let h = product::<P, Canonical>(k, a, b);
            assert_element::<P>(&h, &schoolbook(a.as_slice(), b.as_slice(), P::P, P::Q.into()), "product in R/q");
        }
    }
    for a in &small {
        for b in &small {
            let h = product::<P, Ternary>(k, a, b);
            assert_element::<P>(&h, &schoolbook(a.as_slice(), b.as_slice(), P::P, 3), "product in R/3");
        }
    }
}

fn reciprocals<P: Params>(k: impl Kernels) {
    let one = padded::<P>([1]);
    let mut recip = rubbish::<P>();
    let mut found = 0;
    for a in elements::<P>(half(P::Q), 4).iter().chain(&elements::<P>(1, 4)).chain(&elements::<P>(3, 4)) {
        // It succeeds for six in seven of uniform elements, and for few of the others, which have to be blinded.
        if Multiplier::<P, _>::new(k).reciprocal_of_three_vartime(a, &mut recip) {
            found += 1;
            let product = schoolbook(a.as_slice(), recip.as_slice(), P::P, P::Q.into());
            let triple: Vec<_> = product.iter().map(|&x| centre(3 * i64::from(x), P::Q.into()) as i16).collect();
            assert_element::<P>(&one, &triple, "three times the product with the reciprocal in R/q");
        }
    }
    assert!(found >= 6, "only {found} reciprocals of 24 random elements, some of them uniform");
    // Multiples of the smallest factor are not invertible.
    let degree = match P::P {
        653 => 3,
        761 => 19,
        _ => 25,
    };
    let factor = factor3(P::P, degree);
    assert_eq!(factor.len(), degree + 1, "smallest factor of x^{} - x - 1 modulo 3", P::P);
    let factor = padded::<P>(factor);
    let mut list = elements::<P>(1, 12);
    list.push(padded::<P>(schoolbook(factor.as_slice(), list[12].as_slice(), P::P, 3)));
    list.push(factor);
    let mut units = 0;
    for a in &list {
        let flag = reciprocal_ternary::<P>(k, a, &mut recip);
        let unit = gcd3(modulus(P::P), a.as_slice()[..P::P].to_vec()).len() == 1;
        assert_eq!(flag, if unit { u32::MAX } else { 0 }, "invertibility in R/3 of {}", P::NAME);
        if unit {
            units += 1;
            let product = schoolbook(a.as_slice(), recip.as_slice(), P::P, 3);
            assert_element::<P>(&one, &product, "product with the reciprocal in R/3");
        }
    }
    assert!(units > 12 && units <= list.len() - 3);
}

fn coefficients<P: Params>(k: impl Kernels) {
    let q = i64::from(P::Q);
    let every: Vec<i16> = (-half(P::Q)..=half(P::Q)).collect();
    let one = padded::<P>([1]);
    for chunk in every.chunks(P::P) {
        let a = padded::<P>(chunk.iter().copied());
        let out = product::<P, TripleTernary>(k, &a, &one);
        let expected: Vec<_> =
            a.as_slice()[..P::P].iter().map(|&x| centre(centre(3 * i64::from(x), q), 3) as i16).collect();
        assert_element::<P>(&out, &expected, "3a modulo q modulo 3");
        let expected: Vec<_> =
            a.as_slice()[..P::P].iter().map(|&x| (i64::from(x) - centre(x.into(), 3)) as i16).collect();
        let rounded = product::<P, Rounded>(k, &a, &one);
        assert_element::<P>(&rounded, &expected, "rounding");
    }
    for weight in 0..=P::P {
        for sign in [-1, 1] {
            let flag = k.weight_is_w::<P>(&padded::<P>((0..weight).map(|i| if i & 1 == 0 { sign } else { 1 })));
            assert_eq!(flag, if weight == P::W { u32::MAX } else { 0 }, "weight {weight} of {}", P::NAME);
        }
    }
}

/// The encoding of values below the moduli, as the specification's recursion.
fn encode(values: &[u32], moduli: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    if values.len() == 1 {
        let (mut r, mut m) = (values[0], moduli[0]);
        while m > 1 {
            out.push(r as u8);
            (r, m) = (r >> 8, m.div_ceil(256));
        }
        return out;
    }
    let (mut merged, mut radices) = (Vec::new(), Vec::new());
    for (v, m) in values.chunks(2).zip(moduli.chunks(2)) {
        let (mut r, mut m) = if v.len() == 2 { (v[0] + m[0] * v[1], m[0] * m[1]) } else { (v[0], m[0]) };
        while m >= 16384 {
            out.push(r as u8);
            (r, m) = (r >> 8, m.div_ceil(256));
        }
        merged.push(r);
        radices.push(m);
    }
    out.extend(encode(&merged, &radices));
    out
}

/// The decoding of any string of the right length, as the specification's recursion.
fn decode(s: &[u8], moduli: &[u32]) -> Vec<u32> {
    if moduli.len() == 1 {
        return vec![s.iter().rev().fold(0, |r, &byte| r << 8 | u32::from(byte)) % moduli[0]];
    }
    let (mut at, mut bottoms, mut radices) = (0, Vec::new(), Vec::new());
    for m in moduli.chunks(2) {
        let (mut radix, mut r, mut t) = (m.iter().product::<u32>(), 0, 1);
        while m.len() == 2 && radix >= 16384 {
            r += t * u32::from(s[at]);
            (at, t, radix) = (at + 1, t << 8, radix.div_ceil(256));
        }
        bottoms.push((r, t));
        radices.push(radix);
    }
    let merged = decode(&s[at..], &radices);
    let mut values = Vec::new();
    for ((m, (r, t)), top) in moduli.chunks(2).zip(bottoms).zip(merged) {
        let r = r + t * top;
        values.push(r % m[0]);
        if m.len() == 2 {
            values.push(r / m[0] % m[1]);
        }
    }
    values
}

fn encodings<P: Params>(k: impl Kernels) {
    let centre = u32::from(half(P::Q).unsigned_abs());
    let (q, rounded) = (vec![P::Q as u32; P::P], vec![rounded_radix(P::Q); P::P]);
    let numbers = |a: &P::Coeffs, divisor: u32| -> Vec<u32> {
        a.as_slice()[..P::P].iter().map(|&x| (i32::from(x) + centre as i32) as u32 / divisor).collect()
    };
    let (mut out, mut back) = (vec![0; P::PUBLIC_KEY_BYTES], rubbish::<P>());
    for a in &mut elements::<P>(half(P::Q), 20) {
        k.encode_rq::<P>(&mut out, a);
        assert_eq!(out, encode(&numbers(a, 1), &q), "encoding of R/q, {}", P::NAME);
        k.decode_rq::<P>(&mut back, &out);
        assert_element::<P>(&back, &a.as_slice()[..P::P], "decoding of R/q");

        *a = product::<P, Rounded>(k, a, &padded::<P>([1]));
        let out = &mut out[..P::CIPHERTEXT_BYTES - 32];
        k.encode_rounded::<P>(out, a);
        assert_eq!(out, encode(&numbers(a, 3), &rounded), "encoding of rounded elements, {}", P::NAME);
        k.decode_rounded::<P>(&mut back, out);
        assert_element::<P>(&back, &a.as_slice()[..P::P], "decoding of rounded elements");
    }
    // Strings that no encoder makes.
    let mut values = Values(99);
    for round in 0..200 {
        for byte in &mut out {
            *byte = match round {
                0 => 0,
                1 => 0xff,
                2 => 0x80,
                _ => values.next() as u8,
            };
        }
        let expected: Vec<_> = decode(&out, &q).iter().map(|&x| x as i16 - half(P::Q)).collect();
        k.decode_rq::<P>(&mut back, &out);
        assert_element::<P>(&back, &expected, "decoding of any string to R/q");
        let out = &out[..P::CIPHERTEXT_BYTES - 32];
        let expected: Vec<_> = decode(out, &rounded).iter().map(|&x| 3 * x as i16 - half(P::Q)).collect();
        k.decode_rounded::<P>(&mut back, out);
        assert_element::<P>(&back, &expected, "decoding of any string to rounded elements");
    }
}

/// How often something random is tried: Miri is a thousand times slower.
const fn rounds(usual: usize) -> usize {
    if cfg!(miri) { 4 } else { usual }
}

/// Small elements as strings, and every byte as a string of coefficients.
fn small_encodings<P: Params>(k: impl Kernels) {
    let mut out = vec![0x55; P::P.div_ceil(4)];
    let mut back = rubbish::<P>();
    for a in &elements::<P>(1, rounds(20)) {
        k.encode_small::<P>(&mut out, a);
        for (i, &byte) in out.iter().enumerate() {
            let expected = (0..4).fold(0, |byte, j| {
                let x = if 4 * i + j < P::P { a.as_slice()[4 * i + j] } else { -1 };
                byte | ((x + 1) as u8) << (2 * j)
            });
            assert_eq!(byte, expected, "byte {i} of a small element of {}", P::NAME);
        }
        for two in [2, -1] {
            k.decode_small::<P>(&mut back, &out, two);
            assert_element::<P>(&back, &a.as_slice()[..P::P], "decoding of small elements");
        }
    }
    for start in 0..rounds(256) {
        for (i, byte) in out.iter_mut().enumerate() {
            *byte = (start + i) as u8;
        }
        for two in [2, -1] {
            let expected: Vec<_> = (0..P::P)
                .map(|i| match out[i >> 2] >> (2 * (i & 3)) & 3 {
                    3 => two,
                    x => i16::from(x) - 1,
                })
                .collect();
            k.decode_small::<P>(&mut back, &out, two);
            assert_element::<P>(&back, &expected, "decoding of any string to small elements");
        }
    }
}

macro_rules! for_every_set {
    ($($kernels:ident)*) => {$(
        mod $kernels {
            use super::*;

            #[test]
            fn portable() {
                super::$kernels::<Sntrup653>(Portable);
                super::$kernels::<Sntrup761>(Portable);
                super::$kernels::<Sntrup857>(Portable);
            }

            #[test]
            #[cfg(target_arch = "x86_64")]
            fn avx2() {
                super::$kernels::<Sntrup653>(super::avx2());
                super::$kernels::<Sntrup761>(super::avx2());
                super::$kernels::<Sntrup857>(super::avx2());
            }
        }
    )*};
}

for_every_set! {
    products
    reciprocals
    coefficients
    encodings
    small_encodings
}

#[cfg(target_arch = "x86_64")]
fn avx2() -> Avx2 {
    Avx2::detect().expect("this test needs a processor with AVX2; on another one, run the other tests only")
}
