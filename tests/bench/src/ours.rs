//! Our own entries: every backend of this machine, every parameter set.

use crate::contest::{Entry, Operation};
use crate::random::{self, Source};
use sntrup_core::{
    Backend, Ciphertext, Params, PreparedPublicKey, PreparedSecretKey, PublicKey, decapsulate, encapsulate,
    generate_batch, generate_key,
};
use std::hint::black_box;
use std::num::NonZeroUsize;

/// Batch sizes of the table.
const BATCHES: [usize; 6] = [1, 8, 16, 32, 64, 128];

/// All entries of one parameter set on one backend.
pub fn entries<P: Params>(backend: Backend, entries: &mut Vec<Entry>) {
    select(backend);
    let implementation = format!("ours-{backend}");
    let mut add = |operation, batch, variant, random, call: Box<dyn FnMut()>| {
        entries.push(Entry {
            operation,
            implementation: implementation.clone(),
            parameter_set: P::NAME,
            batch,
            random,
            variant,
            before: Box::new(move || select(backend)),
            call,
        });
    };

    // The generator of the peer that the targets name, so that neither side gains by its own.
    add(Operation::Keygen, 1, None, random::AWS_LC, keygen::<P>(Source::AwsLc));
    for batch in BATCHES {
        // The table and the JSON have one plain line for batch 1, the single key generation above.
        let variant = (batch == 1).then_some("batch call for one key");
        add(Operation::Keygen, batch, variant, random::AWS_LC, keygen_batch::<P>(batch, Source::AwsLc));
    }
    add(Operation::Encapsulate, 1, None, random::AWS_LC, encapsulation::<P>(Source::AwsLc));
    add(Operation::EncapsulatePrepared, 1, None, random::AWS_LC, encapsulation_prepared::<P>(Source::AwsLc));
    add(Operation::Decapsulate, 1, None, "none", decapsulation::<P>());
    add(Operation::DecapsulatePrepared, 1, None, "none", decapsulation_prepared::<P>());

    if P::P == 761 {
        let sources: [(&str, &str, fn() -> Source); 3] = [
            ("as pqcrypto draws", random::SYSTEM, || Source::System),
            ("as sntrup and libcrux draw", random::USER, Source::user),
            ("as liboqs draws", random::LIBCRYPTO, || Source::Libcrypto),
        ];
        for (variant, name, source) in sources {
            add(Operation::Keygen, 1, Some(variant), name, keygen::<P>(source()));
            add(Operation::Keygen, 32, Some(variant), name, keygen_batch::<P>(32, source()));
            add(Operation::Encapsulate, 1, Some(variant), name, encapsulation::<P>(source()));
        }
    }
}

fn select(backend: Backend) {
    Backend::select(backend).expect("the backend is one of those available here");
}

fn keygen<P: Params>(mut rng: Source) -> Box<dyn FnMut()> {
    Box::new(move || {
        black_box(generate_key::<P>(&mut rng).expect("key generation works"));
    })
}

fn keygen_batch<P: Params>(batch: usize, mut rng: Source) -> Box<dyn FnMut()> {
    let count = NonZeroUsize::new(batch).expect("batches are not empty");
    Box::new(move || {
        black_box(generate_batch::<P>(count, &mut rng).expect("key generation works"));
    })
}

fn encapsulation<P: Params>(mut rng: Source) -> Box<dyn FnMut()> {
    let pair = generate_key::<P>(&mut rng).expect("key generation works");
    let bytes = pair.public().as_bytes().to_vec();
    Box::new(move || {
        let key = PublicKey::<P>::from_bytes(black_box(&bytes)).expect("the key is valid");
        black_box(encapsulate(&key, &mut rng).expect("encapsulation works"));
    })
}

fn encapsulation_prepared<P: Params>(mut rng: Source) -> Box<dyn FnMut()> {
    let pair = generate_key::<P>(&mut rng).expect("key generation works");
    let key = PreparedPublicKey::new(pair.public());
    Box::new(move || {
        black_box(black_box(&key).encapsulate(&mut rng).expect("encapsulation works"));
    })
}

fn decapsulation<P: Params>() -> Box<dyn FnMut()> {
    let mut rng = Source::user();
    let pair = generate_key::<P>(&mut rng).expect("key generation works");
    let (ciphertext, secret) = encapsulate(pair.public(), &mut rng).expect("encapsulation works");
    assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes(), "{}", P::NAME);
    let bytes = ciphertext.as_bytes().to_vec();
    Box::new(move || {
        let ciphertext = Ciphertext::<P>::from_bytes(black_box(&bytes)).expect("the ciphertext is valid");
        black_box(decapsulate(&ciphertext, black_box(pair.secret())));
    })
}

fn decapsulation_prepared<P: Params>() -> Box<dyn FnMut()> {
    let mut rng = Source::user();
    let pair = generate_key::<P>(&mut rng).expect("key generation works");
    let (ciphertext, secret) = encapsulate(pair.public(), &mut rng).expect("encapsulation works");
    let key = PreparedSecretKey::new(pair.secret());
    assert_eq!(key.decapsulate(&ciphertext).as_bytes(), secret.as_bytes(), "{}", P::NAME);
    let bytes = ciphertext.as_bytes().to_vec();
    Box::new(move || {
        let ciphertext = Ciphertext::<P>::from_bytes(black_box(&bytes)).expect("the ciphertext is valid");
        black_box(black_box(&key).decapsulate(&ciphertext));
    })
}
