// Plain static shared arrays: what the assembler merges, knowing where each array lies (README, sections 1 to 5).
#define T threadIdx.x
#define FILL s[T] = out[T]; __syncthreads();

//# two neighbours at an even index are one load
__global__ void even(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    float b = s[2 * T + 1];  // sass: none
    out[T] = a - b;  // sass: STG
}

//# four neighbours are one load, on the first line
__global__ void four(float* out) {
    __shared__ float s[1024];
    FILL
    float a = s[4 * T];  // sass: LDS.128
    float b = s[4 * T + 1];  // sass: none
    float c = s[4 * T + 2];  // sass: none
    float d = s[4 * T + 3];  // sass: none
    out[T] = a - b * c / d;
}

//# the order in the source does not matter
__global__ void backwards(float* out) {
    __shared__ float s[1024];
    FILL
    float d = s[4 * T + 3];  // sass: LDS.128
    float c = s[4 * T + 2];  // sass: none
    float b = s[4 * T + 1];  // sass: none
    float a = s[4 * T];  // sass: none
    out[T] = a - b * c / d;
}

//# an unrolled loop over neighbours
__global__ void unrolled(float* out) {
    __shared__ float s[1024];
    FILL
    float a = 0;
    for (int k = 0; k < 4; k++) a += s[4 * T + k] * k;  // sass: LDS.128
    out[T] = a;
}

//# three of four slots are read by the wide load
__global__ void first_three(float* out) {
    __shared__ float s[1024];
    FILL
    float a = s[4 * T];  // sass: LDS.128
    float b = s[4 * T + 1];  // sass: none
    float c = s[4 * T + 2];  // sass: none
    out[T] = a - b * c;
}

//# the last three slots too
__global__ void last_three(float* out) {
    __shared__ float s[1024];
    FILL
    float b = s[4 * T + 1];  // sass: LDS.128
    float c = s[4 * T + 2];  // sass: none
    float d = s[4 * T + 3];  // sass: none
    out[T] = d - b * c;
}

//# the upper half of a group
__global__ void upper_half(float* out) {
    __shared__ float s[1024];
    FILL
    float c = s[4 * T + 2];  // sass: LDS.64
    float d = s[4 * T + 3];  // sass: none
    out[T] = c - d;
}

//# two slots across the middle stay two loads
__global__ void middle(float* out) {
    __shared__ float s[1024];
    FILL
    out[T] = s[4 * T + 1] - s[4 * T + 2];  // sass: 2xLDS STG
}

//# two slots with a hole stay two loads
__global__ void hole(float* out) {
    __shared__ float s[1024];
    FILL
    out[T] = s[4 * T] - s[4 * T + 2];  // sass: 2xLDS STG
}

//# the ends of a group stay two loads
__global__ void ends(float* out) {
    __shared__ float s[1024];
    FILL
    out[T] = s[4 * T] - s[4 * T + 3];  // sass: 2xLDS STG
}

//# neighbours at any index are not provably aligned
__global__ void odd_and_even(float* out) {
    __shared__ float s[1024];
    FILL
    float a = s[T];  // sass: LDS
    float b = s[T + 1];  // sass: LDS
    out[T] = a - b;
}

//# a pitch of three
__global__ void pitch_three(float* out) {
    __shared__ float s[1024];
    FILL
    float a = s[3 * T];  // sass: LDS
    float b = s[3 * T + 1];  // sass: LDS
    float c = s[3 * T + 2];  // sass: LDS
    out[T] = a - b * c;
}

//# a pitch of six gives pairs
__global__ void pitch_six(float* out) {
    __shared__ float s[2048];
    FILL
    float a = s[6 * T];  // sass: LDS.64
    float b = s[6 * T + 1];  // sass: none
    float c = s[6 * T + 2];  // sass: LDS.64
    float d = s[6 * T + 3];  // sass: none
    out[T] = a - b * c / d;
}

//# a factor two times a loop variable
__global__ void doubling_stride(float* out, int n) {
    __shared__ float s[1024];
    FILL
    for (int step = 1; step < n; step <<= 1) {
        int i = 2 * step * T;
        out[T] += s[i] - s[i + 1];  // sass: LDG LDS.64 STG
        __syncthreads();
    }
}

