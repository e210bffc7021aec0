//! The catalogue as a list: for the terminal, as JSON, as a Markdown table.

use std::io::{self, Write};

use serde::Serialize;

use super::ListFormat;
use crate::finding::Safety;
use crate::rules::{self, Meta};

#[derive(Serialize)]
struct JsonRule<'a> {
    id: &'a str,
    summary: &'a str,
    family: &'static str,
    level: &'static str,
    confidence: Vec<&'static str>,
    fix: &'static str,
    fix_safety: Option<&'static str>,
    needs: &'a [String],
    since: &'a str,
}

/// Writes all rules.
pub fn rule_list(format: ListFormat, out: &mut dyn Write) -> io::Result<()> {
    let metas = rules::metas();
    match format {
        ListFormat::Text => {
            let width = metas.iter().map(|meta| meta.id.len()).max().unwrap_or(0);
            metas.iter().try_for_each(|m| writeln!(out, "{:<width$}  {:<7}  {}", m.id, m.level.word(), m.summary))
        }
        ListFormat::Json => {
            let rules: Vec<JsonRule<'_>> = metas.iter().map(json_rule).collect();
            serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "schema": 1, "rules": rules }))?;
            writeln!(out)
        }
        ListFormat::Markdown => {
            writeln!(out, "| rule | level | fix | what it flags |\n|---|---|---|---|")?;
            metas.iter().try_for_each(|m| {
                let summary = m.summary.replace('|', "\\|");
                writeln!(out, "| [{0}](rules/{0}.md) | {1} | {2} | {summary} |", m.id, m.level.word(), m.fix.word())
            })
        }
    }
}

fn json_rule(meta: &Meta) -> JsonRule<'_> {
    JsonRule {
        id: meta.id,
        summary: &meta.summary,
        family: meta.family.word(),
        level: meta.level.word(),
        confidence: meta.confidence.iter().map(|c| c.word()).collect(),
        fix: meta.fix.word(),
        fix_safety: meta.fix_safety.map(Safety::word),
        needs: &meta.needs,
        since: &meta.since,
    }
}
