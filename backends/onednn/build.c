/* SPDX-License-Identifier: Apache-2.0 */
/* Table of builders, the fallbacks for primitives that oneDNN lacks, and helpers of the
 * builders: descriptors, parts, operands. */
#include "backends/onednn/build.h"

#include <string.h>

static const struct {
    dnnl_status_t (*build)(struct building *building);
    /* Used instead of a reference implementation, which no runtime would use; NULL: keep it. */
    dnnl_status_t (*replace)(struct building *building);
    /* If oneDNN does not implement the primitive: true copies as many bytes, because the time
     * depends only on the bytes; false refuses it, because a copy does not model arithmetic. */
    bool may_copy;
} kinds[CM_N_PRIMITIVES] = {
    [CM_CONV] = {.build = build_products},
    [CM_DECONV] = {.build = build_products},
    [CM_GEMM] = {.build = build_products},
    [CM_POOL] = {.build = build_pool},
    [CM_NORM] = {.build = build_norm},
    [CM_ELTWISE] = {.build = build_eltwise, .replace = build_proxy, .may_copy = true},
    [CM_SOFTMAX] = {.build = build_softmax, .replace = build_softmax_rows},
    [CM_REDUCE] = {.build = build_reduce, .replace = build_sum},
    [CM_COPY] = {.build = build_copy, .replace = build_proxy, .may_copy = true},
    [CM_RNN] = {.build = build_rnn},
    [CM_ATTENTION] = {.build = build_attention},
    [CM_GATHER] = {.may_copy = true},
    [CM_SCATTER] = {.may_copy = true},
    [CM_RESAMPLE] = {.build = build_resample},
};

static bool is_empty(const struct cm_primitive *primitive) {
    const struct cm_tensor *y = &primitive->outputs[0];
    for (int32_t i = 0; i < y->rank; i++)
        if (y->dims[i] == 0) return true;
    return primitive->bytes_read + primitive->bytes_written <= 0;
}

int build_primitive(const struct onednn *lib, const struct cm_primitive *primitive,
                    bool keep_layout, struct built *ret, struct cm_reason *reason) {
    struct building building = {lib, primitive, keep_layout, ret, dnnl_success};
    dnnl_status_t (*build)(struct building *) = kinds[primitive->kind].build;
    dnnl_status_t (*replace)(struct building *) = kinds[primitive->kind].replace;
    memset(ret, 0, sizeof(*ret));
    ret->state = CM_MEASURED;
    if (is_empty(primitive))
        return onednn_refuse(reason, CM_BACKEND_REFUSED, "has no elements");
    dnnl_status_t status = build != NULL ? build(&building) : dnnl_unimplemented;
    if (status == dnnl_success && build_is_reference(&building)) {
        if (primitive->kind != CM_ELTWISE && primitive->n_steps > 0) {
            build_drop(lib, ret);
            return onednn_refuse(reason, CM_BACKEND_REFUSED,
                                 "oneDNN has no fast kernel with these steps");
        }
        if (replace != NULL) {
            build_start_over(&building);
            status = replace(&building);
        } else {
            (void)onednn_refuse(&ret->note, 0, "ran oneDNN's slow reference implementation");
        }
    }
    if (status != dnnl_success && kinds[primitive->kind].may_copy) {
        build_start_over(&building);
        status = build_proxy(&building);
    }
    if (status == dnnl_success) return CM_BACKEND_OK;
    build_drop(lib, ret);
    if (status == dnnl_out_of_memory)
        return onednn_refuse(reason, CM_BACKEND_NO_MEMORY, "oneDNN is out of memory");
    if (status == dnnl_unimplemented)
        return onednn_refuse(reason, CM_BACKEND_REFUSED,
                             "oneDNN does not implement it for these operands");
    return onednn_refuse(reason, CM_BACKEND_REFUSED, "oneDNN refused it: status %d",
                         (int)status);
}

static const dnnl_data_type_t types[CM_N_ELEMENTS] = {
    [CM_F32] = dnnl_f32, [CM_F16] = dnnl_f16, [CM_BF16] = dnnl_bf16, [CM_I32] = dnnl_s32,
    [CM_I8] = dnnl_s8,   [CM_U8] = dnnl_u8,   [CM_BOOL] = dnnl_u8,
#if DNNL_VERSION_MAJOR >= 3
    [CM_F64] = dnnl_f64,
#endif
};

dnnl_data_type_t build_type(int32_t element) {
    return types[element];
}

onednn_desc build_desc(struct building *building, const struct cm_tensor *tensor, bool any) {
    static const int64_t one[1] = {1};
    const bool is_scalar = tensor->rank == 0;
    const int64_t *strides = is_scalar ? one : tensor->strides;
    const dnnl_data_type_t type = build_type(tensor->element);
    onednn_desc desc = NULL;
    if (building->status != dnnl_success) return NULL;
    building->status = dnnl_unimplemented;
    if (type == dnnl_data_type_undef) return NULL;
    building->status =
        calls_desc(building->lib, &building->built->descs, is_scalar ? 1 : tensor->rank,
                   is_scalar ? one : tensor->dims, type, any ? NULL : strides, &desc);
    return desc;
}

