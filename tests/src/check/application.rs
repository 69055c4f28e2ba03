//! The groups in the configuration of stunnel, nginx, haproxy or curl: each has words of its own for them.

use super::parse::Place;
use super::proof::Prober;
use super::rules::fault_in_groups;
use super::{Finding, Report};
use crate::bed::KEMS;
use std::path::Path;

/// Judges the groups in an application's configuration, with the help of the patched `openssl` program. Which application it
/// belongs to is seen from its lines.
///
/// # Errors
/// The file cannot be read or belongs to none of the four, or that program cannot be run.
pub fn check_application(file: &Path, openssl: &Path) -> Result<Report, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines: Vec<Line<'_>> = Line::all(file, &text);
    let mut judge = Judge { prober: Prober::new(openssl)?, report: Report::default() };
    let starts = |words: &[&str]| lines.iter().any(|line| words.iter().any(|word| line.text.starts_with(word)));
    // haproxy's sections have names without brackets or braces; the words of the others end in one.
    if starts(&["frontend ", "listen ", "backend ", "defaults"]) && !text.contains('{') {
        judge.haproxy(&lines)?;
    } else if text.contains('{') && starts(&["http", "server", "events", "ssl_", "stream"]) {
        judge.nginx(file, &lines)?;
    } else if starts(&["["]) && text.contains('=') {
        judge.stunnel(&lines)?;
    } else if file.file_name().is_some_and(|name| name.to_string_lossy().ends_with("curlrc")) {
        judge.curl(file, &lines)?;
    } else {
        let known = "stunnel, nginx or haproxy, nor a curlrc";
        return Err(format!("{} is no configuration of {known} that I understand", file.display()));
    }
    Ok(judge.report)
}

/// A line without its comment and the space around it.
struct Line<'a> {
    place: Place,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn all(file: &Path, text: &'a str) -> Vec<Self> {
        let file = file.into();
        let lines = text.lines().enumerate().map(|(index, line)| Line {
            place: Place { file: std::rc::Rc::clone(&file), line: index + 1 },
            // A semicolon starts a comment in stunnel's files only at the start of a line.
            text: line.split('#').next().unwrap_or_default().trim(),
        });
        lines.filter(|line| !line.text.is_empty() && !line.text.starts_with(';')).collect()
    }
}

struct Judge {
    prober: Prober,
    report: Report,
}

impl Judge {
    fn error(&mut self, place: &Place, what: String, advice: &str) {
        self.report.findings.push(Finding::error(Some(place), what, advice));
    }

    /// A list of groups, under the application's name for it.
    fn groups(&mut self, place: &Place, option: &str, list: &str) -> Result<(), String> {
        if let Some((what, advice)) = fault_in_groups(&self.prober, list)? {
            self.error(place, format!("{option}: {what}"), &advice);
        } else if KEMS.iter().any(|kem| list.split(':').any(|name| name == kem.name)) {
            self.report.facts.push(format!("{place}: {option} lists {list}"));
        } else {
            let what = format!("{option} names none of the engine's groups");
            self.error(place, what, "put sntrup761 or sntrup857 in front");
        }
        Ok(())
    }

    /// Nothing in the application says which groups: openssl.cnf does.
    fn left_to_openssl(&mut self, place: &Place, option: &str) {
        let what = format!("no {option} here, so that Groups in openssl.cnf decides");
        self.report.findings.push(Finding::note(Some(place), what, "check that file too"));
    }

