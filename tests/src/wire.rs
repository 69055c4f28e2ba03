//! What two TLS peers say in the clear before encryption starts (RFC 8446, sections 4.1, 4.2.7, 4.2.8, 5.1 and 6).
//!
//! Everything here reads bytes that a hostile peer may have written: a wrong length is an error, never a panic.

use std::fmt;

/// Record content type of change_cipher_spec.
pub const CHANGE_CIPHER_SPEC: u8 = 20;
/// Record content type of an alert.
pub const ALERT: u8 = 21;
/// Record content type of handshake messages in the clear.
pub const HANDSHAKE: u8 = 22;
/// Record content type of everything that TLS 1.3 encrypts.
pub const APPLICATION_DATA: u8 = 23;

/// Handshake type of a ClientHello.
pub const CLIENT_HELLO: u8 = 1;
/// Handshake type of a ServerHello, and of a HelloRetryRequest.
pub const SERVER_HELLO: u8 = 2;
/// Handshake type of the ServerKeyExchange of TLS 1.2.
pub const SERVER_KEY_EXCHANGE: u8 = 12;

/// Extension type supported_groups.
pub const SUPPORTED_GROUPS: u16 = 10;
/// Extension type early_data.
pub const EARLY_DATA: u16 = 42;
/// Extension type pre_shared_key.
pub const PRE_SHARED_KEY: u16 = 41;
/// Extension type supported_versions.
pub const SUPPORTED_VERSIONS: u16 = 43;
/// Extension type key_share.
pub const KEY_SHARE: u16 = 51;

/// TLS 1.3 as it is written in supported_versions.
pub const TLS13: u16 = 0x0304;
/// TLS 1.2.
pub const TLS12: u16 = 0x0303;

/// Largest fragment of a plaintext record, in bytes.
pub const MAX_FRAGMENT: usize = 1 << 14;
/// Largest fragment of an encrypted TLS 1.2 record, in bytes: no record of any kind is larger.
const MAX_ENCRYPTED_FRAGMENT: usize = MAX_FRAGMENT + 2048;

/// The random value that marks a ServerHello as a HelloRetryRequest (RFC 8446, section 4.1.3).
pub const RETRY_RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Bytes that are not the TLS message they should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The field that could not be read.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for WireError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not well-formed TLS: {}: {}", self.field, self.problem)
    }
}

impl std::error::Error for WireError {}

/// Takes fields off the front of a byte string.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    fn take(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], WireError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(WireError { field, problem: "cut short" })?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], WireError> {
        let taken = self.take(N, field)?;
        taken.try_into().map_err(|_| WireError { field, problem: "cut short" })
    }

    fn u8(&mut self, field: &'static str) -> Result<u8, WireError> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    fn u16(&mut self, field: &'static str) -> Result<u16, WireError> {
        self.array(field).map(u16::from_be_bytes)
    }

    fn u24(&mut self, field: &'static str) -> Result<usize, WireError> {
        self.array(field).map(|[a, b, c]| usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c))
    }

    /// A vector with a one-byte length in front.
    fn vector8(&mut self, field: &'static str) -> Result<&'a [u8], WireError> {
        let length = self.u8(field)?;
        self.take(usize::from(length), field)
    }

    /// A vector with a two-byte length in front.
    fn vector16(&mut self, field: &'static str) -> Result<&'a [u8], WireError> {
        let length = self.u16(field)?;
        self.take(usize::from(length), field)
    }

    fn end(&self, field: &'static str) -> Result<(), WireError> {
        if self.rest.is_empty() { Ok(()) } else { Err(WireError { field, problem: "bytes left over" }) }
    }
}

/// Reads a byte string as a list of 16-bit numbers.
fn u16_list(bytes: &[u8], field: &'static str) -> Result<Vec<u16>, WireError> {
    let mut reader = Reader::new(bytes);
    let mut list = Vec::new();
    while !reader.rest.is_empty() {
        list.push(reader.u16(field)?);
    }
    Ok(list)
}

/// One record, still in its place in the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Content type, for example [`HANDSHAKE`].
    pub content_type: u8,
    /// legacy_record_version.
    pub version: u16,
    /// The record without its 5-byte header.
    pub fragment: &'a [u8],
}

