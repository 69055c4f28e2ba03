//! Reads an openssl.cnf exactly as OpenSSL 1.1.1 does (crypto/conf/conf_def.c), and remembers where everything stood.
//!
//! Worth knowing: a section goes on through `.include`; of two lines with one name in one section the later one counts;
//! an include that is missing is passed over; and one malformed line makes OpenSSL ignore the file as a whole.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Includes may nest this deep here; OpenSSL itself would go round in circles.
const MAX_DEPTH: usize = 10;

/// The section of the lines above the first `[section]` line.
pub const DEFAULT: &str = "default";

/// A line of a file, or a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: Rc<Path>,
    /// The line, counted from 1; for a continued line its first one. 0: the file as a whole.
    pub line: usize,
}

impl Place {
    /// A file as a whole.
    #[must_use]
    pub fn whole(file: &Path) -> Self {
        Place { file: file.into(), line: 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(out, "{}", self.file.display()),
            line => write!(out, "{}:{line}", self.file.display()),
        }
    }
}

/// `name = value` in a section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The section it belongs to.
    pub section: String,
    /// The name.
    pub name: String,
    /// The value, without quotes and with variables filled in.
    pub value: String,
    /// Where it stands.
    pub place: Place,
}

/// Something that the reader itself noticed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub advice: String,
}

/// A configuration as OpenSSL sees it.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Entries that count, in OpenSSL's order.
    pub entries: Vec<Entry>,
    /// Entries that a later line with the same name in the same section has replaced, each with that line's place.
    pub replaced: Vec<(Entry, Place)>,
    /// Sections by name, with the place of their first `[section]` line; [`DEFAULT`] has none.
    pub sections: Vec<(String, Option<Place>)>,
    /// Includes that are passed over.
    pub warnings: Vec<Problem>,
}

