/* SPDX-License-Identifier: Apache-2.0 */
/* Last resort for memory-bound primitives: copies by the driver that read half of the
 * primitive's bytes and write as many. They stay within the operands, so that cold executions
 * stay cold. */
#include <stdlib.h>

#include "backends/cuda/provider.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

struct copy_proxy {
    const struct cm_device *device;
    int64_t across; /* bytes copied from the first input to the first output */
    int64_t within; /* bytes copied from the lower to the upper half of the largest operand */
    int64_t half;   /* half of the largest operand, bytes */
    bool largest_is_output;
    int32_t largest; /* index of the largest operand in the inputs or outputs */
};

static int launch(void *own, const struct cuda_operands *operands, CUstream stream,
                  struct cm_reason *reason) {
    const struct copy_proxy *proxy = own;
    const struct cuda_driver *driver = &proxy->device->driver;
    const CUdeviceptr largest = proxy->largest_is_output ? operands->outputs[proxy->largest]
                                                         : operands->inputs[proxy->largest];
    int64_t left = proxy->within;
    CUresult result = CUDA_SUCCESS;
    if (proxy->across > 0)
        result = driver->cuMemcpyDtoDAsync(operands->outputs[0], operands->inputs[0],
                                           (size_t)proxy->across, stream);
    while (result == CUDA_SUCCESS && left > 0) {
        const int64_t piece = left < proxy->half ? left : proxy->half;
        result = driver->cuMemcpyDtoDAsync(largest + (CUdeviceptr)proxy->half, largest,
                                           (size_t)piece, stream);
        left -= piece;
    }
    return cuda_check(proxy->device, result, "copy", reason);
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int make(struct cm_device *device, const struct cm_primitive *primitive,
                int32_t candidate, struct cuda_step *ret, struct cm_reason *reason) {
    const int64_t bytes = checked_add(primitive->bytes_read, primitive->bytes_written);
    if (candidate > 0) return cuda_refuse(reason, CM_BACKEND_REFUSED, "no further candidate");
    if (primitive->n_inputs < 1 || primitive->n_outputs < 1 || bytes < 2)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "nothing to copy");
    struct copy_proxy *proxy = calloc(1, sizeof(*proxy));
    if (proxy == NULL) return cuda_refuse(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    proxy->device = device;
    int64_t most = -1;
    for (int32_t i = 0; i < primitive->n_inputs + primitive->n_outputs; i++) {
        const bool output = i >= primitive->n_inputs;
        const int32_t index = output ? i - primitive->n_inputs : i;
        const int64_t span =
            primitive_span(output ? &primitive->outputs[index] : &primitive->inputs[index]);
        if (span <= most) continue;
        most = span;
        proxy->largest = index;
        proxy->largest_is_output = output;
    }
    proxy->half = most / 2;
    proxy->across = least(bytes / 2, least(primitive_span(&primitive->inputs[0]),
                                           primitive_span(&primitive->outputs[0])));
    proxy->within = bytes / 2 - proxy->across;
    if (proxy->half == 0) proxy->within = 0;
    ret->own = proxy;
    ret->launch = launch;
    ret->drop = free;
    ret->state = CM_PROXY;
    (void)cuda_refuse(&ret->note, 0, "ran a copy of %lld bytes instead",
                      (long long)proxy->across + proxy->within);
    return CM_BACKEND_OK;
}

const struct cuda_provider copy_proxy_provider = {
    .name = "copy proxy", .device_only = "a proxy has no plan", .make = make};