impl Record<'_> {
    /// Bytes of a record's header.
    pub const HEADER: usize = 5;

    /// Bytes of the whole record, header included.
    #[must_use]
    pub fn wire_length(&self) -> usize {
        Self::HEADER + self.fragment.len()
    }
}

/// The first record of a stream, or `None` when it has not all arrived.
///
/// # Errors
/// The bytes are no TLS record: unknown content type, foreign version, or a length above 2^14 + 2048.
pub fn first_record(stream: &[u8]) -> Result<Option<Record<'_>>, WireError> {
    let field = "record header";
    match stream.first() {
        None => return Ok(None),
        Some(&(CHANGE_CIPHER_SPEC | ALERT | HANDSHAKE | APPLICATION_DATA)) => {}
        Some(_) => {
            return Err(WireError { field, problem: "unknown content type" });
        }
    }
    if stream.get(1).is_some_and(|&major| major != 3) {
        return Err(WireError { field, problem: "not TLS (major version is not 3)" });
    }
    let Some((header, rest)) = stream.split_at_checked(Record::HEADER) else {
        return Ok(None);
    };
    let mut header = Reader::new(header);
    let content_type = header.u8(field)?;
    let version = header.u16(field)?;
    let length = usize::from(header.u16(field)?);
    if length > MAX_ENCRYPTED_FRAGMENT {
        return Err(WireError { field, problem: "record too long" });
    }
    Ok(rest.get(..length).map(|fragment| Record { content_type, version, fragment }))
}

/// Puts a handshake message into as few plaintext records as it takes.
#[must_use]
pub fn to_records(content_type: u8, version: u16, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + Record::HEADER);
    for fragment in message.chunks(MAX_FRAGMENT) {
        out.push(content_type);
        out.extend_from_slice(&version.to_be_bytes());
        // A chunk is at most 2^14 bytes long, so that this conversion cannot fail.
        out.extend_from_slice(&u16::try_from(fragment.len()).unwrap_or(u16::MAX).to_be_bytes());
        out.extend_from_slice(fragment);
    }
    out
}

/// An extension as it stands in a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Its number, for example [`KEY_SHARE`].
    pub kind: u16,
    /// Its content, without the length in front.
    pub body: Vec<u8>,
}

/// A key share: one group and its key_exchange value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyShare {
    /// The group's code point.
    pub group: u16,
    /// key_exchange, without the length in front: for a KEM the encoded public key or ciphertext.
    pub key_exchange: Vec<u8>,
}

/// A ClientHello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientHello {
    /// Bytes of the whole handshake message, its 4-byte header included.
    pub length: usize,
    /// legacy_version.
    pub legacy_version: u16,
    /// random.
    pub random: [u8; 32],
    /// legacy_session_id, 0 to 32 bytes.
    pub session_id: Vec<u8>,
    /// cipher_suites, in the client's order.
    pub cipher_suites: Vec<u16>,
    /// All extensions, in the client's order.
    pub extensions: Vec<Extension>,
    /// supported_groups, when present.
    pub groups: Option<Vec<u16>>,
    /// The client's key shares, when the extension is present (it may hold none).
    pub key_shares: Option<Vec<KeyShare>>,
    /// supported_versions, when present.
    pub versions: Option<Vec<u16>>,
    /// Number of pre-shared keys (tickets) offered.
    pub psk_identities: usize,
}

impl ClientHello {
    /// The share for a group, if the client sent one.
    #[must_use]
    pub fn share(&self, group: u16) -> Option<&[u8]> {
        self.key_shares.iter().flatten().find(|share| share.group == group).map(|share| share.key_exchange.as_slice())
    }

