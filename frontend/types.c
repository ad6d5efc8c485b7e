/* SPDX-License-Identifier: Apache-2.0 */
/* Imports TypeProto as struct type: element types, dims and symbolic dims. */
#include "frontend/importer.h"
#include "support/arena.h"
#include "support/text.h"

static int dim(struct importer *importer, const Onnx__TensorShapeProto__Dimension *proto,
               int64_t *ret_dim, const char **ret_symbol) {
    const bool is_value =
        proto->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    const bool is_named =
        proto->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    *ret_dim = is_value && proto->dim_value >= 0 ? proto->dim_value : DIM_UNKNOWN;
    *ret_symbol = NULL;
    /* PaddlePaddle writes -1 or "?" for an unknown dim; two such dims need not be equal. */
    if (!is_named || !proto->dim_param[0] || text_equal(proto->dim_param, "?")) return CM_OK;
    *ret_symbol = import_text(importer, proto->dim_param);
    return *ret_symbol ? CM_OK : diag_no_memory(importer->diag);
}

static int tensor_type(struct importer *importer, const Onnx__TypeProto__Tensor *proto,
                       struct type *ret) {
    const Onnx__TensorShapeProto *shape = proto->shape;
    ret->dtype = dtype_from_onnx(proto->elem_type);
    ret->shape = shape_unknown();
    if (!shape) return CM_OK;
    if (shape->n_dim > SHAPE_MAX_RANK)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "a declared shape must have at most %d dims, got %zu", SHAPE_MAX_RANK,
                          shape->n_dim);
    const char **symbols = arena_array(importer->arena, shape->n_dim, sizeof(*symbols));
    if (!symbols || shape_make(importer->arena, (int)shape->n_dim, NULL, &ret->shape) < 0)
        return diag_no_memory(importer->diag);
    for (size_t i = 0; i < shape->n_dim; i++) {
        int status = dim(importer, shape->dim[i], &ret->shape.dims[i], &symbols[i]);
        if (status < 0) return status;
    }
    ret->symbols = symbols;
    return CM_OK;
}

static int element_type(struct importer *importer, const Onnx__TypeProto *proto, int depth,
                        struct type *ret) {
    struct type *element = arena_alloc(importer->arena, sizeof(*element));
    if (!element) return diag_no_memory(importer->diag);
    int status = import_type(importer, proto, depth + 1, element);
    ret->element = element;
    return status;
}

int import_type(struct importer *importer, const Onnx__TypeProto *proto, int depth,
                struct type *ret) {
    *ret = (struct type){.kind = CM_TYPE_UNKNOWN, .shape = shape_unknown()};
    if (!proto || depth > MAX_GRAPH_DEPTH) return CM_OK;
    switch (proto->value_case) {
    case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        ret->kind = CM_TYPE_TENSOR;
        return tensor_type(importer, proto->tensor_type, ret);
    case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        ret->kind = CM_TYPE_SPARSE_TENSOR;
        return tensor_type(importer, proto->sparse_tensor_type, ret);
    case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        ret->kind = CM_TYPE_SEQUENCE;
        return element_type(importer, proto->sequence_type->elem_type, depth, ret);
    case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        ret->kind = CM_TYPE_OPTIONAL;
        return element_type(importer, proto->optional_type->elem_type, depth, ret);
    case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        ret->kind = CM_TYPE_MAP;
        ret->dtype = dtype_from_onnx(proto->map_type->key_type);
        return element_type(importer, proto->map_type->value_type, depth, ret);
    default:
        return CM_OK;
    }
}

int import_declared(struct importer *importer, const Onnx__TypeProto *proto,
                    const struct type **ret) {
    struct type *type = arena_alloc(importer->arena, sizeof(*type));
    if (!type) return diag_no_memory(importer->diag);
    int status = import_type(importer, proto, 0, type);
    if (status == CM_OK) *ret = type;
    return status;
}
