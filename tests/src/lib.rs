//! End-to-end tests: real `openssl` programs, observed on the wire.
//!
//! [`wire`] reads what peers say in the clear, [`tap`] relays and records a connection, [`raw`] sends hellos that are wrong
//! on purpose, [`proc`] runs programs, [`mod@env`] finds the builds under test, [`conf`] writes an openssl.cnf, and [`bed`] puts
//! all of it together for one test; [`apps`] starts unmodified applications and [`backend`] what stands behind them;
//! [`gnome`] starts those of GNOME, and [`show`] is what demo and tests share of them. [`check`] judges an openssl.cnf,
//! [`memory`] looks for secrets, and [`mutate`] damages messages. The programs `tls-tap`, `check-config`, `tls-app` and `demo-app` stand on these.

pub mod apps;
pub mod backend;
pub mod bed;
pub mod check;
pub mod conf;
pub mod env;
pub mod gnome;
pub mod memory;
pub mod mutate;
pub mod proc;
pub mod raw;
pub mod show;
pub mod tap;
pub mod wire;