    fn read(message: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(message);
        let legacy_version = reader.u16("ClientHello version")?;
        let random = reader.array("ClientHello random")?;
        let session_id = read_session_id(&mut reader)?;
        let cipher_suites = u16_list(reader.vector16("cipher_suites")?, "cipher_suites")?;
        reader.vector8("compression_methods")?;
        let extensions = read_extensions(&mut reader)?;
        let mut hello = ClientHello {
            length: message.len() + 4,
            legacy_version,
            random,
            session_id,
            cipher_suites,
            extensions: Vec::new(),
            groups: None,
            key_shares: None,
            versions: None,
            psk_identities: 0,
        };
        for extension in &extensions {
            let mut body = Reader::new(&extension.body);
            match extension.kind {
                SUPPORTED_GROUPS => {
                    hello.groups = Some(u16_list(body.vector16("supported_groups")?, "supported_groups")?);
                }
                KEY_SHARE => {
                    let mut list = Reader::new(body.vector16("key_share")?);
                    let mut shares = Vec::new();
                    while !list.rest.is_empty() {
                        shares.push(read_key_share(&mut list)?);
                    }
                    hello.key_shares = Some(shares);
                }
                SUPPORTED_VERSIONS => {
                    hello.versions = Some(u16_list(body.vector8("supported_versions")?, "supported_versions")?);
                }
                PRE_SHARED_KEY => {
                    let mut identities = Reader::new(body.vector16("pre_shared_key")?);
                    while !identities.rest.is_empty() {
                        identities.vector16("pre_shared_key identity")?;
                        identities.take(4, "pre_shared_key ticket age")?;
                        hello.psk_identities += 1;
                    }
                    body.vector16("pre_shared_key binders")?;
                }
                _ => continue,
            }
            body.end("ClientHello extension")?;
        }
        hello.extensions = extensions;
        Ok(hello)
    }
}

/// A ServerHello or a HelloRetryRequest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerHello {
    /// Whether it is a HelloRetryRequest.
    pub is_retry: bool,
    /// The negotiated version: [`TLS13`] from supported_versions, or the legacy version.
    pub version: u16,
    /// legacy_session_id_echo.
    pub session_id: Vec<u8>,
    /// The chosen cipher suite.
    pub cipher_suite: u16,
    /// All extensions, in the server's order.
    pub extensions: Vec<Extension>,
    /// The group of the server's share, or the group that a retry asks for.
    pub group: Option<u16>,
    /// The server's key_exchange value; a retry has none.
    pub key_exchange: Option<Vec<u8>>,
}

impl ServerHello {
    fn read(message: &[u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(message);
        let legacy_version = reader.u16("ServerHello version")?;
        let random: [u8; 32] = reader.array("ServerHello random")?;
        let session_id = read_session_id(&mut reader)?;
        let cipher_suite = reader.u16("cipher_suite")?;
        reader.u8("compression_method")?;
        let extensions = read_extensions(&mut reader)?;
        let mut hello = ServerHello {
            is_retry: random == RETRY_RANDOM,
            version: legacy_version,
            session_id,
            cipher_suite,
            extensions: Vec::new(),
            group: None,
            key_exchange: None,
        };
        for extension in &extensions {
            let mut body = Reader::new(&extension.body);
            match extension.kind {
                SUPPORTED_VERSIONS => hello.version = body.u16("selected_version")?,
                KEY_SHARE if hello.is_retry => hello.group = Some(body.u16("selected_group")?),
                KEY_SHARE => {
                    let share = read_key_share(&mut body)?;
                    hello.group = Some(share.group);
                    hello.key_exchange = Some(share.key_exchange);
                }
                _ => continue,
            }
            body.end("ServerHello extension")?;
        }
        hello.extensions = extensions;
        Ok(hello)
    }
}

fn read_session_id(reader: &mut Reader<'_>) -> Result<Vec<u8>, WireError> {
    let field = "legacy_session_id";
    let id = reader.vector8(field)?;
    if id.len() > 32 { Err(WireError { field, problem: "longer than 32 bytes" }) } else { Ok(id.to_vec()) }
}

/// The extensions up to the end of a message; TLS 1.2 allows the whole block to be missing.
fn read_extensions(reader: &mut Reader<'_>) -> Result<Vec<Extension>, WireError> {
    if reader.rest.is_empty() {
        return Ok(Vec::new());
    }
    let mut list = Reader::new(reader.vector16("extensions")?);
    reader.end("hello message")?;
    let mut extensions: Vec<Extension> = Vec::new();
    while !list.rest.is_empty() {
        let kind = list.u16("extension type")?;
        let body = list.vector16("extension")?.to_vec();
        if extensions.iter().any(|extension| extension.kind == kind) {
            return Err(WireError { field: "extensions", problem: "one extension stands there twice" });
        }
        extensions.push(Extension { kind, body });
    }
    Ok(extensions)
}

fn read_key_share(reader: &mut Reader<'_>) -> Result<KeyShare, WireError> {
    let group = reader.u16("key share group")?;
    Ok(KeyShare { group, key_exchange: reader.vector16("key_exchange")?.to_vec() })
}

/// A handshake message sent in the clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A ClientHello, first or second.
    ClientHello(ClientHello),
    /// A ServerHello or a HelloRetryRequest.
    ServerHello(ServerHello),
    /// The ServerKeyExchange of an ECDHE suite in TLS 1.2, with the code point of its group.
    ServerKeyExchange {
        /// Code point of the named group.
        group: u16,
    },
    /// Any other message, by handshake type.
    Other(u8),
}

