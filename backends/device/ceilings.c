/* SPDX-License-Identifier: Apache-2.0 */
/* Measures products and copies of growing sizes: a product that saturates an accelerator would
 * keep a CPU busy for minutes. A copy must exceed every cache. */
#include "backends/device/ceilings.h"

#include <math.h>
#include <string.h>

#include "backends/primitive.h"
#include "support/checked.h"

#define LONG_GEMM_S   10e-3 /* fixed overheads are negligible at this length */
#define LONG_COPY_S   5e-3
#define SMALLEST_GEMM 1024
#define LARGEST_GEMM  8192
#define SMALLEST_COPY ((int64_t)64 << 20) /* bytes read */
#define LARGEST_COPY  ((int64_t)1 << 30)
#define CACHES        4 /* a copy reads at least this multiple of the cache */

struct survey {
    const struct ceilings_job *job;
    int64_t room; /* bytes available to the operands of one primitive; 0 if unknown */
    struct ceilings *ret;
};

static struct cm_tensor packed(int32_t element, int32_t rank, int64_t size) {
    struct cm_tensor tensor;
    memset(&tensor, 0, sizeof(tensor));
    tensor.element = element;
    tensor.rank = rank;
    for (int32_t i = 0; i < rank; i++) tensor.dims[i] = size;
    primitive_pack(&tensor);
    return tensor;
}

/* Returns a primitive on `n_inputs` equal operands. */
static struct cm_primitive make(int32_t kind, int32_t n_inputs, struct cm_tensor input,
                                struct cm_tensor output, int64_t flops) {
    struct cm_primitive ret;
    memset(&ret, 0, sizeof(ret));
    ret.kind = kind;
    ret.n_inputs = n_inputs;
    ret.n_outputs = 1;
    ret.outputs[0] = output;
    ret.flops = flops;
    for (int32_t i = 0; i < n_inputs; i++) {
        ret.inputs[i] = input;
        checked_add_to(&ret.bytes_read, primitive_bytes(&input));
    }
    ret.bytes_written = primitive_bytes(&output);
    return ret;
}

/* Returns false unless the primitive itself was timed; a proxy does not count. */
static bool measure(const struct survey *survey, const struct cm_primitive *primitive,
                    struct cm_measurement *ret) {
    const int64_t bytes = checked_add(primitive->bytes_read, primitive->bytes_written);
    if (survey->room > 0 && bytes > survey->room) return false;
    survey->job->measure(survey->job->context, primitive, ret);
    if (ret->state != CM_MEASURED && ret->state != CM_INVENTED) return false;
    if (ret->state == CM_INVENTED) survey->ret->invented = true;
    return ret->cold.median > 0;
}

/* Returns the best rate: a larger product need not be faster. 8-bit types add in 32 bits. */
static double measure_gemms(const struct survey *survey, int32_t element) {
    const int32_t sum = element == CM_I8 ? CM_I32 : element == CM_F8E4M3 ? CM_F32 : element;
    struct cm_measurement got;
    double best = 0;
    for (int64_t n = SMALLEST_GEMM; n <= LARGEST_GEMM; n *= 2) {
        const struct cm_primitive gemm =
            make(CM_GEMM, 2, packed(element, 2, n), packed(sum, 2, n), 2 * n * n * n);
        if (!measure(survey, &gemm, &got)) break;
        best = fmax(best, (double)gemm.flops / got.cold.median);
        if (got.cold.median >= LONG_GEMM_S) break;
    }
    return best;
}

/* Returns the rate of the largest copy: smaller ones may be cached. */
static double measure_copies(const struct survey *survey, int64_t cache_bytes) {
    struct cm_measurement got;
    double last = 0;
    for (int64_t bytes = SMALLEST_COPY; bytes <= LARGEST_COPY; bytes *= 4) {
        if (bytes < checked_mul(CACHES, cache_bytes) && bytes < LARGEST_COPY) continue;
        const struct cm_tensor floats = packed(CM_F32, 1, bytes / 4);
        const struct cm_primitive copy = make(CM_COPY, 1, floats, floats, 0);
        if (!measure(survey, &copy, &got)) break;
        last = (double)(copy.bytes_read + copy.bytes_written) / got.cold.median;
        if (got.cold.median >= LONG_COPY_S) break;
    }
    return last;
}

void ceilings_measure(const struct ceilings_job *job, const struct cm_device_facts *facts,
                      const bool *wanted, struct ceilings *ret) {
    const struct survey survey = {job, facts->memory_bytes / 4, ret};
    const struct cm_tensor one = packed(CM_F32, 1, 1);
    struct cm_primitive relu = make(CM_ELTWISE, 1, one, one, 1);
    struct cm_measurement got;
    relu.n_steps = 1;
    relu.steps[0].function = CM_RELU;
    memset(ret, 0, sizeof(*ret));
    if (measure(&survey, &relu, &got)) ret->floor_s = got.warm.median;
    ret->copy_bytes_per_s = measure_copies(&survey, facts->cache_bytes);
    for (int32_t i = CM_ELEMENT_NONE + 1; i < CM_N_ELEMENTS; i++)
        if (wanted[i]) ret->flops_per_s[i] = measure_gemms(&survey, i);
}

bool ceilings_any(const struct ceilings *ceilings) {
    double largest = fmax(ceilings->copy_bytes_per_s, ceilings->floor_s);
    for (int32_t i = 0; i < CM_N_ELEMENTS; i++)
        largest = fmax(largest, ceilings->flops_per_s[i]);
    return largest > 0;
}

void ceilings_wanted(const struct cm_primitive *primitives, size_t n, bool *ret) {
    memset(ret, 0, CM_N_ELEMENTS * sizeof(*ret));
    for (size_t i = 0; i < n; i++) {
        const int32_t element = primitives[i].inputs[0].element;
        if (primitive_is_product(&primitives[i]) && element > CM_ELEMENT_NONE &&
            element < CM_N_ELEMENTS)
            ret[element] = true;
    }
}
