//! A relay on the loopback that writes down what a client and a server say to each other.
//!
//! It can also deliver the bytes in pieces, cut the first record in two, or change records on the way.

use crate::wire::{self, Conversation, HANDSHAKE, Record, WireError};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What is kept of each direction, in bytes: hellos stand at the front.
const KEPT: usize = 1 << 18;

/// Which way bytes travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    ToClient,
}

/// How bytes are handed on.
#[derive(Clone, Debug, Default)]
pub enum Delivery {
    /// As they come.
    #[default]
    AsTheyCome,
    /// Cut at these offsets from the start of the direction, with a pause after each piece.
    CutAt(Vec<usize>, Duration),
    /// The first `count` bytes one by one.
    ByteByByte(usize),
    /// The first handshake record becomes two, the first of them with this many bytes of the message.
    SplitRecord(usize),
}

/// Changes a record (header included) on its way; the index counts the direction's records from 0.
pub type Rewrite = dyn Fn(Direction, usize, Vec<u8>) -> Vec<u8> + Send + Sync;

/// What a tap does to the bytes. The default changes nothing.
#[derive(Clone, Default)]
pub struct Settings {
    /// How the client's bytes reach the server.
    pub to_server: Delivery,
    /// How the server's bytes reach the client.
    pub to_client: Delivery,
    /// Changes records.
    pub rewrite: Option<Arc<Rewrite>>,
}

/// The bytes of one finished connection, as each side sent them: before the tap changed anything.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The client's first bytes, up to 256 KiB.
    pub client: Vec<u8>,
    /// The server's first bytes, up to 256 KiB.
    pub server: Vec<u8>,
}

impl Observed {
    /// What both sides said before encryption.
    ///
    /// # Errors
    /// A side spoke something that is not TLS.
    pub fn conversation(&self) -> Result<Conversation, WireError> {
        Conversation::read(&self.client, &self.server)
    }
}

/// A running relay. Dropping it closes the listening socket.
pub struct Tap {
    address: SocketAddr,
    finished: Receiver<Observed>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Tap {
    /// Starts a relay from a free loopback port to `server`.
    ///
    /// # Errors
    /// The system refuses a socket.
    pub fn start(server: SocketAddr, settings: Settings) -> io::Result<Self> {
        Self::start_on(0, server, settings)
    }

    /// As [`Tap::start`], on a given port.
    ///
    /// # Errors
    /// The port is taken, or the system refuses a socket.
    pub fn start_on(port: u16, server: SocketAddr, settings: Settings) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        let (sender, finished) = mpsc::channel();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let acceptor = thread::spawn(move || {
            for client in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(client) = client else { continue };
                let (settings, sender) = (settings.clone(), sender.clone());
                thread::spawn(move || relay(client, server, &settings, &sender));
            }
        });
        Ok(Tap { address, finished, stop, acceptor: Some(acceptor) })
    }

    /// Where clients connect.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection that is over, or `None` when none ended within `patience`.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<Observed> {
        self.finished.recv_timeout(patience).ok()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // The acceptor sleeps in accept(); a connection wakes it.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

