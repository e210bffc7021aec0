//! What stayed unknown, by reason: the reasons with the most places first.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::report::Report;
use crate::source::SourceMap;
use crate::visible::plain;
use crate::warp::facts::{Exactness, KernelFacts};

/// Places named per reason.
const SHOWN: usize = 3;

/// Writes a list of reasons with counts and places.
pub fn why(report: &Report, sources: &SourceMap, out: &mut dyn Write) -> io::Result<()> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for kernel in &report.kernels {
        for (place, reason) in unknowns(kernel, sources) {
            let places = reasons.entry(reason).or_default();
            if !places.contains(&place) {
                places.push(place);
            }
        }
    }
    for gap in &report.gaps {
        let place = gap.span.map_or_else(
            || crate::visible::plain_path(sources.path(gap.file)),
            |span| plain(&sources.place(span)).into_owned(),
        );
        let places = reasons.entry(format!("gap: {}", gap.why)).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut reasons: Vec<(String, Vec<String>)> = reasons.into_iter().collect();
    reasons.sort_by(|(a, x), (b, y)| y.len().cmp(&x.len()).then_with(|| a.cmp(b)));
    if reasons.is_empty() {
        return writeln!(out, "nothing stayed unknown");
    }
    writeln!(out, "what stayed unknown:")?;
    for (reason, places) in reasons {
        let shown = places.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if places.len() > SHOWN { ", ..." } else { "" };
        writeln!(out, "{:>6}  {}: {shown}{more}", places.len(), plain(&reason))?;
    }
    Ok(())
}

fn unknowns<'a>(kernel: &'a KernelFacts, sources: &'a SourceMap) -> impl Iterator<Item = (String, String)> + 'a {
    let accesses = kernel
        .accesses
        .iter()
        .filter(|access| access.exactness == Exactness::Unknown && access.merged_into.is_none())
        .map(|access| (access.span, access.why.clone().unwrap_or_else(|| "no reason given".to_owned())));
    kernel
        .unknowns
        .iter()
        .cloned()
        .chain(accesses)
        .map(|(span, reason)| (plain(&sources.place(span)).into_owned(), reason))
}