//# masked to even
__global__ void masked(float* out, int n) {
    __shared__ float s[1024];
    FILL
    int i = (n + T) & ~1;
    out[T] = s[i] - s[i + 1];  // sass: LDS.64 STG
}

//# bit operations as additions
__global__ void bits(float* out) {
    __shared__ float s[1024];
    FILL
    out[T] = s[T << 1] - s[(T << 1) | 1];  // sass: LDS.64 STG
    __syncthreads();
    int i = (T ^ 8) * 2;
    out[T + 1024] = s[i] - s[i ^ 1];  // sass: LDS.64 STG
}

//# twice an unknown
__global__ void twice_unknown(float* out, int n) {
    __shared__ float s[1024];
    FILL
    out[T] = s[n * 2] - s[n * 2 + 1];  // sass: LDS.64 STG
}

//# twice loaded data
__global__ void twice_data(float* out, const int* index) {
    __shared__ float s[1024];
    FILL
    int i = index[T] * 2;
    out[T] = s[i] - s[i + 1];  // sass: LDS.64 STG
}

//# an unknown addend
__global__ void unknown_addend(float* out, int n) {
    __shared__ float s[1024];
    FILL
    out[T] = s[n + 2 * T] - s[n + 2 * T + 1];  // sass: 2xLDS STG
}

//# the block's size as addend
__global__ void block_addend(float* out) {
    __shared__ float s[1024];
    FILL
    int i = 2 * T + blockDim.x;
    out[T] = s[i] - s[i + 1];  // sass: 2xLDS STG
}

//# quotient and remainder with even factors
__global__ void rows_of_lanes(float* out) {
    __shared__ float s[1024];
    FILL
    int i = (T / 16) * 32 + (T % 16) * 2;
    out[T] = s[i] - s[i + 1];  // sass: LDS.64 STG
}

//# rounded down by division or remainder
__global__ void rounded_down(float* out) {
    __shared__ float s[1024];
    FILL
    int i = T / 4 * 4;
    out[T] = s[i] - s[i + 1] * s[i + 2] / s[i + 3];  // sass: LDS.128 STG
    __syncthreads();
    int j = T - T % 4;
    out[T + 1024] = s[j] - s[j + 1] * s[j + 2] / s[j + 3];  // sass: LDS.128 STG
}

//# __mul24 hides the factor
__global__ void mul24(float* out) {
    __shared__ float s[1024];
    FILL
    int i = __mul24(T, 2);
    out[T] = s[i] - s[i + 1];  // sass: 2xLDS STG
}

//# narrow and wide index types
__global__ void index_types(float* out) {
    __shared__ float s[1024];
    FILL
    unsigned char i = T * 2;
    out[T] = s[i] - s[i + 1];  // sass: LDS.64 STG
    __syncthreads();
    size_t j = (size_t)T * 2;
    out[T + 1024] = s[j] - s[j + 1];  // sass: LDS.64 STG
}

//# through pointers and increments
__global__ void pointers(float* out) {
    __shared__ float s[1024];
    FILL
    float* p = s + 4 * T;
    out[T] = p[0] - p[1] * p[2] / p[3];  // sass: LDS.128 STG
    __syncthreads();
    const float* q = &s[2 * T];
    float a = *q++;  // sass: LDS.64
    float b = *q++;  // sass: none
    out[T + 1024] = a - b;
}

//# one of two buffers
__global__ void double_buffer(float* out, int n) {
    __shared__ float s[2][256];
    s[0][T] = out[T];
    s[1][T] = n;
    __syncthreads();
    float* p = s[n & 1];
    out[T] = p[2 * T] - p[2 * T + 1];  // sass: LDS.64 STG
}

//# rows of 32 floats
__global__ void rows_32(float* out) {
    __shared__ float s[32][32];
    s[T / 32][T % 32] = out[T];
    __syncthreads();
    out[T] = s[T][0] - s[T][1] * s[T][2] / s[T][3];  // sass: LDS.128 STG
}

//# rows of 34 floats
__global__ void rows_34(float* out) {
    __shared__ float s[32][34];
    s[T / 32][T % 32] = out[T];
    __syncthreads();
    out[T] = s[T][0] - s[T][1] * s[T][2] / s[T][3];  // sass: 2xLDS.64 STG
}

