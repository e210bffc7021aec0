//! Input that no person wrote: nesting without end, files cut anywhere.

use super::file;
use crate::model::{Unit, dump};
use crate::preprocess::Expanded;
use crate::source::FileId;

const DEEP: usize = 10_000;

fn raw(text: String) -> Unit {
    super::super::lower(FileId(0), &Expanded { text, ..Expanded::default() })
}

fn around(open: &str, inner: &str, close: &str) -> String {
    format!(
        "void before() {{}}\nvoid f() {{ {}{inner}{}; }}\nvoid behind() {{}}\n",
        open.repeat(DEEP),
        close.repeat(DEEP)
    )
}

#[test]
fn deep_nesting_is_a_gap_or_unknown() {
    let table = [
        ("(", "x", ")"),
        ("{", "x;", "}"),
        ("if (x) ", "y", ""),
        ("if (x) {} else ", "y", ""),
        ("for (;;) ", "y", ""),
        ("f(", "x", ")"),
        ("a[", "x", "]"),
        ("- ", "x", ""),
        ("!", "x", ""),
        ("*", "x", ""),
        ("(int)", "x", ""),
        ("x = ", "y", ""),
        ("x + ", "y", ""),
        ("x ? y : ", "z", ""),
        ("x, ", "y", ""),
        ("x = {", "y", "}"),
        ("[] { ", "x;", "}()"),
        ("A<", "int", "> x"),
        ("x < ", "y", " > (z)"),
        ("int (", "x", ")"),
        ("int ", "*", "x"),
        ("sizeof ", "x", ""),
        ("", "x", ".y"),
        ("", "x", "[0]"),
        ("", "x", "()"),
        ("struct A { ", "int x;", "}"),
        ("decltype(", "x", ") y"),
        ("switch (x) { case 1: ", "y;", "}"),
        ("do ", "x;", " while (y)"),
        ("T::", "x", ""),
    ];
    for (open, inner, close) in table {
        let unit = raw(around(open, inner, close));
        assert!(unit.functions.iter().any(|f| f.name == "before"), "{open}");
        let _ = dump(&unit);
    }
}

#[test]
fn deep_nesting_at_file_scope() {
    for (open, close) in [
        ("namespace a { ", "}"),
        ("extern \"C\" { ", "}"),
        ("template <class T> ", ""),
        ("struct A { ", "};"),
        ("(", ")"),
    ] {
        let _ = dump(&raw(format!("{}int x;{}", open.repeat(DEEP), close.repeat(DEEP))));
    }
}

#[test]
fn a_file_cut_anywhere_is_read() {
    let text = "namespace a { template <class T, int N> struct S { T x[N]; __device__ T at(int i) const { return x[i % N]; } };
        template <typename T> __global__ void __launch_bounds__(256) k(T *__restrict__ p, int n) {
        __shared__ T tile[32][33]; for (int i = threadIdx.x; i < n && n > (2); i += blockDim.x) {
        switch (i & 3) { case 0: p[i] = (T)-1; break; default: asm(\"mov.u32 %0, %1;\" : \"=r\"(x) : \"r\"(y)); }
        auto f = [=](int j) { return tile[j][i] ? *(float4 *)&p[j] : T{}; }; } }
        int main() { dim3 g(x, y); k<float><<<g, 256, 0, s>>>(p, n); return '\\n' + 0x1p3f; } }";
    for end in 0..text.len() {
        let _ = dump(&raw(text.get(..end).unwrap_or("").to_owned()));
        let _ = dump(&raw(text.get(end..).unwrap_or("").to_owned()));
    }
}

#[test]
fn a_broken_statement_costs_only_itself() {
    let dumped = file(
        "__global__ void a(int *p) {\n  p[0] = 1;\n  p[1] = = ) 2;\n  p[2] = 3;\n}\n__global__ void b(int *p) {\n  p[0] = 1;\n}\n",
    );
    assert!(dumped.contains("(p[0] = 1)") && dumped.contains("(p[2] = 3)"), "{dumped}");
    assert!(dumped.contains("__global__ void b(int* p)\n  (p[0] = 1)"), "{dumped}");
    assert!(dumped.contains("gap in a: syntax error"), "{dumped}");
}

#[test]
fn a_broken_function_hides_no_other() {
    let table = [
        "__global__ void a(int *p) { if (x { p[0] = 1; }\n",
        "__global__ void a(int *p, { p[0] = 1; }\n",
        "struct S { int x; foo( };\n",
        "} } }\n",
        "SOME_MACRO(x, y)\n",
        "MODULE(name, m) { m.def(1); }\n",
        "template <typename T, typename = @> struct X {};\n",
        "int x = ;\n",
        "__global__ void a(int *p) {\n  if (x) { p[0] = 1;\n}\n",
        "void a() {\n  FOR_ALL(i, n) { g(i); }\n}\n",
        "__global__ void a(int *p)\n  p[0] = 1;\n}\n",
        "namespace n {\n__global__ void a(int *p, { p[0] = 1; }\n",
    ];
    for broken in table {
        let dumped = file(&format!("{broken}__global__ void b(int *p) {{\n  p[0] = 1;\n}}\n"));
        assert!(dumped.contains("__global__ void b(int* p)"), "{broken}\n{dumped}");
    }
}