impl Message {
    /// Reads one handshake message, given its type and its body (without the 4-byte header).
    ///
    /// # Errors
    /// The body is not well-formed.
    pub fn read(kind: u8, body: &[u8]) -> Result<Self, WireError> {
        Ok(match kind {
            CLIENT_HELLO => Message::ClientHello(ClientHello::read(body)?),
            SERVER_HELLO => Message::ServerHello(ServerHello::read(body)?),
            // ECParameters start with the curve type; 3 is named_curve.
            SERVER_KEY_EXCHANGE => match body {
                &[3, high, low, ..] => Message::ServerKeyExchange { group: u16::from_be_bytes([high, low]) },
                _ => Message::Other(kind),
            },
            _ => Message::Other(kind),
        })
    }
}

/// An alert in the clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// 1 is a warning, 2 is fatal.
    pub level: u8,
    /// AlertDescription, for example 40 handshake_failure.
    pub description: u8,
}

impl Alert {
    /// close_notify.
    pub const CLOSE_NOTIFY: u8 = 0;
    /// handshake_failure.
    pub const HANDSHAKE_FAILURE: u8 = 40;
    /// illegal_parameter.
    pub const ILLEGAL_PARAMETER: u8 = 47;
    /// decode_error.
    pub const DECODE_ERROR: u8 = 50;
    /// protocol_version.
    pub const PROTOCOL_VERSION: u8 = 70;
    /// missing_extension.
    pub const MISSING_EXTENSION: u8 = 109;
}

/// What one side sent before its messages were encrypted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoken {
    /// Handshake messages, in order.
    pub messages: Vec<Message>,
    /// The first alert in the clear.
    pub alert: Option<Alert>,
    /// Whether encrypted records followed.
    pub encrypted: bool,
}

impl Spoken {
    /// Reads one direction of a connection up to its first encrypted record that is not early data. What has not all arrived is left out.
    ///
    /// In TLS 1.2 everything after change_cipher_spec is encrypted; `encrypted_after_ccs` says so. In TLS 1.3 that record
    /// is an empty gesture, and a second hello may follow it.
    ///
    /// # Errors
    /// Something is not well-formed TLS.
    pub fn read(mut stream: &[u8], encrypted_after_ccs: bool) -> Result<Self, WireError> {
        let mut spoken = Spoken::default();
        let mut pending: Vec<u8> = Vec::new();
        while let Some(record) = first_record(stream)? {
            stream = stream.get(record.wire_length()..).unwrap_or_default();
            match record.content_type {
                HANDSHAKE => pending.extend_from_slice(record.fragment),
                ALERT => {
                    let &[level, description] = record.fragment else {
                        return Err(WireError { field: "alert", problem: "not two bytes" });
                    };
                    spoken.alert.get_or_insert(Alert { level, description });
                }
                CHANGE_CIPHER_SPEC if !encrypted_after_ccs => {}
                // A second hello may come after early data, if there was a retry.
                APPLICATION_DATA if spoken.offers_early_data() => spoken.encrypted = true,
                _ => {
                    spoken.encrypted = true;
                    break;
                }
            }
            let mut reader = Reader::new(&pending);
            while reader.rest.len() >= 4 {
                let kind = reader.u8("handshake type")?;
                let length = reader.u24("handshake length")?;
                if reader.rest.len() < length {
                    reader.rest = &pending[pending.len() - reader.rest.len() - 4..];
                    break;
                }
                spoken.messages.push(Message::read(kind, reader.take(length, "handshake message")?)?);
            }
            pending = reader.rest.to_vec();
        }
        Ok(spoken)
    }

    /// Whether all that was said is one ClientHello that announces early data.
    fn offers_early_data(&self) -> bool {
        match self.messages.as_slice() {
            [Message::ClientHello(hello)] => hello.extensions.iter().any(|extension| extension.kind == EARLY_DATA),
            _ => false,
        }
    }
}

