//! Small sources and the dumps of what they lower to.

use crate::model::{Unit, dump};
use crate::preprocess::{PreprocessOptions, expand_one};
use crate::source::FileId;

mod robust;

fn unit(text: &str) -> Unit {
    super::lower(FileId(0), &expand_one("test.cu".into(), text.to_owned(), &PreprocessOptions::default()))
}

/// The dump of a whole file.
fn file(text: &str) -> String {
    dump(&unit(text)).trim_end().to_owned()
}

/// The dump of statements in a function that knows the values `a b c d i n p q x y` and the type `T`.
fn body(statements: &str) -> String {
    let text = format!(
        "struct T; void f(int a, int b, int c, int d, int i, int n, float *p, float *q, int x, int y) {{ {statements} }}"
    );
    let dumped = file(&text);
    let lines: Vec<&str> = dumped.lines().skip(1).map(|l| l.strip_prefix("  ").unwrap_or(l)).collect();
    lines.join("\n")
}

fn check(read: fn(&str) -> String, table: &[(&str, &str)]) {
    for (text, wanted) in table {
        assert_eq!(read(text), *wanted, "\nsource: {text}");
    }
}

#[test]
fn comparisons_are_no_template_calls() {
    check(
        body,
        &[
            ("if (a < n && c > (d)) {}", "if ((a < n) && (c > d))"),
            ("if (a < n || y > (d) + 1) {}", "if ((a < n) || (y > (d + 1)))"),
            ("if (x < a && y > -b) {}", "if ((x < a) && (y > -b))"),
            ("if (v.x < a && w.y > (d)) {}", "if ((v.x < a) && (w.y > d))"),
            ("x = a < n && c > (d) ? 1 : 2;", "(x = (((a < n) && (c > d)) ? 1 : 2))"),
            ("x = a < b & c > (d);", "(x = ((a < b) & (c > d)))"),
            ("g<T>(x);", "g<T>(x)"),
            ("g<3>(x);", "g<=3>(x)"),
            ("g<T, (3 > 2)>(x);", "g<T, =(3 > 2)>(x)"),
            ("o.template get<3>();", "o.get<=3>()"),
            ("x = m::v<T>::value;", "(x = m::v<T>::value)"),
        ],
    );
}

#[test]
fn casts_are_no_products() {
    check(
        body,
        &[
            ("x = (T)(y);", "(x = cast<T>(y))"),
            ("x = (T) - 1;", "(x = cast<T>(-1))"),
            ("x = (T)*p;", "(x = cast<T>(*p))"),
            ("x = (T)&y + 1;", "(x = (cast<T>(&y) + 1))"),
            ("x = a * (T)-1 + b;", "(x = ((a * cast<T>(-1)) + b))"),
            ("x = (T)(p)[i];", "(x = cast<T>(p[i]))"),
            ("x = (T)(y) * a;", "(x = (cast<T>(y) * a))"),
            ("x = (a)*b;", "(x = (a * b))"),
            ("x = (Real)*p;", "(x = cast<Real>(*p))"),
            ("x = (N)*(y) + (MASK)&y;", "(x = (((N * y) + MASK) & y))"),
            ("x = (count)*p;", "(x = (count * p))"),
            ("x = p[(a) + (b) * (c) + (n) * (d)];", "(x = p[((a + (b * c)) + (n * d))])"),
            ("x = p[((i) + c) % (a) + (((y) + b) % (n)) * (a)];", "(x = p[(((i + c) % a) + (((y + b) % n) * a))])"),
            ("x = p[((z) * (a) + (b)) * (c) + (n)];", "(x = p[((((z * a) + b) * c) + n)])"),
            ("x = (n)-1;", "(x = (n - 1))"),
            ("x = (sqrt)(y) + (std::abs)(y) + (real)(y);", "(x = ((sqrt(y) + std::abs(y)) + cast<real>(y)))"),
            ("x = (a) - 1;", "(x = (a - 1))"),
            ("x = (float)*p;", "(x = cast<float>(*p))"),
            ("x = (unsigned)-1;", "(x = cast<uint>(-1))"),
            ("x = unsigned(y) + int(y);", "(x = (construct uint(y) + construct int(y)))"),
            ("x = *(float4*)&y;", "(x = *cast<float4*>(&y))"),
            ("x = ((const float4 *)p)[i].x;", "(x = cast<const float4*>(p)[i].x)"),
            ("x = reinterpret_cast<float4*>(p)[i].y;", "(x = reinterpret_cast<float4*>(p)[i].y)"),
            ("x = sizeof(T) * n;", "(x = (sizeof<T> * n))"),
            ("x = sizeof(y) * n;", "(x = (sizeof(y) * n))"),
        ],
    );
}

#[test]
fn declarations_are_no_calls() {
    check(
        body,
        &[
            ("dim3 g(n, x);", "let dim3 g(n, x)"),
            ("dim3 g(a * b);", "let dim3 g((a * b))"),
            ("dim3 g(p[i], b);", "let dim3 g(p[i], b)"),
            ("T v(a);", "let T v(a)"),
            ("T (*r)[4] = q;", "let (T[4])* r = q"),
            ("T (&r)[4][2] = q;", "let (T[4][2])& r = q"),
            ("float (*r)[4] = q;", "let (float[4])* r = q"),
            ("m::tile<32> w;", "let m::tile<=32> w"),
            ("m::tile<32> w = g(x);", "let m::tile<=32> w = g(x)"),
            ("m::tile<3 * 2> w = g(x);", "let m::tile<=(3 * 2)> w = g(x)"),
            ("m::tile<T, 3 * 2> w(x), *v = y;", "let m::tile<T, =(3 * 2)> w(x), m::tile<T, =(3 * 2)>* v = y"),
            ("m::tile<3 * 2> w[4];", "let m::tile<=(3 * 2)>[4] w"),
            ("T *r(p + 1);", "let T* r((p + 1))"),
            ("T &r(*p);", "let T& r(*p)"),
            ("a * b;", "(a * b)"),
            ("T * r;", "let T* r"),
            ("int g(int k);", ""),
        ],
    );
}

#[test]
fn launches() {
    check(
        body,
        &[
            ("k<<<n, 256>>>(p, x);", "k<<<n, 256>>>(p, x)"),
            ("k<T><<<n, 256, 0, s>>>(p);", "k<T><<<n, 256, 0, s>>>(p)"),
            ("m::k<T, (3 > 2)><<<n, 1>>>(p);", "m::k<T, =(3 > 2)><<<n, 1>>>(p)"),
            ("(*fp)<<<n, 1>>>(p);", "(*fp)<<<n, 1>>>(p)"),
            ("(k)<<<dim3(1, 2), 1>>>();", "k<<<dim3(1, 2), 1>>>()"),
        ],
    );
}
