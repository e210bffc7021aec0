// On which line an access stands (README, section 8).
#define T threadIdx.x
#define SCALED(i) ((i) * 3)
#define AT(p, i) p[(i) * 5]
#define COPY(p, q, i)   \
    {                   \
        float t = p[i]; \
        q[i] = t * 2;   \
    }

//# the last token inside the brackets
__global__ void brackets(const float* a, float* out, int n) {
    int i = T;
    out[
        i
        +
        n  // sass: STG
    ]  // sass: none
    =
    a
    [
        i
        *
        n
        +
        7  // sass: LDG
    ]  // sass: none
    ;
}

//# the last token of the address
__global__ void address(const float* a, float* out, int n) {
    *(
        out
        +
        n  // sass: STG
    )  // sass: none
    =
    *
    (a
    +
    T)  // sass: LDG
    ;
}

//# two dimensions: the last index
__global__ void two_dimensions(const float* a, float* out) {
    __shared__ float s[16][16];
    s[
        T  // sass: none
    ][
        threadIdx.y  // sass: STS
    ]  // sass: none
    =
    a[T];
    __syncthreads();
    out[T] = s[threadIdx.y][T];
}

//# a member behind the subscript
__global__ void member(const float4* a, float* out, int n) {
    out[T]
    =
    a[
        n *
        T  // sass: LDG
    ]  // sass: none
    .
    x  // sass: none
    ;
}

//# a whole vector copy stands on the side read
__global__ void copy(const float4* a, float4* out, int n) {
    out[
        T  // sass: none
    ]
    =
    a[
        n *
        T  // sass: LDG.128 STG.128
    ]
    ;
}

//# a compound assignment
__global__ void compound(const float* a, float* out, int n) {
    out[
        T  // sass: LDG STG
    ]
    +=
    a[
        n *
        T  // sass: LDG
    ]
    ;
}

//# a subscript in a subscript
__global__ void nested(const int* a, float* out) {
    int i = T;
    out[
        a[
            i  // sass: LDG
        ]
        +
        a
        [
            i +
            1  // sass: LDG STG
        ]
    ]
    =
    0
    ;
}

//# a pointer read from a struct
struct Holder {
    float* data;
};
__global__ void pointer_member(const Holder* a, float* out, int n) {
    out[T]
    =
    a  // sass: LDG.64
    ->
    data
    [
        n *
        T  // sass: LDG
    ]
    ;
}

//# macros: the line of the name
__global__ void macros(const float* a, float* out, int n) {
    out[
        SCALED(  // sass: STG
            T +
            n)
    ]
    =
    AT(  // sass: LDG
        a,
        n)
    ;
    COPY(  // sass: LDG STG
        a,
        out,
        T + n)
    ;
}

//# inlined functions: their own line; what a returned reference names, the line of the caller
__device__ float value_at(const float* p, int i) {
    return p[i];  // sass: LDG
}
__device__ void add_to(float& sum, float v) {
    sum += v;  // sass: LDG STG
}
__device__ float doubled(float v) {
    return v * 2;  // sass: none
}
struct View {
    float* data;
    __device__ float& operator[](int i) {
        return data[i];  // sass: none
    }
};
__global__ void inlined(const float* a, float* out, View view) {
    out[T] =  // sass: STG
        value_at(a,  // sass: none
                 T);  // sass: none
    add_to(
        out[T + 1],  // sass: none
        a[T + 1]);  // sass: LDG
    out[T + 2] = doubled(
        a[T + 2]);  // sass: LDG
    view[T]  // sass: STG
        = 5;
    auto at = [&](int i) {
        return a[i];  // sass: LDG
    };
    out[T + 3] =
        at(T + 3);  // sass: none
}
