//! An independent answer: rustls, a TLS stack that shares no code with OpenSSL, as client and as server, with a KEM that shares
//! no code with ours: pqcrypto-ntruprime's sntrup761. Only the code points and the order of the hybrid's parts are taken from us.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use engntru_tests::bed::{Bed, KEMS, Kem, OpenSsl, PATIENCE, PROVIDER_KEMS, SNTRUP761, X25519, X25519SNTRUP761};
use engntru_tests::tap::{Settings, Tap};
use engntru_tests::wire::{TLS12, TLS13};
use pqcrypto_ntruprime::sntrup761;
use pqcrypto_traits::kem::{Ciphertext as _, PublicKey as _, SharedSecret as _};
use rustls::crypto::ring::{default_provider, kx_group};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, Error, NamedGroup, PeerMisbehaved, RootCertStore};
use rustls::{ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion};

/// Connections in each role.
const CONNECTIONS: usize = 10;

/// sntrup761 under the code point 0xFEB1, after X25519's part under 0xFEB3 if it is a hybrid.
#[derive(Debug)]
struct Group {
    name: u16,
    /// The classical part, which stands first in shares and secret, and the bytes of its shares.
    first: Option<(&'static dyn SupportedKxGroup, usize)>,
}

static PLAIN: Group = Group { name: SNTRUP761, first: None };
static HYBRID: Group = Group { name: X25519SNTRUP761, first: Some((kx_group::X25519, 32)) };

fn group_of(kem: Kem) -> &'static Group {
    if kem.group == SNTRUP761 { &PLAIN } else { &HYBRID }
}

impl Group {
    /// Cuts a peer's share into X25519's and the KEM's.
    fn split<'a>(&self, share: &'a [u8]) -> Result<(&'a [u8], &'a [u8]), Error> {
        let first = self.first.map_or(0, |(_, bytes)| bytes);
        share.split_at_checked(first).ok_or(PeerMisbehaved::InvalidKeyShare.into())
    }
}

/// A client that waits for the server's share.
struct Waiting {
    group: &'static Group,
    first: Option<Box<dyn ActiveKeyExchange>>,
    secret_key: sntrup761::SecretKey,
    share: Vec<u8>,
}

impl SupportedKxGroup for Group {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let group = if self.first.is_some() { &HYBRID } else { &PLAIN };
        let first = self.first.map(|(group, _)| group.start()).transpose()?;
        let (public_key, secret_key) = sntrup761::keypair();
        let mut share = first.as_ref().map_or(Vec::new(), |first| first.pub_key().to_vec());
        share.extend(public_key.as_bytes());
        Ok(Box::new(Waiting { group, first, secret_key, share }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (classical, public_key) = self.split(peer)?;
        let public_key = sntrup761::PublicKey::from_bytes(public_key).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let (mut share, mut secret) = (Vec::new(), Vec::new());
        if let Some((group, _)) = self.first {
            let done = group.start_and_complete(classical)?;
            share.extend(&done.pub_key);
            secret.extend(done.secret.secret_bytes());
        }
        let (shared, ciphertext) = sntrup761::encapsulate(&public_key);
        share.extend(ciphertext.as_bytes());
        secret.extend(shared.as_bytes());
        Ok(CompletedKeyExchange { group: self.name(), pub_key: share, secret: SharedSecret::from(secret) })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::from(self.name)
    }
}

impl ActiveKeyExchange for Waiting {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (classical, ciphertext) = self.group.split(peer)?;
        let ciphertext = sntrup761::Ciphertext::from_bytes(ciphertext).map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        let mut secret = Vec::new();
        if let Some(first) = self.first {
            secret.extend(first.complete(classical)?.secret_bytes());
        }
        secret.extend(sntrup761::decapsulate(&ciphertext, &self.secret_key).as_bytes());
        Ok(SharedSecret::from(secret))
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        self.group.name()
    }
}

/// rustls with these groups, the first of which a client sends a share of.
fn rustls_with(groups: &[&'static dyn SupportedKxGroup]) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider { kx_groups: groups.to_vec(), ..default_provider() })
}

/// Sends "hello" and gives the answer; the server's certificate is checked.
fn echo(
    bed: &Bed,
    address: SocketAddr,
    provider: Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
) -> Result<String, Box<dyn std::error::Error>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(&bed.certificate.certificate)?)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost")?)?;
    let socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(connection, socket);
    stream.write_all(b"hello\n")?;
    let mut line = String::new();
    BufReader::new(&mut stream).read_line(&mut line)?;
    stream.conn.send_close_notify();
    stream.flush()?;
    Ok(line)
}

