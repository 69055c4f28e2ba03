//! Child processes: what they print, how they end, and that none of them outlives its owner.

use std::io::{self, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What a process has printed so far.
#[derive(Default)]
struct Printed {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// Streams that have ended, of two.
    ended: usize,
}

#[derive(Default)]
struct Output {
    printed: Mutex<Printed>,
    changed: Condvar,
}

impl Output {
    fn lock(&self) -> MutexGuard<'_, Printed> {
        self.printed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
}

impl Finished {
    /// Standard output and standard error, one after the other.
    #[must_use]
    pub fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}

/// A running process; dropping it kills it and waits for its end.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    output: Arc<Output>,
    readers: Vec<JoinHandle<()>>,
    description: String,
}

impl Process {
    /// Starts a program with its three streams connected to us.
    ///
    /// # Errors
    /// The program cannot be started; the error names it.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let description = format!("{command:?}");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("cannot start {description}: {error}")))?;
        let output = Arc::new(Output::default());
        let mut readers = Vec::new();
        if let Some(stream) = child.stdout.take() {
            readers.push(collect(stream, Arc::clone(&output), |printed| &mut printed.stdout));
        }
        if let Some(stream) = child.stderr.take() {
            readers.push(collect(stream, Arc::clone(&output), |printed| &mut printed.stderr));
        }
        let stdin = child.stdin.take();
        Ok(Process { child, stdin, output, readers, description })
    }

    /// The process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal by name, for example `HUP`.
    ///
    /// # Panics
    /// It has ended already.
    pub fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Writes to its standard input. A process that has closed it is no error here: its end tells more.
    pub fn say(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// Waits until `pick` finds something in what was printed (standard output, standard error). `None` when the process
    /// ended first or `patience` ran out.
    pub fn wait_for<T>(&self, patience: Duration, pick: impl Fn(&str, &str) -> Option<T>) -> Option<T> {
        let start = Instant::now();
        let mut printed = self.output.lock();
        loop {
            let found = pick(&String::from_utf8_lossy(&printed.stdout), &String::from_utf8_lossy(&printed.stderr));
            if found.is_some() || printed.ended == 2 {
                return found;
            }
            let left = patience.checked_sub(start.elapsed())?;
            let waited = self.output.changed.wait_timeout(printed, left);
            printed = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What was printed so far: standard output and standard error.
    #[must_use]
    pub fn printed(&self) -> (String, String) {
        let printed = self.output.lock();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&printed.stdout), text(&printed.stderr))
    }

    /// Whether it still runs.
    #[must_use]
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It still ran after `patience` and was killed; the error says what it was and what it had printed.
    pub fn finish(mut self, patience: Duration) -> io::Result<Finished> {
        self.stdin = None;
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait()? {
                break status;
            }
            if start.elapsed() > patience {
                let (stdout, stderr) = self.printed();
                let what =
                    format!("{} did not end within {patience:?}; it printed\n{stdout}\n{stderr}", self.description);
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
            thread::sleep(Duration::from_millis(5));
        };
        Ok(self.collected(status))
    }

    /// Kills it and gives everything that it had printed.
    ///
    /// # Errors
    /// The system cannot tell how it ended.
    pub fn stop(mut self) -> io::Result<Finished> {
        // This fails only when it is over already.
        let _ = self.child.kill();
        let status = self.child.wait()?;
        Ok(self.collected(status))
    }

    /// All that was printed, once the process is over: up to the ends of its streams.
    fn collected(&mut self, status: ExitStatus) -> Finished {
        for reader in self.readers.drain(..) {
            // The reader only copies bytes; it has nothing to report.
            drop(reader.join());
        }
        let (stdout, stderr) = self.printed();
        Finished { status, stdout, stderr }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only when the process is over already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn collect(
    mut stream: impl Read + Send + 'static,
    output: Arc<Output>,
    side: fn(&mut Printed) -> &mut Vec<u8>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        loop {
            let count = match stream.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => 0,
            };
            let mut printed = output.lock();
            side(&mut printed).extend_from_slice(&buffer[..count]);
            printed.ended += usize::from(count == 0);
            output.changed.notify_all();
            if count == 0 {
                return;
            }
        }
    })
}

/// Sends a signal to a process by name, for example `HUP`.
///
/// # Panics
/// There is no such process.
pub fn signal(process: u32, name: &str) {
    assert!(try_signal(&process.to_string(), name), "there is no process {process} to get {name}");
}

/// Sends a signal to a process, or with a minus before its id to the group that it leads; whether there was one to get it.
///
/// # Panics
/// There is no shell.
pub fn try_signal(process: &str, name: &str) -> bool {
    // The shell's own command: a small Debian has no other.
    let mut shell = Command::new("sh");
    shell.args(["-c", "kill -s \"$0\" -- \"$1\" 2>/dev/null", name, process]);
    shell.status().expect("a shell").success()
}

/// Whether a process runs: it exists and is not a zombie that nobody has waited for.
#[must_use]
pub fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The state follows the program's name, which stands in parentheses and may hold any character.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Resident memory of a process, in KiB.
///
/// # Panics
/// There is no such process.
#[must_use]
pub fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let value = value.and_then(|value| value.trim().trim_end_matches("kB").trim().parse().ok());
    value.unwrap_or_else(|| panic!("process {process} has no memory to read"))
}

/// A loopback port that nobody listened on a moment ago, for programs that cannot be given port 0.
///
/// # Panics
/// The system refuses a socket.
#[must_use]
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.expect("a loopback socket").port()
}

/// A program that has put itself in the background, by its process id. Dropping it kills it.
#[derive(Debug)]
pub struct Daemon(pub u32);

impl Daemon {
    /// Reads the process id from a file that the program writes, once it is there.
    ///
    /// # Panics
    /// It does not come within `patience`.
    #[must_use]
    pub fn from_pid_file(file: &std::path::Path, patience: Duration) -> Self {
        let id = wait_until(patience, || {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            text.ends_with('\n').then(|| text.trim().parse().ok())?
        });
        Daemon(id.unwrap_or_else(|| panic!("no process id in {}", file.display())))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if runs(self.0) {
            signal(self.0, "KILL");
        }
    }
}

/// Asks again and again until there is an answer. `None` when `patience` has run out.
pub fn wait_until<T>(patience: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() > patience {
            return answer;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Runs a program to its end, with nothing on its standard input.
///
/// # Errors
/// It cannot be started, or takes longer than `patience`.
pub fn run(command: Command, patience: Duration) -> io::Result<Finished> {
    Process::start(command)?.finish(patience)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_program_is_heard_answered_and_waited_for() {
        let mut process = Process::start(shell("echo ready; read line; echo \"got $line\" >&2; exit 3")).unwrap();
        let patience = Duration::from_secs(10);
        assert!(process.wait_for(patience, |stdout, _| stdout.contains("ready").then_some(())).is_some());
        process.say("a word\n");
        let finished = process.finish(patience).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!((finished.stdout.as_str(), finished.stderr.as_str()), ("ready\n", "got a word\n"));
    }

    #[test]
    fn a_dropped_process_is_gone() {
        let process = Process::start(shell("exec sleep 1000")).unwrap();
        let proc_entry = format!("/proc/{}", process.id());
        assert!(std::path::Path::new(&proc_entry).exists());
        drop(process);
        assert!(!std::path::Path::new(&proc_entry).exists());
    }

    #[test]
    fn one_that_takes_too_long_is_killed_and_named() {
        let error = run(shell("echo slow; exec sleep 1000"), Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("sleep 1000") && error.to_string().contains("slow"), "{error}");
    }
}
