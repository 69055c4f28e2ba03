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
        for reader in self.readers.drain(..) {
            // The reader only copies bytes; it has nothing to report.
            drop(reader.join());
        }
        let (stdout, stderr) = self.printed();
        Ok(Finished { status, stdout, stderr })
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
            let count = stream.read(&mut buffer).unwrap_or(0);
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
