//! Streamlined NTRU Prime (sntrup653, sntrup761, sntrup857): a constant-time key encapsulation mechanism with batch
//! key generation, after the NTRU Prime round-3 submission and OpenSSLNTRU (USENIX Security 2022).
//!
//! The randomness comes from the caller ([`RandomSource`]) and may fail; nothing here opens a device, or keeps a
//! thread unless the background refill of a [`Stock`] is switched on.
//!
//! ```
//! use sntrup_core::{Sntrup761, decapsulate, encapsulate, generate_key};
//! # struct Demo(u64);
//! # impl sntrup_core::RandomSource for Demo {
//! #     fn fill(&mut self, out: &mut [u8]) -> Result<(), sntrup_core::RandomError> {
//! #         for byte in out {
//! #             self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
//! #             *byte = (self.0 >> 56) as u8;
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let mut rng = Demo(1);
//! let pair = generate_key::<Sntrup761>(&mut rng)?;
//! let (ciphertext, secret) = encapsulate(pair.public(), &mut rng)?;
//! assert_eq!(decapsulate(&ciphertext, pair.secret()).as_bytes(), secret.as_bytes());
//! # Ok::<(), sntrup_core::Error>(())
//! ```
//!
//! The rooms, from the top down; imports run downwards only:
//!
//! | room | what is in it |
//! |---|---|
//! | `kem`, `batch`, `cache` | KeyGen, Encap, Decap; many keys for one inversion; the stock of ready keys |
//! | `refill` | the thread that refills stocks, where that is switched on |
//! | `operations` | what is compiled here for each set |
//! | `keys`, `codec`, `sampling`, `hash`, `ring` | byte strings, encodings, random elements, Hash_b, one type per domain |
//! | `backend` | the heavy kernels, portable or specific to a processor, chosen at run time |
//! | `params`, `fq`, `sha512` | the parameter sets, scalar arithmetic modulo q and 3, SHA-512 |
//! | `ct`, `wipe`, `rng`, `error`, `fork` | masks, memory that is wiped, random source, errors, fork detection |

#![deny(unsafe_code)]
#![deny(clippy::integer_division, clippy::integer_division_remainder_used, clippy::modulo_arithmetic)]

mod backend;
mod batch;
mod cache;
mod codec;
mod ct;
#[cfg(ct_check)]
mod disclosures;
mod drbg;
mod error;
#[allow(
    unsafe_code,
    reason = "memory mapping, and the pointer that a forked child replaces: see the file's first lines"
)]
mod fork;
mod fq;
mod hash;
mod kem;
mod keys;
mod operations;
mod params;
#[cfg(feature = "probe")]
#[doc(hidden)]
pub mod probe;
#[allow(unsafe_code, reason = "the signal mask of the thread that it starts")]
mod refill;
mod ring;
mod rng;
mod sampling;
mod sha512;
#[cfg(ct_check)]
#[allow(unsafe_code, reason = "requests to valgrind; not in a shipped build")]
mod valgrind;
mod wipe;

pub use backend::Backend;
pub use batch::{MAX_BATCH, generate_batch};
pub use cache::{DEFAULT_BATCH_SIZE, Stock};
#[cfg(ct_check)]
pub use disclosures::disclosures;
pub use error::Error;
pub use kem::{PreparedPublicKey, PreparedSecretKey, decapsulate, encapsulate, generate_key};
pub use keys::{Ciphertext, KeyPair, PublicKey, SHARED_SECRET_BYTES, SecretKey, SharedSecret};
pub use params::{Params, Sntrup653, Sntrup761, Sntrup857};
pub use rng::{RandomError, RandomSource};
