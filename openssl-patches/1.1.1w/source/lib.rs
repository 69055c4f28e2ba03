//! Empty: cargo wants a target in every package. See Cargo.toml.
