/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked for which kind, and in which order. */
#include "backends/cuda/provider.h"

#include <stdio.h>
#include <string.h>

#include "backends/cuda/refuse.h"

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

/* "cublaslt: ...; cudnn graph: ..." */
static void add_reason(const char *name, const struct cm_reason *from, struct cm_reason *ret) {
    const size_t used = strlen(ret->text);
    (void)snprintf(ret->text + used, sizeof(ret->text) - used, "%s%s: %s", used > 0 ? "; " : "",
                   name, from->text);
}

static int ask(const struct cuda_provider *provider, struct cm_device *device,
               const struct cm_primitive *primitive, struct cuda_step *ret,
               struct cm_reason *reason) {
    if (!device->has_driver && !provider->plans_only)
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "makes no plan without a device");
    return provider->make(device, primitive, 0, ret, reason);
}

int provider_make(struct cm_device *device, const struct cm_primitive *primitive,
                  const struct cuda_provider **ret_provider, struct cuda_step *ret,
                  struct cm_reason *reason) {
    struct cm_reason all = {""};
    const struct cuda_provider *const *at = providers_for(primitive->kind);
    for (; *at != NULL; at++) {
        struct cuda_step step = {.own = NULL};
        struct cm_reason why = {""};
        const int status = ask(*at, device, primitive, &step, &why);
        if (status == CM_BACKEND_OK) {
            *ret_provider = *at;
            *ret = step;
            return status;
        }
        add_reason((*at)->name, &why, &all);
        if (status == CM_BACKEND_REFUSED) continue;
        *reason = why;
        return status;
    }
    if (all.text[0] == '\0')
        return cuda_refuse(reason, CM_BACKEND_REFUSED, "no library here does this");
    *reason = all;
    return CM_BACKEND_REFUSED;
}
