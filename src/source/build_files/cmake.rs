//! The commands of a `CMakeLists.txt`: definitions, include folders and `-D` in any list of literal words.

use rustc_hash::FxHashMap;

use super::Flags;

const MAX_VALUE_BYTES: usize = 64 << 10;

/// What the targets of the file are compiled with.
pub(super) fn flags(text: &str) -> Flags {
    let mut flags = Flags::default();
    let mut variables: FxHashMap<String, String> = FxHashMap::default();
    // Inside `if` nobody knows; functions and macros say what they are called with elsewhere.
    let mut depth = 0usize;
    for command in commands(text) {
        match command.name.as_str() {
            "if" | "foreach" | "while" | "function" | "macro" => depth += 1,
            "endif" | "endforeach" | "endwhile" | "endfunction" | "endmacro" => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            "set" => set(&command.words, &mut variables),
            _ => {
                let words: Vec<String> = command.words.iter().filter_map(|word| replace(word, &variables)).collect();
                read(&command.name, &words, &mut flags);
            }
        }
    }
    let mut names: Vec<&String> = variables.keys().filter(|name| name.ends_with("_FLAGS")).collect();
    names.sort_unstable();
    for name in names {
        let words: Vec<String> = super::words(variables.get(name).map_or("", String::as_str));
        flags.take(&words);
    }
    flags
}

fn set(words: &[String], variables: &mut FxHashMap<String, String>) {
    let Some((name, values)) = words.split_first() else { return };
    let values = values.iter().take_while(|word| !matches!(word.as_str(), "CACHE" | "PARENT_SCOPE"));
    let values: Vec<String> = values.filter_map(|word| replace(word, variables)).collect();
    let value = values.join(" ");
    if value.len() < MAX_VALUE_BYTES {
        variables.insert(name.clone(), value);
    }
}

fn read(command: &str, words: &[String], flags: &mut Flags) {
    match command {
        "add_compile_definitions" | "target_compile_definitions" => {
            let skip = usize::from(command.starts_with("target_"));
            let defines = words.iter().skip(skip).filter(|word| !is_scope(word));
            defines.for_each(|word| flags.define(word.strip_prefix("-D").unwrap_or(word)));
        }
        "include_directories" | "target_include_directories" => {
            let skip = usize::from(command.starts_with("target_"));
            let dirs = words.iter().skip(skip).filter(|word| !is_scope(word));
            dirs.for_each(|dir| flags.include(dir));
        }
        "message" | "execute_process" | "add_test" | "project" => {}
        _ => flags.take(words),
    }
}

fn is_scope(word: &str) -> bool {
    matches!(word, "PRIVATE" | "PUBLIC" | "INTERFACE" | "SYSTEM" | "BEFORE" | "AFTER")
}

/// The word with its variables replaced; `None` where one is not known or a generator would decide.
fn replace(word: &str, variables: &FxHashMap<String, String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = word;
    while let Some((before, behind)) = rest.split_once("${") {
        out.push_str(before);
        let (name, after) = behind.split_once('}')?;
        match name {
            "CMAKE_CURRENT_SOURCE_DIR" | "CMAKE_CURRENT_LIST_DIR" => out.push('.'),
            // `set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -DX")` begins with nothing.
            _ => match variables.get(name) {
                Some(value) => out.push_str(value),
                None if name.ends_with("_FLAGS") => {}
                None => return None,
            },
        }
        if out.len() > MAX_VALUE_BYTES {
            return None;
        }
        rest = after;
    }
    out.push_str(rest);
    (!out.contains("$<")).then_some(out)
}

struct Command {
    /// In lower case.
    name: String,
    words: Vec<String>,
}

/// `name(words...)` in order; comments are left out.
fn commands(text: &str) -> Vec<Command> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = skip_blanks(rest);
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if rest.is_empty() {
            return found;
        }
        if length == 0 {
            // No command starts here: on with the next character.
            rest = behind_first(rest);
            continue;
        }
        let (name, behind) = rest.split_at(length);
        rest = skip_blanks(behind);
        if let Some(inside) = rest.strip_prefix('(') {
            let (words, behind) = arguments(inside);
            found.push(Command { name: name.to_ascii_lowercase(), words });
            rest = behind;
        }
    }
}

fn behind_first(text: &str) -> &str {
    let mut chars = text.chars();
    chars.next();
    chars.as_str()
}

/// Past white space and comments.
fn skip_blanks(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(comment) = text.strip_prefix('#') else { return text };
        text = match comment.strip_prefix("[[") {
            Some(block) => block.split_once("]]").map_or("", |(_, behind)| behind),
            None => comment.split_once('\n').map_or("", |(_, behind)| behind),
        };
    }
}

/// The words up to the closing parenthesis, and the text behind it.
fn arguments(mut text: &str) -> (Vec<String>, &str) {
    let mut words = Vec::new();
    let mut depth = 0usize;
    loop {
        text = skip_blanks(text);
        let Some(first) = text.chars().next() else { return (words, "") };
        match first {
            ')' if depth == 0 => return (words, behind_first(text)),
            '(' | ')' => {
                depth = if first == '(' { depth + 1 } else { depth - 1 };
                text = behind_first(text);
            }
            _ => {
                let (word, behind) = word(text);
                words.extend(word.split(';').filter(|w| !w.is_empty()).map(str::to_owned));
                text = behind;
            }
        }
    }
}

/// One word, quoted in whole or in part.
fn word(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut quoted = false;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => word.extend(chars.next().map(|(_, c)| c)),
            '"' => quoted = !quoted,
            c if !quoted && (c.is_whitespace() || matches!(c, '(' | ')' | '#')) => return (word, text.split_at(at).1),
            c => word.push(c),
        }
    }
    (word, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_read_from_every_command() {
        let cases: &[(&str, &[&str])] = &[
            ("add_definitions(-DA=1 -DB)\nadd_compile_definitions(C=2 D)", &["A=1", "B", "C=2", "D"]),
            ("target_compile_definitions(app PRIVATE real=double PUBLIC \"N=4\")", &["real=double", "N=4"]),
            ("my_program(NAME a SOURCES a.cu # -DX\n OPTIONS -Dreal=float -O3)", &["real=float"]),
            ("set(N 8)\ntarget_compile_options(a PRIVATE -DN=${N} -DM=${M} $<$<CONFIG:Debug>:-DG>)", &["N=8"]),
            ("set(CMAKE_CUDA_FLAGS \"${CMAKE_CUDA_FLAGS} -DF=1 -O3\")", &["F=1"]),
            ("if(X)\nadd_definitions(-DA)\nendif()\nADD_DEFINITIONS(-DB)", &["B"]),
            ("#[[ add_definitions(-DA) ]] add_definitions(\n-DB=\\\"x\\\"", &["B=\"x\""]),
        ];
        for (text, defines) in cases {
            assert_eq!(flags(text).defines, *defines, "{text}");
        }
        let text = "target_include_directories(a PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/include ${X}/y)\n";
        assert_eq!(flags(text).include_dirs, ["./include"]);
    }
}
