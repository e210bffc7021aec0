//! From a `[rules.<id>]` table of lint.toml to the options of a rule. Every mistake is reported, not the first alone.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::Problem;

/// The options of a rule, as fields that know their key, range and meaning.
pub trait Options: Default {
    fn fields(&mut self, fields: &mut Fields<'_>);
}

/// What `cudalint init` and the documentation say about an option.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionDoc {
    pub key: &'static str,
    pub doc: &'static str,
    /// As TOML.
    pub default: String,
}

/// Hands each field of a rule its value from the table, or its description to whoever asks.
#[derive(Debug)]
pub struct Fields<'a> {
    table: Option<&'a DeTable<'a>>,
    docs: Vec<OptionDoc>,
    problems: Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// `None`: all options keep their defaults.
    pub fn new(table: Option<&'a DeTable<'a>>) -> Self {
        Self { table, docs: Vec::new(), problems: Vec::new() }
    }

    /// A number with a fraction.
    pub fn number(&mut self, key: &'static str, doc: &'static str, value: &mut f64, range: RangeInclusive<f64>) {
        self.docs.push(OptionDoc { key, doc, default: format!("{value:?}") });
        let Some(found) = self.find(key) else { return };
        match as_number(found.get_ref()) {
            Some(number) if range.contains(&number) => *value = number,
            _ => self.refuse(key, found, &format!("a number from {} to {}", range.start(), range.end())),
        }
    }

    /// A whole number.
    pub fn count(&mut self, key: &'static str, doc: &'static str, value: &mut u32, range: RangeInclusive<u32>) {
        self.docs.push(OptionDoc { key, doc, default: value.to_string() });
        let Some(found) = self.find(key) else { return };
        let number = found.get_ref().as_integer().and_then(|i| u32::from_str_radix(i.as_str(), i.radix()).ok());
        match number {
            Some(number) if range.contains(&number) => *value = number,
            _ => self.refuse(key, found, &format!("a whole number from {} to {}", range.start(), range.end())),
        }
    }

    /// What was decoded wrongly, keys that no field asked for included. `level` belongs to every rule and is not asked for here.
    pub fn finish(mut self) -> (Vec<OptionDoc>, Vec<Problem>) {
        if let Some(table) = self.table {
            let known: Vec<&str> = std::iter::once("level").chain(self.docs.iter().map(|d| d.key)).collect();
            for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
                self.problems.push(Problem::unknown_key(key.get_ref(), key.span(), known.iter().copied()));
            }
        }
        (self.docs, self.problems)
    }

    fn find(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.table.and_then(|table| table.get(key))
    }

    fn refuse(&mut self, key: &str, found: &Spanned<DeValue<'_>>, wanted: &str) {
        let what = format!("`{key}` is {wanted}, not this {}", found.get_ref().type_str());
        self.problems.push(Problem::bad_value(
            what,
            found.span(),
            format!("`cudalint explain` says what `{key}` does"),
        ));
    }
}

fn as_number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(float) => float.as_str().replace('_', "").parse().ok(),
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64),
        _ => None,
    }
}
