/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of skim_schema.h. A field that is not here is dropped; onnx.proto has the same
 * list. */
#include "frontend/skim_schema.h"

#include "support/banned.h"

#define NUMBER(number, name)                                                                   \
    { number, FIELD_NUMBER, MESSAGE_NONE, 0, false, name }
#define FLOATS(number, name)                                                                   \
    { number, FIELD_FLOAT, MESSAGE_NONE, 5, false, name }
#define TEXT(number, name)                                                                     \
    { number, FIELD_TEXT, MESSAGE_NONE, 2, false, name }
#define MESSAGE(number, child, name)                                                           \
    { number, FIELD_MESSAGE, child, 2, false, name }
#define ONE(number, child, name)                                                               \
    { number, FIELD_MESSAGE, child, 2, true, name }
#define PAYLOAD(number, wire, name)                                                            \
    { number, FIELD_PAYLOAD, MESSAGE_NONE, wire, false, name }
#define END                                                                                    \
    { 0, FIELD_NUMBER, MESSAGE_NONE, 0, false, 0 }

/* clang-format off */
static const struct skim_field model_fields[] = {
    NUMBER(1, "ir_version"), TEXT(2, "producer_name"), TEXT(3, "producer_version"),
    TEXT(4, "domain"), NUMBER(5, "model_version"), ONE(7, MESSAGE_GRAPH, "graph"),
    MESSAGE(8, MESSAGE_OPSET, "opset_import"), MESSAGE(14, MESSAGE_ENTRY, "metadata_props"),
    MESSAGE(25, MESSAGE_FUNCTION, "functions"), END};

static const struct skim_field graph_fields[] = {
    MESSAGE(1, MESSAGE_NODE, "node"), TEXT(2, "name"), MESSAGE(5, MESSAGE_TENSOR, "initializer"),
    MESSAGE(11, MESSAGE_VALUE_INFO, "input"), MESSAGE(12, MESSAGE_VALUE_INFO, "output"),
    MESSAGE(13, MESSAGE_VALUE_INFO, "value_info"),
    MESSAGE(14, MESSAGE_ANNOTATION, "quantization_annotation"),
    MESSAGE(15, MESSAGE_SPARSE, "sparse_initializer"), END};

static const struct skim_field node_fields[] = {
    TEXT(1, "input"), TEXT(2, "output"), TEXT(3, "name"), TEXT(4, "op_type"),
    MESSAGE(5, MESSAGE_ATTRIBUTE, "attribute"), TEXT(7, "domain"), TEXT(8, "overload"),
    MESSAGE(9, MESSAGE_NOTE, "metadata_props"), END};

static const struct skim_field attribute_fields[] = {
    TEXT(1, "name"), FLOATS(2, "f"), NUMBER(3, "i"), TEXT(4, "s"), ONE(5, MESSAGE_TENSOR, "t"),
    ONE(6, MESSAGE_GRAPH, "g"), FLOATS(7, "floats"), NUMBER(8, "ints"), TEXT(9, "strings"),
    MESSAGE(10, MESSAGE_TENSOR, "tensors"), MESSAGE(11, MESSAGE_GRAPH, "graphs"),
    ONE(14, MESSAGE_TYPE, "tp"), MESSAGE(15, MESSAGE_TYPE, "type_protos"), NUMBER(20, "type"),
    TEXT(21, "ref_attr_name"), ONE(22, MESSAGE_SPARSE, "sparse_tensor"),
    MESSAGE(23, MESSAGE_SPARSE, "sparse_tensors"), END};

static const struct skim_field tensor_fields[] = {
    NUMBER(1, "dims"), NUMBER(2, "data_type"), PAYLOAD(4, 5, "float_data"),
    PAYLOAD(5, 0, "int32_data"), PAYLOAD(6, 2, "string_data"), PAYLOAD(7, 0, "int64_data"),
    TEXT(8, "name"), PAYLOAD(9, 2, "raw_data"), PAYLOAD(10, 1, "double_data"),
    PAYLOAD(11, 0, "uint64_data"), MESSAGE(13, MESSAGE_ENTRY, "external_data"),
    NUMBER(14, "data_location"), END};

