use super::rewrite;
use super::text::{Shape, next_token};

fn rewritten(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    rewrite(&mut bytes);
    assert_eq!(bytes.len(), text.len());
    String::from_utf8(bytes).unwrap_or_default()
}

fn parses(text: &str) -> bool {
    let mut parser = tree_sitter::Parser::new();
    let loaded = parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).is_ok();
    loaded && parser.parse(text, None).is_some_and(|t| !t.root_node().has_error())
}

/// The tokens of a text, whatever white space stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut at = 0;
    loop {
        let token = next_token(text.as_bytes(), at);
        if token.shape == Shape::End {
            return words;
        }
        words.push(&text[token.start..token.end]);
        at = token.end;
    }
}

#[test]
fn words_are_spelled_as_the_grammar_reads_them() {
    let cases = [
        ("struct __align__(16) S { int a; };", "struct alignas(16) S { int a; };"),
        ("extern __shared__ __align__(16) char s[];", "extern __shared__ alignas(16) char s[];"),
        ("__shared__ float __align__(8) s[4];", "__shared__ float alignas(8) s[4];"),
        ("__shared__ float s[4] __align__(8);", "__shared__ float s[4] ;"),
        ("struct __attribute__((aligned(4 * N))) S { int a; };", "struct alignas(4 * N) S { int a; };"),
        ("struct __attribute__((packed)) S { int a; };", "struct __attribute__((packed)) S { int a; };"),
        ("__attribute__((always_inline)) void f() {}", "void f() {}"),
        ("int a __attribute__((unused)) = 3;", "int a = 3;"),
        ("typedef struct { int a; } __attribute__((aligned(8))) S;", "typedef struct { int a; } alignas(8) S;"),
        ("typedef __align__(8) short4 T;", "typedef alignas(8) short4 T;"),
        (
            "__global__ void __launch_bounds__(N * (2), 2, 1) k() {}",
            "__global__ void __launch_bounds__(N * (2), 2 ) k() {}",
        ),
        ("__global__ void __cluster_dims__(2, 1, 1) k() {}", "__global__ void k() {}"),
        ("void f(int * const __restrict p, int __restrict q);", "void f(int * __restrict const p, int q);"),
        ("void f(float &__restrict__ p);", "void f(float & p);"),
        ("auto g = [=] __host__ __device__ (int i) { return i; };", "auto g = [=] (int i) { return i; };"),
        (
            "void f() { x = typename A<3>::B{}; y = g(typename A::template B<2>(1)); }",
            "void f() { x = A<3>::B{}; y = g( A::template B<2>(1)); }",
        ),
        (
            "template <typename T> void f() { typename T::B b(1); }",
            "template <typename T> void f() { typename T::B b(1); }",
        ),
        ("void f(T x = {}, U y={});", "void f(T x , U y );"),
        (
            "void f() { a = new const float *[n]; b = new T**[2]; c = new int[3]; }",
            "void f() { a = new float [n]; b = new T [2]; c = new int[3]; }",
        ),
        (
            "void f() { x = va_arg(ap, char*); y = typeid(int) == typeid(x); }",
            "void f() { x = va_arg(ap ); y = typeid( ) == typeid(x); }",
        ),
        (
            "struct A { friend int operator/(int a, A b); friend class B; friend C; };",
            "struct A { int operator/(int a, A b); friend class B; friend C; };",
        ),
        ("template class A<float>; template __global__ void k<int>(int);", " ; template __global__ void k<int>(int);"),
        ("struct S { int a : 3; int : 4; };", "struct S { int a : 3; ; };"),
        ("void A::f() { operator++(); }", "void A::f() { ++(*this) ; }"),
        (
            "TEST(A, 128x64_8) { float x = 1.5f + 0x1F + 10u + 1e5; }",
            "TEST(A, _28x64_8) { float x = 1.5f + 0x1F + 10u + 1e5; }",
        ),
        ("static __device__ __const__ float b = 1;", "static __device__ const float b = 1;"),
        ("void f() { if (x)\n#pragma unroll\nfor (;;) {} }", "void f() { if (x) for (;;) {} }"),
        ("void f() { a; _Pragma(\"unroll 4\") for (;;) {} }", "void f() { a; \n#pragma unroll 4\n for (;;) {} }"),
        ("void f() { x |= unsigned(y) << 3; }", "void f() { x |= uint32_t(y) << 3; }"),
        ("enum : uint8_t { A }; enum E : int { B };", "enum { A }; enum E : int { B };"),
        (
            "void f() { static_assert(rank(decltype(a){}) == 5); decltype(a) b; }",
            "void f() { static_assert(rank((a)) == 5); decltype(a) b; }",
        ),
        ("template <class T = void*> struct S {};", "template <class T = void > struct S {};"),
        ("using X = conditional_t<A::k >= 80, B, C>;", "using X = conditional_t<(A::k>=80), B, C>;"),
        (
            "struct S : B { using typename B::T; static int h(int) = delete; S() = default; };",
            "struct S : B { using B::T; static int h(int) ; S() = default; };",
        ),
        (
            "void f(S s = {1, 2}, int b = 3); int a[] = {1}, b[] = {2};",
            "void f(S s , int b = 3); int a[] = {1}, b[] = {2};",
        ),
        ("void A::f() { operator()(1, 2); }", "void A::f() { (*this)(1, 2); }"),
        ("void CUDART_CB f(int a) {}", "void f(int a) {}"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let result = rewritten(text);
        if words(&result) != words(expected) || !parses(&result) {
            wrong.push(format!("{text}\n   is {result}\n  not {expected} (parses: {})", parses(&result)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn undefined_words_are_read_by_their_place() {
    let cases = [
        ("MY_LIB_DEVICE void f() {}", "__device__ void f() {}"),
        ("template <int N>\nMY_LIB_GLOBAL void k() {}", "template <int N> __global__ void k() {}"),
        ("void f() { LIB_UNROLL for (;;) {} }", "void f() { for (;;) {} }"),
        ("INLINE_FN static int f() {}", "static int f() {}"),
        ("API Type<3>* f() {}", "Type<3>* f() {}"),
        ("REAL __device__ f() {}", "REAL __device__ f() {}"),
        ("int RTLENTRY f(void);", "int f(void);"),
        (
            "const REAL f(void); UINT x; static UINT y; UINT z(3);",
            "const REAL f(void); UINT x; static UINT y; UINT z(3);",
        ),
        ("void CALL(std) f(int a) {}", "void f(int a) {}"),
        ("class EXPORTED Foo : Bar {};", "class Foo : Bar {};"),
        ("LIB_LAUNCH_BOUNDS_2(256, 4) __global__ void k() {}", "__launch_bounds__(256, 4) __global__ void k() {}"),
        (
            "void f() { CHECK(a, \"b\")\n  int x = 3; CHECK_LAST\n  y = 4; }",
            "void f() { CHECK(a, \"b\"); int x = 3; CHECK_LAST; y = 4; }",
        ),
        ("void f() { printf(\"%\" PRIu64 \"\\n\", x); }", "void f() { printf(\"%\" \"\\n\", x); }"),
        ("void f() { g(N, M); x = A * B; return MAX(a, b); }", "void f() { g(N, M); x = A * B; return MAX(a, b); }"),
    ];
    let mut wrong = Vec::new();
    for (text, expected) in cases {
        let result = rewritten(text);
        if words(&result) != words(expected) || !parses(&result) {
            wrong.push(format!("{text}\n   is {result}\n  not {expected} (parses: {})", parses(&result)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
