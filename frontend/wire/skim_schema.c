/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of skim_schema.h by field number: the fields of onnx.proto; skim drops others. */
#include "frontend/wire/skim_schema.h"

#include "frontend/wire/wire.h"

#define MAY_BE(wire) (1 << (wire))
#define NUMBER(name)                                                                           \
    {                                                                                          \
        name, FIELD_NUMBER, MESSAGE_NONE, false, WIRE_VARINT,                                  \
            MAY_BE(WIRE_VARINT) | MAY_BE(WIRE_BYTES), SKIM_MAX_FIELD                           \
    }
#define FLOATS(name)                                                                           \
    {                                                                                          \
        name, FIELD_FLOAT, MESSAGE_NONE, false, WIRE_FIXED32,                                  \
            MAY_BE(WIRE_FIXED32) | MAY_BE(WIRE_BYTES), SKIM_MAX_FIELD                          \
    }
#define NAME(name)                                                                             \
    { name, FIELD_TEXT, MESSAGE_NONE, false, WIRE_BYTES, MAY_BE(WIRE_BYTES), SKIM_MAX_NAME }
#define TEXT(name)                                                                             \
    { name, FIELD_TEXT, MESSAGE_NONE, false, WIRE_BYTES, MAY_BE(WIRE_BYTES), SKIM_MAX_FIELD }
#define MESSAGE(child, name)                                                                   \
    { name, FIELD_MESSAGE, child, false, WIRE_BYTES, MAY_BE(WIRE_BYTES), 0 }
#define ONE(child, name)                                                                       \
    { name, FIELD_MESSAGE, child, true, WIRE_BYTES, MAY_BE(WIRE_BYTES), 0 }
#define PAYLOAD(wire, name)                                                                    \
    { name, FIELD_PAYLOAD, MESSAGE_NONE, false, wire, MAY_BE(wire) | MAY_BE(WIRE_BYTES), 0 }
#define FIELDS(list) list, sizeof(list) / sizeof *(list)

/* clang-format off */
static const struct skim_field model_fields[] = {
    [1]  = NUMBER("ir_version"),
    [2]  = NAME("producer_name"),
    [3]  = NAME("producer_version"),
    [4]  = NAME("domain"),
    [5]  = NUMBER("model_version"),
    [7]  = ONE(MESSAGE_GRAPH, "graph"),
    [8]  = MESSAGE(MESSAGE_OPSET, "opset_import"),
    [14] = MESSAGE(MESSAGE_ENTRY, "metadata_props"),
    [25] = MESSAGE(MESSAGE_FUNCTION, "functions"),
};

static const struct skim_field graph_fields[] = {
    [1]  = MESSAGE(MESSAGE_NODE, "node"),
    [2]  = NAME("name"),
    [5]  = MESSAGE(MESSAGE_TENSOR, "initializer"),
    [11] = MESSAGE(MESSAGE_VALUE_INFO, "input"),
    [12] = MESSAGE(MESSAGE_VALUE_INFO, "output"),
    [13] = MESSAGE(MESSAGE_VALUE_INFO, "value_info"),
    [15] = MESSAGE(MESSAGE_SPARSE, "sparse_initializer"),
    [16] = MESSAGE(MESSAGE_METADATA, "metadata_props"),
};

static const struct skim_field node_fields[] = {
    [1]  = NAME("input"),
    [2]  = NAME("output"),
    [3]  = NAME("name"),
    [4]  = NAME("op_type"),
    [5]  = MESSAGE(MESSAGE_ATTRIBUTE, "attribute"),
    [7]  = NAME("domain"),
    [8]  = NAME("overload"),
    [9]  = MESSAGE(MESSAGE_METADATA, "metadata_props"),
};

static const struct skim_field attribute_fields[] = {
    [1]  = NAME("name"),
    [2]  = FLOATS("f"),
    [3]  = NUMBER("i"),
    [4]  = TEXT("s"),
    [5]  = ONE(MESSAGE_TENSOR, "t"),
    [6]  = ONE(MESSAGE_GRAPH, "g"),
    [7]  = FLOATS("floats"),
    [8]  = NUMBER("ints"),
    [9]  = TEXT("strings"),
    [10] = MESSAGE(MESSAGE_TENSOR, "tensors"),
    [11] = MESSAGE(MESSAGE_GRAPH, "graphs"),
    [14] = ONE(MESSAGE_TYPE, "tp"),
    [15] = MESSAGE(MESSAGE_TYPE, "type_protos"),
    [20] = NUMBER("type"),
    [21] = NAME("ref_attr_name"),
    [22] = ONE(MESSAGE_SPARSE, "sparse_tensor"),
    [23] = MESSAGE(MESSAGE_SPARSE, "sparse_tensors"),
};

