// Global memory: members of aligned types merge, scalars never do; whole structs move in pieces of their alignment (README, section 6).
#include <cuda_fp16.h>
#define T threadIdx.x

//# scalars through a pointer
__global__ void scalars(const float* a, float* out) {
    float x = a[2 * T];  // sass: LDG
    float y = a[2 * T + 1];  // sass: LDG
    out[2 * T] = x - y;  // sass: STG
    out[2 * T + 1] = x + y;  // sass: STG
}

//# __restrict__ does not help scalars
__global__ void restricted_scalars(const float* __restrict__ a, float* __restrict__ out) {
    float x = a[4 * T];  // sass: LDG
    float y = a[4 * T + 1];  // sass: LDG
    float z = a[4 * T + 2];  // sass: LDG
    float w = a[4 * T + 3];  // sass: LDG
    out[T] = x - y * z / w;
}

//# a device array without and with declared alignment
__device__ float plain[4096];
__device__ __align__(16) float aligned[4096];
__global__ void device_arrays(float* out) {
    out[T] = plain[2 * T] - plain[2 * T + 1];  // sass: 2xLDG STG
    out[T + 4096] = aligned[2 * T] - aligned[2 * T + 1];  // sass: LDG.64 STG
}

//# a float4 and its parts
__global__ void float4_all(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG.128
    out[T] = v.x - v.y * v.z / v.w;
}
__global__ void float4_x(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG
    out[T] = v.x;
}
__global__ void float4_xy(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG.64
    out[T] = v.x - v.y;
}
__global__ void float4_zw(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG.64
    out[T] = v.z - v.w;
}
__global__ void float4_xyz(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG.128
    out[T] = v.x - v.y * v.z;
}
__global__ void float4_yzw(const float4* a, float* out) {
    float4 v = a[T];  // sass: LDG.128
    out[T] = v.y - v.z * v.w;
}
__global__ void float4_yz(const float4* a, float* out) {
    float4 v = a[T];  // sass: 2xLDG
    out[T] = v.y - v.z;
}
__global__ void float4_xw(const float4* a, float* out) {
    float4 v = a[T];  // sass: 2xLDG
    out[T] = v.x - v.w;
}

//# members read one by one
__global__ void members_all(const float4* a, float* out) {
    float x = a[T].x;  // sass: LDG.128
    float y = a[T].y;  // sass: none
    float z = a[T].z;  // sass: none
    float w = a[T].w;  // sass: none
    out[T] = x - y * z / w;
}
__global__ void members_yzw(const float4* a, float* out) {
    float y = a[T].y;  // sass: LDG
    float z = a[T].z;  // sass: LDG.64
    float w = a[T].w;  // sass: none
    out[T] = y - z * w;
}

//# members written one by one
__global__ void members_written(float4* out, float x) {
    out[T].x = x;  // sass: none
    out[T].y = x + 1;  // sass: none
    out[T].z = x + 2;  // sass: none
    out[T].w = x + 3;  // sass: STG.128
}
__global__ void members_written_three(float4* out, float x) {
    out[T].x = x;  // sass: none
    out[T].y = x + 1;  // sass: STG.64
    out[T].z = x + 2;  // sass: STG
}

//# a store between that may alias
__global__ void store_between(const float4* a, float* out, float* other) {
    float x = a[T].x;  // sass: LDG
    other[T] = x;
    float y = a[T].y;  // sass: LDG
    out[T] = x - y;
}

//# a store between that may not
__global__ void store_between_restricted(const float4* __restrict__ a, float* __restrict__ out, float* __restrict__ other) {
    float x = a[T].x;  // sass: LDG.64
    other[T] = x;
    float y = a[T].y;  // sass: none
    out[T] = x - y;
}

//# a load between is no obstacle
__global__ void load_between(const float4* a, float* out, const float* other) {
    float x = a[T].x;  // sass: LDG.64
    float q = other[T];
    float y = a[T].y;  // sass: none
    out[T] = x - y * q;
}

//# a guarded member is a load of its own
__global__ void guarded_member(const float4* a, float* out, float n) {
    float x = a[T].x;  // sass: LDG
    float y = 0;
    if (x > n) y = a[T].y;  // sass: LDG
    out[T] = x * y;
}

//# two vectors side by side
__global__ void vector_neighbours(const float2* a, float* out) {
    float2 v = a[2 * T];  // sass: LDG.64
    float2 w = a[2 * T + 1];  // sass: LDG.64
    out[T] = v.x * v.y - w.x * w.y;
}

