/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates enough of CUDA C++ to run our kernels on a CPU: this text is put before a kernel and
 * compiled with it. If the threads of a block synchronize, each is a thread of the CPU. 16-bit
 * numbers, which our kernels compute by inline PTX, are not emulated.
 */
#include <cmath>
#include <cstring>
#include <pthread.h>

#define __global__
#define __device__ inline
#define __launch_bounds__(n)
#define __shared__ static
#define __restrict__ __restrict
#define asm(...) ((void)0)

static thread_local struct {
    unsigned x;
} threadIdx, blockIdx;
static pthread_barrier_t barrier;
static bool meets;
static double slots[1024];

static inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

static inline unsigned __float_as_uint(float value) {
    unsigned bits;
    std::memcpy(&bits, &value, 4);
    return bits;
}

static inline void __syncthreads() {
    pthread_barrier_wait(&barrier);
}

/* Synchronizes all threads of the block; the hardware requires only those of a warp. */
template <class T> static inline T __shfl_xor_sync(unsigned, T value, int lane) {
    slots[threadIdx.x] = value;
    __syncthreads();
    const T other = (T)slots[threadIdx.x ^ (unsigned)lane];
    __syncthreads();
    return other;
}

using std::exp, std::log, std::sqrt, std::fabs, std::fmax, std::fmin, std::erf, std::tanh;

static inline float rsqrt(float value) {
    return 1 / std::sqrt(value);
}

typedef void emulated(void *, void *, void *, void *, void *, void *);
struct block {
    emulated *kernel;
    void **args;
    unsigned index, thread;
};

static void *run_thread(void *context) {
    const block *own = (const block *)context;
    blockIdx.x = own->index;
    threadIdx.x = own->thread;
    own->kernel(own->args[0], own->args[1], own->args[2], own->args[3], own->args[4],
                own->args[5]);
    return nullptr;
}

/* Runs a kernel. `args` has six arguments, of which the kernel uses as many as it has
 * parameters. `all_meet`: its threads synchronize. */
extern "C" void emulate(emulated *kernel, unsigned blocks, unsigned threads, int all_meet,
                        void **args) {
    static pthread_t ids[1024];
    static block all[1024];
    pthread_barrier_init(&barrier, nullptr, threads);
    for (unsigned b = 0; b < blocks; b++) {
        for (unsigned t = 0; t < threads; t++) {
            all[t] = block{kernel, args, b, t};
            if (all_meet)
                pthread_create(&ids[t], nullptr, run_thread, &all[t]);
            else
                run_thread(&all[t]);
        }
        for (unsigned t = 0; t < threads && all_meet; t++) pthread_join(ids[t], nullptr);
    }
}
