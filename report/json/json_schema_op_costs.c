/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what describes operators (docs/op-costs.md). */
#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "report/json/json_schema.h"
#include "report/json/op_costs.h"
#include "support/diag.h"

#include "support/banned.h"

static const struct json_field output_fields[] = {
    OPTIONAL("type", JSON_TEXT, struct cm_op_output, type,
             "an element type, as `float16`, or that of an input, as `input 1`; of input 0 "
             "where it is missing"),
    VALUE("dims", JSON_TEXT, struct cm_op_output, dims, "as `N, C, H / 2, W / 2`"),
};

static const struct json_record output_record =
    CLOSED_RECORD(struct cm_op_output, output_fields, "op_output", "An output of the operator");

static const struct json_field operator_fields[] = {
    VALUE("domain", JSON_TEXT, struct cm_op_description, domain, "as the model has it"),
    VALUE("operator", JSON_TEXT, struct cm_op_description, op, "as the model has it"),
    OPTIONAL("since", JSON_COUNT, struct cm_op_description, since,
             "the first opset of the domain that it holds for; all where it is missing"),
    OPTIONAL("replace", JSON_FLAG, struct cm_op_description, replace,
             "it stands in place of an operator that is built in"),
    OPTIONAL("like", JSON_TEXT, struct cm_op_description, like,
             "the operator that it behaves as, `Conv` or `com.microsoft::Gelu`; or outputs"),
    OPTIONAL("like_opset", JSON_COUNT, struct cm_op_description, like_opset,
             "as that is at this opset of its domain; the newest where it is missing"),
    OPTIONAL_MANY("attributes", JSON_SIZES, struct cm_op_description, attributes, n_attributes,
                  NULL,
                  "integer attributes that are used below, `stride` or `strides[0]`, and what "
                  "holds where the node has none; `null`: it must have one"),
    OPTIONAL_MANY("inputs", JSON_TEXTS, struct cm_op_description, inputs, n_inputs, NULL,
                  "the dims of each, as `N, C, H, W`, which gives them names"),
    OPTIONAL("required_inputs", JSON_COUNT, struct cm_op_description, required_inputs,
             "how many must be there, the first ones; all where it is missing"),
    OPTIONAL_MANY("where", JSON_TEXTS, struct cm_op_description, where, n_where, NULL,
                  "names for what is used often, each as `P = (H - R) / stride + 1`"),
    OPTIONAL_MANY("outputs", JSON_LIST, struct cm_op_description, outputs, n_outputs,
                  &output_record, "what the operator gives; or like"),
    OPTIONAL(
        "macs", JSON_TEXT, struct cm_op_description, macs,
        "multiply-adds of one run; with `like` those of that operator where it is missing"),
    OPTIONAL("other_flops", JSON_TEXT, struct cm_op_description, other_flops,
             "operations that are no part of a MAC; stands where macs does"),
    OPTIONAL("note", JSON_TEXT, struct cm_op_description, note, "for people"),
};

static const struct json_record operator_record = CLOSED_RECORD(
    struct cm_op_description, operator_fields, "op_description", "An operator, and its costs");

static const struct json_field file_fields[] = {
    LIST("operators", struct op_costs_file, operators, n_operators, operator_record,
         "each once"),
};

static const struct json_record file_record =
    CLOSED_RECORD(struct op_costs_file, file_fields, "op_costs",
                  "Operators that costmodel does not know, described (docs/op-costs.md)");

const struct json_document json_op_costs = {"costmodel/op-costs/1", NULL, "op-costs",
                                            &file_record,
                                            offsetof(struct op_costs_file, arena)};

int op_costs_file_read(const char *text, size_t size, const char *name,
                       struct cm_diagnostics *diag, struct op_costs_file **ret) {
    const struct json_text from = {text, size, name};
    void *file = NULL;
    const int status = json_document_read(&json_op_costs, &from, diag, &file);
    if (status == CM_OK) *ret = file;
    return status;
}
