//! Where something stands: half-open byte ranges in the original text of a file.

/// Index of a file in the [`SourceMap`](super::SourceMap) of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open byte range `start..end` of a file's original text.
///
/// A span whose text came out of a macro is the span of the outermost macro use, with `in_macro` set:
/// it can be pointed at, but never edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte; never below `start`.
    pub end: u32,
    /// The text was produced by a macro expansion.
    pub in_macro: bool,
}

impl Span {
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end: end.max(start), in_macro: false }
    }

    /// The smallest span that holds both; `self` where they stand in different files.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if self.file != other.file {
            return self;
        }
        Self {
            file: self.file,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
            in_macro: self.in_macro || other.in_macro,
        }
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
