// Which double literals cost double-precision instructions in float code (README, section 11).
#define T threadIdx.x

//# one operation with an exact literal stays in single precision
__global__ void exact(float* out, const float* a) {
    out[T] = a[T] * 0.5;  // fp64: none
    out[T] = a[T] + 1.0;  // fp64: none
    out[T] = 1.0 - a[T];  // fp64: none
    out[T] = a[T] / 2.0;  // fp64: none
    out[T] = a[T] / 3.0;  // fp64: none
    out[T] = 1.0 / a[T];  // fp64: none
    out[T] = (1.0 + 2.0) * a[T];  // fp64: none
    out[T] = a[T] * a[T + 1] * 0.5;  // fp64: none
    out[T] += 1.0;  // fp64: none
}

//# a literal that no float holds does not
__global__ void inexact(float* out, const float* a) {
    out[T] = a[T] * 0.1;  // fp64: 3
    out[T + 1024] = a[T + 1] - 0.3;  // fp64: 3
    out[T + 2048] = a[T + 2] * 3.14159265358979;  // fp64: 3
    out[T + 3072] *= 0.1;  // fp64: 3
}

//# nor do two operations in a row
__global__ void chained(float* out, const float* a) {
    out[T] = a[T] * 2.0 + 1.0;  // fp64: 3
    out[T + 1024] = 0.5 * a[T + 2] * a[T + 3];  // fp64: 5
    out[T + 2048] = (1.0 - a[T + 4]) * a[T + 5];  // fp64: 5
}

//# comparisons follow the literal
__global__ void comparisons(float* out, const float* a) {
    out[T] = a[T] > 0.5 ? 1 : 2;  // fp64: none
    out[T + 1024] = a[T + 1] == 0.0 ? 1 : 2;  // fp64: none
    out[T + 2048] = a[T + 2] > 0.1 ? 1 : 2;  // fp64: 2
    out[T + 3072] = a[T + 3] < 1e-6;  // fp64: 2
}

//# a selected, converted or stored literal costs nothing
__global__ void selected(float* out, const float* a) {
    out[T] = a[T] > 0 ? a[T] : 0.1;  // fp64: none
    float x = 0.1;
    out[T + 1024] = x * a[T];  // fp64: none
    out[T + 2048] = (float)0.1 * a[T];  // fp64: none
}

//# a double constant is a double
__global__ void constant(float* out, const float* a) {
    const double x = 0.1;
    out[T] = x * a[T];  // fp64: 3
}

//# integers turn into doubles
__global__ void integers(float* out, const int* n) {
    out[T] = n[T] * 0.5;  // fp64: 3
    out[T + 1024] = n[T + 1] / 2.0;  // fp64: 3
}

//# a result that is an integer is computed in double precision
__global__ void to_integer(int* out, const float* a) {
    out[T] = a[T] * 255.0;  // fp64: 3
    out[T + 1024] = a[T + 1] + 0.5;  // fp64: 3
}

//# functions: overloads for float, unless the argument is a double
__global__ void functions(float* out, const float* a) {
    out[T] = sqrt(a[T]);  // fp64: none
    out[T + 1024] = fabs(a[T + 1]);  // fp64: none
    out[T + 2048] = floor(a[T + 2] + 0.5);  // fp64: 4
    out[T + 3072] = sqrt(a[T + 3] * 2.0);  // fp64: some
    out[T + 4096] = pow(a[T + 4], 2.0);  // fp64: some
}
