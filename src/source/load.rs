//! From a path to the text of the file, within bounds: what is no CUDA source of a sane size is passed over with a reason.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Larger files are passed over: no source written by people comes near it.
pub const MAX_BYTES: u64 = 64 << 20;
/// A NUL among the first bytes marks a binary file.
const BINARY_PROBE_BYTES: usize = 8 << 10;

/// What became of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loaded {
    /// Text of the same byte length as the file.
    Text(String),
    /// Readable, but nothing to analyse; a fragment such as "binary file".
    PassedOver(String),
    /// The operating system's reason.
    Unreadable(String),
}

/// Reads one file.
pub fn load(path: &Path) -> Loaded {
    match read(path) {
        Ok(Ok(bytes)) => from_bytes(bytes),
        Ok(Err(reason)) => Loaded::PassedOver(reason),
        Err(error) => Loaded::Unreadable(reason(&error)),
    }
}

fn read(path: &Path) -> std::io::Result<Result<Vec<u8>, String>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Ok(Err("a folder".to_owned()));
    }
    if !metadata.is_file() {
        return Ok(Err("not a regular file".to_owned()));
    }
    if metadata.len() > MAX_BYTES {
        return Ok(Err(too_large(metadata.len())));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize + 1);
    // The file may grow between the two calls; the bound must hold for what is read.
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Ok(Err(too_large(bytes.len() as u64)));
    }
    Ok(Ok(bytes))
}

fn too_large(bytes: u64) -> String {
    format!("{} MiB is above the limit of {} MiB", bytes >> 20, MAX_BYTES >> 20)
}

/// "Permission denied" rather than "Permission denied (os error 13)".
pub(crate) fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Text of the same length, or why these bytes are not text. Standard input takes this road too.
pub fn from_bytes(bytes: Vec<u8>) -> Loaded {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Loaded::PassedOver("UTF-16 text".to_owned());
    }
    if bytes.get(..BINARY_PROBE_BYTES.min(bytes.len())).is_some_and(|head| head.contains(&0)) {
        return Loaded::PassedOver("binary file".to_owned());
    }
    Loaded::Text(decode(bytes))
}

fn decode(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
        bytes.splice(..3, *b"   ");
    }
    String::from_utf8(bytes).unwrap_or_else(|error| {
        let bytes = error.into_bytes();
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_keeps_its_length() {
        let cases: &[(&[u8], &str)] = &[
            (b"\xef\xbb\xbfint a;\r\n", "   int a;\r\n"),
            (b"a\xffb\xc3", "a?b?"),
            (b"\xc3\xa9", "\u{e9}"),
            (b"\xe2\x82x", "??x"),
            (b"", ""),
        ];
        for (bytes, text) in cases {
            assert_eq!(from_bytes(bytes.to_vec()), Loaded::Text((*text).to_owned()));
            assert_eq!(bytes.len(), text.len());
        }
    }

    #[test]
    fn what_is_not_text_is_passed_over() {
        assert_eq!(from_bytes(b"\xff\xfea\0".to_vec()), Loaded::PassedOver("UTF-16 text".to_owned()));
        assert_eq!(from_bytes(b"ELF\0\0".to_vec()), Loaded::PassedOver("binary file".to_owned()));
        assert_eq!(load(Path::new("/")), Loaded::PassedOver("a folder".to_owned()));
        assert_eq!(load(Path::new("no/such/file.cu")), Loaded::Unreadable("No such file or directory".to_owned()));
    }
}
