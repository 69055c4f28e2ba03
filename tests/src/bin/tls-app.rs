//! An ordinary application that speaks TLS through libssl and has never heard of the engine: openssl.cnf does it all.
//!
//! It holds both ends of its connections, so that what one process does with the engine can be looked at: its error queue,
//! its children, its threads, its memory. The tests of applications run it; the openssl tool would hide mistakes, because
//! it registers every engine by itself.

use engntru_tests::memory;
use engntru_tests::wire::Conversation;
use openssl::error::ErrorStack;
use openssl::ssl::{ErrorCode, Ssl, SslContext, SslFiletype, SslMethod, SslStream, SslVersion};
use sntrup_core::{Sntrup761, Sntrup857};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};

const USAGE: &str = "usage: tls-app CERTIFICATE KEY COMMAND...

  handshakes GROUPS COUNT         connections one after another; the error queue must stay empty
  tampered GROUPS                 a connection whose server share has one bit flipped, then a good one
  fork GROUPS CHILDREN COUNT      connections before a fork, then in each child, in a child of each child, and in the parent
  threads GROUPS COUNT            the first connections of all, in COUNT threads at one moment
  late GROUPS ENGINE              the SSL_CTX is made first, the engine loaded afterwards
  lifetime GROUPS COUNT           connections, then OPENSSL_cleanup: who was destroyed, and what is left in memory

GROUPS is a list for both ends, or CLIENT-LIST/SERVER-LIST, or - for what openssl.cnf says. Each connection prints a line
\"GROUP CLIENT-SHARE SERVER-SHARE SECRET\" with the first 16 bytes of each; the secret is exported keying material.";

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [certificate, key, command @ ..] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let app = App { certificate: (*certificate).to_owned(), key: (*key).to_owned() };
    let done = match command {
        ["handshakes", groups, count] => number(count).and_then(|count| app.handshakes(groups, count)),
        ["tampered", groups] => app.tampered(groups),
        ["fork", groups, children, count] => {
            number(children).and_then(|children| app.fork(groups, children, number(count)?))
        }
        ["threads", groups, count] => number(count).and_then(|count| app.threads(groups, count)),
        ["late", groups, engine] => app.late(groups, engine),
        ["lifetime", groups, count] => number(count).and_then(|count| app.lifetime(groups, count)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tls-app: {error}");
            ExitCode::FAILURE
        }
    }
}

fn number(text: &str) -> Outcome<usize> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number").into())
}

/// One direction of a connection inside the process.
#[derive(Default)]
struct Channel {
    waiting: VecDeque<u8>,
    /// Everything that ever went through.
    all: Vec<u8>,
}

