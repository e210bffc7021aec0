//! Flags lanes that move whole records in pieces because size or alignment forbids one wide access.

use super::traffic::{self, Kind};
use super::{Fields, Options, Rule, Sink, View};
use crate::warp::facts::RecordAccess;

pub(super) struct UnalignedVectorType {
    min_ratio: f64,
}

impl Default for UnalignedVectorType {
    fn default() -> Self {
        Self { min_ratio: 1.5 }
    }
}

impl Options for UnalignedVectorType {
    fn fields(&mut self, fields: &mut Fields<'_>) {
        let doc = "Sectors moved over sectors needed, from which on an access is flagged.";
        fields.number("min-ratio", doc, &mut self.min_ratio, 1.05..=32.0);
    }
}

impl Rule for UnalignedVectorType {
    fn check(&self, view: &View<'_>, sink: &mut Sink<'_>) {
        for judged in traffic::global(view, Kind::Record, self.min_ratio) {
            let access = judged.worst.fact;
            let (Some(numbers), Some(record)) = (access.traffic, access.record.as_ref()) else { continue };
            let message = format!(
                "{}: `{}` ({} bytes, aligned to {}) is moved member by member",
                traffic::claim(numbers, "sector", "request"),
                record.name,
                record.size_bytes,
                record.align_bytes
            );
            let draft = traffic::draft(view, &judged, message)
                .count("record_bytes", record.size_bytes as i64)
                .count("align_bytes", record.align_bytes as i64)
                .note(advice(record, view.sm));
            sink.emit(draft);
        }
    }
}

fn advice(record: &RecordAccess, sm: u32) -> String {
    let widest = if sm >= 100 { 32 } else { 16 };
    let size = record.size_bytes;
    if size.is_power_of_two() && size <= widest && record.align_bytes < size {
        return format!("`__align__({size})` on `{}` makes it one access of {size} bytes", record.name);
    }
    "an array per member, or staging through shared memory, moves only whole sectors".to_owned()
}
