//! Writes the text of one file: code as it stands, macro uses replaced, directives and branches not taken as blanks.

use super::engine::{Engine, Source, Stop};
use super::names::hashed_word;
use super::pass::{Branches, Pass};
use super::tables::{Action, Unit};
use super::token::{Kind, Text, Token, next_token, would_merge};
use super::{Expanded, ExpansionGap, OffsetMap, Segment, dialect};
use crate::source::lexical::{
    byte, is_digit_separator, is_ident_start, is_raw_quote, skip_comment, skip_number, skip_quoted, skip_raw_string,
    skip_space,
};
use crate::source::{FileId, Span, display_path};

/// The text may grow to this many times the file ...
const MAX_GROWTH: usize = 8;
/// ... and by this many bytes.
const MAX_EXTRA_BYTES: usize = 1 << 20;
/// Tokens that the macros of one file may make, whatever its size.
const MAX_TOKENS: u64 = 64 << 20;
/// Gaps told apart; further ones say nothing new.
const MAX_GAPS: usize = 64;

/// Expands `file` inside the unit that is being read.
pub(crate) fn write<'a>(pass: &mut Pass<'_, 'a>, unit: &Unit<'a>, file: FileId) -> Expanded {
    let text = pass.tables().text(file);
    let limit = text.len() * MAX_GROWTH + MAX_EXTRA_BYTES;
    let outer_fuel = std::mem::replace(&mut pass.engine.fuel, (limit as u64 * 2).min(MAX_TOKENS));
    let mut reader = Reader { text, unit, file, at: 0, step: 0, branches: Branches::default(), use_start: 0 };
    let mut out = Output {
        bytes: Vec::with_capacity(text.len() + text.len() / 8),
        segments: Vec::new(),
        copied: 0,
        limit,
        gaps: Vec::new(),
    };
    out.file(pass, &mut reader);
    pass.engine.fuel = outer_fuel;
    out.finish(text)
}

/// A place in a file and in its conditionals.
struct Reader<'u, 'a> {
    text: &'a str,
    unit: &'u Unit<'a>,
    file: FileId,
    at: usize,
    /// The directive behind the text at hand.
    step: usize,
    branches: Branches,
    /// Start of the macro use being read.
    use_start: usize,
}

/// Where a reader stood.
struct Mark {
    at: usize,
    step: usize,
    branches: Branches,
}

impl Reader<'_, '_> {
    fn region_end(&self) -> usize {
        self.unit.steps.get(self.step).map_or(self.text.len(), |s| s.start as usize)
    }

    fn mark(&self) -> Mark {
        Mark { at: self.at, step: self.step, branches: self.branches.clone() }
    }

    fn rewind(&mut self, mark: Mark) {
        self.at = mark.at;
        self.step = mark.step;
        self.branches = mark.branches;
    }
}

/// As the engine sees the reader while it collects arguments, which may reach across directives.
impl<'a> Source<'a> for Reader<'_, 'a> {
    fn opens(&mut self) -> bool {
        let end = self.region_end();
        let next = skip_space(self.text.as_bytes(), self.at, end);
        next < end && byte(self.text.as_bytes(), next) == b'('
    }

    fn next(&mut self, engine: &mut Engine<'_, 'a>) -> Option<Token<'a>> {
        loop {
            let end = self.region_end();
            if self.branches.active()
                && let Some(token) = next_token(self.text, &mut self.at, end, &engine.tables.names)
            {
                return Some(token);
            }
            let step = self.unit.steps.get(self.step)?;
            self.branches.run(engine, step);
            self.at = step.end as usize;
            self.step += 1;
        }
    }

    fn line(&self, engine: &Engine<'_, 'a>) -> u32 {
        engine.tables.collected.sources.get(self.file).line(self.use_start as u32)
    }

    fn path(&self, engine: &Engine<'_, 'a>) -> String {
        display_path(engine.tables.collected.sources.path(self.file))
    }
}

struct Output {
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// The text before this offset is written, or was replaced.
    copied: usize,
    limit: usize,
    gaps: Vec<ExpansionGap>,
}