impl Config {
    /// The value that OpenSSL finds for a name in a section, without falling back to another section.
    #[must_use]
    pub fn get(&self, section: &str, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.section == section && entry.name == name)
    }

    /// All entries of a section, in order; `None` when there is no such section.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<Vec<&Entry>> {
        let known = self.sections.iter().any(|(section, _)| section == name);
        known.then(|| self.entries.iter().filter(|entry| entry.section == name).collect())
    }

    /// The place of a section's head.
    #[must_use]
    pub fn head(&self, name: &str) -> Option<&Place> {
        self.sections.iter().find(|(section, _)| section == name).and_then(|(_, place)| place.as_ref())
    }

    /// Reads a file and all that it includes.
    ///
    /// # Errors
    /// The line that makes OpenSSL give up on the whole file.
    pub fn read(file: &Path) -> Result<Self, Problem> {
        let mut config = Config { sections: vec![(DEFAULT.to_owned(), None)], ..Config::default() };
        let bytes = std::fs::read(file).map_err(|error| Problem {
            place: Place::whole(file),
            what: format!("the file cannot be read ({error}), and OpenSSL goes on without it in silence"),
            advice: "check the path and the permissions".to_owned(),
        })?;
        let mut section = DEFAULT.to_owned();
        config.read_text(file, &bytes, &mut section, 0)?;
        Ok(config)
    }

    fn read_text(&mut self, file: &Path, bytes: &[u8], section: &mut String, depth: usize) -> Result<(), Problem> {
        let file: Rc<Path> = file.into();
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        // OpenSSL's strings end at a NUL byte.
        let mut lines =
            text.split('\n').map(|line| line.trim_end_matches('\r').split('\0').next().unwrap_or("")).enumerate();
        while let Some((index, line)) = lines.next() {
            let mut logical = line.to_owned();
            while logical.ends_with('\\') && !logical.ends_with("\\\\") {
                logical.pop();
                match lines.next() {
                    Some((_, more)) => logical.push_str(more),
                    None => break,
                }
            }
            let place = Place { file: Rc::clone(&file), line: index + 1 };
            self.read_line(&logical, &place, section, depth)?;
        }
        Ok(())
    }

    fn read_line(&mut self, line: &str, place: &Place, section: &mut String, depth: usize) -> Result<(), Problem> {
        let fail = |what: &str, advice: &str| Problem {
            place: place.clone(),
            what: format!("{what}, and OpenSSL ignores the whole file"),
            advice: advice.to_owned(),
        };
        let line = without_comment(line).trim_matches(is_space);
        if line.is_empty() {
            return Ok(());
        }
        if let Some(rest) = line.strip_prefix('[') {
            let (name, after) = rest
                .split_once(']')
                .filter(|(name, _)| name.chars().all(|c| is_name(c) || is_space(c)))
                .ok_or_else(|| fail("the section line has no closing ]", "write [name]"))?;
            let name =
                self.expand(name.trim_matches(is_space), section).map_err(|(what, advice)| fail(&what, &advice))?;
            section.clone_from(&name);
            if !self.sections.iter().any(|(known, _)| *known == name) {
                self.sections.push((name, Some(place.clone())));
            }
            if !after.trim_matches(is_space).is_empty() {
                self.warnings.push(Problem {
                    place: place.clone(),
                    what: format!(
                        "OpenSSL ignores \"{}\", which follows the section's name",
                        after.trim_matches(is_space)
                    ),
                    advice: "put it on a line of its own".to_owned(),
                });
            }
            return Ok(());
        }
        let (first, rest) = split_name(line);
        if first == ".include" && rest.starts_with(|c| is_space(c) || c == '=') {
            let path = rest.trim_start_matches(is_space);
            let path = path.strip_prefix('=').unwrap_or(path).trim_matches(is_space);
            let path = self.expand(path, section).map_err(|(what, advice)| fail(&what, &advice))?;
            return self.include(&path, place, section, depth);
        }
        let (target, name, rest) = match rest.strip_prefix("::") {
            Some(after) => {
                let (name, rest) = split_name(after);
                (first, name, rest)
            }
            None => (section.as_str(), first, rest),
        };
        let value = rest
            .trim_start_matches(is_space)
            .strip_prefix('=')
            .ok_or_else(|| fail("the line has no equal sign", "write name = value, or put # in front of a comment"))?;
        let value = self.expand(value.trim_matches(is_space), target).map_err(|(what, advice)| fail(&what, &advice))?;
        let target = target.to_owned();
        if !self.sections.iter().any(|(known, _)| *known == target) {
            self.sections.push((target.clone(), Some(place.clone())));
        }
        let entry = Entry { section: target, name: name.to_owned(), value, place: place.clone() };
        let same = |old: &Entry| old.section == entry.section && old.name == entry.name;
        if let Some(old) = self.entries.iter().position(same) {
            let old = self.entries.remove(old);
            self.replaced.push((old, place.clone()));
        }
        self.entries.push(entry);
        Ok(())
    }

    fn include(&mut self, path: &str, place: &Place, section: &mut String, depth: usize) -> Result<(), Problem> {
        let problem = |what: String, advice: &str| Problem { place: place.clone(), what, advice: advice.to_owned() };
        if depth >= MAX_DEPTH {
            return Err(problem("includes nest too deep, perhaps in a circle".to_owned(), "take this include out"));
        }
        let path = PathBuf::from(path);
        let files = if path.is_dir() {
            let listing = std::fs::read_dir(&path).map(|listing| listing.flatten().map(|found| found.path()).collect());
            let mut files: Vec<PathBuf> = listing.unwrap_or_default();
            files.retain(|file| file.extension().is_some_and(|suffix| suffix == "cnf" || suffix == "conf"));
            files.sort();
            files
        } else {
            vec![path]
        };
        for file in files {
            match std::fs::read(&file) {
                Ok(bytes) => self.read_text(&file, &bytes, section, depth + 1)?,
                Err(error) => self.warnings.push(problem(
                    format!("{} cannot be read ({error}), and OpenSSL passes over it in silence", file.display()),
                    "check the path, which is taken from the program's working directory when it is not absolute",
                )),
            }
        }
        Ok(())
    }

    /// Takes quotes and backslashes away and fills variables in. The error says what is wrong and what to do.
    fn expand(&self, text: &str, section: &str) -> Result<String, (String, String)> {
        let mut out = String::new();
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            match c {
                '"' | '\'' | '`' => {
                    while let Some(inner) = rest.next() {
                        match inner {
                            quote if quote == c => break,
                            '\\' => out.extend(rest.next()),
                            other => out.push(other),
                        }
                    }
                }
                '\\' => match rest.next() {
                    Some('r') => out.push('\r'),
                    Some('n') => out.push('\n'),
                    Some('b') => out.push('\x08'),
                    Some('t') => out.push('\t'),
                    Some(other) => out.push(other),
                    None => break,
                },
                '$' => {
                    let close = match rest.peek() {
                        Some('{') => Some('}'),
                        Some('(') => Some(')'),
                        _ => None,
                    };
                    if close.is_some() {
                        rest.next();
                    }
                    let mut word = || {
                        let mut word = String::new();
                        while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                            word.push(c);
                        }
                        word
                    };
                    let mut name = word();
                    let mut from = section.to_owned();
                    if rest.clone().take(2).eq("::".chars()) {
                        rest.nth(1);
                        from = std::mem::take(&mut name);
                        while let Some(c) = rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                            name.push(c);
                        }
                    }
                    if let Some(close) = close
                        && rest.next() != Some(close)
                    {
                        return Err((format!("the variable {name} has no closing {close}"), format!("add {close}")));
                    }
                    out.push_str(&self.variable(&from, &name)?);
                }
                other => out.push(other),
            }
        }
        Ok(out)
    }

    fn variable(&self, section: &str, name: &str) -> Result<String, (String, String)> {
        if let Some(entry) = self.get(section, name) {
            return Ok(entry.value.clone());
        }
        let from_environment = || {
            if section == "ENV" { std::env::var(name).ok() } else { None }
        };
        if let Some(value) = from_environment() {
            return Ok(value);
        }
        match self.get(DEFAULT, name) {
            Some(entry) => Ok(entry.value.clone()),
            None if section == "ENV" => Err((
                format!("the environment has no variable {name}"),
                format!("set {name} wherever a program runs, or write its value here"),
            )),
            None => Err((
                format!("the variable ${name} has no value"),
                format!("define {name} above this line, or write \\$"),
            )),
        }
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_!%&*+,-./;?@^|~".contains(c)
}

