// Dynamic and explicitly aligned shared arrays: what the vectoriser merges before the assembler sees it (README, section 1).
#include <cuda_fp16.h>
#define T threadIdx.x
#define FILL e[T] = out[T]; __syncthreads();
extern __shared__ float e[];
extern __shared__ unsigned char bytes[];

//# neighbours in dynamic shared memory
__global__ void even(float* out) {
    FILL
    float a = e[2 * T];  // sass: LDS.64
    float b = e[2 * T + 1];  // sass: none
    out[T] = a - b;
}

//# three of four
__global__ void three(float* out) {
    FILL
    float a = e[4 * T];  // sass: LDS.128
    float b = e[4 * T + 1];  // sass: none
    float c = e[4 * T + 2];  // sass: none
    out[T] = a * b - c;
}

//# the middle and a hole stay apart
__global__ void apart(float* out) {
    FILL
    out[T] = e[4 * T + 1] - e[4 * T + 2];  // sass: 2xLDS STG
    out[T + 1024] = e[4 * T + 64] - e[4 * T + 66];  // sass: 2xLDS STG
}

//# stores of three
__global__ void three_stores(float* out, float x) {
    e[4 * T] = x;  // sass: none
    e[4 * T + 1] = x + 1;  // sass: STS.64
    e[4 * T + 2] = x + 2;  // sass: STS
    __syncthreads();
    out[T] = e[T ^ 1];
}

//# a store to a provably different element may stand between
__global__ void store_elsewhere(float* out) {
    FILL
    float a = e[2 * T];  // sass: LDS.64
    e[2 * T + 512] = a;  // sass: STS
    float b = e[2 * T + 1];  // sass: none
    out[T] = a - b;
}

//# a store to an unknown element may not
__global__ void store_anywhere(float* out, int n) {
    FILL
    float a = e[2 * T];  // sass: LDS
    e[n] = a;  // sass: STS
    float b = e[2 * T + 1];  // sass: LDS
    out[T] = a - b;
}

//# a store to another array may
__global__ void store_other_array(float* out, int n) {
    __shared__ float r[1024];
    FILL
    float a = e[2 * T];  // sass: LDS.64
    r[n] = a;  // sass: STS
    float b = e[2 * T + 1];  // sass: none
    __syncthreads();
    out[T] = a - b + r[T];
}

//# read-modify-write of neighbours
__global__ void read_modify_write(float* out, float x, float y) {
    FILL
    e[4 * T] += x;  // sass: LDS.128
    e[4 * T + 1] += y;  // sass: none
    e[4 * T + 2] += x;  // sass: none
    e[4 * T + 3] += y;  // sass: STS.128
    __syncthreads();
    out[T] = e[T];
}

//# the same on a static array that is declared aligned
__global__ void read_modify_write_aligned(float* out, float x, float y) {
    __shared__ __align__(16) float s[512];
    s[T] = out[T];
    __syncthreads();
    s[2 * T] += x;  // sass: LDS.64
    s[2 * T + 1] += y;  // sass: STS.64
    __syncthreads();
    out[T] = s[T];
}

//# and on an array of vectors seen as floats
__global__ void read_modify_write_cast(float* out, float x, float y) {
    __shared__ float4 v[128];
    float* s = (float*)v;
    s[T] = out[T];
    __syncthreads();
    s[2 * T] += x;  // sass: LDS.64
    s[2 * T + 1] += y;  // sass: STS.64
    __syncthreads();
    out[T] = s[T];
}

//# two arrays carved out at a constant distance
__global__ void carved(float* out, float x) {
    float* r = e + 1024;
    e[2 * T] = x;  // sass: none
    r[2 * T] = x + 2;  // sass: none
    e[2 * T + 1] = x + 1;  // sass: STS.64
    r[2 * T + 1] = x + 3;  // sass: STS.64
    __syncthreads();
    out[T] = e[T ^ 1] + r[T ^ 1];
}

//# carved out at an unknown distance: neither aligned nor distinct
__global__ void carved_unknown(float* out, float x) {
    float* r = e + blockDim.x;
    e[2 * T] = x;  // sass: STS
    r[2 * T] = x + 2;  // sass: STS
    e[2 * T + 1] = x + 1;  // sass: STS
    r[2 * T + 1] = x + 3;  // sass: STS
    __syncthreads();
    out[T] = e[T ^ 1] + r[T ^ 1];
}

//# carved out at an even distance
__global__ void carved_even(float* out, float x, int n) {
    float* r = e + 2 * n;
    r[2 * T] = x;  // sass: none
    r[2 * T + 1] = x + 1;  // sass: STS.64
    __syncthreads();
    out[T] = e[T ^ 1];
}

//# bytes become a word, shorts too
__global__ void narrow(int* out, int n) {
    bytes[T] = out[T];
    __syncthreads();
    int a = bytes[4 * T];  // sass: LDS
    int b = bytes[4 * T + 1];  // sass: none
    int c = bytes[4 * T + 2];  // sass: none
    int d = bytes[4 * T + 3];  // sass: none
    out[T] = a - b * c / d;
    __syncthreads();
    unsigned short* shorts = (unsigned short*)bytes;
    out[T + 1024] = shorts[2 * T] - shorts[2 * T + 1];  // sass: LDS STG
}

//# eight byte stores
__global__ void byte_stores(int* out, int n) {
    for (int k = 0; k < 8; k++) bytes[8 * T + k] = n * k;  // sass: STS.64
    __syncthreads();
    out[T] = bytes[T ^ 1];
}

//# three bytes are read with the fourth
__global__ void three_bytes(int* out) {
    bytes[T] = out[T];
    __syncthreads();
    int a = bytes[8 * T];  // sass: LDS
    int b = bytes[8 * T + 1];  // sass: none
    int c = bytes[8 * T + 2];  // sass: none
    out[T] = a * b - c;
}

//# into a branch
__global__ void into_branch(float* out, float* other, int n) {
    FILL
    float a = e[2 * T];  // sass: LDS.64
    out[T] = a;
    if (T < n) {
        float b = e[2 * T + 1];  // sass: none
        other[T] = b;
        other[T + 5] = sqrtf(b);
    }
}

//# into a branch past a store elsewhere
__global__ void into_branch_past_store(float* out, float* other, int n) {
    FILL
    float a = e[2 * T];  // sass: LDS
    e[2 * T + 1024] = a;  // sass: STS
    if (T < n) {
        float b = e[2 * T + 1];  // sass: LDS
        other[T] = b;
        other[T + 5] = sqrtf(b);
    }
}

//# vector elements
__global__ void vectors(float* out) {
    __shared__ float2 s[256];
    s[T].x = out[T];  // sass: LDG
    s[T].y = out[T + 1];  // sass: LDG STS.64
    __syncthreads();
    float2 v = s[T + 1];  // sass: LDS.64
    float2 w = s[2 * (T ^ 8)];  // sass: LDS.128
    float2 x = s[2 * (T ^ 8) + 1];  // sass: none
    out[T] = v.x - v.y * w.x / w.y + x.x * x.y;
}
