//! The encodings of key files: SubjectPublicKeyInfo (RFC 5280), PKCS#8 (RFC 5208), PEM (RFC 7468) and hexadecimal text.
//!
//! The algorithm is an object identifier without parameters. A public key is the content of the BIT STRING, a secret key
//! that of the OCTET STRING, without further framing. Characters are computed and not looked up: keys are secret.

use std::ffi::CStr;

use zeroize::Zeroizing;

use crate::error::{Error, Reason};

const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OBJECT_IDENTIFIER: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// Attributes and public key, which may follow a private key.
const CONTEXT: [u8; 3] = [0xa0, 0xa1, 0x81];

/// No key file is longer, in bytes.
pub(crate) const LONGEST: usize = 1 << 16;

/// Which of the two structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structure {
    PrivateKeyInfo,
    SubjectPublicKeyInfo,
}

impl Structure {
    /// The label of its PEM form.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::PrivateKeyInfo => "PRIVATE KEY",
            Self::SubjectPublicKeyInfo => "PUBLIC KEY",
        }
    }

    /// Encodes a key.
    pub(crate) fn encode(self, oid: &CStr, key: &[u8]) -> Zeroizing<Vec<u8>> {
        let algorithm = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[&encode_oid(oid)])]);
        match self {
            Self::PrivateKeyInfo => element(SEQUENCE, &[&[INTEGER, 1, 0], &algorithm, &element(OCTET_STRING, &[key])]),
            Self::SubjectPublicKeyInfo => element(SEQUENCE, &[&algorithm, &element(BIT_STRING, &[&[0], key])]),
        }
    }

    /// The key inside `der`; `None` if it is another structure or another algorithm.
    ///
    /// Errors: [`Reason::BadEncoding`] if it is of this algorithm, but wrong.
    pub(crate) fn decode<'d>(self, oid: &CStr, der: &'d [u8]) -> Result<Option<&'d [u8]>, Error> {
        let mut outer = Reader(der);
        let Some(content) = outer.take(SEQUENCE) else { return Ok(None) };
        let mut content = Reader(content);
        if self == Self::PrivateKeyInfo && !matches!(content.take(INTEGER), Some([0 | 1])) {
            return Ok(None);
        }
        let Some(algorithm) = content.take(SEQUENCE) else { return Ok(None) };
        let mut algorithm = Reader(algorithm);
        if algorithm.take(OBJECT_IDENTIFIER) != Some(&encode_oid(oid)) {
            return Ok(None);
        }
        let wrong = |what| Error::new(Reason::BadEncoding).with(what);
        if !algorithm.0.is_empty() {
            return Err(wrong("the algorithm identifier must have no parameters"));
        }
        let key = match self {
            Self::PrivateKeyInfo => content.take(OCTET_STRING),
            Self::SubjectPublicKeyInfo => content.take(BIT_STRING).and_then(|bits| bits.strip_prefix(&[0])),
        };
        let key = key.ok_or_else(|| wrong("there is no key after the algorithm identifier"))?;
        if self == Self::PrivateKeyInfo {
            for tag in CONTEXT {
                content.take(tag);
            }
        }
        if !content.0.is_empty() || !outer.0.is_empty() {
            return Err(wrong("something follows the key"));
        }
        Ok(Some(key))
    }
}

/// An element of these contents, in one piece that is never moved.
fn element(tag: u8, contents: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let length: usize = contents.iter().map(|content| content.len()).sum();
    let bytes = length.to_be_bytes();
    let significant = &bytes[bytes.iter().position(|&byte| byte != 0).unwrap_or(bytes.len() - 1)..];
    let mut out = Zeroizing::new(Vec::with_capacity(2 + significant.len() + length));
    out.push(tag);
    if length >= 0x80 {
        out.push(0x80 | u8::try_from(significant.len()).expect("a length has at most 8 bytes"));
    }
    out.extend_from_slice(significant);
    for content in contents {
        out.extend_from_slice(content);
    }
    out
}

/// The content of an OBJECT IDENTIFIER (X.690, section 8.19).
fn encode_oid(dotted: &CStr) -> Vec<u8> {
    let arcs = dotted.to_str().expect("our identifiers are ASCII").split('.');
    let mut arcs = arcs.map(|arc| arc.parse::<u128>().expect("our identifiers are numbers"));
    let first = 40 * arcs.next().unwrap_or_default() + arcs.next().unwrap_or_default();
    let mut out = Vec::new();
    for arc in std::iter::once(first).chain(arcs) {
        let digits = (u128::BITS - arc.leading_zeros()).div_ceil(7).max(1);
        for i in (0..digits).rev() {
            let more = if i > 0 { 0x80 } else { 0 };
            out.push(more | (arc >> (7 * i) & 0x7f) as u8);
        }
    }
    out
}

