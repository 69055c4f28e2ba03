//! The provider through EVP, in plain C programs. Those that the engine runs, too, lie in common/tests/c.

mod common;

use std::fs;

use common::{Place, Target, pass, run, scratch};

on_each_openssl! {
    /// Right answers, an empty error queue after every operation (L6), and an error entry for every misuse.
    fn operations(target) {
        pass("operations", target.command("operations").arg("3"));
    }

    /// Loaded twice, in one library context and in several, ended, loaded again; settings, read-outs, refusals.
    fn lifetime(target) {
        pass("lifetime", &mut target.command("lifetime"));
    }

    /// 64 threads make the first call of all (P4), threads share a key, threads end after the provider was unloaded (L7).
    fn threads(target) {
        pass("threads", &mut target.command("threads"));
    }

    /// A fork while other threads encapsulate to a key object: the child can use the object.
    fn fork_shared(target) {
        pass("fork_shared", &mut target.command("fork_shared"));
    }

    /// A filled stock, 8 forked children, two of them nested deeper, 64 keys each: no key and no secret twice (P1).
    fn forks(target) {
        let records = scratch().join(format!("{}-forks.records", target.name));
        pass("forks", target.command("forks").arg(&records));
        fs::remove_file(records).expect("the program wrote its records");
    }

    /// The background refill: no thread unless set, and none after the provider ended.
    fn refill(target) {
        pass("refill", target.command("refill").arg("life"));
    }

    /// Forks beside the thread that refills: children's keys are their own, and their exit waits for no thread.
    fn refill_forks(target) {
        pass("refill", target.command("refill").arg("forks"));
    }

    /// The process exits while the thread refills: it is waited for, but not where it can never end. OpenSSL 4 does not end
    /// the provider then.
    fn refill_exit(target) {
        pass("refill", target.command("refill").arg("exit"));
        let lines = ["BATCH_SIZE = 64", "BACKGROUND_REFILL = on"];
        let configuration = target.configuration("refill", &lines);
        pass("refill", target.command("refill").arg("configured").env("OPENSSL_CONF", configuration));
    }

    /// The random generator fails at its n-th call, for every n, or blocks (K6).
    fn random(target) {
        pass("random", &mut target.command("random"));
    }

    /// 1000 exchanges, then the end of the provider: the stocked secrets are gone from memory (L8).
    fn memory(target) {
        pass("memory", target.command("memory").arg("1000"));
    }

    /// The deepest stack of each operation is under 16 KiB.
    fn stack(target) {
        let report = pass("stack", &mut target.command("stack"));
        println!("OpenSSL {}:\n{report}", target.name);
    }
}

/// An injected panic comes back as an error, in every callback, with the process alive and its message unprinted (L9).
#[test]
fn panics() {
    let system = Target::system();
    let target = Target { module: system.fault_injection("libntruprime.so"), place: Place::System, name: system.name };
    let (output, stdout, stderr) = run(target.command("panics").env("RUST_BACKTRACE", "1"));
    assert!(output.status.success() && stdout.ends_with("panics: ok\n"), "{}\n{stdout}\n{stderr}", output.status);
    assert_eq!(stderr, "", "a panic must print nothing");
}

/// No invalid access and no lost memory in operations and in the provider's life.
#[test]
fn valgrind() {
    let target = Target::system();
    pass("operations", target.command_under_valgrind("operations").arg("2"));
    pass("lifetime", &mut target.command_under_valgrind("lifetime"));
}