/// The name at the front of a line, and the rest.
fn split_name(line: &str) -> (&str, &str) {
    line.split_at(line.find(|c| !is_name(c)).unwrap_or(line.len()))
}

/// The line up to its `#`, unless that stands in quotes or behind a backslash.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if let Some(open) = quote {
            if c == open {
                quote = None;
            }
        } else if matches!(c, '"' | '\'' | '`') {
            quote = Some(c);
        } else if c == '#' {
            return &line[..at];
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Problem> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("openssl.cnf");
        std::fs::write(&file, text).unwrap();
        Config::read(&file)
    }

    fn value(config: &Config, section: &str, name: &str) -> String {
        config.get(section, name).map(|entry| entry.value.clone()).unwrap_or_default()
    }

    #[test]
    fn values_are_read_as_openssl_reads_them() {
        let config = read(concat!(
            "\u{feff}first = one # comment\n",
            "long = a \\\n  b\n",
            "quoted = \"x # y\" z\n",
            "other::name = there\n",
            "[ a section ] \n",
            "path = $first/${other::name}/$(first)\n",
            "back\\slash = no\n",
        ));
        // A backslash is no part of a name.
        assert_eq!(config.unwrap_err().place.line, 8);
        let config = read(concat!(
            "\u{feff}first = one # comment\r\n",
            "long = a \\\n  b\n",
            "quoted = \"x # y\" z\n",
            "other::name = there\n",
            "[ a section ]\n",
            "path = $first/${other::name}/$(first)\n",
            "escaped = \\$first\\n\n",
        ))
        .unwrap();
        assert_eq!(value(&config, DEFAULT, "first"), "one");
        assert_eq!(value(&config, DEFAULT, "long"), "a   b");
        assert_eq!(value(&config, DEFAULT, "quoted"), "x # y z");
        assert_eq!(value(&config, "other", "name"), "there");
        assert_eq!(value(&config, "a section", "path"), "one/there/one");
        assert_eq!(value(&config, "a section", "escaped"), "$first\n");
        assert_eq!(config.get("a section", "path").unwrap().place.line, 7);
    }

    #[test]
    fn the_later_of_two_lines_counts_and_moves_to_the_end() {
        let config = read("[s]\na = 1\nb = 2\na = 3\n").unwrap();
        let names: Vec<_> = config.section("s").unwrap().iter().map(|entry| entry.value.clone()).collect();
        assert_eq!(names, ["2", "3"]);
        let [(old, new)] = config.replaced.as_slice() else { panic!("{config:?}") };
        assert_eq!((old.place.line, new.line), (2, 4));
    }

    #[test]
    fn malformed_lines_end_the_reading_with_their_number() {
        for (text, line) in [
            ("a = 1\nnonsense\n", 2),
            ("[open\n", 1),
            ("a = 1\n\nb = $nothing\n", 3),
            ("a = ${b\n", 1),
            ("a = $ENV::ENGNTRU_NO_SUCH_VARIABLE\n", 1),
        ] {
            assert_eq!(read(text).unwrap_err().place.line, line, "{text}");
        }
    }

    #[test]
    fn includes_go_on_in_the_same_section() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner.cnf");
        std::fs::write(&inner, "b = 2\n[next]\n").unwrap();
        let outer = directory.path().join("outer.cnf");
        let missing = directory.path().join("missing.cnf");
        let text = format!("[s]\na = 1\n.include {}\nc = 3\n.include = {}\n", inner.display(), missing.display());
        std::fs::write(&outer, text).unwrap();
        let config = Config::read(&outer).unwrap();
        assert_eq!(value(&config, "s", "b"), "2");
        assert_eq!(value(&config, "next", "c"), "3");
        assert_eq!(config.get("s", "b").unwrap().place.to_string(), format!("{}:1", inner.display()));
        assert_eq!(config.warnings.len(), 1);
        assert_eq!(config.warnings[0].place.line, 5);
        std::fs::write(&inner, format!(".include {}\n", inner.display())).unwrap();
        assert!(Config::read(&outer).is_err());
    }
}