/// The length of what follows the first `header` bytes of an element, as far as they tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    /// This many more bytes of the header are needed.
    More(usize),
    /// The content's length.
    Content(usize),
    /// This is no element in DER of a length that a key file can have.
    Wrong,
}

/// Reads the first bytes of an element.
pub(crate) fn header(bytes: &[u8]) -> Header {
    let &[_, first, ref more @ ..] = bytes else { return Header::More(2 - bytes.len()) };
    let size = match first {
        0..=0x7f => return Header::Content(first.into()),
        0x81 => 1,
        0x82 => 2,
        _ => return Header::Wrong,
    };
    let Some(length) = more.get(..size) else { return Header::More(size - more.len()) };
    let length = length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte));
    // The shortest form is the only one.
    if length < [0x80, 0x100][size - 1] { Header::Wrong } else { Header::Content(length) }
}

/// What is left to read.
struct Reader<'d>(&'d [u8]);

impl<'d> Reader<'d> {
    /// The content of the next element if it has this tag and is whole; else nothing is taken.
    fn take(&mut self, tag: u8) -> Option<&'d [u8]> {
        let Header::Content(length) = header(self.0) else { return None };
        let start = match self.0.get(1)? {
            0x81 => 3,
            0x82 => 4,
            _ => 2,
        };
        let content = self.0.get(start..start + length)?;
        if *self.0.first()? != tag {
            return None;
        }
        self.0 = &self.0[start + length..];
        Some(content)
    }
}

/// The PEM form: base64 in lines of 64 characters between two labelled lines.
pub(crate) fn pem(label: &str, der: &[u8]) -> Zeroizing<Vec<u8>> {
    let characters = der.len().div_ceil(3) * 4;
    let mut out = Zeroizing::new(Vec::with_capacity(characters + characters / 64 + 2 * label.len() + 34));
    out.extend_from_slice(format!("-----BEGIN {label}-----\n").as_bytes());
    for line in der.chunks(48) {
        for group in line.chunks(3) {
            let mut padded = [0; 3];
            padded[..group.len()].copy_from_slice(group);
            let bits = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
            for i in 0..4 {
                out.push(if i <= group.len() { base64_digit((bits >> (18 - 6 * i) & 0x3f) as i16) } else { b'=' });
            }
        }
        out.push(b'\n');
    }
    out.extend_from_slice(format!("-----END {label}-----\n").as_bytes());
    out
}

/// The character of six bits, without a table: each difference below is negative from a boundary on.
fn base64_digit(bits: i16) -> u8 {
    let character = bits + i16::from(b'A')
        + ((25 - bits) >> 8 & 6)  // a to z
        - ((51 - bits) >> 8 & 75) // 0 to 9
        - ((61 - bits) >> 8 & 15) // +
        + ((62 - bits) >> 8 & 3); // /
    character as u8
}

/// Bytes in hexadecimal, 15 on an indented line, as OpenSSL prints keys.
pub(crate) fn hexadecimal(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(Vec::with_capacity(3 * bytes.len() + 5 * bytes.len().div_ceil(15)));
    let lines = bytes.chunks(15);
    let last = lines.len().saturating_sub(1);
    for (i, line) in lines.enumerate() {
        out.extend_from_slice(b"    ");
        for (j, byte) in line.iter().enumerate() {
            out.extend_from_slice(&[hex_digit(byte >> 4), hex_digit(byte & 15)]);
            if i < last || j + 1 < line.len() {
                out.push(b':');
            }
        }
        out.push(b'\n');
    }
    out
}

