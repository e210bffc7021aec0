// Where small arrays and tables live (README, section 10).
#define T threadIdx.x

//# constant indices are registers
__global__ void registers(const float* a, float* out) {
    float r[4];
    for (int k = 0; k < 4; k++) r[k] = a[T + k * 1024];  // sass: 4xLDG
    for (int k = 0; k < 4; k++) out[T + k * 1024] = r[3 - k];  // sass: 4xSTG
}

//# a small array read at a dynamic index is a chain of selects
__global__ void selects(const float* a, float* out, int n) {
    float r[32];
    for (int k = 0; k < 32; k++) r[k] = a[T + k * 1024];  // sass: 32xLDG
    out[T] = r[n];  // sass: STG
}

//# a table in a function
__global__ void table(float* out, int n) {
    const float mix[3] = {1.5f, 2.5f, 7.f};
    out[T] = mix[n];  // sass: STG
}

//# a static table is global memory
__global__ void static_table(float* out, int n) {
    static const float mix[3] = {1.5f, 2.5f, 7.f};
    out[T] =
        mix[n];  // sass: LDG
}

//# constant memory
__constant__ float coefficients[256];
__global__ void constants(float* out, int n) {
    out[T] = coefficients[n];  // sass: LDC STG
    out[T + 1024] = coefficients[T];  // sass: LDC STG
}

//# a small array in a parameter
struct Parameters {
    float v[16];
    int n;
};
__global__ void parameters(Parameters p, float* out) {
    out[T] = p.v[p.n];  // sass: STG
}