/// One end of a connection inside the process; reading from an empty one would block.
struct Pipe {
    inbox: Rc<RefCell<Channel>>,
    outbox: Rc<RefCell<Channel>>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut inbox = self.inbox.borrow_mut();
        if inbox.waiting.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        inbox.waiting.read(buffer)
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut outbox = self.outbox.borrow_mut();
        outbox.waiting.extend(bytes);
        outbox.all.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The error queue must be empty here; otherwise a later call that would block is taken for a failure.
fn no_errors(when: &str) -> Outcome<()> {
    let errors = ErrorStack::get();
    if errors.errors().is_empty() { Ok(()) } else { Err(format!("the error queue after {when}: {errors}").into()) }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

struct App {
    certificate: String,
    key: String,
}

impl App {
    fn contexts(&self, groups: &str) -> Outcome<(SslContext, SslContext)> {
        let mut client = SslContext::builder(SslMethod::tls_client())?;
        let mut server = SslContext::builder(SslMethod::tls_server())?;
        no_errors("loading the configuration")?;
        server.set_certificate_file(&self.certificate, SslFiletype::PEM)?;
        server.set_private_key_file(&self.key, SslFiletype::PEM)?;
        let (client_groups, server_groups) = groups.split_once('/').unwrap_or((groups, groups));
        for (context, groups) in [(&mut client, client_groups), (&mut server, server_groups)] {
            context.set_min_proto_version(Some(SslVersion::TLS1_3))?;
            if groups != "-" {
                context.set_groups_list(groups)?;
            }
        }
        Ok((client.build(), server.build()))
    }

    /// One connection with data both ways; its line. `tamper` may change what is on its way to the client.
    fn connect(
        &self,
        (client, server): &(SslContext, SslContext),
        tamper: impl Fn(&mut VecDeque<u8>),
    ) -> Outcome<String> {
        let to_server = Rc::new(RefCell::new(Channel::default()));
        let to_client = Rc::new(RefCell::new(Channel::default()));
        let client_end = Pipe { inbox: Rc::clone(&to_client), outbox: Rc::clone(&to_server) };
        let server_end = Pipe { inbox: Rc::clone(&to_server), outbox: Rc::clone(&to_client) };
        let mut client = SslStream::new(Ssl::new(client)?, client_end)?;
        let mut server = SslStream::new(Ssl::new(server)?, server_end)?;
        let (mut client_done, mut server_done) = (false, false);
        while !(client_done && server_done) {
            let before = (to_server.borrow().all.len(), to_client.borrow().all.len(), client_done, server_done);
            if !client_done {
                client_done = step("client", client.connect())?;
            }
            if !server_done {
                server_done = step("server", server.accept())?;
                tamper(&mut to_client.borrow_mut().waiting);
            }
            if before == (to_server.borrow().all.len(), to_client.borrow().all.len(), client_done, server_done) {
                return Err("the handshake stands still".into());
            }
        }
        no_errors("the handshake")?;
        // Nothing but tickets is on its way: reading must say "not yet", and not "failed".
        would_block("client", &mut client)?;
        would_block("server", &mut server)?;
        client.ssl_write(b"ping").map_err(|error| format!("client: write: {error}"))?;
        server.ssl_write(b"pong").map_err(|error| format!("server: write: {error}"))?;
        for (end, stream, expected) in [("server", &mut server, b"ping"), ("client", &mut client, b"pong")] {
            let mut got = [0; 4];
            stream.ssl_read(&mut got).map_err(|error| format!("{end}: read: {error}"))?;
            if got != *expected {
                return Err(format!("{end}: the data came out as {got:?}").into());
            }
        }
        let mut secrets = [[0; 16]; 2];
        client.ssl().export_keying_material(&mut secrets[0], "EXPERIMENTAL engNTRU", None)?;
        server.ssl().export_keying_material(&mut secrets[1], "EXPERIMENTAL engNTRU", None)?;
        if secrets[0] != secrets[1] {
            return Err("the two ends hold different secrets".into());
        }
        no_errors("the connection")?;
        let said = Conversation::read(&to_server.borrow().all, &to_client.borrow().all)?;
        let hello = said.server_hello().ok_or("no ServerHello was seen")?;
        let group = hello.group.ok_or("the ServerHello has no share")?;
        let client_share =
            said.client_hellos().last().and_then(|hello| hello.share(group)).unwrap_or_default().to_vec();
        let server_share = hello.key_exchange.clone().unwrap_or_default();
        Ok(format!("{group:04X} {} {} {}", hex(&client_share), hex(&server_share), hex(&secrets[0])))
    }

    fn handshakes(&self, groups: &str, count: usize) -> Outcome<()> {
        let contexts = self.contexts(groups)?;
        for _ in 0..count {
            say(&self.connect(&contexts, |_| ())?)?;
        }
        Ok(())
    }

    fn tampered(&self, groups: &str) -> Outcome<()> {
        let contexts = self.contexts(groups)?;
        // The last byte of the ServerHello's record is in the key share, which 1.1.1 writes last.
        let result = self.connect(&contexts, |waiting| {
            if let Some(&[_, _, _, high, low]) = waiting.make_contiguous().first_chunk() {
                let end = 5 + usize::from(u16::from_be_bytes([high, low]));
                if waiting.get(5) == Some(&2) {
                    waiting[end - 1] ^= 1;
                }
            }
        });
        match result {
            Ok(line) => return Err(format!("a changed ciphertext was not noticed: {line}").into()),
            Err(error) => say(&format!("refused: {error}"))?,
        }
        no_errors("a failure that was reported")?;
        say(&self.connect(&contexts, |_| ())?)
    }

    fn fork(&self, groups: &str, children: usize, count: usize) -> Outcome<()> {
        let contexts = self.contexts(groups)?;
        say(&self.connect(&contexts, |_| ())?)?;
        let mut pids = Vec::new();
        for _ in 0..children {
            pids.extend(in_child(|| {
                let grandchild = in_child(|| (0..count).try_for_each(|_| say(&self.connect(&contexts, |_| ())?)))?;
                (0..count).try_for_each(|_| say(&self.connect(&contexts, |_| ())?))?;
                wait_for(grandchild)
            })?);
        }
        (0..count).try_for_each(|_| say(&self.connect(&contexts, |_| ())?))?;
        pids.into_iter().try_for_each(|pid| wait_for(Some(pid)))
    }

    fn threads(&self, groups: &str, count: usize) -> Outcome<()> {
        let barrier = Arc::new(Barrier::new(count));
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count)
                .map(|_| {
                    let barrier = Arc::clone(&barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        // The configuration is loaded, and the engine with it, by whichever thread comes first.
                        let contexts = self.contexts(groups)?;
                        self.connect(&contexts, |_| ())
                    })
                })
                .collect();
            for thread in threads {
                say(&thread.join().map_err(|_| "a thread panicked")??)?;
            }
            Ok(())
        })
    }

    fn late(&self, groups: &str, engine: &str) -> Outcome<()> {
        let contexts = self.contexts(groups)?;
        say(&self.connect(&contexts, |_| ())?)?;
        load_engine(engine)?;
        no_errors("loading the engine")?;
        say(&self.connect(&contexts, |_| ())?)
    }

    fn lifetime(&self, groups: &str, count: usize) -> Outcome<()> {
        // SAFETY: the table is static, as OpenSSL demands; no other thread runs.
        if unsafe { RAND_set_rand_method(&raw const COUNTER_METHOD) } != 1 {
            return Err("the random generator could not be replaced".into());
        }
        {
            let contexts = self.contexts(groups)?;
            watch_engine()?;
            for _ in 0..count {
                say(&self.connect(&contexts, |_| ())?)?;
            }
        }
        let mut wanted = memory::Wanted::default();
        for &seed in SEEDS.lock().map_err(|_| "a thread panicked")?.iter() {
            match groups.split([':', '/']).next() {
                Some("sntrup761") => wanted.add_batch::<Sntrup761>(seed, BATCH),
                _ => wanted.add_batch::<Sntrup857>(seed, BATCH),
            }
        }
        let show = |when: &str, found: memory::Found| {
            say(&format!("{when} cleanup: {} f, {} 1/g, {} rho", found.f, found.g_recip, found.rho))
        };
        show("before", wanted.search()?)?;
        // SAFETY: every object of libssl is freed, and nothing of OpenSSL is called afterwards.
        unsafe { OPENSSL_cleanup() };
        show("after", wanted.search()?)?;
        say(&format!("finished {} times", FINISHED.load(Ordering::SeqCst)))?;
        say(&format!("destroyed {} times", DESTROYED.load(Ordering::SeqCst)))
    }
}

