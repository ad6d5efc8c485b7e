/* SPDX-License-Identifier: Apache-2.0 */
/* Table of builders, and the fallbacks for primitives that oneDNN lacks. */
#include "backends/onednn/build.h"

#include <stdio.h>
#include <string.h>

#include "support/banned.h"

/* Fallback for a primitive that oneDNN does not implement. */
enum fallback {
    FALLBACK_NONE, /* refuse it: a copy does not model arithmetic */
    FALLBACK_COPY, /* copy as many bytes: the time depends only on the bytes */
};

static const struct {
    dnnl_status_t (*build)(struct building *building);
    enum fallback fallback;
    /* Used instead of a reference implementation; NULL: keep the reference. */
    dnnl_status_t (*replace)(struct building *building);
} kinds[CM_N_PRIMITIVES] = {
    [CM_CONV] = {build_products, FALLBACK_NONE, NULL},
    [CM_DECONV] = {build_products, FALLBACK_NONE, NULL},
    [CM_GEMM] = {build_products, FALLBACK_NONE, NULL},
    [CM_POOL] = {build_pool, FALLBACK_NONE, NULL},
    [CM_NORM] = {build_norm, FALLBACK_NONE, NULL},
    [CM_ELTWISE] = {build_eltwise, FALLBACK_COPY, build_proxy},
    [CM_SOFTMAX] = {build_softmax, FALLBACK_NONE, build_softmax_rows},
    [CM_REDUCE] = {build_reduce, FALLBACK_NONE, build_sum},
    [CM_COPY] = {build_copy, FALLBACK_COPY, build_proxy},
    [CM_RNN] = {build_rnn, FALLBACK_NONE, NULL},
    [CM_ATTENTION] = {build_attention, FALLBACK_NONE, NULL},
    [CM_GATHER] = {NULL, FALLBACK_COPY, NULL},
    [CM_SCATTER] = {NULL, FALLBACK_COPY, NULL},
    [CM_RESAMPLE] = {build_resample, FALLBACK_NONE, NULL},
};

static bool is_empty(const struct cm_primitive *primitive) {
    const struct cm_tensor *y = &primitive->outputs[0];
    for (int32_t i = 0; i < y->rank; i++)
        if (y->dims[i] == 0) return true;
    return primitive->bytes_read + primitive->bytes_written <= 0;
}

static int refuse(const struct building *building, dnnl_status_t status) {
    if (building->reason->text[0] != '\0') return CM_BACKEND_REFUSED;
    if (status == dnnl_out_of_memory)
        return onednn_refuse(building->reason, CM_BACKEND_NO_MEMORY, "oneDNN is out of memory");
    if (status == dnnl_unimplemented)
        return onednn_refuse(building->reason, CM_BACKEND_REFUSED,
                             "oneDNN does not implement it for these operands");
    return onednn_refuse(building->reason, CM_BACKEND_REFUSED, "oneDNN refused it: status %d",
                         (int)status);
}

/* Replaces a reference implementation, which no runtime would use, by a proxy of the same size.
 * If there is none, keeps the reference and notes that it ran. */
static dnnl_status_t replace_reference(struct building *building) {
    dnnl_status_t (*build)(struct building *) = kinds[building->primitive->kind].replace;
    if (build != NULL) {
        build_start_over(building);
        return build(building);
    }
    (void)onednn_refuse(&building->built->note, 0,
                        "ran oneDNN's slow reference implementation");
    return dnnl_success;
}

static dnnl_status_t build_it(struct building *building) {
    dnnl_status_t (*build)(struct building *) = kinds[building->primitive->kind].build;
    const dnnl_status_t status = build ? build(building) : dnnl_unimplemented;
    if (status != dnnl_success || !build_is_reference(building)) return status;
    if (building->primitive->kind != CM_ELTWISE && building->primitive->n_steps > 0) {
        (void)onednn_refuse(building->reason, 0, "oneDNN has no fast kernel with these steps");
        return dnnl_invalid_arguments;
    }
    return replace_reference(building);
}

int build_primitive(const struct onednn *lib, const struct cm_primitive *primitive,
                    bool keep_layout, struct built *ret, struct cm_reason *reason) {
    struct building building = {lib, primitive, keep_layout, ret, reason};
    memset(ret, 0, sizeof(*ret));
    ret->state = CM_MEASURED;
    if (is_empty(primitive))
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "has no elements");
    dnnl_status_t status = build_it(&building);
    if (status != dnnl_success && kinds[primitive->kind].fallback == FALLBACK_COPY) {
        build_start_over(&building);
        memset(reason, 0, sizeof(*reason));
        status = build_proxy(&building);
    }
    if (status == dnnl_success) return CM_BACKEND_OK;
    build_drop(lib, ret);
    return refuse(&building, status);
}
