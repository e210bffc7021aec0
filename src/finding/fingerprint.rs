//! From findings to names for them that survive when lines move: the same defect keeps its fingerprint while the text around it
//! changes.

use std::collections::BTreeMap;

use super::Finding;
use crate::source::{SourceMap, display_path};

/// One fingerprint per finding, in the order given: 16 hexadecimal digits.
///
/// It hashes rule, path, the line's text without white space, kernel, and a counter among findings that agree in all of these.
pub fn fingerprints(findings: &[Finding], sources: &SourceMap) -> Vec<String> {
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    findings
        .iter()
        .map(|finding| {
            let file = sources.get(finding.span.file);
            let line: String =
                file.line_text(file.line(finding.span.start)).chars().filter(|c| !c.is_whitespace()).collect();
            let path = display_path(&file.path);
            let base = hash([finding.rule, &path, &line, finding.kernel.as_deref().unwrap_or("")].into_iter());
            let occurrence = seen.entry(base).or_insert(0);
            let print = hash([format!("{base:016x}").as_str(), &occurrence.to_string()].into_iter());
            *occurrence += 1;
            format!("{print:016x}")
        })
        .collect()
}

/// FNV-1a over the parts, each ended by a byte that no UTF-8 text holds: fixed for all platforms and versions.
fn hash<'a>(parts: impl Iterator<Item = &'a str>) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    state
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::finding::{Confidence, Level};
    use crate::source::{FileId, Span};

    fn finding(start: u32) -> Finding {
        Finding {
            rule: "int-div-pow2",
            level: Level::Note,
            confidence: Confidence::Proven,
            span: Span::new(FileId(0), start, start + 1),
            message: String::new(),
            label: None,
            related: Vec::new(),
            notes: Vec::new(),
            kernel: None,
            evidence: BTreeMap::new(),
            fix: None,
        }
    }

    fn print(text: &str, starts: &[u32]) -> Vec<String> {
        let mut sources = SourceMap::default();
        sources.add("a.cu".into(), text);
        fingerprints(&starts.iter().map(|s| finding(*s)).collect::<Vec<_>>(), &sources)
    }

    #[test]
    fn moving_a_line_and_its_indentation_keep_the_fingerprint() {
        assert_eq!(print("a / 2;\n", &[0]), print("\n\n  a /  2;\n", &[4]));
    }

    #[test]
    fn equal_lines_are_told_apart_by_their_order() {
        let prints = print("a / 2;\na / 2;\n", &[0, 7]);
        assert_ne!(prints.first(), prints.last());
    }
}
