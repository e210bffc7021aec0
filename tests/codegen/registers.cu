// What stays in a register: re-reads, forwarded stores, dead stores, loop-invariant addresses (README, section 7).
#define T threadIdx.x
#define FILL s[T] = out[T]; __syncthreads();

//# the same element twice
__global__ void twice(const float* a, float* out) {
    float x = a[T];  // sass: LDG
    float y = a[T] * 2;  // sass: none
    out[T] = x - y;
}

//# a store between may alias
__global__ void store_between(const float* a, float* out) {
    float x = a[T];  // sass: LDG
    out[T + 99] = x;  // sass: STG
    float y = a[T] * 2;  // sass: LDG
    out[T] = x - y;
}

//# types do not tell pointers apart
__global__ void other_type(const float* a, int* out) {
    float x = a[T];  // sass: LDG
    out[T + 99] = x;  // sass: STG
    float y = a[T] * 2;  // sass: LDG
    out[T] = x - y;
}

//# __restrict__ on the side read
__global__ void restricted_read(const float* __restrict__ a, float* out) {
    float x = a[T];  // sass: LDG
    out[T + 99] = x;  // sass: STG
    float y = a[T] * 2;  // sass: none
    out[T] = x - y;
}

//# __restrict__ on the side written
__global__ void restricted_write(const float* a, float* __restrict__ out) {
    float x = a[T];  // sass: LDG
    out[T + 99] = x;  // sass: STG
    float y = a[T] * 2;  // sass: none
    out[T] = x - y;
}

//# a barrier between
__global__ void barrier_between(const float* a, float* out) {
    float x = a[T];  // sass: LDG
    __syncthreads();
    float y = a[T] * 2;  // sass: LDG
    out[T] = x - y;
}

//# a barrier between, with __restrict__
__global__ void barrier_between_restricted(const float* __restrict__ a, float* __restrict__ out) {
    float x = a[T];  // sass: LDG
    __syncthreads();
    float y = a[T] * 2;  // sass: none
    out[T] = x - y;
}

//# an atomic between
__global__ void atomic_between(const float* a, float* out, float* other) {
    float x = a[T];  // sass: LDG
    atomicAdd(other, x);
    float y = a[T];  // sass: LDG
    out[T] = x + y;
}

//# shared memory past a barrier
__global__ void shared_barrier(float* out) {
    __shared__ float s[1024];
    FILL
    float x = s[T + 1];  // sass: LDS
    __syncthreads();
    float y = s[T + 1] * 2;  // sass: LDS
    out[T] = x - y;
}

//# shared memory past a global store
__global__ void shared_global_store(float* out, float* other) {
    __shared__ float s[1024];
    FILL
    float x = s[T + 1];  // sass: LDS
    other[T] = x;
    float y = s[T + 1] * 2;  // sass: none
    out[T] = x - y;
}

//# shared memory past a store to another array, and to another element
__global__ void shared_store_elsewhere(float* out, int n) {
    __shared__ float s[1024], r[1024];
    FILL
    float x = s[T + 1];  // sass: LDS
    r[n] = x;  // sass: STS
    s[T + 300] = x;  // sass: STS
    float y = s[T + 1] * 2;  // sass: none
    __syncthreads();
    out[T] = x - y + r[T] + s[T];
}

//# shared memory past a store to an unknown element
__global__ void shared_store_anywhere(float* out, int n) {
    __shared__ float s[1024];
    FILL
    float x = s[T + 1];  // sass: LDS
    s[n] = x;  // sass: STS
    float y = s[T + 1] * 2;  // sass: LDS
    out[T] = x - y;
}

//# a store is forwarded to a load
__global__ void forwarded(float* out) {
    __shared__ float s[1024];
    s[T] = out[T];  // sass: LDG STS
    float y = s[T];  // sass: none
    out[T + 1024] = y * 2;
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# not past a barrier
__global__ void forwarded_barrier(float* out) {
    __shared__ float s[1024];
    s[T] = out[T];  // sass: LDG STS
    __syncthreads();
    float y = s[T];  // sass: LDS
    out[T + 1024] = y * 2;
}

//# a dead store
__global__ void dead(float* out, float x) {
    out[T] = 0;  // sass: none
    out[T] = x;  // sass: STG
}

//# a store that a load between may see
__global__ void not_dead(float* out, const float* a) {
    out[T] = 0;  // sass: STG
    float v = a[T];  // sass: LDG
    out[T] = v;  // sass: STG
}

//# with __restrict__ it is dead
__global__ void dead_restricted(float* __restrict__ out, const float* __restrict__ a) {
    out[T] = 0;  // sass: none
    float v = a[T];  // sass: LDG
    out[T] = v;  // sass: STG
}

//# a shared array that no one reads
__global__ void unread(float* out, float x) {
    __shared__ float s[1024];
    s[T] = x;  // sass: none
    out[T] = 1;
}

//# repeated read-modify-write
__global__ void read_modify_write(float* out, const float* a) {
    out[T] += a[T];  // sass: 2xLDG STG
    out[T] *= a[T];  // sass: LDG
    out[T] -= 1;  // sass: STG
}
__global__ void read_modify_write_restricted(float* __restrict__ out, const float* __restrict__ a) {
    out[T] += a[T];  // sass: 2xLDG
    out[T] *= a[T];  // sass: none
    out[T] -= 1;  // sass: STG
}
__global__ void read_modify_write_shared(float* out, const float* a) {
    __shared__ float s[1024];
    FILL
    s[T] += a[T];  // sass: LDG LDS
    s[T] *= a[T];  // sass: none
    s[T] -= 1;  // sass: STS
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# a sum in shared memory over a loop stays in a register
__global__ void sum_shared(float* out, const float* a) {
    __shared__ float s[1024];
    FILL
    for (int i = 0; i < 4; i++) s[T] += a[T + i * 1024];  // sass: 4xLDG LDS STS
    __syncthreads();
    out[T] = s[T ^ 1];
}

//# a sum in global memory is stored each time
__global__ void sum_global(float* out, const float* a) {
    for (int i = 0; i < 4; i++) out[T] += a[T + i * 1024];  // sass: 5xLDG 4xSTG
}

//# with __restrict__ it is stored once
__global__ void sum_restricted(float* __restrict__ out, const float* __restrict__ a) {
    for (int i = 0; i < 4; i++) out[T] += a[T + i * 1024];  // sass: 5xLDG STG
}

//# an unchanging address in a loop is read before it
__global__ void invariant(float* out, const float* a, int n) {
    float x = 0;
    for (int i = 0; i < 4; i++) x = x * n + a[T];  // sass: LDG
    out[T] = x;
}

//# a store in the loop that may alias repeats the load
__global__ void invariant_store(float* out, const float* a) {
    for (int i = 0; i < 4; i++) out[i * 1024 + T] = a[T] + i;  // sass: 4xLDG 4xSTG
}
__global__ void invariant_store_restricted(float* __restrict__ out, const float* a) {
    for (int i = 0; i < 4; i++) out[i * 1024 + T] = a[T] + i;  // sass: LDG 4xSTG
}

//# condition and body read once
__global__ void condition_and_body(float* out, const float* a) {
    if (a[T] > 0)  // sass: LDG
        out[T] = a[T];  // sass: STG
}

//# two conditions read twice
__global__ void two_conditions(float* out, const float* a, int n) {
    float v = 0;
    if (n > 2) v = a[T];  // sass: LDG
    out[T + 1024] = v;
    if (n > 5) v += a[T];  // sass: LDG
    out[T] = v;
}
