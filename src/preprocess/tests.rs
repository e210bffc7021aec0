//! Tables of texts and what a compiler makes of them (each checked against `gcc -E`).

use std::fmt::Write as _;

use super::*;

fn expand(text: &str) -> Expanded {
    expand_one(PathBuf::from("t.cu"), text.to_owned(), &PreprocessOptions::default())
}

/// The tokens of a text with a space behind each, whatever white space it had; comments are gone.
fn words(text: &str) -> String {
    let names = names::Names::default();
    token::tokens(text, 0..text.len(), &names).iter().map(|t| t.as_str().to_owned() + " ").collect()
}

#[test]
fn macros_expand_as_in_c() {
    let cases = [
        ("#define N 16\nint a[N];", "int a[16];"),
        ("#define F(a,b) ((a)*(b))\nx = F(1 + 2, F(3, 4));", "x = ((1 + 2)*(((3)*(4))));"),
        ("#define F(x) x\n#define G F\ny = G(3) + F;", "y = 3 + F;"),
        ("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2*9*g"),
        ("#define x (4 + x)\nx", "(4 + x)"),
        (
            "#define CAT(a, b) a##b\n#define XCAT(a,b) CAT(a,b)\n#define N 4\nfloat CAT(v, N), XCAT(v,N), CAT(,q), CAT(q,);",
            "float vN, v4, q, q;",
        ),
        (
            "#define S(x) #x\n#define XS(x) S(x)\n#define N 4\ns(S(N), XS(N), S( a  \"b\\n\" c ))",
            "s(\"N\", \"4\", \"a \\\"b\\\\n\\\" c\")",
        ),
        (
            "#define P(f, ...) printf(f, ##__VA_ARGS__)\nP(\"a\"); P(\"b\", 1, 2);",
            "printf(\"a\"); printf(\"b\", 1, 2);",
        ),
        ("#define P(args...) f(0, args)\nP(1, 2);", "f(0, 1, 2);"),
        ("#define P(a, ...) f(a __VA_OPT__(,) __VA_ARGS__)\nP(1); P(1, 2);", "f(1 ); f(1 , 2);"),
        ("#define A B\n#define B A\nA B", "A B"),
        ("#define F(x, ...) [x]\nF (F\n(2)\n, 1)", "[[2]]"),
        ("#define F(x, y) x y\nF((a, b), {c)", "(a, b) {c"),
        ("#define F() g\nF() F( ) F", "g g F"),
        ("#define F(x) x x\n#define G(x) F(x) F\nG(1)(2)", "1 1 2 2"),
        (
            "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
            "int j[] = { 123, 45, 67, 89, 10, 11, 12, };",
        ),
        ("#define LAUNCH(k) k<<<1, 32>>>()\nLAUNCH(a<int>);", "a<int><<<1, 32>>>();"),
        ("#define LONG(a) \\\n  a + \\\n  1\nLONG(2);", "2 + 1;"),
        ("#define N 1\n\"N\" 'N' /* N */ // N\nR\"(N)\" N", "\"N\" 'N' R\"(N)\" 1"),
        ("#define f(x) x\nf(f)(1) f(f(1))", "f(1) 1"),
        ("#define N 4\nfloat x = 1.N; int y = 0xN;", "float x = 1.N; int y = 0xN;"),
        ("__LINE__\n#define L __LINE__\n\nL __FILE__ __COUNTER__ __COUNTER__", "1 4 \"t.cu\" 0 1"),
        ("#define C(x) if (x) { e(__LINE__); }\n\nC(a)", "if (a) { e(3); }"),
        ("#define F(a) a\nF(1, 2) F(1", "F(1, 2) F(1"),
    ];
    for (text, expected) in cases {
        assert_eq!(words(&expand(text).text), words(expected), "{text}");
    }
}

#[test]
fn branches_are_chosen_as_nvcc_chooses_them() {
    let cases = [
        ("#if __CUDA_ARCH__ >= 800\nyes\n#else\nno\n#endif", "yes"),
        ("#ifdef __CUDACC__\na\n#endif\n#ifndef __NVCC__\nb\n#endif", "a"),
        ("#if 0\na\n#elif UNKNOWN\nb\n#elif defined(__linux__)\nc\n#else\nd\n#endif\ne", "c e"),
        ("#if 1\na\n#if 0\nb\n#else\nc\n#endif\n#else\n#if 1\nd\n#endif\n#endif", "a c"),
        ("#define M(x) (x > 2)\n#if M(3) && !defined(M2)\na\n#endif", "a"),
        ("#define M(x) (x > 2)\n#define N\n#if (M(3)) && defined(N) && defined M\na\n#endif", "a"),
        ("#define E\n#if defined(E)\na\n#endif\n#undef E\n#ifdef E\nb\n#endif", "a"),
        ("#if 0\n'\n\"\n#endif\na", "a"),
        ("f(\n#if 1\n1\n#else\n2\n#endif\n)", "f( 1 )"),
        ("#define F(x) [x]\nF(\n#if 0\n1\n#else\n2\n#endif\n) N", "[2] N"),
        ("#if __has_include(<cuda_fp16.h>) && !__has_include(\"gone.h\")\na\n#endif", "a"),
        ("#define V 3\n#if V == 3\n#define W V\n#endif\nW", "3"),
        ("#else\na\n#endif\nb\n#if 1\nc", "a b c"),
        ("#if CUDART_VERSION >= 12000 && __CUDACC_VER_MAJOR__ >= 12\na\n#endif", "a"),
    ];
    for (text, expected) in cases {
        assert_eq!(words(&expand(text).text), words(expected), "{text}");
    }
}