impl Output {
    fn file<'a>(&mut self, pass: &mut Pass<'_, 'a>, reader: &mut Reader<'_, 'a>) {
        loop {
            let end = reader.region_end();
            if reader.branches.active() {
                self.code(pass, reader);
            } else {
                self.blank(reader.text, reader.at, end);
                reader.at = end;
            }
            // A macro use may have carried the reader past the directive that ended the region.
            if reader.at < reader.region_end() {
                continue;
            }
            let Some(step) = reader.unit.steps.get(reader.step) else { break };
            let (start, end) = (step.start as usize, step.end as usize);
            let visible = matches!(step.action, Action::Visible) && reader.branches.active();
            if !visible {
                self.blank(reader.text, start, end);
            }
            reader.at = end;
            reader.step += 1;
            pass.run(step, &mut reader.branches, reader.file);
        }
        self.copy(reader.text, reader.text.len());
    }

    /// Reads code up to the next directive and replaces the macros in it.
    fn code<'a>(&mut self, pass: &mut Pass<'_, 'a>, reader: &mut Reader<'_, 'a>) {
        let text = reader.text;
        let bytes = text.as_bytes();
        while reader.at < reader.region_end() {
            let at = reader.at;
            let first = byte(bytes, at);
            reader.at = match first {
                b if is_ident_start(b) => {
                    let (end, hash) = hashed_word(bytes, at);
                    if matches!(first, b'R' | b'L' | b'u' | b'U')
                        && byte(bytes, end) == b'"'
                        && is_raw_quote(bytes, end)
                    {
                        skip_raw_string(bytes, end)
                    } else if pass.tables().names.may_hold(hash) {
                        reader.at = end;
                        self.word(pass, reader, at);
                        continue;
                    } else {
                        end
                    }
                }
                b'0'..=b'9' => skip_number(bytes, at),
                b'"' => skip_quoted(bytes, at),
                b'\'' if !is_digit_separator(bytes, at) => skip_quoted(bytes, at),
                b'/' => skip_comment(bytes, at).unwrap_or(at + 1),
                _ => at + 1,
            };
        }
    }

    /// A word that may name a macro; the reader stands behind it.
    fn word<'a>(&mut self, pass: &mut Pass<'_, 'a>, reader: &mut Reader<'_, 'a>, start: usize) {
        let Some(word) = reader.text.get(start..reader.at) else { return };
        let symbol = pass.tables().names.get(word);
        let Some(definition) = pass.engine.definition(symbol) else { return };
        if definition.parameters.is_some() && !reader.opens() {
            return;
        }
        let name = Token { symbol, ..Token::new(Text::Slice(word), Kind::Ident) };
        let mark = reader.mark();
        reader.use_start = start;
        let expansion = pass.engine.expand_use(name, reader).and_then(|tokens| self.fits(&tokens).map(|()| tokens));
        match expansion {
            Ok(tokens) => {
                self.copy(reader.text, start);
                self.expansion(&tokens, reader.text, start, reader.at);
            }
            Err(stop) => {
                if self.gaps.len() < MAX_GAPS {
                    let span = Span::new(reader.file, start as u32, mark.at as u32);
                    self.gaps.push(ExpansionGap { span, why: stop.why() });
                }
                reader.rewind(mark);
            }
        }
    }

    fn fits(&self, tokens: &[Token]) -> Result<(), Stop> {
        let bytes: usize = tokens.iter().map(|t| t.as_str().len() + 1).sum();
        if self.bytes.len() + bytes > self.limit { Err(Stop::TooLong) } else { Ok(()) }
    }

    /// Writes what a macro use at `start..end` expands to, with as many newlines as the use had.
    fn expansion(&mut self, tokens: &[Token], text: &str, start: usize, end: usize) {
        self.segments.push(Segment {
            expanded: self.bytes.len() as u32,
            original: start as u32,
            macro_end: Some(end as u32),
        });
        for (index, token) in tokens.iter().enumerate() {
            let written = token.as_str().as_bytes();
            let (before, after) = (self.bytes.last().copied().unwrap_or(b' '), byte(written, 0));
            let touches = (index == 0 || !token.joined) && would_merge(before, after);
            if (index > 0 && token.space) || touches {
                self.bytes.push(b' ');
            }
            self.bytes.extend_from_slice(written);
        }
        let newlines = text.get(start..end).map_or(0, |used| used.matches('\n').count());
        self.bytes.extend(std::iter::repeat_n(b'\n', newlines));
        let before = self.bytes.last().copied().unwrap_or(b' ');
        if tokens.is_empty() || would_merge(before, byte(text.as_bytes(), end)) {
            self.bytes.push(b' ');
        }
        self.copied = end;
        self.segments.push(Segment { expanded: self.bytes.len() as u32, original: end as u32, macro_end: None });
    }

    /// Writes the text up to `end` as it stands.
    fn copy(&mut self, text: &str, end: usize) {
        if end > self.copied {
            self.bytes.extend_from_slice(text.as_bytes().get(self.copied..end).unwrap_or(&[]));
            self.copied = end;
        }
    }

    /// Writes blanks for `start..end`; line ends stay.
    fn blank(&mut self, text: &str, start: usize, end: usize) {
        self.copy(text, start);
        let hidden = text.as_bytes().get(start..end).unwrap_or(&[]);
        self.bytes.extend(hidden.iter().map(|b| if matches!(b, b'\n' | b'\r') { *b } else { b' ' }));
        self.copied = self.copied.max(end);
    }

    fn finish(mut self, text: &str) -> Expanded {
        dialect::rewrite(&mut self.bytes);
        if !self.segments.is_empty() {
            self.segments.insert(0, Segment { expanded: 0, original: 0, macro_end: None });
            drop_empty(&mut self.segments);
        }
        let text = String::from_utf8(self.bytes).unwrap_or_else(|_| text.to_owned());
        Expanded { text, map: OffsetMap { segments: self.segments }, gaps: self.gaps }
    }
}

/// Of segments with one start the last holds.
fn drop_empty(segments: &mut Vec<Segment>) {
    segments.dedup_by(|next, kept| {
        let same = next.expanded == kept.expanded;
        if same {
            *kept = *next;
        }
        same
    });
}