struct built_part *build_part(struct building *building) {
    struct built *built = building->built;
    if (built->n_parts == 0) built->n_parts = 1;
    return &built->parts[built->n_parts - 1];
}

void build_next_part(struct building *building) {
    building->built->n_parts++;
}

/* Adds an argument to the current part, and its operand if no earlier argument has the role.
 * The size of a shared operand is the largest that a part needs. */
static struct built_operand *add_arg(struct building *building, int id, onednn_desc desc,
                                     int32_t element, int role) {
    struct built *built = building->built;
    struct built_part *part = build_part(building);
    const size_t bytes = building->lib->api.dnnl_memory_desc_get_size(desc);
    int operand = 0;
    while (operand < built->n_operands &&
           (role == BUILT_OWN || built->operands[operand].role != role))
        operand++;
    if (operand == built->n_operands) built->operands[built->n_operands++].role = role;
    struct built_operand *ret = &built->operands[operand];
    if (bytes > ret->bytes) ret->bytes = bytes;
    ret->type = build_type(element);
    part->args[part->n_args++] = (struct built_arg){id, operand, desc};
    return ret;
}

void build_arg(struct building *building, int id, onednn_desc desc, int32_t element, int role) {
    if (building->status == dnnl_success) (void)add_arg(building, id, desc, element, role);
}

onednn_desc build_operand(struct building *building, int id, const struct cm_tensor *tensor,
                          int role) {
    onednn_desc desc = build_desc(building, tensor, false);
    build_arg(building, id, desc, tensor->element, role);
    return desc;
}

onednn_desc build_coalesced(struct building *building, int id,
                            const struct coalesced *coalesced, int which, int32_t element,
                            int role) {
    struct cm_tensor tensor = {.element = element, .rank = coalesced->rank};
    memcpy(tensor.dims, coalesced->operand_dims[which], sizeof(tensor.dims));
    memcpy(tensor.strides, coalesced->strides[which], sizeof(tensor.strides));
    return build_operand(building, id, &tensor, role);
}

onednn_desc build_in_place(struct building *building, const struct cm_tensor *tensor) {
    onednn_desc desc = build_operand(building, DNNL_ARG_SRC, tensor, BUILT_INPUT);
    build_arg(building, DNNL_ARG_DST, desc, tensor->element, BUILT_OUTPUT);
    return desc;
}

void build_arg_any(struct building *building, int id, dnnl_query_t what, int index,
                   onednn_desc model_desc, int32_t element, int role) {
    const struct onednn_api *api = &building->lib->api;
    onednn_desc desc =
        api->dnnl_primitive_desc_query_md(build_part(building)->primitive, what, index);
    struct built_operand *operand = add_arg(building, id, desc, element, role);
    if (model_desc != NULL && !api->dnnl_memory_desc_equal(desc, model_desc))
        operand->model_desc = model_desc;
}

void build_set_proxy(struct building *building, const char *what) {
    building->built->state = CM_PROXY;
    (void)onednn_refuse(&building->built->note, 0, "%s", what);
}

struct onednn_window build_window(const struct cm_window *window) {
    struct onednn_window ret;
    memset(&ret, 0, sizeof(ret));
    for (int i = 0; i < window->n_spatial; i++) {
        ret.kernel[i] = window->kernel[i];
        ret.strides[i] = window->strides[i];
        ret.dilates[i] = window->dilations[i] - 1;
        ret.begin[i] = window->pads_begin[i];
        ret.end[i] = window->pads_end[i];
    }
    return ret;
}

void build_start_over(struct building *building) {
    build_drop(building->lib, building->built);
    memset(building->built, 0, sizeof(*building->built));
    building->built->state = CM_MEASURED;
    building->status = dnnl_success;
}

/* Reference implementations are called "ref:any", "bnorm_ref:any" or similar. RNNs are
 * excluded: their "ref" implementation calls fast products. */
bool build_is_reference(const struct building *building) {
    const char *name = NULL;
    if (building->primitive->kind == CM_RNN) return false;
    return building->lib->api.dnnl_primitive_desc_query(building->built->parts[0].primitive,
                                                        dnnl_query_impl_info_str, 0,
                                                        &name) == dnnl_success &&
           name != NULL && strstr(name, "ref:") != NULL;
}

void build_drop(const struct onednn *lib, struct built *built) {
    for (int i = 0; i < built->n_parts; i++) {
        if (built->parts[i].primitive != NULL)
            (void)lib->api.dnnl_primitive_desc_destroy(built->parts[i].primitive);
        built->parts[i].primitive = NULL;
    }
    calls_drop_descs(lib, &built->descs);
}
