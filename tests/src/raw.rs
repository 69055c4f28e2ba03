//! Hand-made hellos of TLS 1.3 (RFC 8446, sections 4.1.2 to 4.1.4), right or wrong on purpose, and the peers that send them.

use crate::wire::{
    self, CLIENT_HELLO, Conversation, HANDSHAKE, KEY_SHARE, RETRY_RANDOM, SERVER_HELLO, SUPPORTED_GROUPS,
    SUPPORTED_VERSIONS, TLS12, TLS13,
};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// How long a raw peer waits for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Extension type signature_algorithms.
const SIGNATURE_ALGORITHMS: u16 = 13;
/// Extension type cookie.
const COOKIE: u16 = 44;

/// A byte string behind its length, written with as many bytes as `width` says.
fn vector(width: usize, content: &[u8]) -> Vec<u8> {
    let length = (content.len() as u64).to_be_bytes();
    [&length[8 - width..], content].concat()
}

fn numbers(list: &[u16]) -> Vec<u8> {
    list.iter().flat_map(|number| number.to_be_bytes()).collect()
}

fn extension(kind: u16, body: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &vector(2, body)].concat()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &vector(3, body)].concat()
}

/// A ClientHello in the making. The default one offers TLS 1.3 and X25519 and holds no share.
#[derive(Clone, Debug)]
pub struct Hello {
    /// supported_groups.
    pub groups: Vec<u16>,
    /// Key shares: code point and key_exchange. They need not be right.
    pub shares: Vec<(u16, Vec<u8>)>,
    /// supported_versions.
    pub versions: Vec<u16>,
    /// legacy_session_id.
    pub session_id: Vec<u8>,
    /// The cookie of a retry.
    pub cookie: Option<Vec<u8>>,
    /// Further extensions, as type and body.
    pub extra: Vec<(u16, Vec<u8>)>,
    /// Whether there is a key_share extension at all.
    pub with_key_share: bool,
}

impl Default for Hello {
    fn default() -> Self {
        Hello {
            groups: vec![29],
            shares: Vec::new(),
            versions: vec![TLS13],
            session_id: vec![0xa5; 32],
            cookie: None,
            extra: Vec::new(),
            with_key_share: true,
        }
    }
}

impl Hello {
    /// The handshake message, with its header.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        // ecdsa_secp256r1_sha256, rsa_pss_rsae_sha256, rsa_pkcs1_sha256.
        let algorithms = numbers(&[0x0403, 0x0804, 0x0401]);
        let mut extensions = [
            extension(SUPPORTED_VERSIONS, &vector(1, &numbers(&self.versions))),
            extension(SUPPORTED_GROUPS, &vector(2, &numbers(&self.groups))),
            extension(SIGNATURE_ALGORITHMS, &vector(2, &algorithms)),
        ]
        .concat();
        if self.with_key_share {
            let shares: Vec<u8> = self
                .shares
                .iter()
                .flat_map(|(group, share)| [&group.to_be_bytes()[..], &vector(2, share)].concat())
                .collect();
            extensions.extend(extension(KEY_SHARE, &vector(2, &shares)));
        }
        if let Some(cookie) = &self.cookie {
            extensions.extend(extension(COOKIE, &vector(2, cookie)));
        }
        for (kind, body) in &self.extra {
            extensions.extend(extension(*kind, body));
        }
        // The three suites of TLS 1.3 that everybody has; null compression.
        let suites = numbers(&[0x1301, 0x1302, 0x1303]);
        let body = [
            &TLS12.to_be_bytes()[..],
            &[0x5a; 32],
            &vector(1, &self.session_id),
            &vector(2, &suites),
            &[1, 0],
            &vector(2, &extensions),
        ]
        .concat();
        message(CLIENT_HELLO, &body)
    }

    /// The message in records.
    #[must_use]
    pub fn records(&self) -> Vec<u8> {
        wire::to_records(HANDSHAKE, 0x0301, &self.message())
    }
}

/// A ServerHello or a HelloRetryRequest in the making.
#[derive(Clone, Debug)]
pub struct ServerReply {
    /// The version to claim.
    pub version: u16,
    /// The client's session id.
    pub session_id: Vec<u8>,
    /// Makes it a HelloRetryRequest for this group.
    pub retry_for: Option<u16>,
    /// The server's share: code point and key_exchange.
    pub share: Option<(u16, Vec<u8>)>,
}

impl Default for ServerReply {
    fn default() -> Self {
        ServerReply { version: TLS13, session_id: vec![0xa5; 32], retry_for: None, share: None }
    }
}