/// One write a line, so that the lines of several processes do not mix.
fn say(line: &str) -> Outcome<()> {
    io::stdout().write_all(format!("{line}\n").as_bytes())?;
    Ok(io::stdout().flush()?)
}

/// Whether a side has finished its handshake; waiting for the other side is no failure.
fn step(side: &str, result: Result<(), openssl::ssl::Error>) -> Outcome<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code() == ErrorCode::WANT_READ => Ok(false),
        Err(error) => Err(format!("{side}: {error}").into()),
    }
}

fn would_block(end: &str, stream: &mut SslStream<Pipe>) -> Outcome<()> {
    match stream.ssl_read(&mut [0; 1]) {
        Err(error) if error.code() == ErrorCode::WANT_READ => Ok(()),
        other => Err(format!("{end}: reading without data gave {other:?}").into()),
    }
}

/// Runs `body` in a forked child, which ends with it. Gives the child's process id.
fn in_child(body: impl FnOnce() -> Outcome<()>) -> Outcome<Option<libc::pid_t>> {
    // SAFETY: this process has a single thread, so that the child's copy of it is whole.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error().into()),
        0 => {
            let code = match body() {
                Ok(()) => 0,
                Err(error) => {
                    eprintln!("tls-app: child: {error}");
                    1
                }
            };
            std::process::exit(code)
        }
        pid => Ok(Some(pid)),
    }
}