//# scalars seen as vectors
__global__ void casts(const float* a, float* out) {
    float4 v = *(const float4*)&a[4 * T];  // sass: LDG.128
    float2 w = reinterpret_cast<const float2*>(a)[T];  // sass: LDG.64
    out[T] = v.x - v.y * v.z / v.w - w.x * w.y;
}

//# a cast tells the alignment of what shares its index, an assumption that of the pointer
__global__ void cast_elsewhere(const float* a, float* out) {
    float4 v = *(const float4*)&a[4 * T];  // sass: LDG.128
    float x = a[4 * T + 1024];  // sass: LDG.64
    float y = a[4 * T + 1025];  // sass: none
    out[T] = v.x - v.y * v.z / v.w - x * y;
}
__global__ void cast_other_index(const float* a, float* out) {
    float4 v = ((const float4*)a)[T];  // sass: LDG.128
    float x = a[4 * T + 1024];  // sass: LDG
    float y = a[4 * T + 1025];  // sass: LDG
    out[T] = v.x - v.y * v.z / v.w - x * y;
}
__global__ void assumed(const float* a, float* out) {
    a = (const float*)__builtin_assume_aligned(a, 16);
    float x = a[4 * T + 1024];  // sass: LDG.64
    float y = a[4 * T + 1025];  // sass: none
    out[T] = x * y;
}

//# built-in vector types
__global__ void double2_all(const double2* a, double* out) {
    double2 v = a[T];  // sass: LDG.128
    out[T] = v.x - v.y;  // sass: STG.64
}
__global__ void double4_all(const double4* a, double* out) {
    double4 v = a[T];  // sass: 2xLDG.128
    out[T] = v.x - v.y * v.z / v.w;
}
__global__ void float3_all(const float3* a, float3* out) {
    out[T] = a[T];  // sass: 3xLDG 3xSTG
}
__global__ void float3_y(const float3* a, float* out) {
    float3 v = a[T];  // sass: LDG
    out[T] = v.y;
}
__global__ void double3_all(const double3* a, double* out) {
    double3 v = a[T];  // sass: 3xLDG.64
    out[T] = v.x - v.y * v.z;
}
__global__ void uchar4_all(const uchar4* a, int* out) {
    uchar4 v = a[T];  // sass: LDG
    out[T] = v.x - v.y * v.z / v.w;
}
__global__ void uchar4_x(const uchar4* a, int* out) {
    uchar4 v = a[T];  // sass: LDG.8
    out[T] = v.x;
}
__global__ void uchar4_xy(const uchar4* a, int* out) {
    out[T] = a[T].x - a[T].y;  // sass: LDG.16 STG
}
__global__ void uchar4_written(uchar4* out, int n) {
    out[T] = make_uchar4(n, n + 1, n + 2, n + 3);  // sass: STG
}
__global__ void uchar3_all(const uchar3* a, int* out) {
    uchar3 v = a[T];  // sass: 3xLDG.8
    out[T] = v.x - v.y * v.z;
}
__global__ void short2_all(const short2* a, int* out) {
    short2 v = a[T];  // sass: LDG
    out[T] = v.x - v.y;
}
__global__ void halves(const half* a, float* out) {
    half x = a[2 * T];  // sass: LDG.16
    half y = a[2 * T + 1];  // sass: LDG.16
    out[T] = __half2float(x) * __half2float(y);
}

