/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels generated for given shapes and compiled by NVRTC, for primitives that no NVIDIA
 * library supports. The arguments of each kernel are all inputs, then all outputs. */
#pragma once

#include "backends/coalesce_dims.h"
#include "backends/cuda/provider.h"

#define JIT_KERNELS CM_MAX_INPUTS
#define JIT_SOURCE  ((size_t)65536)
#define JIT_BLOCK   256 /* threads per block */

/* Source under construction. Kernel i is named costmodel_<what>_<i>. */
struct jit {
    char *text; /* JIT_SOURCE bytes */
    size_t used;
    bool full;        /* the source did not fit */
    const char *what; /* name of the kind of primitive: "pool" */
    const struct cm_primitive *primitive;
    int n_kernels;
    int64_t threads[JIT_KERNELS]; /* of each kernel, sum of all blocks */
    struct cm_reason proxy_note;  /* set if the kernel is a proxy */
};

/* Appends to the source; sets jit->full if it does not fit. */
void jit_add(struct jit *jit, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the C++ type of an element type. */
const char *jit_type(int32_t element);
/* Returns an unsigned C++ type of the same size, for copies. */
const char *jit_bits(int32_t element);
/* Returns the compute type of functions of real numbers: double for fp64, else float. */
const char *jit_float_type(const struct cm_primitive *primitive);

/* Writes the head of a kernel with inputs x0, x1, .. and outputs y0, .. Their types are those
 * of jit_bits if `as_bits`, else those of jit_type. */
void jit_begin(struct jit *jit, bool as_bits, int64_t threads);
/* Opens a kernel with TPR threads per row: the first power of two >= length, within 32 ..
 * JIT_BLOCK. Declares the row's index, named by `row`, and `mine`: the row exists.
 * No thread may return early: `fold` requires all threads of the block. */
void jit_begin_rows(struct jit *jit, const char *row, int64_t n_rows, int64_t length);
/* The text of prelude.cu, which cmake/Cuda.cmake embeds. */
extern const char jit_prelude[];

#define JIT_VECTOR_BYTES 16 /* most bytes of one load */

/* Index space of a result with the strides of each operand, coalesced to few dims. Example:
 * y [2,3,4] = x [2,3,4] + b [4] -> dims [6,4], strides of x and y [4,1], of b [0,1]. */
struct jit_index {
    int n;                     /* number of operands, including the result */
    int rank;                  /* >= 1 */
    int64_t dims[CM_MAX_RANK]; /* last dim fastest */
    int64_t strides[COALESCE_OPERANDS][CM_MAX_RANK]; /* 0 if broadcast */
};

/* Coalesces the operands (backends/coalesce_dims.h). Returns false if an operand has a higher
 * rank than `shape` or does not broadcast to it. */
bool jit_index_read(const struct cm_tensor *shape, const struct cm_tensor *const *operands,
                    int n, struct jit_index *ret);
int64_t jit_index_elements(const struct jit_index *index);
/* Returns the largest vector width, a power of two up to `most`, for which each operand is
 * contiguous along the last dim and aligned, or broadcast along it. */
int jit_index_vector(const struct jit_index *index, int64_t most);
/* Writes code that declares i, the number of this thread's vector of `vector` elements, and o0,
 * o1, .., the offsets of its first element in the operands. Surplus threads return early. */
void jit_index_write(struct jit *jit, const struct jit_index *index, int vector);

/* Writes the kernels of one kind. Returns CM_BACKEND_REFUSED with a reason if unsupported. */
typedef int jit_writer(const struct cm_primitive *primitive, struct jit *jit,
                       struct cm_reason *reason);
jit_writer jit_write_eltwise, jit_write_copy, jit_write_gather, jit_write_softmax,
    jit_write_reduce, jit_write_norm, jit_write_pool, jit_write_resample, jit_write_scatter;

/* Writes the program of a primitive; the caller frees ret->text. Returns CM_BACKEND_REFUSED if
 * there is no writer for its kind, or its writer refuses it. */
int jit_write(const struct cm_primitive *primitive, struct jit *ret, struct cm_reason *reason);
/* Compiles for `device`: a cubin, or PTX if NVRTC does not know the architecture. The caller
 * frees the image. */
int jit_compile(const struct cm_device *device, const char *source, char **ret_image,
                struct cm_reason *reason);