/// A rustls server that sends one line back reversed for each connection, and tells how each went: the group, or the error.
fn serve(
    bed: &Bed,
    groups: &[&'static dyn SupportedKxGroup],
) -> (SocketAddr, Receiver<Result<Option<NamedGroup>, String>>) {
    let chain = vec![CertificateDer::from_pem_file(&bed.certificate.certificate).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(&bed.certificate.key).expect("a key");
    let config = ServerConfig::builder_with_provider(rustls_with(groups))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    let config = Arc::new(config.expect("a configuration of rustls"));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback socket");
    let address = listener.local_addr().expect("it is bound");
    let (report, reports) = channel();
    // It ends with the test's process, or with the first connection that nobody wants to hear of.
    thread::spawn(move || {
        for socket in listener.incoming() {
            let outcome = answer(Arc::clone(&config), socket.expect("a connection")).map_err(|error| error.to_string());
            if report.send(outcome).is_err() {
                return;
            }
        }
    });
    (address, reports)
}

fn answer(config: Arc<ServerConfig>, socket: TcpStream) -> Result<Option<NamedGroup>, Box<dyn std::error::Error>> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut stream = StreamOwned::new(ServerConnection::new(config)?, socket);
    let mut line = String::new();
    BufReader::new(&mut stream).read_line(&mut line)?;
    let back: String = line.trim_end().chars().rev().chain(['\n']).collect();
    stream.write_all(back.as_bytes())?;
    stream.flush()?;
    let group = stream.conn.negotiated_key_exchange_group().map(|group| group.name());
    // The client says when it is over.
    let _ = stream.read(&mut [0; 100]);
    Ok(group)
}

/// What is tested against: the engine on the patched 1.1.1w, and the provider on the system's 3.0, with the groups of each that
/// there is a second implementation of.
fn ours(bed: &Bed) -> [(OpenSsl, Vec<Kem>); 2] {
    [(bed.engine.clone(), vec![KEMS[0]]), (bed.with_provider(&bed.system), vec![PROVIDER_KEMS[0], PROVIDER_KEMS[2]])]
}

/// A client without the KEM groups reaches a server that has X25519 too, with TLS 1.3 and with TLS 1.2 (W2).
#[test]
fn a_client_without_the_groups_connects() {
    let bed = Bed::new();
    let server = bed.server(&bed.engine, &["-groups", "sntrup761:X25519"]);
    for (versions, expected) in
        [(&[&rustls::version::TLS13][..], TLS13), (&[&rustls::version::TLS12], TLS12), (rustls::ALL_VERSIONS, TLS13)]
    {
        let tap = Tap::start(server.address, Settings::default()).unwrap();
        assert_eq!(echo(&bed, tap.address(), default_provider().into(), versions).unwrap(), "olleh\n");
        let said = tap.next(Duration::from_secs(10)).unwrap().conversation().unwrap();
        let negotiated = said.negotiated().unwrap();
        assert_eq!((negotiated.version, negotiated.group), (expected, Some(X25519)));
    }
}

/// rustls as client, our KEM in OpenSSL's server.
#[test]
fn clients_reach_our_servers() {
    let bed = Bed::new();
    for (openssl, kems) in ours(&bed) {
        for kem in kems {
            let server = bed.server(&openssl, &["-groups", kem.name]);
            for _ in 0..CONNECTIONS {
                let tap = Tap::start(server.address, Settings::default()).unwrap();
                let provider = rustls_with(&[group_of(kem)]);
                let answer = echo(&bed, tap.address(), provider, &[&rustls::version::TLS13]);
                assert_eq!(answer.unwrap_or_else(|error| panic!("{error}: {}", server.log())), "olleh\n");
                let said = tap.next(PATIENCE).unwrap().conversation().unwrap();
                let negotiated = said.negotiated().unwrap();
                assert_eq!(negotiated.group, Some(kem.group));
                assert_eq!(
                    (negotiated.client_share, negotiated.server_share),
                    (Some(kem.public_key), Some(kem.ciphertext))
                );
            }
        }
    }
}

/// OpenSSL's client with our KEM, rustls as server.
#[test]
fn our_clients_reach_servers() {
    let bed = Bed::new();
    for (openssl, kems) in ours(&bed) {
        for kem in kems {
            let (address, reports) = serve(&bed, &[group_of(kem)]);
            for _ in 0..CONNECTIONS {
                let run = bed.client(&openssl, address, &["-groups", kem.name]);
                assert!(run.succeeded(), "{run:?}");
                assert_eq!(reports.recv_timeout(PATIENCE).unwrap(), Ok(Some(NamedGroup::from(kem.group))));
            }
        }
    }
}

/// A group that the client lists without a share of it is asked for by a HelloRetryRequest, in both roles.
#[test]
fn a_share_is_asked_for() {
    let bed = Bed::new();
    for (openssl, kems) in ours(&bed) {
        for kem in kems {
            let server = bed.server(&openssl, &["-groups", kem.name]);
            let tap = Tap::start(server.address, Settings::default()).unwrap();
            let provider = rustls_with(&[kx_group::X25519, group_of(kem)]);
            assert_eq!(echo(&bed, tap.address(), provider, &[&rustls::version::TLS13]).unwrap(), "olleh\n");
            let negotiated = tap.next(PATIENCE).unwrap().conversation().unwrap().negotiated().unwrap();
            assert_eq!((negotiated.group, negotiated.retried), (Some(kem.group), true));

            let (address, reports) = serve(&bed, &[group_of(kem)]);
            let tap = Tap::start(address, Settings::default()).unwrap();
            let run = bed.client(&openssl, tap.address(), &["-groups", &format!("X25519:{}", kem.name)]);
            assert!(run.succeeded(), "{run:?}");
            assert_eq!(reports.recv_timeout(PATIENCE).unwrap(), Ok(Some(NamedGroup::from(kem.group))));
            let negotiated = tap.next(PATIENCE).unwrap().conversation().unwrap().negotiated().unwrap();
            assert_eq!((negotiated.group, negotiated.retried), (Some(kem.group), true));
        }
    }
}
