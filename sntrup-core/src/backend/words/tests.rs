//! Every form of the vectors gives the bits that the arrays give.

use super::{U16x16, U32x8, U64x4, array};

/// Numbers that differ in every bit position often enough, with zeros and all ones among them.
fn numbers() -> impl FnMut() -> u64 {
    let mut state = 0u64;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        match mixed >> 60 {
            0 => 0,
            1 => u64::MAX,
            _ => mixed ^ mixed >> 29,
        }
    }
}

fn words64<V: U64x4, W: U64x4<Token = ()>>(token: V::Token) {
    let mut next = numbers();
    for _ in 0..100 {
        let rows: [[u64; 4]; 4] = std::array::from_fn(|_| std::array::from_fn(|_| next()));
        let bytes: [[u8; 16]; 2] =
            std::array::from_fn(|_| (u128::from(next()) << 64 | u128::from(next())).to_be_bytes());
        let ([a, b, ..], [x, y, ..]) = (rows.map(|row| V::load(token, &row)), rows.map(|row| W::load((), &row)));
        assert_eq!(a.to_array(), rows[0]);
        assert_eq!(V::splat(token, rows[0][0]).to_array(), [rows[0][0]; 4]);
        assert_eq!(V::load_be(token, &bytes[0], &bytes[1]).to_array(), W::load_be((), &bytes[0], &bytes[1]).to_array());
        for (mine, oracle) in [
            (a.add(b), x.add(y)),
            (a.xor(b), x.xor(y)),
            (a.and(b), x.and(y)),
            (a.rotr::<1, 63>(), x.rotr::<1, 63>()),
            (a.rotr::<41, 23>(), x.rotr::<41, 23>()),
            (a.rotr8(), x.rotr8()),
            (a.shr::<7>(), x.shr::<7>()),
            (a.straddle(b), x.straddle(y)),
        ] {
            assert_eq!(mine.to_array(), oracle.to_array());
        }
        let (mine, oracle) =
            (V::transpose(rows.map(|r| V::load(token, &r))), W::transpose(rows.map(|r| W::load((), &r))));
        assert_eq!(mine.map(V::to_array), oracle.map(W::to_array));
    }
}

fn cells<V: U32x8>(v: V) -> [u32; 8] {
    let mut out = [0; 8];
    v.store(&mut out);
    out
}

fn words32<V: U32x8, W: U32x8<Token = ()>>(token: V::Token) {
    let mut next = numbers();
    for _ in 0..100 {
        let rows: [[u32; 8]; 8] = std::array::from_fn(|_| std::array::from_fn(|_| (next() >> 32) as u32));
        let ([a, b, ..], [x, y, ..]) = (rows.map(|row| V::load(token, &row)), rows.map(|row| W::load((), &row)));
        assert_eq!(cells(a), rows[0]);
        assert_eq!(cells(V::splat(token, rows[0][0])), [rows[0][0]; 8]);
        let ((low, high), (small, large)) = (a.min_max(b), x.min_max(y));
        for (mine, oracle) in [
            (low, small),
            (high, large),
            (a.add(b), x.add(y)),
            (a.xor(b), x.xor(y)),
            (a.and(b), x.and(y)),
            (a.rotl::<16, 16>(), x.rotl::<16, 16>()),
            (a.rotl::<12, 20>(), x.rotl::<12, 20>()),
            (a.rotl::<8, 24>(), x.rotl::<8, 24>()),
            (a.rotl::<7, 25>(), x.rotl::<7, 25>()),
            (a.swap_lanes(), x.swap_lanes()),
            (a.swap_pairs(), x.swap_pairs()),
            (a.reverse_halves(), x.reverse_halves()),
            (a.reverse(), x.reverse()),
            (a.blend::<0b1010_1010>(b), x.blend::<0b1010_1010>(y)),
            (a.blend::<0b1100_1100>(b), x.blend::<0b1100_1100>(y)),
            (a.blend::<0b1111_0000>(b), x.blend::<0b1111_0000>(y)),
        ] {
            assert_eq!(cells(mine), cells(oracle));
        }
        let (mine, oracle) =
            (V::transpose(rows.map(|r| V::load(token, &r))), W::transpose(rows.map(|r| W::load((), &r))));
        assert_eq!(mine.map(cells), oracle.map(cells));
    }
}

fn lanes<V: U16x16>(v: V) -> [u16; 16] {
    let mut out = [0; 16];
    v.store(&mut out);
    out
}

fn words16<V: U16x16, W: U16x16<Token = ()>>(token: V::Token) {
    let mut next = numbers();
    for round in 0..200 {
        let rows: [[u16; 16]; 2] = std::array::from_fn(|_| std::array::from_fn(|_| (next() >> 48) as u16));
        let bytes: [u8; 32] = std::array::from_fn(|_| (next() >> 56) as u8);
        let (low, n) = (bytes.first_chunk().unwrap(), round & 15);
        let ([a, b], [x, y]) = (rows.map(|row| V::load(token, &row)), rows.map(|row| W::load((), &row)));
        let (small, oracle_small) = (V::splat(token, 16383), W::splat((), 16383));
        assert_eq!(lanes(a), rows[0]);
        assert_eq!(lanes(V::splat(token, rows[0][0])), [rows[0][0]; 16]);
        for (mine, oracle) in [
            (V::load_bytes(token, low), W::load_bytes((), low)),
            (V::load_le(token, &bytes), W::load_le((), &bytes)),
            (a.add(b), x.add(y)),
            (a.sub(b), x.sub(y)),
            (a.and(b), x.and(y)),
            (a.mullo(b), x.mullo(y)),
            (a.mulhi(b), x.mulhi(y)),
            (a.mulhrs(b.and(small)), x.mulhrs(y.and(oracle_small))),
            (a.greater(b), x.greater(y)),
            (a.shl(n), x.shl(n)),
            (a.shr(n), x.shr(n)),
            (a.interleave(b)[0], x.interleave(y)[0]),
            (a.interleave(b)[1], x.interleave(y)[1]),
            (V::narrow(a.madd(b), b.madd(b)), W::narrow(x.madd(y), y.madd(y))),
            (
                V::narrow(V::shr_wide(a.madd(b), 16), V::shr_wide(b.madd(b), n)),
                W::narrow(W::shr_wide(x.madd(y), 16), W::shr_wide(y.madd(y), n)),
            ),
        ] {
            assert_eq!(lanes(mine), lanes(oracle));
        }
        let mut stored = [0; 32];
        a.store_le(&mut stored);
        assert_eq!(lanes(V::load_le(token, &stored)), rows[0]);
        let mut stored = [0; 16];
        V::load_bytes(token, low).store_bytes(&mut stored);
        assert_eq!(&stored, low);
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn sse2_is_as_the_arrays() {
    words64::<super::sse2::Words64, array::Words64>(());
    words32::<super::sse2::Words32, array::Words32>(());
    words16::<super::sse2::Words16, array::Words16>(());
}

#[test]
#[cfg(target_arch = "x86_64")]
fn avx2_is_as_the_arrays() {
    let token = super::avx2::Avx2::detect().expect("this test needs a processor with AVX2");
    words64::<super::avx2::Words64, array::Words64>(token);
    words32::<super::avx2::Words32, array::Words32>(token);
    words16::<super::avx2::Words16, array::Words16>(token);
}