fn wait_for(pid: Option<libc::pid_t>) -> Outcome<()> {
    let Some(pid) = pid else { return Ok(()) };
    let mut status = 0;
    // SAFETY: pid is a child of this process and is waited for once.
    if unsafe { libc::waitpid(pid, &raw mut status, 0) } != pid {
        return Err(io::Error::last_os_error().into());
    }
    if status == 0 { Ok(()) } else { Err(format!("a child ended with status {status}").into()) }
}

/// ENGINE of OpenSSL, which it alone looks into.
#[repr(C)]
struct Engine {
    _opaque: [u8; 0],
}

type EngineFunction = extern "C" fn(*mut Engine) -> c_int;

/// RAND_METHOD of openssl/rand.h.
#[repr(C)]
struct RandMethod {
    seed: Option<extern "C" fn(*const c_void, c_int) -> c_int>,
    bytes: Option<extern "C" fn(*mut u8, c_int) -> c_int>,
    cleanup: Option<extern "C" fn()>,
    add: Option<extern "C" fn(*const c_void, c_int, f64) -> c_int>,
    pseudorand: Option<extern "C" fn(*mut u8, c_int) -> c_int>,
    status: Option<extern "C" fn() -> c_int>,
}

// openssl/crypto.h, openssl/rand.h and openssl/engine.h: what openssl-sys lacks.
unsafe extern "C" {
    fn OPENSSL_cleanup();
    fn RAND_set_rand_method(method: *const RandMethod) -> c_int;
    fn ENGINE_by_id(id: *const c_char) -> *mut Engine;
    fn ENGINE_free(engine: *mut Engine) -> c_int;
    fn ENGINE_ctrl_cmd_string(engine: *mut Engine, name: *const c_char, value: *const c_char, optional: c_int)
    -> c_int;
    fn ENGINE_set_default_string(engine: *mut Engine, list: *const c_char) -> c_int;
    fn ENGINE_get_finish_function(engine: *const Engine) -> Option<EngineFunction>;
    fn ENGINE_set_finish_function(engine: *mut Engine, function: EngineFunction) -> c_int;
    fn ENGINE_get_destroy_function(engine: *const Engine) -> Option<EngineFunction>;
    fn ENGINE_set_destroy_function(engine: *mut Engine, function: EngineFunction) -> c_int;
}

/// Loads the engine from its file and makes it the default, as a configuration would.
fn load_engine(path: &str) -> Outcome<()> {
    let path = CString::new(path)?;
    // SAFETY: the strings are NUL-terminated and outlive the calls; `engine` is a reference of ours from ENGINE_by_id
    // until ENGINE_free.
    let done = unsafe {
        let engine = ENGINE_by_id(c"dynamic".as_ptr());
        if engine.is_null() {
            return Err(ErrorStack::get().into());
        }
        let command = |name: &CStr, value: Option<&CStr>| {
            ENGINE_ctrl_cmd_string(engine, name.as_ptr(), value.map_or(std::ptr::null(), CStr::as_ptr), 0) == 1
        };
        let done = command(c"SO_PATH", Some(&path))
            && command(c"LIST_ADD", Some(c"2"))
            && command(c"LOAD", None)
            && ENGINE_set_default_string(engine, c"ALL".as_ptr()) == 1;
        ENGINE_free(engine);
        done
    };
    if done { Ok(()) } else { Err(ErrorStack::get().into()) }
}

