//! Writes an openssl.cnf that loads the engine or the provider and lists groups, the way the README tells a user to.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The lines of a configuration that a test may want to change.
#[derive(Clone, Debug, Default)]
pub struct Conf {
    /// Lines of the engine's section, in order; without any there is no `engines` module.
    pub engine: Vec<String>,
    /// Lines of the provider's section, in order; without any there is no `providers` module. The default provider is
    /// activated with it.
    pub provider: Vec<String>,
    /// Lines of the section that `system_default` names, in order; without any there is no `ssl_conf` module.
    pub ssl: Vec<String>,
}

impl Conf {
    /// Loads the engine from `path` and makes it the default for its algorithms.
    #[must_use]
    pub fn engine(path: &Path) -> Self {
        let engine = vec![
            "engine_id = engntru".to_owned(),
            format!("dynamic_path = {}", path.display()),
            "default_algorithms = ALL".to_owned(),
        ];
        Conf { engine, ..Conf::default() }
    }

    /// Loads the provider from `path` beside the default one.
    #[must_use]
    pub fn provider(path: &Path) -> Self {
        let provider = vec![format!("module = {}", path.display()), "activate = 1".to_owned()];
        Conf { provider, ..Conf::default() }
    }

    /// One more line for the provider: a setting.
    #[must_use]
    pub fn setting(mut self, line: &str) -> Self {
        self.provider.push(line.to_owned());
        self
    }

    /// One more line for the engine: a control command.
    #[must_use]
    pub fn command(mut self, line: &str) -> Self {
        self.engine.push(line.to_owned());
        self
    }

    /// The group list that every program gets that does not set its own.
    #[must_use]
    pub fn groups(mut self, list: &str) -> Self {
        self.ssl.push(format!("Groups = {list}"));
        self
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, path: PathBuf) -> io::Result<PathBuf> {
        std::fs::write(&path, self.to_string())?;
        Ok(path)
    }
}

impl fmt::Display for Conf {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "openssl_conf = openssl_init\n\n[openssl_init]")?;
        if !self.engine.is_empty() {
            writeln!(out, "engines = engines")?;
        }
        if !self.provider.is_empty() {
            writeln!(out, "providers = providers")?;
        }
        if !self.ssl.is_empty() {
            writeln!(out, "ssl_conf = ssl")?;
        }
        if !self.engine.is_empty() {
            writeln!(out, "\n[engines]\nengntru = engntru\n\n[engntru]\n{}", self.engine.join("\n"))?;
        }
        if !self.provider.is_empty() {
            writeln!(out, "\n[providers]\ndefault = default_provider\nntruprime = ntruprime")?;
            writeln!(out, "\n[default_provider]\nactivate = 1\n\n[ntruprime]\n{}", self.provider.join("\n"))?;
        }
        if !self.ssl.is_empty() {
            writeln!(out, "\n[ssl]\nsystem_default = tls\n\n[tls]\n{}", self.ssl.join("\n"))?;
        }
        Ok(())
    }
}