#[test]
fn no_token_arises_where_texts_meet() {
    let cases = [
        ("#define M -1\nx=-M;", "\nx=- -1;"),
        ("#define EMPTY\n-EMPTY-z", "\n- -z"),
        ("#define P(x) -x-x\nP(-1)", "\n- -1- -1"),
        ("#define S >>\na S= 1; a S>1", "\na >> = 1; a >> >1"),
        ("#define A(x) x\nA(>)A(>)", "\n> >"),
        ("#define E (1)\nreturn E;", "\nreturn (1);"),
    ];
    for (text, expected) in cases {
        let expanded = expand(text).text;
        assert_eq!(expanded.split_once('\n').map(|(_, t)| t), expected.split_once('\n').map(|(_, t)| t), "{text}");
    }
}

#[test]
fn text_outside_macros_keeps_its_bytes() {
    let text = "#include <a>\nint \u{e9} = 1; // \u{e9}\r\n#if 0\nx\u{e9}\r\n#endif\r\n#pragma unroll 4\nfor (;;) {}\n#pragma once\n";
    let expanded = expand(text);
    assert_eq!(expanded.text.len(), text.len());
    assert!(expanded.map.segments.is_empty());
    assert_eq!(
        expanded.text,
        "            \nint \u{e9} = 1; // \u{e9}\r\n     \n   \r\n      \r\n#pragma unroll 4\nfor (;;) {}\n            \n"
    );
}

#[test]
fn every_byte_leads_back_to_its_origin() {
    let text = "#define N 16\n#define SQ(x) ((x)*(x))\nint a[N]; b = SQ(c\n + 1) + d[N];\n";
    let expanded = expand(text);
    let file = crate::source::FileId(0);
    for (index, byte) in expanded.text.bytes().enumerate() {
        let span = expanded.map.span(file, index..index + 1);
        let origin = &text[span.range()];
        if span.in_macro {
            assert!(origin == "N" || origin == "SQ(c\n + 1)", "{origin}");
        } else if !byte.is_ascii_whitespace() {
            assert_eq!(origin.as_bytes(), [byte]);
        }
    }
    let at = expanded.text.find("d[16]").unwrap_or(0);
    assert_eq!(&text[expanded.map.span(file, at..at + 5).range()], "d[N]");
}

#[test]
fn bombs_are_left_as_written() {
    let mut bomb = String::from("#define A0 x x\n");
    for level in 1..40 {
        let _ = writeln!(bomb, "#define A{level} A{0} A{0}", level - 1);
    }
    bomb.push_str("int y = A39; int z = A1;\n");
    let expanded = expand(&bomb);
    assert!(expanded.text.len() < 9 * bomb.len() + (1 << 20));
    assert_eq!(expanded.gaps.len(), 1);
    assert!(expanded.text.contains("A39"));
    let deep = format!("#define F(x) x\n{}1{}", "F(".repeat(5000), ")".repeat(5000));
    assert!(!expand(&deep).gaps.is_empty());
}

#[test]
fn texts_that_double_are_left_as_written() {
    let paste = format!("#define A(x) x##x\n#define B(x) A(x)\n{}y{}\n", "B(".repeat(50), ")".repeat(50));
    let quote = format!("#define S(x) #x\n#define X(x) S(x)\n{}\"\"{}\n", "X(".repeat(50), ")".repeat(50));
    for text in [paste, quote] {
        let expanded = expand(&text);
        assert!(!expanded.gaps.is_empty() && expanded.text.len() < 9 * text.len() + (1 << 20));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_map(words in proptest::collection::vec(0..WORDS.len(), 0..120)) {
        let text: String = words.iter().filter_map(|w| WORDS.get(*w)).copied().collect();
        let expanded = expand(&text);
        let segments = &expanded.map.segments;
        assert!(segments.windows(2).all(|pair| pair[0].expanded < pair[1].expanded));
        let file = crate::source::FileId(0);
        for index in 0..expanded.text.len() {
            let span = expanded.map.span(file, index..index + 1);
            assert!(span.start <= span.end && span.end as usize <= text.len(), "{text:?}");
        }
        if segments.is_empty() {
            assert_eq!(expanded.text.len(), text.len());
        }
    }
}

/// Pieces of text that the preprocessor and the dialect rules stumble over, in any order.
const WORDS: &[&str] = &[
    "\n#define ",
    "\n#undef ",
    "\n#if ",
    "\n#ifdef ",
    "\n#else\n",
    "\n#elif ",
    "\n#endif\n",
    "\n#pragma unroll\n",
    "A",
    "B",
    "F",
    "F(",
    "A(x, ...) ",
    "F(x) ",
    "x",
    "#",
    "##",
    "__VA_ARGS__",
    "__VA_OPT__(",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    "=",
    " ",
    "\n",
    "\\\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "1",
    "0x",
    "R\"(",
    "defined",
    "__align__(8)",
    "__attribute__((aligned(4)))",
    "typename ",
    "T::U",
    "new ",
    "friend ",
    "operator",
    "template class ",
    "= {}",
    "_Pragma(\"unroll\")",
    "__launch_bounds__(1,2,3)",
    "MACRO_DEVICE ",
    "\u{e9}",
    "\r\n",
    "__device__ ",
    "decltype(",
    "enum : int ",
    "conditional_t<A >= 3",
    "* const __restrict ",
    "va_arg(",
    "unsigned",
    "void",
    "\t",
    "delete",
];
