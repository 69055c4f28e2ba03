//! Reads a profile in callgrind's format: the total, and the inclusive instructions of our kernels by call.

use std::collections::{BTreeMap, HashMap};

/// Functions below this many instructions for a call are not told apart.
const SMALLEST: u64 = 500;

/// The calls of one function, from all its callers.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) count: u64,
    /// Instructions in the function and in what it calls.
    pub(crate) instructions: u64,
}

/// What one profile says.
pub(crate) struct Profile {
    /// The name that the request to write the profile gave; none for the one written at the end of the run.
    pub(crate) name: Option<String>,
    /// Instructions in all.
    pub(crate) total: u64,
    /// Our kernels of a certain size, by name.
    pub(crate) calls: BTreeMap<String, Calls>,
}

impl Profile {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut name = None;
        let mut total = None;
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut calls: BTreeMap<String, Calls> = BTreeMap::new();
        let mut callee = "";
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(trigger) = line.strip_prefix("desc: Trigger: Client Request: ") {
                name = Some(trigger.to_owned());
            } else if let Some(sum) = line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")) {
                total = Some(number(sum)?);
            } else if let Some(function) = line.strip_prefix("fn=") {
                resolve(&mut names, function);
            } else if let Some(function) = line.strip_prefix("cfn=") {
                callee = resolve(&mut names, function);
            } else if let Some(call) = line.strip_prefix("calls=") {
                // The next line is the place of the call and the inclusive cost of all these calls.
                let cost = lines.next().and_then(|line| line.split_ascii_whitespace().nth(1)).unwrap_or("");
                if let Some(kernel) = kernel(callee) {
                    let entry = calls.entry(kernel).or_default();
                    entry.count += number(call)?;
                    entry.instructions += number(cost)?;
                }
            }
        }
        calls.retain(|_, calls| calls.instructions >= SMALLEST * calls.count);
        Ok(Profile { name, total: total.ok_or("the profile has no total")?, calls })
    }
}

/// The name behind "(id) name" or "(id)"; a name is given once, with its first id.
fn resolve<'a>(names: &mut HashMap<&'a str, &'a str>, function: &'a str) -> &'a str {
    match function.split_once(' ') {
        Some((id, name)) => {
            names.insert(id, name);
            name
        }
        None => names.get(function).copied().unwrap_or(function),
    }
}

/// The name of a function of the backends as it stands in the record, without the name of the crate; none for others.
fn kernel(function: &str) -> Option<String> {
    // Callgrind adds 'N to the name at the N-th level of recursion.
    let function = function.split('\'').next().unwrap_or(function);
    let kernel = function.trim_start_matches('<').starts_with("sntrup_core::backend::");
    kernel.then(|| function.replace("sntrup_core::", ""))
}

fn number(text: &str) -> Result<u64, String> {
    let digits = text.split_ascii_whitespace().next().unwrap_or("");
    digits.parse().map_err(|_| format!("expected a number, found {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_function_are_added_up_over_its_callers() {
        let text = "desc: Trigger: Client Request: keygen\nfn=(1) main\n3 5\ncfn=(2) <sntrup_core::backend::A as sntrup_core::B>::mul\ncalls=2 0\n\
                    4 3000\nfn=(3) other\ncfn=(2)\ncalls=1 0\n9 1500\ncfn=(4) sntrup_core::backend::tiny\ncalls=1 0\n9 20\n\
                    cfn=(5) sntrup_core::kem::hide\ncalls=1 0\n9 9999\ntotals: 20000\n";
        let profile = Profile::parse(text).unwrap();
        assert_eq!((profile.name.as_deref(), profile.total), (Some("keygen"), 20000));
        let expected = [("<backend::A as B>::mul".to_owned(), Calls { count: 3, instructions: 4500 })];
        assert_eq!(profile.calls, BTreeMap::from(expected));
    }

    #[test]
    fn a_profile_without_a_total_is_refused() {
        assert!(Profile::parse("fn=(1) main\n").is_err());
    }
}