//# struct copies: one instruction per piece of the alignment
struct S8 { float v[2]; };
struct __align__(8) S8a8 { float v[2]; };
struct S12 { float v[3]; };
struct S16 { float v[4]; };
struct __align__(8) S16a8 { float v[4]; };
struct __align__(16) S16a16 { float v[4]; };
struct S20 { float v[5]; };
struct S24 { float v[6]; };
struct __align__(8) S24a8 { float v[6]; };
struct S32 { float v[8]; };
struct __align__(16) S32a16 { float v[8]; };
struct __align__(32) S32a32 { float v[8]; };
struct S40 { float v[10]; };
struct __align__(8) S40a8 { float v[10]; };
struct __align__(16) S48a16 { float v[12]; };
__global__ void copy_s8(S8* to, const S8* from) {
    to[T] = from[T];  // sass: 2xLDG 2xSTG
}
__global__ void copy_s8a8(S8a8* to, const S8a8* from) {
    to[T] = from[T];  // sass: LDG.64 STG.64
}
__global__ void copy_s12(S12* to, const S12* from) {
    to[T] = from[T];  // sass: 3xLDG 3xSTG
}
__global__ void copy_s16(S16* to, const S16* from) {
    to[T] = from[T];  // sass: 4xLDG 4xSTG
}
__global__ void copy_s16a8(S16a8* to, const S16a8* from) {
    to[T] = from[T];  // sass: 2xLDG.64 2xSTG.64
}
__global__ void copy_s16a16(S16a16* to, const S16a16* from) {
    to[T] = from[T];  // sass: LDG.128 STG.128
}
__global__ void copy_s20(S20* to, const S20* from) {
    to[T] = from[T];  // sass: 5xLDG 5xSTG
}
__global__ void copy_s24(S24* to, const S24* from) {
    to[T] = from[T];  // sass: 6xLDG 6xSTG
}
__global__ void copy_s24a8(S24a8* to, const S24a8* from) {
    to[T] = from[T];  // sass: 3xLDG.64 3xSTG.64
}
__global__ void copy_s32(S32* to, const S32* from) {
    to[T] = from[T];  // sass: 8xLDG 8xSTG
}
__global__ void copy_s32a16(S32a16* to, const S32a16* from) {
    to[T] = from[T];  // sass: 2xLDG.128 2xSTG.128
}
__global__ void copy_s32a32(S32a32* to, const S32a32* from) {
    to[T] = from[T];  // sass: 2xLDG.128 2xSTG.128
}
__global__ void copy_s40(S40* to, const S40* from) {
    to[T] = from[T];  // sass: 10xLDG 10xSTG
}
__global__ void copy_s40a8(S40a8* to, const S40a8* from) {
    to[T] = from[T];  // sass: 5xLDG.64 5xSTG.64
}
__global__ void copy_s48a16(S48a16* to, const S48a16* from) {
    to[T] = from[T];  // sass: 3xLDG.128 3xSTG.128
}

//# mixed members
struct Mixed { double x; int i; float f; };
struct Small { char a, b, c; short d; int e; };
__global__ void mixed(Mixed* to, const Mixed* from) {
    to[T] = from[T];  // sass: 2xLDG.64 2xSTG.64
}
__global__ void small(Small* to, const Small* from) {
    to[T] = from[T];  // sass: 3xLDG 3xSTG
}

//# only pieces with a used member are read
__global__ void used_of_16(const S16* a, float* out) {
    S16 s = a[T];  // sass: 2xLDG
    out[T] = s.v[1] - s.v[3];
}
__global__ void used_of_48(const S48a16* a, float* out) {
    S48a16 s = a[T];  // sass: LDG.64
    out[T] = s.v[5] - s.v[4];
}
__device__ float second(S16a16 s) {
    return s.v[1];
}
__global__ void used_by_value(const S16a16* a, float* out) {
    out[T] = second(a[T]);  // sass: LDG STG
}

//# a dynamic member of a reference
__global__ void dynamic_member(const S40* a, float* out, int n) {
    const S40& s = a[T];
    out[T] = s.v[n];  // sass: LDG STG
}

//# a vector is read and written whole where one member changes
__global__ void change_member(uint4* a) {
    uint4 v = a[T];  // sass: LDG.128
    v.y = __popc(v.y);
    a[T] = v;  // sass: STG.128
}

//# narrowing
__global__ void low_half(const long long* a, int* out) {
    int v = a[T];  // sass: LDG
    out[T] = v;
}
__global__ void high_half(const long long* a, int* out) {
    out[T] = a[T] >> 32;  // sass: LDG STG
}
__global__ void both_halves(const unsigned long long* a, unsigned* out) {
    unsigned long long v = a[T];  // sass: LDG.64
    out[T] = (unsigned)v ^ (unsigned)(v >> 32);
}
__global__ void low_byte(const int* a, int* out) {
    out[T] = a[T] & 255;  // sass: LDG.8 STG
}
__global__ void to_short(const int* a, short* out) {
    out[T] = a[T];  // sass: LDG STG.16
}
__global__ void to_bool(const int* a, bool* out) {
    out[T] = a[T];  // sass: LDG STG.8
}
__global__ void to_float(const double* a, float* out) {
    out[T] = a[T];  // sass: LDG.64 STG
}

//# an unused load vanishes
__global__ void unused(const int* a, int* out) {
    int v = a[T];  // sass: none
    out[T] = 3;  // sass: STG
}
