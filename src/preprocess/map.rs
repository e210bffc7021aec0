//! From a byte of the expanded text back to the byte of the file it came from.

use std::ops::Range;

use crate::source::{FileId, Span};

/// A run of expanded text with one origin, up to the start of the next segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// First byte in the expanded text.
    pub expanded: u32,
    /// Verbatim text: the original offset of its first byte. Macro text: the start of the macro use.
    pub original: u32,
    /// `Some(end)` for text out of a macro: one past the last byte of the whole macro use in the original.
    pub macro_end: Option<u32>,
}

/// Segments in order of `expanded`, the first at 0. Empty: the text is the original.
#[derive(Debug, Clone, Default)]
pub struct OffsetMap {
    pub segments: Vec<Segment>,
}

impl OffsetMap {
    /// The original span of a range of expanded text.
    pub fn span(&self, file: FileId, range: Range<usize>) -> Span {
        let (start, _, start_macro) = self.locate(range.start as u32);
        let (_, end, end_macro) = self.locate((range.end.max(range.start + 1) - 1) as u32);
        Span { file, start, end: end.max(start), in_macro: start_macro || end_macro }
    }

    /// Start and end of the original text behind one expanded byte, and whether a macro produced it.
    fn locate(&self, offset: u32) -> (u32, u32, bool) {
        let index = self.segments.partition_point(|s| s.expanded <= offset);
        let Some(segment) = index.checked_sub(1).and_then(|i| self.segments.get(i)) else {
            return (offset, offset + 1, false);
        };
        if let Some(end) = segment.macro_end {
            return (segment.original, end, true);
        }
        let at = segment.original + (offset - segment.expanded);
        (at, at + 1, false)
    }
}
