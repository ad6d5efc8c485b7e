/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a comparison (docs/diff.md). */
#include "report/json/json_diff.h"
#include "report/json/json_rows.h"
#include "report/json/json_schema.h"

#include "support/banned.h"

static const struct json_field side_fields[] = {
    VALUE("path", JSON_TEXT, struct diff_side, path, "of the file"),
    VALUE("batch", JSON_COUNT, struct diff_side, batch,
          "what was profiled; `null` where no axis is one"),
    VALUE("convention", JSON_TEXT, struct diff_side, convention, "whose rules count FLOPs"),
    VALUE("mode", JSON_TEXT, struct diff_side, mode, "`model`, `training` or `inference`"),
    VALUE("modules", JSON_COUNT, struct diff_side, modules, "how many there are"),
    VALUE("nodes", JSON_COUNT, struct diff_side, nodes, "how many there are"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct diff_side, custom_ops, n_custom_ops, NULL,
                  "as in `coverage` of a profile"),
};

static const struct json_record side_record =
    RECORD(struct diff_side, side_fields, "side", "One of the two");

static const struct json_field condition_fields[] = {
    VALUE("key", JSON_TEXT, struct diff_condition, key,
          "what differs: `batch`, `dims.seq`, `device`"),
    VALUE("old", JSON_TEXT, struct diff_condition, old_value, "as it was"),
    VALUE("new", JSON_TEXT, struct diff_condition, new_value, "as it is"),
    VALUE("breaks", JSON_TEXT, struct diff_condition, breaks,
          "what that does: `none`, `incomplete` (sums leave something out), `times` (they are "
          "not compared), `incomparable`"),
};

static const struct json_record condition_record =
    RECORD(struct diff_condition, condition_fields, "condition",
           "How the two were not profiled alike, or what makes figures doubtful");

static const struct json_field metric_fields[] = {
    GIVEN("old", struct diff_metric, old_value, in_old,
          "what it was; `null` not known; missing where there was none"),
    GIVEN("new", struct diff_metric, new_value, in_new, "what it is; the same"),
    VALUE("change", JSON_COUNT, struct diff_metric, change,
          "new less old, what is missing counting 0; `null` where one is not known"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct diff_metric, old_upper_bound,
             "`old` is an upper bound, and `change` is that of the bounds"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct diff_metric, new_upper_bound,
             "the same of `new`"),
};

static const struct json_record metric_record =
    RECORD(struct diff_metric, metric_fields, "metric", "One metric on both sides");

static const struct json_field module_fields[] = {
    VALUE("status", JSON_TEXT, struct diff_module, status,
          "`changed`, `renamed`, `added` or `removed`"),
    VALUE("path", JSON_TEXT, struct diff_module, path,
          "dotted; the old one of what was removed"),
    OPTIONAL("old_path", JSON_NULLABLE, struct diff_module, old_path, "where it was another"),
    OPTIONAL("class", JSON_NULLABLE, struct diff_module, type,
             "as a framework prints it; missing where it is not known"),
    OPTIONAL("old_class", JSON_NULLABLE, struct diff_module, old_type, "where it was another"),
    OPTIONAL("arguments", JSON_NULLABLE, struct diff_module, arguments,
             "what stands in its brackets, where that changed"),
    OPTIONAL("old_arguments", JSON_NULLABLE, struct diff_module, old_arguments,
             "what stood there"),
    GIVEN("modules", struct diff_module, modules, is_tree,
          "how many came or went with it, itself too"),
    GIVEN("accounts_for", struct diff_module, accounts_for, is_cost,
          "its part of the change of `sorted_by`, in no other row; of a metric that is a sum "
          "they add up"),
    KEYED("metrics", struct diff_module, metrics, n_metrics, metric_record,
          "in which it differs, by key"),
};

static const struct json_record module_record =
    RECORD(struct diff_module, module_fields, "diff_module",
           "A module that changed, those inside it included");

static const struct json_field operator_fields[] = {
    VALUE("op", JSON_TEXT, struct diff_operator, op,
          "`Conv`; of another domain `com.microsoft::Gelu`"),
    KEYED("metrics", struct diff_operator, metrics, n_metrics, metric_record,
          "in which it differs, by key"),
};

static const struct json_record operator_record =
    RECORD(struct diff_operator, operator_fields, "diff_operator", "All nodes of one operator");

static const struct json_field diff_fields[] = {
    OBJECT("old", struct diff_document, old_side, side_record, "the first of the two"),
    OBJECT("new", struct diff_document, new_side, side_record, "the second"),
    VALUE("comparable", JSON_FLAG, struct diff_document, comparable,
          "no condition is `incomparable`"),
    LIST("conditions", struct diff_document, conditions, n_conditions, condition_record,
         "the heaviest first"),
    KEYED("totals", struct diff_document, totals, n_totals, metric_record,
          "every metric that one of the two has, by key"),
    VALUE("sorted_by", JSON_TEXT, struct diff_document, sorted_by,
          "key of the metric by whose change the next two are sorted"),
    LIST("modules", struct diff_document, modules, n_modules, module_record,
         "those that account for a change, the largest first; then those that are only called "
         "otherwise"),
    LIST("operators", struct diff_document, operators, n_operators, operator_record,
         "those that changed, the largest first"),
};

static const struct json_record diff_record =
    RECORD(struct diff_document, diff_fields, "diff", "What changed between two models");

const struct json_document json_diff = {"costmodel/diff/2", NULL, "diff", &diff_record,
                                        offsetof(struct diff_document, arena)};
