// Loops: what is unrolled, and which iterations become neighbours (README, section 9).
#define T threadIdx.x
#define FILL s[T] = out[T]; __syncthreads();

//# a hundred simple trips
__global__ void hundred(const float* __restrict__ a, float* out) {
    float x = 0;
    for (int k = 0; k < 100; k++) x += a[T + k * 1024];  // sass: 100xLDG
    out[T] = x;
}

//# twenty-four heavier trips
__global__ void heavier(const float* __restrict__ a, float* out) {
    float x = 0;
    for (int k = 0; k < 24; k++) {
        float q = a[T + k * 1024];  // sass: 24xLDG
        x += sqrtf(q * q + x) * q / (1 + x);
    }
    out[T] = x;
}

//# a halving stride from a constant
__global__ void halving(float* out) {
    __shared__ float s[1024];
    FILL
    for (int step = 512; step > 0; step >>= 1) {
        if (T < step) s[T] += s[T + step];  // sass: 20xLDS 10xSTS
        __syncthreads();
    }
    out[T] = s[0];
}

//# an unknown number of trips
__global__ void unknown(float* out, const float* a, int n) {
    __shared__ float s[1024];
    FILL
    float x = 0;
    for (int k = 0; k < n; k++) x += s[k] * a[k * 1024 + T];  // sass: LDS.128 5xLDG LDS
    out[T] = x;
}

//# not unrolled on request
__global__ void unroll_one(float* out, const float* a, int n) {
    __shared__ float s[1024];
    FILL
    float x = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) x += s[k] * a[k * 1024 + T];  // sass: LDS LDG
    out[T] = x;
}

//# an unknown number of trips along a row
__global__ void unknown_row(float* out, const float* a, int n) {
    __shared__ float s[4096];
    FILL
    float x = 0;
    for (int k = 0; k < n; k++) x += s[T * 32 + k] * a[k * 1024 + T];  // sass: 2xLDS.64 5xLDG LDS
    out[T] = x;
}

//# the same in dynamic shared memory
__global__ void unknown_row_dynamic(float* out, const float* a, int n) {
    extern __shared__ float e[];
    e[T] = out[T];
    __syncthreads();
    float x = 0;
    for (int k = 0; k < n; k++) x += e[T * 32 + k] * a[k * 1024 + T];  // sass: LDS.128 5xLDG LDS
    out[T] = x;
}

//# a tile: rows merge, columns do not
__global__ void tile(float* out, int n) {
    __shared__ float a[16][16], b[16][16];
    a[threadIdx.y][T] = out[T];
    b[threadIdx.y][T] = out[T + n];
    __syncthreads();
    float x = 0;
    for (int k = 0; k < 16; k++)
        x += a[threadIdx.y][k]  // sass: 4xLDS.128
             * b[k][T];  // sass: 16xLDS
    out[T] = x;
}

//# a padded tile
__global__ void padded_tile(float* out, int n) {
    __shared__ float a[16][17], b[16][17];
    a[threadIdx.y][T] = out[T];
    b[threadIdx.y][T] = out[T + n];
    __syncthreads();
    float x = 0;
    for (int k = 0; k < 16; k++)
        x += a[threadIdx.y][k]  // sass: 16xLDS
             * b[k][T];  // sass: 16xLDS
    out[T] = x;
}

//# a barrier in the body
__global__ void barrier(float* out, const float* a, int n) {
    __shared__ float s[1024];
    FILL
    float x = 0;
    for (int k = 0; k < n; k++) {
        x += s[k] * a[k * 1024 + T];  // sass: 5xLDS 5xLDG
        __syncthreads();
    }
    out[T] = x;
}

//# a branch in the body
__global__ void branch(float* out, const float* a, int n) {
    __shared__ float s[1024];
    FILL
    float x = 0;
    for (int k = 0; k < n; k++) {
        x += s[k] * a[k * 1024 + T];  // sass: 5xLDS 5xLDG
        if (x > 3) x = sqrtf(x);
    }
    out[T] = x;
}

//# vectors in a loop
__global__ void vectors(float* out, const float4* a) {
    __shared__ float4 s[16];
    __shared__ float3 t[16];
    __shared__ float2 u[16];
    s[T] = a[T];
    t[T] = make_float3(a[T].x, a[T].y, a[T].z);
    u[T] = make_float2(a[T].w, a[T].x);
    __syncthreads();
    float x = 0;
    for (int k = 0; k < 16; k++) {
        x += s[k].x * s[k].y - s[k].z * s[k].w;  // sass: 16xLDS.128
        x -= t[k].x * t[k].y - t[k].z;  // sass: 12xLDS.128
        x *= u[k].x - u[k].y;  // sass: 8xLDS.128
    }
    out[T] = x;
}

//# stores along a row
__global__ void stores(float* out, int n) {
    __shared__ float s[4096];
    for (int k = 0; k < 8; k++) s[8 * T + k] = k * n;  // sass: 2xSTS.128
    __syncthreads();
    out[T] = s[T ^ 1];
}
