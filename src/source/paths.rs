//! Paths as text: cleaned without asking the file system, compared for nearness.

use std::path::{Component, Path, PathBuf};

/// `a/./b/../c` to `a/c`; leading `..` stay.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => match cleaned.components().next_back() {
                Some(Component::Normal(_)) => {
                    cleaned.pop();
                }
                Some(Component::RootDir) => {}
                _ => cleaned.push(".."),
            },
            other => cleaned.push(other),
        }
    }
    if cleaned.as_os_str().is_empty() { PathBuf::from(".") } else { cleaned }
}

/// How many leading components two paths share.
pub(crate) fn shared_components(a: &Path, b: &Path) -> usize {
    a.components().zip(b.components()).take_while(|(x, y)| x == y).count()
}

/// Whether the lower-cased extension is one of these.
pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| extensions.iter().any(|x| x.eq_ignore_ascii_case(e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_as_text() {
        let cases = [
            ("a/./b/../c.cu", "a/c.cu"),
            ("./x.cu", "x.cu"),
            ("../a/../../b", "../../b"),
            ("a/..", "."),
            ("/../x", "/x"),
        ];
        for (path, cleaned) in cases {
            assert_eq!(clean(Path::new(path)), PathBuf::from(cleaned), "{path}");
        }
    }
}