    /// stunnel sets a list of its own when a service has none, so that every service needs one.
    fn stunnel(&mut self, lines: &[Line<'_>]) -> Result<(), String> {
        // What stands before the first section holds for all that say nothing else.
        let mut general = false;
        let mut service: Option<(&Line<'_>, bool)> = None;
        for line in lines {
            if line.text.starts_with('[') {
                self.service_ends(service.take(), general);
                service = Some((line, false));
            } else if let Some((name, value)) = line.text.split_once('=') {
                match name.trim().to_ascii_lowercase().as_str() {
                    "curves" | "curve" => {
                        match &mut service {
                            Some((_, listed)) => *listed = true,
                            None => general = true,
                        }
                        self.groups(&line.place, "curves", value.trim())?;
                    }
                    "sslversionmax" | "sslversion" if !["all", "TLSv1.3"].contains(&value.trim()) => {
                        self.error(&line.place, format!("{} switches TLS 1.3 off", line.text), "allow TLSv1.3");
                    }
                    "options" if value.trim() == "NO_TLSv1.3" => {
                        self.error(&line.place, format!("{} switches TLS 1.3 off", line.text), "take it out");
                    }
                    _ => {}
                }
            }
        }
        self.service_ends(service, general);
        Ok(())
    }

    fn service_ends(&mut self, service: Option<(&Line<'_>, bool)>, general: bool) {
        if let Some((head, false)) = service
            && !general
        {
            let what =
                format!("{} has no curves: stunnel then takes a list of its own, whatever openssl.cnf says", head.text);
            self.error(&head.place, what, "add curves = sntrup761:X25519");
        }
    }

    fn nginx(&mut self, file: &Path, lines: &[Line<'_>]) -> Result<(), String> {
        let mut listed = false;
        // Which sides speak TLS, and which of them are told the versions.
        let (mut server, mut client) = ((false, false), (false, false));
        for line in lines {
            let mut words = line.text.trim_end_matches([';', '}']).split_whitespace();
            match words.next() {
                Some("listen") => server.0 |= words.any(|word| word.trim_end_matches(';') == "ssl"),
                Some("proxy_pass") => client.0 |= words.any(|word| word.starts_with("https:")),
                Some("ssl_ecdh_curve") => {
                    listed = true;
                    match words.next().unwrap_or_default().trim_end_matches(';') {
                        "auto" => self.left_to_openssl(&line.place, "list in ssl_ecdh_curve"),
                        list => self.groups(&line.place, "ssl_ecdh_curve", list)?,
                    }
                }
                Some(option @ ("ssl_protocols" | "proxy_ssl_protocols")) => {
                    let side = if option == "ssl_protocols" { &mut server } else { &mut client };
                    side.1 = true;
                    if !words.any(|word| word.trim_end_matches(';') == "TLSv1.3") {
                        self.error(&line.place, format!("{option} leaves TLS 1.3 out"), "add TLSv1.3");
                    }
                }
                _ => {}
            }
        }
        for ((speaks, told), option) in [(server, "ssl_protocols"), (client, "proxy_ssl_protocols")] {
            if speaks && !told {
                let what = format!("no {option} here, and nginx before 1.23.4 then leaves TLS 1.3 out");
                let advice = format!("add {option} TLSv1.2 TLSv1.3");
                self.report.findings.push(Finding::note(Some(&Place::whole(file)), what, advice));
            }
        }
        if !listed {
            self.left_to_openssl(&Place::whole(file), "ssl_ecdh_curve");
        }
        Ok(())
    }

    fn haproxy(&mut self, lines: &[Line<'_>]) -> Result<(), String> {
        for line in lines {
            let words: Vec<&str> = line.text.split_whitespace().collect();
            let is_tls =
                words.contains(&"ssl") && matches!(words.first(), Some(&("bind" | "server" | "default-server")));
            if !is_tls {
                continue;
            }
            let after = |option: &str| words.iter().skip_while(|word| **word != option).nth(1).copied();
            match after("curves") {
                Some(list) => self.groups(&line.place, "curves", list)?,
                None => self.left_to_openssl(&line.place, "curves"),
            }
            if words.contains(&"no-tlsv13") || after("ssl-max-ver").is_some_and(|version| version != "TLSv1.3") {
                self.error(&line.place, "this line switches TLS 1.3 off".to_owned(), "allow TLSv1.3");
            }
        }
        Ok(())
    }

    /// curl's own file has its long options, with or without dashes, and a space, a colon or an equal sign before the value.
    fn curl(&mut self, file: &Path, lines: &[Line<'_>]) -> Result<(), String> {
        let mut listed = false;
        for line in lines {
            let text = line.text.trim_start_matches('-');
            let (option, value) = text.split_once([' ', '\t', '=', ':']).unwrap_or((text, ""));
            let value = value.trim_matches([' ', '\t', '=', ':']).trim_matches('"');
            match option {
                "curves" => {
                    listed = true;
                    self.groups(&line.place, "curves", value)?;
                }
                "tls-max" if !["1.3", "default"].contains(&value) => {
                    self.error(&line.place, format!("{} switches TLS 1.3 off", line.text), "allow 1.3");
                }
                _ => {}
            }
        }
        if !listed {
            self.left_to_openssl(&Place::whole(file), "curves");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_left_out_and_numbers_kept() {
        let lines = Line::all(Path::new("a"), "; one\n\n[web] # two\n  curves = X25519\n");
        let read: Vec<_> = lines.iter().map(|line| (line.place.line, line.text)).collect();
        assert_eq!(read, [(3, "[web]"), (4, "curves = X25519")]);
    }
}
