/* SPDX-License-Identifier: Apache-2.0 */
/* Helper functions of all kernels (jit_prelude). They convert 16-bit and 8-bit floats without
 * NVIDIA's headers, which NVRTC lacks. Conversion of 8-bit floats in software costs little time.
 * A program defines the compute type C before them. */
typedef long long i64;
typedef unsigned long long u64;
struct f16 { unsigned short bits; };
struct bf16 { unsigned short bits; };
struct e4m3 { unsigned char bits; };
struct e5m2 { unsigned char bits; };
template <class T> __device__ C get(T x) { return (C)x; }
__device__ C get(f16 x) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return (C)f;
}
__device__ C get(bf16 x) { return (C)__uint_as_float((unsigned)x.bits << 16); }
__device__ float small(unsigned bits, int mantissa, unsigned bias) {
    const unsigned rest = bits & 127, e = rest >> mantissa;
    const unsigned m = rest & ((1u << mantissa) - 1);
    const float f = e ? __uint_as_float((e + 127 - bias) << 23 | m << (23 - mantissa))
                      : m * __uint_as_float((128 - bias - mantissa) << 23);
    return bits & 128 ? -f : f;
}
__device__ unsigned char shrink(float f, int mantissa, unsigned bias, float most) {
    unsigned u = __float_as_uint(fminf(fabsf(f), most));
    u += (1u << (22 - mantissa)) - 1 + (u >> (23 - mantissa) & 1);
    const int e = (int)(u >> 23) - 127 + (int)bias;
    const unsigned m = u >> (23 - mantissa) & ((1u << mantissa) - 1);
    return (unsigned char)((f < 0 ? 128 : 0) | (e > 0 ? e << mantissa | m : 0));
}
__device__ C get(e4m3 x) { return (C)small(x.bits, 3, 7); }
__device__ C get(e5m2 x) { return (C)small(x.bits, 2, 15); }
template <class T> __device__ void put(T &x, C v) { x = (T)v; }
__device__ void put(bool &x, C v) { x = v != 0; }
__device__ void put(f16 &x, C v) {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x.bits) : "f"((float)v));
}
__device__ void put(bf16 &x, C v) {
    const unsigned u = __float_as_uint((float)v);
    x.bits = (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
__device__ void put(e4m3 &x, C v) { x.bits = shrink((float)v, 3, 7, 448); }
__device__ void put(e5m2 &x, C v) { x.bits = shrink((float)v, 2, 15, 57344); }
template <class T, int N> struct alignas(sizeof(T) * N) vec { T at[N]; };
/* Reduces v over the TPR threads of a row; each thread gets the result. TPR: 2^n. */
template <int TPR, class F> __device__ C fold(C v, F f) {
    for (int i = TPR < 32 ? TPR / 2 : 16; i > 0; i /= 2)
        v = f(v, __shfl_xor_sync(0xffffffffu, v, i));
    if (TPR <= 32) return v;
    __shared__ C warps[32];
    const int n = TPR / 32, first = threadIdx.x / TPR * n;
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = warps[first];
    for (int i = 1; i < n; i++) v = f(v, warps[first + i]);
    return v;
}
struct plus { __device__ C operator()(C a, C b) const { return a + b; } };
struct times { __device__ C operator()(C a, C b) const { return a * b; } };
struct most { __device__ C operator()(C a, C b) const { return a > b ? a : b; } };
struct least { __device__ C operator()(C a, C b) const { return a < b ? a : b; } };

/* Softmax of the row x of L elements, by the TPR threads t of a row. */
template <int TPR, bool LOG, class X, class Y>
__device__ void softmax_row(const X *__restrict__ x, Y *__restrict__ y, i64 L, int t, bool mine) {
    C top = -3e38f, sum = 0;
    for (i64 i = t; mine && i < L; i += TPR) {
        const C v = get(x[i]);
        if (v > top) { sum *= exp(top - v); top = v; }
        sum += exp(v - top);
    }
    const C all = fold<TPR>(top, most());
    sum = fold<TPR>(sum * exp(top - all), plus());
    const C over = LOG ? log(sum) : 1 / sum;
    for (i64 i = t; mine && i < L; i += TPR) {
        const C v = get(x[i]) - all;
        put(y[i], LOG ? v - over : exp(v) * over);
    }
}

/* Softmax of the column x of L elements with stride S, by one thread. */
template <bool LOG, class X, class Y>
__device__ void softmax_column(const X *__restrict__ x, Y *__restrict__ y, i64 L, i64 S) {
    C top = -3e38f, sum = 0;
    for (i64 i = 0; i < L; i++) top = fmax(top, get(x[i * S]));
    for (i64 i = 0; i < L; i++) sum += exp(get(x[i * S]) - top);
    const C over = LOG ? log(sum) : 1 / sum;
    for (i64 i = 0; i < L; i++) {
        const C v = get(x[i * S]) - top;
        put(y[i * S], LOG ? v - over : exp(v) * over);
    }
}
