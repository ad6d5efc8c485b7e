/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables of a comparison (docs/diff.md). */
#include "report/json/json_diff.h"
#include "report/json/json_rows.h"

/* clang-format off */
static const struct json_record side_record = RECORD(struct diff_side, "side", "One side of the comparison",
    VALUE("path", JSON_TEXT, struct diff_side, path, "path of the file"),
    VALUE("batch", JSON_COUNT, struct diff_side, batch, "profiled batch size; `null` if the inputs have no batch axis"),
    VALUE("convention", JSON_TEXT, struct diff_side, convention, "FLOP counting convention"),
    OPTIONAL("precision", JSON_NULLABLE, struct diff_side, precision, "precision of bytes and times"),
    VALUE("mode", JSON_TEXT, struct diff_side, mode, "`model`, `training` or `inference`"),
    VALUE("modules", JSON_COUNT, struct diff_side, modules, "number of modules"),
    VALUE("nodes", JSON_COUNT, struct diff_side, nodes, "number of nodes"),
    OPTIONAL_MANY("custom_ops", JSON_SIZES, struct diff_side, custom_ops, n_custom_ops, NULL, "as in `coverage` of a profile"));

static const struct json_record condition_record = RECORD(struct diff_condition, "condition", "A difference in how the two were profiled, or a reason for inaccurate figures",
    VALUE("key", JSON_TEXT, struct diff_condition, key, "option that differs: `batch`, `dims.seq`, `device`"),
    VALUE("old", JSON_TEXT, struct diff_condition, old_value, "old value"),
    VALUE("new", JSON_TEXT, struct diff_condition, new_value, "new value"),
    VALUE("breaks", JSON_TEXT, struct diff_condition, breaks, "effect: `none`, `incomplete` (sums omit some costs), `times` (times are not compared), `incomparable`"));

static const struct json_record metric_record = RECORD(struct diff_metric, "metric", "One metric on both sides",
    GIVEN("old", struct diff_metric, change.old_value, change.in_old, "old value; `null` if unknown; missing if the old side does not have the metric"),
    GIVEN("new", struct diff_metric, change.new_value, change.in_new, "new value, likewise"),
    VALUE("change", JSON_COUNT, struct diff_metric, change.difference, "new - old, with 0 for a missing value; `null` if either is unknown"),
    OPTIONAL("old_upper_bound", JSON_FLAG, struct diff_metric, change.old_upper_bound, "`old` is an upper bound, and `change` is the difference of the bounds"),
    OPTIONAL("new_upper_bound", JSON_FLAG, struct diff_metric, change.new_upper_bound, "`new` is an upper bound"),
    OPTIONAL("old_partial", JSON_FLAG, struct diff_metric, change.old_partial, "`old` leaves something out: unknown costs, nodes without a time"),
    OPTIONAL("new_partial", JSON_FLAG, struct diff_metric, change.new_partial, "`new` is such a sum"));

static const struct json_record module_record = RECORD(struct diff_module, "diff_module", "A module that changed, those inside it included",
    VALUE("status", JSON_TEXT, struct diff_module, status, "`changed`, `renamed`, `added` or `removed`"),
    VALUE("path", JSON_TEXT, struct diff_module, path, "dotted path; for a removed module its old path"),
    OPTIONAL("old_path", JSON_NULLABLE, struct diff_module, old_path, "only if it changed"),
    OPTIONAL("class", JSON_NULLABLE, struct diff_module, type, "class as printed by the framework; missing if unknown"),
    OPTIONAL("old_class", JSON_NULLABLE, struct diff_module, old_type, "only if it changed"),
    OPTIONAL("arguments", JSON_NULLABLE, struct diff_module, arguments, "constructor arguments, if they changed"),
    OPTIONAL("old_arguments", JSON_NULLABLE, struct diff_module, old_arguments, "old constructor arguments"),
    GIVEN("modules", struct diff_module, modules, is_tree, "number of modules added or removed with it, including itself"),
    GIVEN("accounts_for", struct diff_module, accounts_for, is_cost, "its part of the change of `sorted_by`, not included in other rows; if the metric is a sum, the parts add up to its change"),
    KEYED("metrics", struct diff_module, metrics, n_metrics, metric_record, "metrics that differ, by key"));

static const struct json_record operator_record = RECORD(struct diff_operator, "diff_operator", "All nodes of one operator",
    VALUE("op", JSON_TEXT, struct diff_operator, op, "`Conv`; of another domain `com.microsoft::Gelu`"),
    KEYED("metrics", struct diff_operator, metrics, n_metrics, metric_record, "metrics that differ, by key"));

static const struct json_record diff_record = RECORD(struct diff_document, "diff", "Changes between two models (docs/diff.md)",
    OBJECT("old", struct diff_document, old_side, side_record, "the first file"),
    OBJECT("new", struct diff_document, new_side, side_record, "the second file"),
    VALUE("comparable", JSON_FLAG, struct diff_document, comparable, "`true` if no condition is `incomparable`"),
    LIST("conditions", struct diff_document, conditions, n_conditions, condition_record, "most severe first"),
    KEYED("totals", struct diff_document, totals, n_totals, metric_record, "metrics of either side, by key of `totals`, `memory` or `coverage` of a profile, or of `training` with a prefix: `training.peak_bytes`"),
    VALUE("sorted_by", JSON_TEXT, struct diff_document, sorted_by, "key of the metric by whose change modules and operators are sorted"),
    LIST("modules", struct diff_document, modules, n_modules, module_record, "modules that account for a change, largest first; then modules that were only renamed"),
    LIST("operators", struct diff_document, operators, n_operators, operator_record, "operators that changed, largest first"));

const struct json_document json_diff = {"costmodel/diff/2", NULL, "diff", &diff_record, 0};
/* clang-format on */
