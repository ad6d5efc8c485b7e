/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of custom operators (docs/op-costs.md). */
#include "report/json/json_rows.h"

/* clang-format off */
static const struct json_record output_record = CLOSED_RECORD(struct cm_op_output, "op_output", "An output of the operator",
    OPTIONAL("type", JSON_TEXT, struct cm_op_output, type, "element type (`float16`), or that of an input (`input 1`); if missing, that of input 0"),
    VALUE("dims", JSON_TEXT, struct cm_op_output, dims, "dims: `N, C, H / 2, W / 2`"));

static const struct json_record operator_record = CLOSED_RECORD(struct cm_op_description, "op_description", "A custom operator and its costs",
    VALUE("domain", JSON_TEXT, struct cm_op_description, domain, "as in the model"),
    VALUE("operator", JSON_TEXT, struct cm_op_description, op, "as in the model"),
    OPTIONAL("since", JSON_COUNT, struct cm_op_description, since, "first opset of the domain to which the description applies; if missing, all opsets"),
    OPTIONAL("replace", JSON_FLAG, struct cm_op_description, replace, "`true`: replaces a built-in operator"),
    OPTIONAL("like", JSON_TEXT, struct cm_op_description, like, "operator with the same shapes and costs: `Conv`, `com.microsoft::Gelu`; alternative to outputs"),
    OPTIONAL("like_opset", JSON_COUNT, struct cm_op_description, like_opset, "opset of that operator; if missing, the newest"),
    OPTIONAL_MANY("attributes", JSON_SIZES, struct cm_op_description, attributes, n_attributes, NULL, "integer attributes used in expressions (`stride`, `strides[0]`) and their defaults; `null`: the attribute is required"),
    OPTIONAL_MANY("inputs", JSON_TEXTS, struct cm_op_description, inputs, n_inputs, NULL, "dims of each input; names the dims: `N, C, H, W`"),
    OPTIONAL("required_inputs", JSON_COUNT, struct cm_op_description, required_inputs, "number of leading inputs that are required; if missing, all"),
    OPTIONAL_MANY("where", JSON_TEXTS, struct cm_op_description, where, n_where, NULL, "named expressions: `P = (H - R) / stride + 1`"),
    OPTIONAL_MANY("outputs", JSON_LIST, struct cm_op_description, outputs, n_outputs, &output_record, "outputs of the operator; alternative to like"),
    OPTIONAL("macs", JSON_TEXT, struct cm_op_description, macs, "multiply-adds of one run; if missing, those of the operator in `like`"),
    OPTIONAL("other_flops", JSON_TEXT, struct cm_op_description, other_flops, "operations that are not part of a MAC; requires macs"),
    OPTIONAL("note", JSON_TEXT, struct cm_op_description, note, "comment, ignored"));

static const struct json_record file_record = CLOSED_RECORD(struct op_costs_file, "op_costs", "Custom operators and their costs (docs/op-costs.md)",
    LIST("operators", struct op_costs_file, operators, n_operators, operator_record, "custom operators, each at most once"));

const struct json_document json_op_costs = {"costmodel/op-costs/1", NULL, "op-costs", &file_record, offsetof(struct op_costs_file, arena)};
/* clang-format on */