static const struct skim_field sparse_fields[] = {
    ONE(1, MESSAGE_TENSOR, "values"), ONE(2, MESSAGE_TENSOR, "indices"),
    NUMBER(3, "dims"), END};

static const struct skim_field function_fields[] = {
    TEXT(1, "name"), TEXT(4, "input"), TEXT(5, "output"), TEXT(6, "attribute"),
    MESSAGE(7, MESSAGE_NODE, "node"), MESSAGE(9, MESSAGE_OPSET, "opset_import"),
    TEXT(10, "domain"), MESSAGE(11, MESSAGE_ATTRIBUTE, "attribute_proto"),
    MESSAGE(12, MESSAGE_VALUE_INFO, "value_info"), TEXT(13, "overload"), END};

static const struct skim_field value_info_fields[] = {
    TEXT(1, "name"), ONE(2, MESSAGE_TYPE, "type"), END};

static const struct skim_field type_fields[] = {
    ONE(1, MESSAGE_TENSOR_TYPE, "tensor_type"),
    ONE(4, MESSAGE_SEQUENCE_TYPE, "sequence_type"),
    ONE(5, MESSAGE_MAP_TYPE, "map_type"),
    ONE(8, MESSAGE_TENSOR_TYPE, "sparse_tensor_type"),
    ONE(9, MESSAGE_SEQUENCE_TYPE, "optional_type"), END};

static const struct skim_field tensor_type_fields[] = {
    NUMBER(1, "elem_type"), ONE(2, MESSAGE_SHAPE, "shape"), END};

static const struct skim_field sequence_type_fields[] = {
    ONE(1, MESSAGE_TYPE, "elem_type"), END};

static const struct skim_field map_type_fields[] = {
    NUMBER(1, "key_type"), ONE(2, MESSAGE_TYPE, "value_type"), END};

static const struct skim_field shape_fields[] = {MESSAGE(1, MESSAGE_DIMENSION, "dim"), END};

static const struct skim_field dimension_fields[] = {
    NUMBER(1, "dim_value"), TEXT(2, "dim_param"), END};

static const struct skim_field entry_fields[] = {TEXT(1, "key"), TEXT(2, "value"), END};

static const struct skim_field opset_fields[] = {TEXT(1, "domain"), NUMBER(2, "version"), END};

static const struct skim_field annotation_fields[] = {
    TEXT(1, "tensor_name"), MESSAGE(2, MESSAGE_ENTRY, "quant_parameter_tensor_names"), END};

const struct skim_message skim_messages[MESSAGE_N] = {
    [MESSAGE_MODEL]         = {"model",         model_fields, false, 0},
    [MESSAGE_GRAPH]         = {"graph",         graph_fields, false, 0},
    [MESSAGE_NODE]          = {"node",          node_fields, true, 4096},
    [MESSAGE_ATTRIBUTE]     = {"attribute",     attribute_fields, true, 0},
    [MESSAGE_TENSOR]        = {"tensor",        tensor_fields, true, 64},
    [MESSAGE_SPARSE]        = {"sparse tensor", sparse_fields, false, 0},
    [MESSAGE_FUNCTION]      = {"function",      function_fields, false, 0},
    [MESSAGE_VALUE_INFO]    = {"value",         value_info_fields, true, 0},
    [MESSAGE_TYPE]          = {"type",          type_fields, false, 0},
    [MESSAGE_TENSOR_TYPE]   = {"tensor type",   tensor_type_fields, false, 0},
    [MESSAGE_SEQUENCE_TYPE] = {"sequence type", sequence_type_fields, false, 0},
    [MESSAGE_MAP_TYPE]      = {"map type",      map_type_fields, false, 0},
    [MESSAGE_SHAPE]         = {"shape",         shape_fields, false, 64},
    [MESSAGE_DIMENSION]     = {"dimension",     dimension_fields, false, 0},
    [MESSAGE_ENTRY]         = {"entry",         entry_fields, false, 0},
    [MESSAGE_NOTE]          = {"entry",         entry_fields, false, 0},
    [MESSAGE_OPSET]         = {"opset",         opset_fields, false, 0},
    [MESSAGE_ANNOTATION]    = {"annotation",    annotation_fields, false, 0},
};
/* clang-format on */
