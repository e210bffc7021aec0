//! A makefile as a plain `make` would read it, as far as that needs no shell: variables, conditionals on known variables, recipes.

use rustc_hash::FxHashMap;

use super::{Flags, words};

/// Variables within variables.
const MAX_DEPTH: usize = 16;
/// Longer values are cut off: variables that double at each line stop here.
const MAX_VALUE_BYTES: usize = 64 << 10;

/// What a plain `make` hands to the compiler.
pub(super) fn flags(text: &str) -> Flags {
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.read(&line);
    }
    reader.flags()
}

/// Lines with their continuations joined.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut open: Option<String> = None;
    for line in text.lines() {
        let mut whole = open.take().map_or_else(|| line.to_owned(), |before| before + " " + line.trim_start());
        if whole.ends_with('\\') {
            whole.pop();
            open = Some(whole);
        } else {
            lines.push(whole);
        }
    }
    lines.extend(open);
    lines
}

/// Whether the lines of a branch are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    Taken,
    /// Not this one; a branch behind it may be.
    NotYet,
    /// Another one was taken, or nobody knows.
    Skipped,
}

#[derive(Default)]
struct Reader {
    branches: Vec<Branch>,
    values: FxHashMap<String, String>,
    /// Variables in the order of their first value.
    order: Vec<String>,
    recipes: Vec<String>,
    in_define: bool,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let words = line.trim_start();
        if self.in_define {
            self.in_define = !words.starts_with("endef");
            return;
        }
        if !line.starts_with('\t') && self.read_conditional(without_comment(words)) {
            return;
        }
        if !self.branches.iter().all(|b| *b == Branch::Taken) {
            return;
        }
        if line.starts_with('\t') {
            self.recipes.push(words.to_owned());
            return;
        }
        let words = without_comment(words);
        let words = ["export ", "override "].iter().fold(words, |w, p| w.strip_prefix(p).unwrap_or(w).trim_start());
        if words.starts_with("define ") {
            self.in_define = true;
        } else if let Some((name, kind, value)) = assignment(words) {
            self.assign(name, kind, value);
        }
    }

    /// Whether the line is about branches.
    fn read_conditional(&mut self, line: &str) -> bool {
        let (word, rest) = first_word(line);
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                let holds = self.condition(word, rest.trim());
                self.branches.push(branch(holds));
            }
            "else" => {
                let Some(open) = self.branches.pop() else { return true };
                let (word, rest) = first_word(rest.trim());
                self.branches.push(match open {
                    Branch::NotYet if word.is_empty() => Branch::Taken,
                    Branch::NotYet => branch(self.condition(word, rest.trim())),
                    Branch::Taken | Branch::Skipped => Branch::Skipped,
                });
            }
            "endif" => {
                self.branches.pop();
            }
            _ => return false,
        }
        true
    }

    /// `None` where the answer is not in the file.
    fn condition(&self, word: &str, rest: &str) -> Option<bool> {
        match word {
            "ifdef" => self.is_defined(rest),
            "ifndef" => self.is_defined(rest).map(|yes| !yes),
            "ifeq" | "ifneq" => {
                let (left, right) = operands(rest)?;
                let equal = self.expand(left, 0)?.trim() == self.expand(right, 0)?.trim();
                Some(equal == (word == "ifeq"))
            }
            _ => None,
        }
    }

    /// A variable that the file never sets is the environment's business; a plain `make` has none.
    fn is_defined(&self, name: &str) -> Option<bool> {
        if name.contains('$') { None } else { Some(self.values.get(name).is_some_and(|v| !v.is_empty())) }
    }

    fn assign(&mut self, name: &str, kind: &str, value: &str) {
        if !self.values.contains_key(name) {
            self.order.push(name.to_owned());
        } else if kind == "?=" {
            return;
        }
        let slot = self.values.entry(name.to_owned()).or_default();
        match kind {
            "+=" if slot.len() + value.len() < MAX_VALUE_BYTES => {
                slot.push(' ');
                slot.push_str(value);
            }
            "+=" => {}
            // `X := $(X) more` adds to itself.
            ":=" => {
                let before = std::mem::take(slot);
                let own = [format!("$({name})"), format!("${{{name}}}")];
                let value = own.iter().fold(value.to_owned(), |v, own| v.replace(own, &before));
                *slot = if value.len() < MAX_VALUE_BYTES { value } else { before };
            }
            // The shell's answer is not in the file.
            "!=" => "$(shell)".clone_into(slot),
            _ => value.clone_into(slot),
        }
    }

    /// The text with its variables replaced; `None` where a function or a variable of the rule stands in it.
    fn expand(&self, text: &str, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('$') {
            out.push_str(before);
            let close = match behind.chars().next()? {
                '(' => ')',
                '{' => '}',
                _ => return None,
            };
            let (name, after) = behind.get(1..)?.split_once(close)?;
            let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
            if !is_name {
                return None;
            }
            if let Some(value) = self.values.get(name) {
                out.push_str(&self.expand(value, depth + 1)?);
            }
            if out.len() > MAX_VALUE_BYTES {
                return None;
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    fn flags(&self) -> Flags {
        let mut flags = Flags::default();
        let values = self.order.iter().filter_map(|name| self.values.get(name));
        for text in values.chain(&self.recipes) {
            if text.contains("-D") || text.contains("-I") {
                flags.take(&words(text).iter().filter_map(|word| self.flag(word)).collect::<Vec<_>>());
            }
        }
        flags
    }

    /// A word with the variables of a flag replaced. The flags that other variables hold are read where they stand.
    fn flag(&self, word: &str) -> Option<String> {
        let is_flag = word.starts_with("-D") || word.starts_with("-I");
        if !is_flag || !word.contains('$') {
            return Some(word.to_owned());
        }
        // An empty value would be a guess: it comes from the command line of make.
        let expanded = self.expand(word, 0).filter(|w| !w.ends_with('=') && w.len() > 2)?;
        Some(expanded.trim().to_owned())
    }
}

fn branch(holds: Option<bool>) -> Branch {
    match holds {
        Some(true) => Branch::Taken,
        Some(false) => Branch::NotYet,
        None => Branch::Skipped,
    }
}

/// A word that blanks or a parenthesis end, and what stands behind it.
fn first_word(line: &str) -> (&str, &str) {
    let line = line.trim();
    line.split_at(line.find([' ', '\t', '(']).unwrap_or(line.len()))
}

fn without_comment(line: &str) -> &str {
    let parts = line.match_indices('#').map(|(at, _)| line.split_at(at).0);
    parts.into_iter().find(|before| !before.ends_with('\\')).unwrap_or(line)
}

/// `NAME = value` outside of rules.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    const KINDS: [(&str, &str); 5] = [("::", ":="), (":", ":="), ("?", "?="), ("+", "+="), ("!", "!=")];
    let (left, value) = line.split_once('=')?;
    let kind = KINDS.into_iter().find_map(|(sign, kind)| Some((left.strip_suffix(sign)?, kind)));
    let (name, kind) = kind.unwrap_or((left, "="));
    let (name, value) = (name.trim(), value.trim());
    let is_name = !name.is_empty() && !name.contains([' ', '\t', ':', '$', '#']);
    is_name.then_some((name, kind, value))
}

/// The sides of `(a,b)`, `"a" "b"` or `'a' 'b'`.
fn operands(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        let mut depth = 0usize;
        return inner.split_once(|c| {
            depth += usize::from(c == '(');
            depth = depth.saturating_sub(usize::from(c == ')'));
            c == ',' && depth == 0
        });
    }
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (left, rest) = text.get(1..)?.split_once(quote)?;
    let right = rest.trim_start().strip_prefix(quote)?.strip_suffix(quote)?;
    Some((left, right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_recipes_hold_the_flags() {
        let cases: &[(&str, &[&str])] = &[
            ("CFLAGS := $(EXTRA) -Dreal=double -DN=4 \\\n  -DFAST -arch=sm_90\n", &["real=double", "N=4", "FAST"]),
            ("all:\n\tnvcc -D SIZE=64 -o a a.cu $(FLAGS) -DK=$(K) -DB=$(BLOCK)\nBLOCK = 128\n", &["SIZE=64", "B=128"]),
            ("F = -DA=1 # -DB=2\n#F += -DC=3\nF += -DD=\\\"s\\\"\n", &["A=1", "D=\"s\""]),
            ("F = -DA=1\nF = -DB=1\nG ?= -DC=1\nG ?= -DD=1\n", &["B=1", "C=1"]),
            ("F = -DA=$(shell date) -DB=$$x -DC=`date` -DD=$(words a b)\n", &[]),
            ("debug: F = -DDEBUG\ndefine X\nF = -DY\nendef\nexport F = -DZ\n", &["Z"]),
            ("F := -DA\nF := $(F) -DB\na:\n\tcc -DN=1\n\tcc -DN=2\n", &["A", "B", "N=1"]),
        ];
        for (text, defines) in cases {
            assert_eq!(flags(text).defines, *defines, "{text}");
        }
        assert_eq!(flags("D = ../inc\nF = -I$(D) -I . -I$(CUDA)/include/$@\n").include_dirs, ["../inc", "."]);
    }

    #[test]
    fn branches_count_where_a_plain_make_takes_them() {
        let cases: &[(&str, &[&str])] = &[
            ("DEBUG = no\nifeq ($(DEBUG),yes)\nF = -DDEBUG\nelse\nF = -DFAST\nendif\n", &["FAST"]),
            ("DEBUG = yes\nifeq ($(DEBUG), yes)\n  F = -DDEBUG\nendif\n", &["DEBUG"]),
            ("ifdef MPI\nF = -DMPI\nendif\nifndef MPI\nF = -DSERIAL\nendif\n", &["SERIAL"]),
            ("ifeq ($(shell uname),Linux)\nF = -DA\nelse\nF = -DB\nendif\nG = -DC\n", &["C"]),
            ("P = 2\nifeq (\"$(P)\",\"1\")\nF=-DA\nelse ifeq ($(P),2)\nF=-DB\nelse\nF=-DC\nendif\n", &["B"]),
            ("ifeq ($(X),1)\nifeq ($(Y),1)\nF=-DA\nelse\nF=-DB\nendif\nendif\nendif\nelse\nG=-DC\n", &["C"]),
        ];
        for (text, defines) in cases {
            assert_eq!(flags(text).defines, *defines, "{text}");
        }
    }

    #[test]
    fn variables_that_double_or_turn_in_circles_end() {
        let mut text = "A0 = -DX=xxxxxxxx\n".to_owned();
        for level in 1..40 {
            text += &["A", &level.to_string(), " = ", &"$(A0) ".replace('0', &(level - 1).to_string()).repeat(2), "\n"]
                .concat();
        }
        text.push_str("L = $(L) $(A39)\nF = -DY=$(L) -DZ=$(A39)\n");
        assert_eq!(flags(&text).defines, ["X=xxxxxxxx"]);
    }
}
