//! A rule's page for the terminal: the front matter as a few lines, the Markdown as it reads without markup.

use std::io::{self, Write};

use super::Colour;
use crate::finding::Safety;
use crate::rules::{self, Meta};

const BOLD: &str = "\u{1b}[1m";
const RESET: &str = "\u{1b}[0m";

/// Writes what is known about a rule.
pub fn page(meta: &Meta, colour: Colour, out: &mut dyn Write) -> io::Result<()> {
    let (bold, reset) = if colour == Colour::Always { (BOLD, RESET) } else { ("", "") };
    writeln!(out, "{bold}{}{reset}: {}", meta.id, meta.summary)?;
    writeln!(out)?;
    writeln!(out, "  level       {}", meta.level.word())?;
    writeln!(out, "  family      {}", meta.family.word())?;
    let words: Vec<&str> = meta.confidence.iter().map(|c| c.word()).collect();
    writeln!(out, "  confidence  {}", words.join(", "))?;
    let safety = match meta.fix_safety {
        Some(Safety::Safe) => ", safe",
        Some(Safety::Unsafe) => ", unsafe (--unsafe-fixes)",
        None => "",
    };
    writeln!(out, "  fix         {}{safety}", meta.fix.word())?;
    if !meta.needs.is_empty() {
        writeln!(out, "  needs       {}", meta.needs.join(", "))?;
    }
    match &meta.verify {
        Some(verify) => writeln!(out, "  verified by {} ({})", verify.metric, verify.tool)?,
        None => writeln!(out, "  verified by not measurable")?,
    }
    writeln!(out, "  since       {}", meta.since)?;
    for source in &meta.sources {
        writeln!(out, "  source      {}, {}", source.title, source.place)?;
    }
    for option in options(meta.id) {
        writeln!(out, "  option      {} = {}: {}", option.key, option.default, option.doc)?;
    }
    writeln!(out)?;
    write_markdown(meta.body, bold, reset, out)
}

fn options(id: &str) -> Vec<rules::OptionDoc> {
    let Some(entry) = rules::entry(id) else { return Vec::new() };
    let mut fields = rules::Fields::new(None);
    entry.bind(&mut fields);
    fields.finish().0
}

/// Headings stand out, code is indented, `code` loses its ticks nowhere: it is how people write it.
fn write_markdown(body: &str, bold: &str, reset: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut in_code = false;
    for line in body.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            writeln!(out, "    {line}")?;
        } else if let Some(heading) = line.strip_prefix('#') {
            writeln!(out, "{bold}{}{reset}", heading.trim_start_matches('#').trim())?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