static const struct skim_field tensor_fields[] = {
    [1]  = NUMBER("dims"),
    [2]  = NUMBER("data_type"),
    [4]  = PAYLOAD(WIRE_FIXED32, "float_data"),
    [5]  = PAYLOAD(WIRE_VARINT, "int32_data"),
    [6]  = PAYLOAD(WIRE_BYTES, "string_data"),
    [7]  = PAYLOAD(WIRE_VARINT, "int64_data"),
    [8]  = NAME("name"),
    [9]  = PAYLOAD(WIRE_BYTES, "raw_data"),
    [10] = PAYLOAD(WIRE_FIXED64, "double_data"),
    [11] = PAYLOAD(WIRE_VARINT, "uint64_data"),
    [13] = MESSAGE(MESSAGE_ENTRY, "external_data"),
    [14] = NUMBER("data_location"),
};

static const struct skim_field sparse_fields[] = {
    [1]  = ONE(MESSAGE_TENSOR, "values"),
    [2]  = ONE(MESSAGE_TENSOR, "indices"),
    [3]  = NUMBER("dims"),
};

static const struct skim_field function_fields[] = {
    [1]  = NAME("name"),
    [4]  = NAME("input"),
    [5]  = NAME("output"),
    [7]  = MESSAGE(MESSAGE_NODE, "node"),
    [9]  = MESSAGE(MESSAGE_OPSET, "opset_import"),
    [10] = NAME("domain"),
    [11] = MESSAGE(MESSAGE_ATTRIBUTE, "attribute_proto"),
    [13] = NAME("overload"),
};

static const struct skim_field value_info_fields[] = {
    [1]  = NAME("name"),
    [2]  = ONE(MESSAGE_TYPE, "type"),
    [4]  = MESSAGE(MESSAGE_METADATA, "metadata_props"),
};

static const struct skim_field type_fields[] = {
    [1]  = ONE(MESSAGE_TENSOR_TYPE, "tensor_type"),
    [4]  = ONE(MESSAGE_SEQUENCE_TYPE, "sequence_type"),
    [5]  = ONE(MESSAGE_MAP_TYPE, "map_type"),
    [8]  = ONE(MESSAGE_TENSOR_TYPE, "sparse_tensor_type"),
    [9]  = ONE(MESSAGE_SEQUENCE_TYPE, "optional_type"),
};

static const struct skim_field tensor_type_fields[] = {
    [1]  = NUMBER("elem_type"),
    [2]  = ONE(MESSAGE_SHAPE, "shape"),
};

static const struct skim_field sequence_type_fields[] = {
    [1]  = ONE(MESSAGE_TYPE, "elem_type"),
};

static const struct skim_field map_type_fields[] = {
    [1]  = NUMBER("key_type"),
    [2]  = ONE(MESSAGE_TYPE, "value_type"),
};

static const struct skim_field shape_fields[] = {
    [1]  = MESSAGE(MESSAGE_DIMENSION, "dim"),
};

static const struct skim_field dimension_fields[] = {
    [1]  = NUMBER("dim_value"),
    [2]  = NAME("dim_param"),
};

static const struct skim_field entry_fields[] = {
    [1]  = NAME("key"),
    [2]  = TEXT("value"),
};

static const struct skim_field opset_fields[] = {
    [1]  = NAME("domain"),
    [2]  = NUMBER("version"),
};

const struct skim_message skim_messages[MESSAGE_N] = {
    [MESSAGE_MODEL]         = {"model",         FIELDS(model_fields), false, 0},
    [MESSAGE_GRAPH]         = {"graph",         FIELDS(graph_fields), false, 0},
    [MESSAGE_NODE]          = {"node",          FIELDS(node_fields), true, 4096},
    [MESSAGE_ATTRIBUTE]     = {"attribute",     FIELDS(attribute_fields), true, 0},
    [MESSAGE_TENSOR]        = {"tensor",        FIELDS(tensor_fields), true, 64},
    [MESSAGE_SPARSE]        = {"sparse tensor", FIELDS(sparse_fields), false, 0},
    [MESSAGE_FUNCTION]      = {"function",      FIELDS(function_fields), false, 0},
    [MESSAGE_VALUE_INFO]    = {"value",         FIELDS(value_info_fields), true, 0},
    [MESSAGE_TYPE]          = {"type",          FIELDS(type_fields), false, 0},
    [MESSAGE_TENSOR_TYPE]   = {"tensor type",   FIELDS(tensor_type_fields), false, 0},
    [MESSAGE_SEQUENCE_TYPE] = {"sequence type", FIELDS(sequence_type_fields), false, 0},
    [MESSAGE_MAP_TYPE]      = {"map type",      FIELDS(map_type_fields), false, 0},
    [MESSAGE_SHAPE]         = {"shape",         FIELDS(shape_fields), false, 64},
    [MESSAGE_DIMENSION]     = {"dimension",     FIELDS(dimension_fields), false, 0},
    [MESSAGE_ENTRY]         = {"entry",         FIELDS(entry_fields), false, 0},
    [MESSAGE_METADATA]      = {"entry",         FIELDS(entry_fields), false, 0},
    [MESSAGE_OPSET]         = {"opset",         FIELDS(opset_fields), false, 0},
};
/* clang-format on */
