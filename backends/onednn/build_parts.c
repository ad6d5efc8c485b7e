/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the builders: descriptors, parts, operands. */
#include <string.h>

#include "backends/onednn/build.h"

#include "backends/primitive.h"

#include "support/banned.h"

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

dnnl_status_t build_desc(struct building *building, const struct cm_tensor *tensor,
                         onednn_desc *ret) {
    static const int64_t one[1] = {1};
    const dnnl_data_type_t type = build_type(tensor->element);
    if (type == dnnl_data_type_undef) return dnnl_unimplemented;
    return calls_desc(building->lib, &building->built->descs, tensor->rank ? tensor->rank : 1,
                      tensor->rank ? tensor->dims : one, type,
                      tensor->rank ? tensor->strides : one, ret);
}

dnnl_status_t build_any(struct building *building, const struct cm_tensor *tensor,
                        onednn_desc *ret) {
    const dnnl_data_type_t type = build_type(tensor->element);
    if (type == dnnl_data_type_undef) return dnnl_unimplemented;
    return calls_desc(building->lib, &building->built->descs, tensor->rank, tensor->dims, type,
                      NULL, ret);
}

struct built_part *build_part(struct building *building) {
    struct built *built = building->built;
    if (built->n_parts == 0) built->n_parts = 1;
    return &built->parts[built->n_parts - 1];
}

void build_next_part(struct building *building) {
    building->built->n_parts++;
}

/* Returns the index of the operand with this role, and adds it if it is new. Parts share
 * operands, whose size is the largest that a part needs. BUILT_OWN is always new. */
static int find_operand(struct built *built, int role) {
    for (int i = 0; i < built->n_operands && role != BUILT_OWN; i++)
        if (built->operands[i].role == role) return i;
    built->operands[built->n_operands].role = role;
    return built->n_operands++;
}

static struct built_operand *add_arg(struct building *building, int id, onednn_desc desc,
                                     int32_t element, int role) {
    struct built_part *part = build_part(building);
    const int operand = find_operand(building->built, role);
    struct built_operand *ret = &building->built->operands[operand];
    const size_t bytes = building->lib->api.dnnl_memory_desc_get_size(desc);
    if (bytes > ret->bytes) ret->bytes = bytes;
    ret->type = build_type(element);
    part->args[part->n_args++] = (struct built_arg){id, operand, desc};
    return ret;
}

void build_arg(struct building *building, int id, onednn_desc desc, int32_t element, int role) {
    (void)add_arg(building, id, desc, element, role);
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
}

/* Returns true if oneDNN would use a reference implementation ("ref:any", "bnorm_ref:any"),
 * which is slow. RNNs are excluded: their "ref" implementation calls fast products. */
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