//# rows of 33 floats
__global__ void rows_33(float* out) {
    __shared__ float s[32][33];
    s[T / 32][T % 32] = out[T];
    __syncthreads();
    out[T] = s[T][0] - s[T][1];  // sass: 2xLDS STG
}

//# an unknown column
__global__ void unknown_column(float* out, int n) {
    __shared__ float s[32][32];
    s[T / 32][T % 32] = out[T];
    __syncthreads();
    out[T] = s[T][n] - s[T][n + 1];  // sass: 2xLDS STG
}

//# two arrays side by side are both aligned
__global__ void two_arrays(float* out) {
    __shared__ float s[256], r[256];
    s[T] = out[T];
    r[T] = out[T + 1];
    __syncthreads();
    float a = s[2 * T];  // sass: LDS.64
    float b = r[2 * T];  // sass: LDS.64
    float c = s[2 * T + 1];  // sass: none
    float d = r[2 * T + 1];  // sass: none
    out[T] = a - b * c / d;
}

//# a scalar before it takes an array's alignment
__global__ void behind_a_scalar(float* out) {
    __shared__ float first;
    __shared__ float s[255];
    __shared__ float r[256];
    s[T] = out[T];
    r[T] = out[T + 1];
    first = out[3];
    __syncthreads();
    out[T] = s[2 * T] - s[2 * T + 1];  // sass: 2xLDS STG
    out[T + 256] = s[2 * T + 3] - s[2 * T + 4];  // sass: 2xLDS STG
    out[T + 512] = r[2 * T] - r[2 * T + 1] * first;  // sass: LDS LDS.64 STG
}

//# an array no one reads takes no room
__global__ void behind_unread(float* out) {
    __shared__ float unread[3];
    __shared__ float s[512];
    unread[T % 3] = out[T];
    FILL
    out[T] = s[2 * T] - s[2 * T + 1];  // sass: LDS.64 STG
}

//# two variables side by side
__global__ void two_variables(float* out, const float* a) {
    __shared__ float mean, scale;
    if (T == 0) {
        mean = a[1];  // sass: LDG
        scale = a[2];  // sass: LDG STS.64
    }
    __syncthreads();
    out[T] = (a[T] - mean) * scale;  // sass: LDG LDS.64 STG
}

//# a row pitch of 50
__global__ void rows_50(float* out) {
    __shared__ float s[32 * 50];
    FILL
    float x = 0;
    for (int k = 0; k < 50; k++) x += s[T * 50 + k];  // sass: 25xLDS.64
    out[T] = x;
}

//# members of a struct without alignment
struct Pair {
    int i;
    float f;
};
__global__ void members(float* out, int n) {
    __shared__ Pair s[512];
    s[T].i = n + T;  // sass: none
    s[T].f = out[T];  // sass: LDG STS.64
    __syncthreads();
    out[T] = s[T + 1].i - s[T + 1].f;  // sass: LDS.64 STG
}

//# a struct of three floats
struct Triple {
    float x, y, z;
};
__global__ void triples(float* out) {
    __shared__ Triple s[256];
    s[T].x = s[T].y = s[T].z = out[T];
    __syncthreads();
    Triple v = s[T + 1];  // sass: 3xLDS
    out[T] = v.x - v.y * v.z;
}

//# doubles
__global__ void doubles(double* out, int n) {
    __shared__ double s[1024];
    s[2 * T] = n;  // sass: none
    s[2 * T + 1] = n + T;  // sass: STS.128
    __syncthreads();
    int i = 2 * (T ^ 1);
    out[T] = s[i] - s[i + 1];  // sass: LDS.128 STG.64
}

//# bytes do not merge
__global__ void bytes(unsigned char* out) {
    __shared__ unsigned char s[1024];
    FILL
    out[T] = s[4 * T] - s[4 * T + 1] * s[4 * T + 2] / s[4 * T + 3];  // sass: 4xLDS.8 STG.8
}

//# volatile never merges
__global__ void is_volatile(float* out) {
    __shared__ volatile float s[512];
    FILL
    out[T] = s[2 * T] - s[2 * T + 1];  // sass: 2xLDS STG
}