/// The character of four bits, without a table.
fn hex_digit(bits: u8) -> u8 {
    let bits = i16::from(bits);
    (bits + i16::from(b'0') + ((9 - bits) >> 8 & 39)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    const OID: &CStr = c"2.25.324341873410083312134409510976690305945.1.761";

    #[test]
    fn identifiers_are_encoded_as_x690_says() {
        assert_eq!(encode_oid(c"1.2.840.113549"), [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d]);
        assert_eq!(encode_oid(c"2.100.3"), [0x81, 0x34, 0x03]);
    }

    #[test]
    fn structures_come_back_and_others_are_left_alone() {
        for structure in [Structure::PrivateKeyInfo, Structure::SubjectPublicKeyInfo] {
            for length in [0, 1, 90, 127, 128, 200, 255, 256, 1763, 60000] {
                let key: Vec<u8> = (0..length).map(|i| i as u8).collect();
                let der = structure.encode(OID, &key);
                assert_eq!(structure.decode(OID, &der).unwrap(), Some(&key[..]));
                assert_eq!(structure.decode(c"1.2.3", &der).unwrap(), None);
                let Header::Content(content) = header(&der) else { panic!("{:?}", &der[..8]) };
                assert!(der.len() - content <= 4);
                // Cut anywhere, or with something behind it, it is nothing or an error, and never a key.
                for cut in [1, der.len() / 2, der.len() - 1] {
                    assert!(!matches!(structure.decode(OID, &der[..cut]), Ok(Some(_))));
                }
                assert!(structure.decode(OID, &[&der[..], &[0]].concat()).is_err());
            }
        }
        let private = Structure::PrivateKeyInfo.encode(OID, b"key");
        assert_eq!(Structure::SubjectPublicKeyInfo.decode(OID, &private).unwrap(), None);
    }

    #[test]
    fn parameters_and_odd_bits_are_errors() {
        let algorithm = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[&encode_oid(OID)]), &[5, 0]]);
        let der = element(SEQUENCE, &[&algorithm, &element(BIT_STRING, &[&[0], b"key"])]);
        assert_eq!(Structure::SubjectPublicKeyInfo.decode(OID, &der).unwrap_err().reason(), Reason::BadEncoding);
        let algorithm = element(SEQUENCE, &[&element(OBJECT_IDENTIFIER, &[&encode_oid(OID)])]);
        for bits in [&[3, b'k'][..], &[]] {
            let der = element(SEQUENCE, &[&algorithm, &element(BIT_STRING, &[bits])]);
            assert_eq!(Structure::SubjectPublicKeyInfo.decode(OID, &der).unwrap_err().reason(), Reason::BadEncoding);
        }
    }

    /// Damage of any kind is refused without a panic, and what is still taken as a public key is the one encoding of it.
    #[test]
    fn damaged_structures_are_refused_or_are_the_encoding_of_what_they_give() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as usize % bound
        };
        let (mut taken, mut refused) = (0, 0);
        for round in 0..40_000 {
            let structure = [Structure::PrivateKeyInfo, Structure::SubjectPublicKeyInfo][round % 2];
            let key = vec![0x5a; random(300)];
            let mut der = structure.encode(OID, &key).to_vec();
            for _ in 0..=random(2) {
                let at = random(der.len().min(50));
                match random(4) {
                    0 => der[at] ^= 1 << random(8),
                    1 => der[at] = random(256) as u8,
                    2 => der.insert(at, random(256) as u8),
                    _ => drop(der.remove(at)),
                }
            }
            match structure.decode(OID, &der) {
                Ok(Some(key)) if structure == Structure::SubjectPublicKeyInfo => {
                    assert_eq!(structure.encode(OID, key).as_slice(), der, "another encoding was taken");
                    taken += 1;
                }
                // Version and attributes of a private key may differ.
                Ok(Some(key)) => assert!(der.windows(key.len().max(1)).any(|window| window == key) || key.is_empty()),
                Ok(None) | Err(_) => refused += 1,
            }
        }
        assert!(taken > 100 && refused > 10_000, "{taken} taken, {refused} refused");
    }

    #[test]
    fn lengths_must_be_minimal() {
        for bad in [&[0x30, 0x80][..], &[0x30, 0x81, 0x7f], &[0x30, 0x82, 0, 0xff], &[0x30, 0x83, 1, 0, 0]] {
            assert_eq!(header(bad), Header::Wrong, "{bad:02x?}");
        }
        assert_eq!(header(&[0x30]), Header::More(1));
        assert_eq!(header(&[0x30, 0x82, 1]), Header::More(1));
        assert_eq!(header(&[0x30, 0x82, 1, 0]), Header::Content(256));
    }

    #[test]
    fn characters_are_those_of_the_alphabets() {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        assert!((0..64).all(|i| base64_digit(i) == alphabet[i as usize]));
        assert!((0..16).all(|i| hex_digit(i) == b"0123456789abcdef"[usize::from(i)]));
    }

    #[test]
    fn text_is_laid_out_in_lines() {
        let text = |bytes: Zeroizing<Vec<u8>>| String::from_utf8(bytes.to_vec()).unwrap();
        // RFC 4648, section 10.
        for (bytes, expected) in [("", ""), ("f", "Zg==\n"), ("fo", "Zm8=\n"), ("foobar", "Zm9vYmFy\n")] {
            let expected = format!("-----BEGIN X-----\n{expected}-----END X-----\n");
            let pem = pem("X", bytes.as_bytes());
            assert!(pem.len() <= pem.capacity());
            assert_eq!(text(pem), expected);
        }
        assert_eq!(text(pem("X", &[0; 49])).lines().nth(1).unwrap().len(), 64);
        assert_eq!(text(hexadecimal(&[0xab; 15])).len(), 4 + 44 + 1);
        assert_eq!(text(hexadecimal(&[1; 16])).lines().last(), Some("    01"));
    }
}
