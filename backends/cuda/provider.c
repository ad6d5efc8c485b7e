/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked for which kind, and in which order. */
#include "backends/cuda/provider.h"

#include "support/banned.h"

#define MOST_PROVIDERS 4

/* Of arithmetic a copy would say nothing, so products have no proxy. */
static const struct cuda_provider *const table[CM_N_PRIMITIVES][MOST_PROVIDERS + 1] = {
    [CM_POOL] = {&copy_proxy_provider},    [CM_NORM] = {&copy_proxy_provider},
    [CM_ELTWISE] = {&copy_proxy_provider}, [CM_SOFTMAX] = {&copy_proxy_provider},
    [CM_REDUCE] = {&copy_proxy_provider},  [CM_COPY] = {&copy_proxy_provider},
    [CM_GATHER] = {&copy_proxy_provider},  [CM_RESAMPLE] = {&copy_proxy_provider},
};

const struct cuda_provider *const *providers_for(int32_t kind) {
    return table[kind > 0 && kind < CM_N_PRIMITIVES ? kind : CM_PRIMITIVE_NONE];
}