//# stores of two and four neighbours, on the last line
__global__ void stores(float* out, float x, float y) {
    __shared__ float s[1024];
    s[2 * T] = x + T;  // sass: none
    s[2 * T + 1] = y + T;  // sass: STS.64
    __syncthreads();
    out[T] = s[T ^ 1];
    __syncthreads();
    s[4 * T + 3] = x;  // sass: none
    s[4 * T + 2] = y;  // sass: none
    s[4 * T + 1] = x * y;  // sass: none
    s[4 * T] = x - y;  // sass: STS.128
    __syncthreads();
    out[T + 1024] = s[T ^ 1];
}

//# a store never writes a slot that the source does not
__global__ void three_stores(float* out, float x, float y) {
    __shared__ float s[1024];
    s[4 * T] = x + T;  // sass: none
    s[4 * T + 1] = y + T;  // sass: STS.64
    s[4 * T + 2] = y - T;  // sass: STS
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# any shared store between loads keeps them apart
__global__ void store_between(float* out, int n) {
    __shared__ float s[1024], r[1024];
    s[T] = out[T];
    __syncthreads();
    float a = s[2 * T];  // sass: LDS
    r[n] = a;  // sass: STS
    float b = s[2 * T + 1];  // sass: LDS
    __syncthreads();
    out[T] = a - b + r[T];
}

//# a provably different element as well
__global__ void store_elsewhere(float* out) {
    __shared__ float s[1024];
    FILL
    float a = s[2 * T];  // sass: LDS
    s[2 * T + 512] = a;  // sass: STS
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a - b;
}

//# read-modify-write of two neighbours stays apart
__global__ void read_modify_write(float* out, float x, float y) {
    __shared__ float s[512];
    FILL
    s[2 * T] += x;  // sass: LDS STS
    s[2 * T + 1] += y;  // sass: LDS STS
    __syncthreads();
    out[T] = s[T];
}

//# a butterfly that loads both before it stores both
__global__ void butterfly(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    float b = s[2 * T + 1];  // sass: none
    s[2 * T] = a + b;  // sass: none
    s[2 * T + 1] = a - b;  // sass: STS.64
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# interleaved stores to two arrays stay apart
__global__ void interleaved_stores(float* out, float x) {
    __shared__ float s[512], r[512];
    s[2 * T] = x;  // sass: STS
    r[2 * T] = x + 1;  // sass: STS
    s[2 * T + 1] = x + 2;  // sass: STS
    r[2 * T + 1] = x + 3;  // sass: STS
    __syncthreads();
    out[T] = s[T ^ 1] + r[T ^ 1];
}

//# a shared load between stores keeps them apart
__global__ void load_between_stores(float* out, int n) {
    __shared__ float s[1024], r[1024];
    r[T] = n;
    __syncthreads();
    s[2 * T] = r[T + 1];  // sass: LDS STS
    s[2 * T + 1] = r[T + 2];  // sass: LDS STS
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# global loads between stores do not
__global__ void global_between_stores(float* out, const float* in) {
    __shared__ float s[1024];
    s[2 * T] = in[T];  // sass: LDG
    s[2 * T + 1] = in[T + 1024];  // sass: LDG STS.64
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# global traffic, atomics and shuffles between loads do not
__global__ void global_between(float* out, float* other) {
    __shared__ float s[1024];
    FILL
    float a = s[4 * T];  // sass: LDS.128
    other[T] = a;
    float b = s[4 * T + 1] + __shfl_xor_sync(~0u, a, 1);  // sass: none
    atomicAdd(other, b);
    float c = s[4 * T + 2] + other[T + 99];  // sass: LDG
    float d = s[4 * T + 3];  // sass: none
    out[T] = a - b * c / d;
}

//# many shared loads between do not
__global__ void loads_between(float* out) {
    __shared__ float s[4096];
    FILL
    float x = 0;
    float a = s[2 * T];  // sass: LDS.64
    for (int k = 0; k < 32; k++) x += s[T * 33 + k * 47 + 5] * k;
    float b = s[2 * T + 1];  // sass: none
    out[T] = x + a * b;
}

//# a barrier does
__global__ void barrier_between(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS
    __syncthreads();
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a - b;
}

//# __syncwarp does
__global__ void warp_barrier_between(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS
    __syncwarp();
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a - b;
}

//# a fence does
__global__ void fence_between(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS
    __threadfence_block();
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a - b;
}

//# a shared atomic does
__global__ void atomic_between(float* out) {
    __shared__ float s[512];
    __shared__ int count;
    count = 0;
    FILL
    float a = s[2 * T];  // sass: LDS
    atomicAdd(&count, 1);
    float b = s[2 * T + 1];  // sass: LDS
    __syncthreads();
    out[T] = a - b + count;
}

//# a short condition is no branch
__global__ void short_condition(float* out, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    float b = 0;
    if (n > 3) b = s[2 * T + 1];  // sass: none
    out[T] = a - b;
}

//# a ternary
__global__ void ternary(float* out, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    float b = T > n ? s[2 * T + 1] : 0.f;  // sass: none
    out[T] = a - b;
}

//# a ternary selects the address: one load
__global__ void selected_address(float* out, int n) {
    __shared__ float s[512];
    FILL
    out[T] = T > n ? s[2 * T] : s[2 * T + 1];  // sass: LDS STG
}

//# a branch with global stores of its own
__global__ void into_branch(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    out[T] = a;
    if (T < n) {
        float b = s[2 * T + 1];  // sass: none
        other[T] = b;
        other[T + 5] = sqrtf(b);
    }
}

//# nested branches
__global__ void into_nested_branch(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    out[T] = a;
    if (a > 0) {
        if (n > 7) {
            float b = s[2 * T + 1];  // sass: none
            other[T] = b;
            other[T + 5] = sqrtf(b);
        }
    }
}

//# after an early return
__global__ void past_return(float* out, int n) {
    __shared__ float s[512];
    FILL
    if (T >= n) return;
    float a = s[2 * T];  // sass: LDS.64
    if (a < 0) return;
    float b = s[2 * T + 1];  // sass: none
    out[T] = a * b;
}

//# both sides of a branch keep their own
__global__ void both_sides(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    if (T < n) {
        float a = s[2 * T];  // sass: LDS
        other[T] = a;
        other[T + 5] = sqrtf(a);
    } else {
        float b = s[2 * T + 1];  // sass: LDS
        other[T + 77] = b;
        other[T + 9] = expf(b);
    }
}

//# not past a join
__global__ void past_join(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS
    if (T < n) {
        other[T] = a;
        other[T + 5] = sqrtf(a);
    }
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a * b;
}

//# two conditions of their own
__global__ void two_conditions(float* out, int n) {
    __shared__ float s[512];
    FILL
    float a = 0, b = 0;
    if (T < n) a = s[2 * T];  // sass: LDS
    if (T < n - 1) b = s[2 * T + 1];  // sass: LDS
    out[T] = a * b;
}

//# not past an inner loop
__global__ void past_loop(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS
    for (int i = 0; i < n; i++) other[T + i * 99] = a;
    float b = s[2 * T + 1];  // sass: LDS
    out[T] = a * b;
}

//# into a loop where nothing changes it
__global__ void into_loop(float* out, float* other, int n) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];  // sass: LDS.64
    out[T] = a;
    for (int i = 0; i < n; i++) other[T * i] = s[2 * T + 1];  // the loads stand before the loop
}

//# a conditional swap
__global__ void swap_if(float* out) {
    __shared__ float s[512];
    FILL
    float a = s[2 * T];
    float b = s[2 * T + 1];  // sass: LDS.64
    if (a > b) {
        s[2 * T] = b;  // sass: none
        s[2 * T + 1] = a;  // sass: STS.64
    }
    __syncthreads();
    out[T] = s[T];
}

//# a guarded and an unguarded store
__global__ void guarded_store(float* out, int n) {
    __shared__ float s[512];
    s[2 * T] = n;  // sass: STS
    if (n > 3) s[2 * T + 1] = n + T;  // sass: STS
    __syncthreads();
    out[T] = s[T];
}

//# values guarded by branches of their own
__global__ void guarded_values(float* out, const float* in, int n) {
    __shared__ float s[512];
    s[2 * T] = T < n ? in[T] : 0.f;  // sass: LDG STS
    s[2 * T + 1] = T < n ? in[T + 1024] : 0.f;  // sass: LDG STS
    __syncthreads();
    out[T] = s[T ^ 1];
}
