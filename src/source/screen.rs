//! Which texts are CUDA: other dialects and code without kernels are told from their own words, without parsing.

use std::path::Path;

use super::directives::{Directive, DirectiveKind, include_name};

/// A language that looks like CUDA to the grammar, but runs on other rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Hip,
    Sycl,
}

impl Dialect {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Hip => "HIP source",
            Self::Sycl => "SYCL source",
        }
    }
}

/// What a text says about its own language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Screening {
    pub(crate) dialect: Option<Dialect>,
    /// It names the CUDA runtime: it is no HIP file, whatever its neighbours are.
    pub(crate) names_cuda: bool,
}

/// Words that only device code or its callers use.
const DEVICE_WORDS: &[&str] =
    &["__global__", "__device__", "__shared__", "__constant__", "threadIdx", "<<<", "cuda_runtime", "cudaLaunchKernel"];
const HIP_WORDS: &[&str] = &["hipLaunchKernelGGL", "hipMalloc", "hipMemcpy", "hipDeviceSynchronize"];
const CUDA_WORDS: &[&str] =
    &["cudaMalloc", "cudaMemcpy", "cudaDeviceSynchronize", "cudaStream_t", "cudaError_t", "cudaGetLastError"];

/// Whether the text holds device code or launches.
pub(crate) fn holds_cuda(text: &str) -> bool {
    DEVICE_WORDS.iter().any(|word| text.contains(word))
}

/// Whether OpenMP hands work to a device here.
pub(crate) fn offloads_by_openmp(text: &str) -> bool {
    text.contains("#pragma omp target")
}

/// Reads the includes that stand outside conditionals, then the calls.
pub(crate) fn screen(text: &str, directives: &[Directive]) -> Screening {
    let mut screening = Screening::default();
    let mut mentions_hip = false;
    for (directive, unconditional) in with_depth(text, directives) {
        if directive.kind != DirectiveKind::Include {
            continue;
        }
        let Some(include) = include_name(text, &directive) else { continue };
        let dialect = dialect_of_include(include.name);
        mentions_hip |= dialect.is_some();
        if unconditional {
            screening.dialect = screening.dialect.or(dialect);
        }
        // A quoted `cuda/x.cuh` is a folder of the project.
        screening.names_cuda |= names_cuda(include.name) && !(include.quoted && include.name.contains('/'));
    }
    if screening.names_cuda {
        // Both: a header that serves two dialects and decides by a macro.
        screening.dialect = None;
    } else if screening.dialect.is_none() && !mentions_hip && text.contains("hip") {
        screening.names_cuda = calls_cuda(text);
        if !screening.names_cuda && HIP_WORDS.iter().any(|w| text.contains(w)) {
            screening.dialect = Some(Dialect::Hip);
        }
    }
    screening
}

/// Whether the text uses the CUDA runtime by its functions or types.
pub(crate) fn calls_cuda(text: &str) -> bool {
    CUDA_WORDS.iter().any(|w| text.contains(w))
}

fn dialect_of_include(name: &str) -> Option<Dialect> {
    if name.starts_with("hip/") || name.starts_with("hipblas") || name.starts_with("hipcub") || name == "hip_runtime.h"
    {
        Some(Dialect::Hip)
    } else if name.starts_with("sycl/") || name.starts_with("CL/sycl") {
        Some(Dialect::Sycl)
    } else {
        None
    }
}

fn names_cuda(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "cuda_runtime",
        "cuda_fp",
        "cuda_bf16",
        "cuda/",
        "cub/",
        "cublas",
        "cufft",
        "curand",
        "cusparse",
        "cooperative_groups",
    ];
    name == "cuda.h" || STARTS.iter().any(|s| name.starts_with(s))
}

/// Whether a path says HIP: a folder named `hip`, or `name-hip` as beside `name-cuda`.
pub(crate) fn is_hip_path(path: &Path) -> bool {
    let says = |name: &str| name == "hip" || name.ends_with("-hip") || name.ends_with("_hip");
    path.parent().is_some_and(|p| p.components().any(|c| c.as_os_str().to_str().is_some_and(says)))
}

/// Each directive, and whether it stands outside all conditionals but the file's own guard.
pub(crate) fn with_depth<'a>(
    text: &'a str,
    directives: &'a [Directive],
) -> impl Iterator<Item = (Directive, bool)> + 'a {
    let guarded = is_guarded(text, directives);
    let mut depth = 0usize;
    directives.iter().map(move |directive| {
        match directive.kind {
            DirectiveKind::If | DirectiveKind::Ifdef | DirectiveKind::Ifndef => depth += 1,
            DirectiveKind::Endif => depth = depth.saturating_sub(1),
            _ => {}
        }
        (*directive, depth <= usize::from(guarded))
    })
}

/// `#ifndef X` directly followed by `#define X`, as the first two directives.
fn is_guarded(text: &str, directives: &[Directive]) -> bool {
    let word = |d: &Directive| {
        let argument = text.get(d.arguments as usize..d.end as usize).unwrap_or("").trim();
        argument
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .find(|w| !w.is_empty() && *w != "defined")
            .unwrap_or("")
            .to_owned()
    };
    let mut code = directives.iter().filter(|d| d.kind != DirectiveKind::Pragma);
    match (code.next(), code.next()) {
        (Some(first), Some(second)) => {
            matches!(first.kind, DirectiveKind::Ifndef | DirectiveKind::If)
                && second.kind == DirectiveKind::Define
                && word(first) == word(second)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::directives::scan;

    fn dialect(text: &str) -> Option<Dialect> {
        screen(text, &scan(text)).dialect
    }

    #[test]
    fn dialects_are_told_by_what_holds_always() {
        let cases: &[(&str, Option<Dialect>)] = &[
            ("#include <hip/hip_runtime.h>\n__global__ void k() {}", Some(Dialect::Hip)),
            ("#ifndef A_H\n#define A_H\n#include \"hip/hip_runtime.h\"\n#endif", Some(Dialect::Hip)),
            ("#ifdef USE_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif", None),
            ("#ifdef __HIPCC__\n#include <hip/hip_runtime.h>\n#endif\nint a;", None),
            ("void f() { hipMalloc(&p, 4); }", Some(Dialect::Hip)),
            ("#ifdef HIP\n#define cudaMalloc hipMalloc\n#endif\nvoid f() { cudaMalloc(&p, 4); }", None),
            ("#include <sycl/sycl.hpp>\n", Some(Dialect::Sycl)),
            ("__global__ void k() {}", None),
        ];
        for (text, expected) in cases {
            assert_eq!(dialect(text), *expected, "{text}");
        }
    }
}