impl ServerReply {
    /// The handshake message, with its header.
    #[must_use]
    pub fn message(&self) -> Vec<u8> {
        let mut extensions = Vec::new();
        if self.version >= TLS13 {
            extensions.extend(extension(SUPPORTED_VERSIONS, &self.version.to_be_bytes()));
        }
        if let Some(group) = self.retry_for {
            extensions.extend(extension(KEY_SHARE, &group.to_be_bytes()));
        } else if let Some((group, share)) = &self.share {
            extensions.extend(extension(KEY_SHARE, &[&group.to_be_bytes()[..], &vector(2, share)].concat()));
        }
        let random = if self.retry_for.is_some() { RETRY_RANDOM } else { [0x77; 32] };
        let body = [
            &TLS12.to_be_bytes()[..],
            &random,
            &vector(1, &self.session_id),
            &0x1301_u16.to_be_bytes(),
            &[0],
            &vector(2, &extensions),
        ]
        .concat();
        message(SERVER_HELLO, &body)
    }

    /// The message in records.
    #[must_use]
    pub fn records(&self) -> Vec<u8> {
        wire::to_records(HANDSHAKE, TLS12, &self.message())
    }
}

/// A peer that sends what it is told, byte for byte, and remembers what it was sent.
pub struct RawPeer {
    stream: TcpStream,
    sent: Vec<u8>,
    received: Vec<u8>,
    client: bool,
}

impl RawPeer {
    /// Connects to a server.
    ///
    /// # Errors
    /// The connection is refused.
    pub fn connect(server: SocketAddr) -> io::Result<Self> {
        RawPeer::new(TcpStream::connect(server)?, true)
    }

    fn new(stream: TcpStream, client: bool) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        Ok(RawPeer { stream, sent: Vec::new(), received: Vec::new(), client })
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The other side has gone.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent.extend_from_slice(bytes);
        self.stream.write_all(bytes)
    }

    /// Sends nothing more, so that the other side does not wait for the rest of what is no whole message.
    ///
    /// # Errors
    /// The other side has gone.
    pub fn end(&mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)
    }

    /// Reads until `enough` is content with what both sides have said, the other side closes, or 20 s are over; gives what
    /// was said.
    ///
    /// # Errors
    /// The other side wrote something that is not TLS.
    pub fn read_until(&mut self, enough: impl Fn(&Conversation) -> bool) -> io::Result<Conversation> {
        let start = Instant::now();
        let mut buffer = [0; 4096];
        loop {
            let said = self.conversation()?;
            if enough(&said) || start.elapsed() > PATIENCE {
                return Ok(said);
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return self.conversation(),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) if is_passing(&error) => {}
                // A reset follows when the other side closes with our bytes unread: what it said before still counts.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return self.conversation();
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads until the other side gives an alert or a ServerHello, or closes.
    ///
    /// # Errors
    /// As [`RawPeer::read_until`].
    pub fn answer(&mut self) -> io::Result<Conversation> {
        let client = self.client;
        self.read_until(|said| {
            let other = if client { &said.server } else { &said.client };
            other.alert.is_some() || other.encrypted || said.server_hello().is_some() && client
        })
    }

    /// All that the other side has sent.
    #[must_use]
    pub fn received(&self) -> &[u8] {
        &self.received
    }

    fn conversation(&self) -> io::Result<Conversation> {
        let (client, server) = if self.client { (&self.sent, &self.received) } else { (&self.received, &self.sent) };
        // What this side sends may be malformed on purpose; only the other side's bytes have to be TLS.
        Conversation::read(client, server)
            .or_else(|_| {
                let (client, server): (&[u8], &[u8]) = if self.client { (&[], server) } else { (client, &[]) };
                Conversation::read(client, server)
            })
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// Whether the same call may succeed if it is made again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A server that answers hellos with whatever it is told.
pub struct RawServer {
    listener: TcpListener,
}

impl RawServer {
    /// Listens on a free loopback port.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn new() -> io::Result<Self> {
        Ok(RawServer { listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))? })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system cannot tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Waits up to `patience` for a client and its ClientHello. `None` when nobody came, or no hello did.
    ///
    /// # Errors
    /// The client wrote something that is not TLS, or the socket failed.
    pub fn accept(&self, patience: Duration) -> io::Result<Option<(RawPeer, Conversation)>> {
        self.listener.set_nonblocking(true)?;
        let start = Instant::now();
        let stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if is_passing(&error) && start.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) if is_passing(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        };
        stream.set_nonblocking(false)?;
        let mut peer = RawPeer::new(stream, false)?;
        let said = peer.read_until(|said| !said.client_hellos().is_empty() || said.client.alert.is_some())?;
        Ok((!said.client_hellos().is_empty()).then_some((peer, said)))
    }
}