/// Carries one connection to its end and reports it.
fn relay(client: TcpStream, server: SocketAddr, settings: &Settings, sender: &Sender<Observed>) {
    let observed = Arc::new(Mutex::new(Observed::default()));
    if let Ok(server) = TcpStream::connect(server) {
        thread::scope(|scope| {
            for (direction, from, to) in
                [(Direction::ToServer, &client, &server), (Direction::ToClient, &server, &client)]
            {
                let observed = Arc::clone(&observed);
                scope.spawn(move || {
                    // An error ends this direction just as the end of its stream does: the report shows how far it came.
                    let _ = pump(direction, from, to, settings, &observed);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        });
    }
    let observed = std::mem::take(&mut *observed.lock().unwrap_or_else(PoisonError::into_inner));
    // Nobody listens any more when the tap was dropped.
    let _ = sender.send(observed);
}

fn pump(
    direction: Direction,
    mut from: &TcpStream,
    mut to: &TcpStream,
    settings: &Settings,
    observed: &Mutex<Observed>,
) -> io::Result<()> {
    to.set_nodelay(true)?;
    let delivery = match direction {
        Direction::ToServer => &settings.to_server,
        Direction::ToClient => &settings.to_client,
    };
    let whole_records = settings.rewrite.is_some() || matches!(delivery, Delivery::SplitRecord(_));
    let mut pending = Vec::new();
    let (mut offset, mut index, mut split_done) = (0, 0, false);
    let mut buffer = vec![0; 1 << 14];
    loop {
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let Some(fresh) = buffer.get(..count).filter(|fresh| !fresh.is_empty()) else {
            return to.write_all(&pending);
        };
        {
            let mut observed = observed.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = match direction {
                Direction::ToServer => &mut observed.client,
                Direction::ToClient => &mut observed.server,
            };
            let room = KEPT.saturating_sub(kept.len()).min(count);
            kept.extend_from_slice(&fresh[..room]);
        }
        pending.extend_from_slice(fresh);
        if !whole_records {
            deliver(to, &pending, &mut offset, delivery)?;
            pending.clear();
            continue;
        }
        while let Some(record) = wire::first_record(&pending).map_err(io::Error::other)? {
            let length = record.wire_length();
            let is_handshake = record.content_type == HANDSHAKE;
            let mut bytes: Vec<u8> = pending.drain(..length).collect();
            if let Some(rewrite) = &settings.rewrite {
                bytes = rewrite(direction, index, bytes);
            }
            if let (Delivery::SplitRecord(at), true, false) = (delivery, is_handshake, split_done) {
                bytes = split_record(&bytes, *at);
                split_done = true;
            }
            index += 1;
            deliver(to, &bytes, &mut offset, delivery)?;
        }
    }
}

/// Writes bytes that start at `offset` of their direction, cut as the delivery says.
fn deliver(mut to: &TcpStream, bytes: &[u8], offset: &mut usize, delivery: &Delivery) -> io::Result<()> {
    let end = *offset + bytes.len();
    let (cuts, pause): (Vec<usize>, Duration) = match delivery {
        Delivery::AsTheyCome | Delivery::SplitRecord(_) => (Vec::new(), Duration::ZERO),
        Delivery::CutAt(cuts, pause) => (cuts.clone(), *pause),
        Delivery::ByteByByte(count) => ((*offset + 1..=*count).collect(), Duration::from_micros(50)),
    };
    let mut rest = bytes;
    for cut in cuts.into_iter().filter(|cut| (*offset + 1..end).contains(cut)).collect::<Vec<_>>() {
        let (piece, after) = rest.split_at(cut - *offset);
        to.write_all(piece)?;
        thread::sleep(pause);
        *offset = cut;
        rest = after;
    }
    *offset = end;
    to.write_all(rest)
}

/// One record's content in two records, the first with `at` bytes. Returned unchanged when it has no more bytes than that.
fn split_record(record: &[u8], at: usize) -> Vec<u8> {
    let (header, content) = record.split_at(Record::HEADER);
    if at == 0 || at >= content.len() {
        return record.to_vec();
    }
    let version = u16::from_be_bytes([header[1], header[2]]);
    let (front, back) = content.split_at(at);
    [wire::to_records(header[0], version, front), wire::to_records(header[0], version, back)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{Hello, RawPeer, RawServer, ServerReply};

    const PATIENCE: Duration = Duration::from_secs(10);

    /// A hello through a tap to a raw server and the server's answer back; what the server got, and what the tap saw.
    fn exchange(settings: Settings) -> (Conversation, Observed) {
        let server = RawServer::new().unwrap();
        let tap = Tap::start(server.address().unwrap(), settings).unwrap();
        let mut client = RawPeer::connect(tap.address()).unwrap();
        client.send(&Hello { shares: vec![(29, vec![9; 32])], ..Hello::default() }.records()).unwrap();
        let (mut peer, got) = server.accept(PATIENCE).unwrap().unwrap();
        peer.send(&ServerReply { share: Some((29, vec![4; 32])), ..ServerReply::default() }.records()).unwrap();
        assert!(client.answer().unwrap().server_hello().is_some());
        drop((client, peer));
        (got, tap.next(PATIENCE).unwrap())
    }

    #[test]
    fn a_connection_is_reported_when_it_is_over() {
        let (_, observed) = exchange(Settings::default());
        let negotiated = observed.conversation().unwrap().negotiated().unwrap();
        assert_eq!(
            negotiated.to_string(),
            "TLS 1.3, group 0x001D, client share 32 bytes, server share 32 bytes, no retry"
        );
    }

    #[test]
    fn every_delivery_hands_on_the_same_message() {
        let (whole, _) = exchange(Settings::default());
        let pause = Duration::from_millis(2);
        for delivery in [
            Delivery::CutAt(vec![1, 5, 9, 100], pause),
            Delivery::ByteByByte(10_000),
            Delivery::SplitRecord(1),
            Delivery::SplitRecord(50),
            Delivery::SplitRecord(50_000),
        ] {
            let settings = Settings { to_server: delivery.clone(), to_client: delivery.clone(), rewrite: None };
            assert_eq!(exchange(settings).0, whole, "{delivery:?}");
        }
    }

    #[test]
    fn a_record_is_cut_in_two_with_a_header_each() {
        assert_eq!(split_record(&[22, 3, 1, 0, 3, 7, 8, 9], 1), [22, 3, 1, 0, 1, 7, 22, 3, 1, 0, 2, 8, 9]);
    }

    #[test]
    fn a_rewritten_record_arrives_changed_and_is_seen_unchanged() {
        let rewrite = |direction, index, mut record: Vec<u8>| {
            if (direction, index) == (Direction::ToServer, 0) {
                let last = record.len() - 1;
                record[last] ^= 1;
            }
            record
        };
        let (got, observed) = exchange(Settings { rewrite: Some(Arc::new(rewrite)), ..Settings::default() });
        let seen = observed.conversation().unwrap();
        let share = |said: &Conversation| said.client_hellos()[0].share(29).unwrap().to_vec();
        assert_eq!(share(&seen), [9; 32]);
        assert_eq!(share(&got)[31], 8);
    }
}