static FINISHED: AtomicUsize = AtomicUsize::new(0);
static DESTROYED: AtomicUsize = AtomicUsize::new(0);
/// The engine's own functions, as addresses.
static REAL_FINISH: AtomicUsize = AtomicUsize::new(0);
static REAL_DESTROY: AtomicUsize = AtomicUsize::new(0);

/// Counts a call and passes it on to the function at the address in `real`; 0 means that the engine has none.
fn pass_on(engine: *mut Engine, count: &AtomicUsize, real: &AtomicUsize) -> c_int {
    count.fetch_add(1, Ordering::SeqCst);
    match real.load(Ordering::SeqCst) {
        0 => 1,
        address => {
            // SAFETY: watch_engine stored the address of a function of exactly this type, in a library that stays mapped.
            let real = unsafe { std::mem::transmute::<usize, EngineFunction>(address) };
            real(engine)
        }
    }
}

extern "C" fn counted_finish(engine: *mut Engine) -> c_int {
    pass_on(engine, &FINISHED, &REAL_FINISH)
}

extern "C" fn counted_destroy(engine: *mut Engine) -> c_int {
    pass_on(engine, &DESTROYED, &REAL_DESTROY)
}

/// Has the engine's finish and destroy functions counted.
fn watch_engine() -> Outcome<()> {
    // SAFETY: the id is NUL-terminated; `engine` is a reference of ours until ENGINE_free; the functions are never freed.
    unsafe {
        let engine = ENGINE_by_id(c"engntru".as_ptr());
        if engine.is_null() {
            return Err(format!("the engine is not loaded: {}", ErrorStack::get()).into());
        }
        let address = |function: Option<EngineFunction>| function.map_or(0, |function| function as usize);
        REAL_FINISH.store(address(ENGINE_get_finish_function(engine)), Ordering::SeqCst);
        REAL_DESTROY.store(address(ENGINE_get_destroy_function(engine)), Ordering::SeqCst);
        let set = ENGINE_set_finish_function(engine, counted_finish) == 1
            && ENGINE_set_destroy_function(engine, counted_destroy) == 1;
        ENGINE_free(engine);
        if set { Ok(()) } else { Err(ErrorStack::get().into()) }
    }
}

/// Words drawn from the generator so far.
static DRAWN: AtomicU64 = AtomicU64::new(0);

/// The numbers of the first words of all draws that may have been seeds of batches, those of TLS's own random fields among them.
static SEEDS: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Keys in a batch of an engine that is not told otherwise.
const BATCH: NonZeroUsize = NonZeroUsize::new(32).unwrap();

/// Random bytes that can be had again. Good for nothing else.
extern "C" fn counter_bytes(out: *mut u8, count: c_int) -> c_int {
    let Ok(count) = usize::try_from(count) else {
        return 0;
    };
    if count == 0 {
        return 1;
    }
    // SAFETY: OpenSSL hands over a buffer of that many bytes, which nobody else uses meanwhile.
    let out = unsafe { std::slice::from_raw_parts_mut(out, count) };
    let first = DRAWN.fetch_add(out.len().div_ceil(8) as u64, Ordering::SeqCst);
    if out.len() == 8 * memory::SEED_WORDS
        && let Ok(mut seeds) = SEEDS.lock()
    {
        seeds.push(first);
    }
    for (counter, chunk) in (first..).zip(out.chunks_mut(8)) {
        chunk.copy_from_slice(&memory::word(counter).to_le_bytes()[..chunk.len()]);
    }
    1
}

extern "C" fn always_ready() -> c_int {
    1
}

static COUNTER_METHOD: RandMethod = RandMethod {
    seed: None,
    bytes: Some(counter_bytes),
    cleanup: None,
    add: None,
    pseudorand: Some(counter_bytes),
    status: Some(always_ready),
};
