//! From facts to findings: one module and one row of the catalogue per rule.
//!
//! A rule sees the facts of kernels and its own options; never syntax, settings or the command line. It cannot fail.

mod meta;
mod options;
mod sink;
mod sites;
mod traffic;
mod view;

mod divergent_barrier;
mod float_literal_suffix;
mod int_div_pow2;
mod misaligned_access;
mod missing_suppression_reason;
mod shared_bank_conflict;
mod unaligned_vector_type;
mod uncoalesced_access;
mod unknown_suppression;
mod unused_suppression;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

pub use meta::{Family, FixAvailability, Meta, SourceRef, Verify};
pub use options::{Fields, OptionDoc, Options};
pub use sink::{Candidate, Draft, Sink};
pub use view::View;

use crate::finding::suppress::Suppression;

/// A check, holding its options.
pub trait Rule: Send + Sync {
    /// Looks at all kernels of the view at once: what several launches or instances say about one access is one finding.
    fn check(&self, _view: &View<'_>, _sink: &mut Sink<'_>) {}

    /// Looks at the comments addressed to cudalint, once it is known which of them silenced something.
    fn check_suppressions(&self, _comments: &[Suppression], _view: &View<'_>, _sink: &mut Sink<'_>) {}
}

/// One row of the catalogue.
pub struct Entry {
    pub id: &'static str,
    page: &'static str,
    bind: fn(&mut Fields<'_>) -> Box<dyn Rule>,
}

impl Entry {
    /// The page as written.
    pub fn page(&self) -> &'static str {
        self.page
    }

    /// The metadata in the page, or what is wrong with it.
    pub fn meta(&self) -> Result<Meta, String> {
        Meta::parse(self.id, self.page)
    }

    /// The rule with the options that `fields` hold.
    pub fn bind(&self, fields: &mut Fields<'_>) -> Box<dyn Rule> {
        (self.bind)(fields)
    }
}

fn bind<R: Rule + Options + 'static>(fields: &mut Fields<'_>) -> Box<dyn Rule> {
    let mut rule = R::default();
    rule.fields(fields);
    Box::new(rule)
}

macro_rules! catalogue {
    ($($id:literal => $rule:ty,)*) => {
        /// Every rule, by id in alphabetical order.
        pub static CATALOGUE: &[Entry] = &[$(Entry {
            id: $id,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md")),
            bind: bind::<$rule>,
        },)*];
    };
}

catalogue! {
    "divergent-barrier" => divergent_barrier::DivergentBarrier,
    "float-literal-suffix" => float_literal_suffix::FloatLiteralSuffix,
    "int-div-pow2" => int_div_pow2::IntDivPow2,
    "misaligned-access" => misaligned_access::MisalignedAccess,
    "missing-suppression-reason" => missing_suppression_reason::MissingSuppressionReason,
    "shared-bank-conflict" => shared_bank_conflict::SharedBankConflict,
    "unaligned-vector-type" => unaligned_vector_type::UnalignedVectorType,
    "uncoalesced-access" => uncoalesced_access::UncoalescedAccess,
    "unknown-suppression" => unknown_suppression::UnknownSuppression,
    "unused-suppression" => unused_suppression::UnusedSuppression,
}

/// Metadata of every rule whose page can be read, in the order of the catalogue; a test holds that all can.
pub fn metas() -> &'static [Meta] {
    static METAS: LazyLock<Vec<Meta>> =
        LazyLock::new(|| CATALOGUE.iter().filter_map(|entry| entry.meta().ok()).collect());
    &METAS
}

/// The metadata of one rule.
pub fn meta(id: &str) -> Option<&'static Meta> {
    metas().iter().find(|meta| meta.id == id)
}

/// The catalogue's row of one rule.
pub fn entry(id: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.id == id)
}

/// All ids, in alphabetical order.
pub fn ids() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|entry| entry.id)
}
