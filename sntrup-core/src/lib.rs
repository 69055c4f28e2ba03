//! Streamlined NTRU Prime.
