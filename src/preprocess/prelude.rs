//! What nvcc defines before it reads a file for the device, and which headers it brings along.

use std::fmt::Write as _;

use super::PreprocessOptions;
use crate::source::directives::IncludeName;

/// nvcc 13 on 64-bit Linux with g++ 12 as host compiler. `CUDART_VERSION` and `CUDA_VERSION` come from the headers that it
/// includes by itself or that every program includes.
const PREDEFINED: &str = "\
#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __cplusplus 201703L
#define __linux__ 1
#define __linux 1
#define __unix__ 1
#define __gnu_linux__ 1
#define __x86_64__ 1
#define __x86_64 1
#define __amd64__ 1
#define __LP64__ 1
#define _LP64 1
#define __GNUC__ 12
#define __GNUC_MINOR__ 2
#define __GNUC_PATCHLEVEL__ 0
#define __GNUG__ 12
#define __STDC__ 1
#define __STDC_HOSTED__ 1
#define __SIZEOF_INT__ 4
#define __SIZEOF_LONG__ 8
#define __SIZEOF_POINTER__ 8
#define __CHAR_BIT__ 8
#define __BYTE_ORDER__ 1234
#define __ORDER_LITTLE_ENDIAN__ 1234
#define __ORDER_BIG_ENDIAN__ 4321
";

/// `#define` lines: the compiler's, then `-D`.
pub(crate) fn text(options: &PreprocessOptions) -> String {
    let mut text = PREDEFINED.to_owned();
    let _ = writeln!(text, "#define __CUDA_ARCH__ {}", options.sm * 10);
    let _ = writeln!(text, "#define __CUDA_ARCH_LIST__ {}", options.sm * 10);
    text.push_str(&lines(&options.defines));
    text
}

/// `NAME` and `NAME=VALUE` as `#define` lines.
pub(crate) fn lines(defines: &[String]) -> String {
    let mut text = String::new();
    for define in defines {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        // A line end would let a define leave its line.
        let value = value.replace(['\n', '\r'], " ");
        let _ = writeln!(text, "#define {} {value}", name.trim().replace(['\n', '\r'], " "));
    }
    text
}

/// Headers that a machine with CUDA and a C++ compiler has.
pub(crate) fn is_system_header(include: IncludeName) -> bool {
    const FOLDERS: &[&str] =
        &["cuda/", "cub/", "thrust/", "nv/", "cooperative_groups/", "crt/", "sys/", "nvtx3/", "bits/", "nvfunctional"];
    const STEMS: &[&str] = &[
        "cuda",
        "cublas",
        "cufft",
        "curand",
        "cusparse",
        "cusolver",
        "cooperative_groups",
        "mma.h",
        "sm_",
        "vector_types",
        "vector_functions",
        "device_",
        "driver_types",
        "builtin_types",
        "host_",
        "math_constants",
        "nvrtc",
        "nvml",
        "npp",
        "nvToolsExt",
        "texture_",
        "surface_",
        "channel_descriptor",
        "fatbinary",
    ];
    const C_HEADERS: &[&str] = &[
        "assert.h",
        "complex.h",
        "ctype.h",
        "errno.h",
        "fcntl.h",
        "fenv.h",
        "float.h",
        "inttypes.h",
        "limits.h",
        "locale.h",
        "malloc.h",
        "math.h",
        "memory.h",
        "pthread.h",
        "setjmp.h",
        "signal.h",
        "stdalign.h",
        "stdarg.h",
        "stdbool.h",
        "stddef.h",
        "stdint.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "strings.h",
        "tgmath.h",
        "time.h",
        "unistd.h",
        "wchar.h",
        "omp.h",
        "features.h",
        "x86intrin.h",
    ];
    let name = include.name;
    let is_cpp = !include.quoted && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b.is_ascii_digit());
    is_cpp
        || FOLDERS.iter().any(|f| name.starts_with(f))
        || STEMS.iter().any(|s| name.starts_with(s))
        || C_HEADERS.contains(&name)
}
