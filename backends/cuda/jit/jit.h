/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of our own, written out for the shapes at hand and compiled by NVRTC: for what no
 * library of NVIDIA's has. Each kernel gets all inputs and then all outputs.
 */
#ifndef BACKENDS_CUDA_JIT_JIT_H
#define BACKENDS_CUDA_JIT_JIT_H

#include "backends/cuda/provider.h"

#define JIT_KERNELS CM_MAX_INPUTS
#define JIT_SOURCE  ((size_t)65536)

struct jit_kernel {
    int64_t threads; /* all of them; each block has `block` */
    int block;
};

/* A program that is being written. Kernel i is named costmodel_<what>_<i>. */
struct jit {
    char *text; /* JIT_SOURCE bytes */
    size_t used;
    bool full; /* it did not fit */
    const char *what;
    const struct cm_primitive *primitive;
    int n_kernels;
    struct jit_kernel kernels[JIT_KERNELS];
    struct cm_reason proxy_note; /* it is a proxy, if set */
};

void jit_add(struct jit *jit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The type that an element has in the program; NULL: there is none. */
const char *jit_type(int32_t element);
/* The one of as many bytes, for what is only moved. */
const char *jit_bits(int32_t element);

/* Opens kernel and argument list: inputs x0, x1, .. and outputs y0, .., as types say. */
void jit_begin(struct jit *jit, bool as_bits, int64_t threads, int block);
/* The text that stands before all kernels; C is what elements are computed in. */
extern const char jit_prelude[];

/* Writes the program of a kind: CM_BACKEND_REFUSED with a reason where it cannot. */
typedef int jit_writer(const struct cm_primitive *primitive, struct jit *jit,
                       struct cm_reason *reason);
jit_writer jit_write_eltwise, jit_write_copy, jit_write_gather, jit_write_softmax,
    jit_write_reduce, jit_write_norm, jit_write_pool, jit_write_resample, jit_write_scatter;

/* The program of any kind; the text is the caller's to free. */
int jit_write(const struct cm_primitive *primitive, struct jit *ret, struct cm_reason *reason);
/* A cubin for an architecture, the caller's to free. */
int jit_compile(const struct cuda_nvrtc *nvrtc, const char *source, int sm, char **ret_cubin,
                size_t *ret_size, struct cm_reason *reason);

#endif