/// Both sides of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conversation {
    /// What the client said in the clear.
    pub client: Spoken,
    /// What the server said in the clear.
    pub server: Spoken,
}

impl Conversation {
    /// Reads the bytes that each side sent.
    ///
    /// # Errors
    /// Either side's bytes are not well-formed TLS.
    pub fn read(client: &[u8], server: &[u8]) -> Result<Self, WireError> {
        // The server's hello comes before any change_cipher_spec, so that this first reading finds the version.
        let version = Spoken::read(server, true)?.messages.iter().find_map(|message| match message {
            Message::ServerHello(hello) => Some(hello.version),
            _ => None,
        });
        let old = version.is_some_and(|version| version < TLS13);
        Ok(Conversation { client: Spoken::read(client, old)?, server: Spoken::read(server, old)? })
    }

    /// The client's hellos: one, or two after a retry.
    #[must_use]
    pub fn client_hellos(&self) -> Vec<&ClientHello> {
        let messages = self.client.messages.iter();
        let hellos = messages.filter_map(|message| match message {
            Message::ClientHello(hello) => Some(hello),
            _ => None,
        });
        hellos.collect()
    }

    fn find_server_hello(&self, retry: bool) -> Option<&ServerHello> {
        self.server.messages.iter().find_map(|message| match message {
            Message::ServerHello(hello) if hello.is_retry == retry => Some(hello),
            _ => None,
        })
    }

    /// The ServerHello that settles the connection.
    #[must_use]
    pub fn server_hello(&self) -> Option<&ServerHello> {
        self.find_server_hello(false)
    }

    /// The HelloRetryRequest, if there was one.
    #[must_use]
    pub fn retry(&self) -> Option<&ServerHello> {
        self.find_server_hello(true)
    }

    /// What was negotiated, or `None` without a ServerHello.
    #[must_use]
    pub fn negotiated(&self) -> Option<Negotiated> {
        let hello = self.server_hello()?;
        let group = hello.group.or_else(|| {
            self.server.messages.iter().find_map(|message| match message {
                Message::ServerKeyExchange { group } => Some(*group),
                _ => None,
            })
        });
        let client_share = self.client_hellos().last().and_then(|hello| hello.share(group?)).map(<[u8]>::len);
        Some(Negotiated {
            version: hello.version,
            group,
            client_share,
            server_share: hello.key_exchange.as_ref().map(Vec::len),
            retried: self.retry().is_some(),
        })
    }
}

/// The outcome of a negotiation, as seen on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// Version, for example [`TLS13`].
    pub version: u16,
    /// Code point of the group that keys the connection.
    pub group: Option<u16>,
    /// Bytes of the client's share for that group.
    pub client_share: Option<usize>,
    /// Bytes of the server's share.
    pub server_share: Option<usize>,
    /// Whether a HelloRetryRequest came first.
    pub retried: bool,
}

impl fmt::Display for Negotiated {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            0x0304 => write!(out, "TLS 1.3")?,
            0x0303 => write!(out, "TLS 1.2")?,
            other => write!(out, "version 0x{other:04X}")?,
        }
        match self.group {
            Some(group) => write!(out, ", group 0x{group:04X}")?,
            None => write!(out, ", no group")?,
        }
        for (side, share) in [("client", self.client_share), ("server", self.server_share)] {
            match share {
                Some(bytes) => write!(out, ", {side} share {bytes} bytes")?,
                None => write!(out, ", no {side} share")?,
            }
        }
        write!(out, ", {}", if self.retried { "after a retry" } else { "no retry" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{Hello, ServerReply};

    fn hello() -> Hello {
        Hello { groups: vec![0xFEB1, 29], shares: vec![(0xFEB1, vec![7; 1158]), (29, vec![9; 32])], ..Hello::default() }
    }

    #[test]
    fn a_client_hello_is_read_back_as_it_was_built() {
        let spoken = Spoken::read(&hello().records(), false).unwrap();
        let [Message::ClientHello(read)] = spoken.messages.as_slice() else { panic!("{spoken:?}") };
        assert_eq!(read.groups.as_deref(), Some(&[0xFEB1, 29][..]));
        assert_eq!(read.share(0xFEB1), Some(&[7; 1158][..]));
        assert_eq!(read.share(29), Some(&[9; 32][..]));
        assert_eq!(read.versions.as_deref(), Some(&[TLS13][..]));
        assert_eq!(read.length + Record::HEADER, hello().records().len());
        assert_eq!(spoken.alert, None);
    }

    #[test]
    fn a_message_larger_than_a_record_is_put_together_again() {
        let big = Hello { shares: vec![(0xFEB1, vec![1; 60_000])], ..hello() };
        let spoken = Spoken::read(&big.records(), false).unwrap();
        let [Message::ClientHello(read)] = spoken.messages.as_slice() else { panic!("{spoken:?}") };
        assert_eq!(read.share(0xFEB1).map(<[u8]>::len), Some(60_000));
    }

    #[test]
    fn a_retry_and_its_outcome_are_told_apart() {
        let first = Hello { shares: vec![(29, vec![9; 32])], ..hello() };
        let client = [first.records(), hello().records()].concat();
        let retry = ServerReply { retry_for: Some(0xFEB1), ..ServerReply::default() };
        let done = ServerReply { share: Some((0xFEB1, vec![3; 1039])), ..ServerReply::default() };
        let ccs = [CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1];
        let encrypted = [APPLICATION_DATA, 3, 3, 0, 2, 0, 0];
        let server = [retry.records(), ccs.to_vec(), done.records(), encrypted.to_vec()].concat();
        let conversation = Conversation::read(&client, &server).unwrap();
        assert_eq!(conversation.client_hellos().len(), 2);
        assert_eq!(conversation.retry().and_then(|hello| hello.group), Some(0xFEB1));
        assert!(conversation.server.encrypted);
        let line = conversation.negotiated().unwrap().to_string();
        assert_eq!(line, "TLS 1.3, group 0xFEB1, client share 1158 bytes, server share 1039 bytes, after a retry");
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_the_reader_panic() {
        let client = hello().records();
        let server = ServerReply { share: Some((0xFEB1, vec![3; 1039])), ..ServerReply::default() }.records();
        for cut in 0..client.len() {
            let spoken = Spoken::read(&client[..cut], false).unwrap();
            assert!(spoken.messages.is_empty(), "a message out of {cut} bytes");
        }
        for bytes in [&client, &server] {
            for at in 0..bytes.len().min(200) {
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] = value;
                    // Either answer is right here; what must not happen is a panic.
                    let _ = Conversation::read(&changed, &server);
                    let _ = Conversation::read(&client, &changed);
                }
            }
        }
    }

    #[test]
    fn wrong_lengths_and_foreign_protocols_are_errors() {
        let good = hello().message();
        let mut longer = good.clone();
        longer.push(0);
        longer[3] = longer[3].wrapping_add(1);
        assert_eq!(
            Spoken::read(&to_records(HANDSHAKE, 0x0301, &longer), false).unwrap_err(),
            WireError { field: "hello message", problem: "bytes left over" }
        );
        assert!(Spoken::read(b"GET / HTTP/1.0\r\n\r\n", false).is_err());
        assert!(Spoken::read(&[ALERT, 3, 3, 0, 1, 2], false).is_err());
        assert!(Spoken::read(&[HANDSHAKE, 3, 1, 0xff, 0xff], false).is_err());
        let twice = Hello { extra: vec![(KEY_SHARE, vec![0, 0])], ..hello() };
        assert!(Spoken::read(&twice.records(), false).is_err());
    }

    #[test]
    fn an_alert_and_the_group_of_tls_1_2_are_seen() {
        let mut server = ServerReply { version: TLS12, ..ServerReply::default() }.records();
        let exchange = [SERVER_KEY_EXCHANGE, 0, 0, 5, 3, 0, 29, 1, 9];
        server.extend(to_records(HANDSHAKE, TLS12, &exchange));
        server.extend([ALERT, 3, 3, 0, 2, 2, Alert::HANDSHAKE_FAILURE]);
        let conversation = Conversation::read(&hello().records(), &server).unwrap();
        let negotiated = conversation.negotiated().unwrap();
        assert_eq!((negotiated.version, negotiated.group), (TLS12, Some(29)));
        assert_eq!(conversation.server.alert, Some(Alert { level: 2, description: 40 }));
    }
}
