/* SPDX-License-Identifier: Apache-2.0 */
/* The table of columns that are not metrics, with getters, and columns of metrics. */
#include "report/table/fields.h"

#include <string.h>

#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "report/types.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

const char *const rows_names[] = {
    [ROWS_MODULES] = "modules", [ROWS_NODES] = "nodes",   [ROWS_OPERATORS] = "operators",
    [ROWS_BATCHES] = "batches", [ROWS_LAYERS] = "layers",
};

size_t rows_count(const struct rows_of *of) {
    if (of->rows == ROWS_BATCHES) return of->sweep->n_rows;
    if (of->rows == ROWS_LAYERS) return of->sweep->n_layers * of->sweep->n_rows;
    if (of->rows == ROWS_MODULES) return of->result->n_modules;
    return of->rows == ROWS_NODES ? of->result->n_nodes : of->result->n_operators;
}

static const struct cm_module *module_at(const struct rows_of *of, size_t row) {
    return &of->result->modules[row];
}

static const struct cm_node *node_at(const struct rows_of *of, size_t row) {
    return &of->result->nodes[row];
}

static const struct cm_operator *operator_at(const struct rows_of *of, size_t row) {
    return &of->result->operators[row];
}

/* Returns the batch of a row, which is a batch or a layer at a batch. */
static const struct cm_sweep_row *batch_at(const struct rows_of *of, size_t row) {
    return &of->sweep->rows[row % of->sweep->n_rows];
}

static const struct cm_sweep_layer *layer_at(const struct rows_of *of, size_t row) {
    return &of->sweep->layers[row / of->sweep->n_rows];
}

/* Returns NULL if the layer has too few times, which a JSON file may cause. */
static const struct cm_layer_time *layer_time_at(const struct rows_of *of, size_t row) {
    const struct cm_sweep_layer *layer = layer_at(of, row);
    const size_t at = row % of->sweep->n_rows;
    return at < layer->n_times ? &layer->times[at] : NULL;
}

/* Returns NULL if the module index of the node is invalid, which a JSON file may cause. */
static const struct cm_module *module_of(const struct rows_of *of, size_t row) {
    if (of->rows == ROWS_MODULES) return module_at(of, row);
    const size_t module = node_at(of, row)->module;
    return module < of->result->n_modules ? module_at(of, module) : NULL;
}

static void set_text(struct cell *cell, const char *text) {
    cell->kind = CELL_TEXT;
    text_append(cell->words, text);
}

static void set_count(struct cell *cell, int64_t value) {
    cell->kind = CELL_COUNT;
    cell->value = value;
}

static void set_figure(struct cell *cell, enum number_unit unit, int64_t value) {
    cell->kind = CELL_FIGURE;
    cell->unit = unit;
    cell->value = value;
}

static void set_share(struct cell *cell, int64_t part, int64_t whole) {
    cell->kind = CELL_SHARE;
    cell->value = part;
    cell->whole = whole;
}

/* Sets value / by * scale; negative (unknown) if either is unknown or `by` is not positive. */
static void set_quotient(struct cell *cell, int64_t value, int64_t by, double scale) {
    cell->kind = CELL_REAL;
    cell->real =
        is_known(value) && is_known(by) && by > 0 ? (double)value / (double)by * scale : -1;
}

#define UNUSED __attribute__((unused))
#define GETTER(name)                                                                           \
    static void name(UNUSED const struct field *field, UNUSED const struct rows_of *of,        \
                     size_t row, struct cell *cell)

/* Returns the struct that has the member; NULL: none. */
static const void *owner_of(enum field_owner owner, const struct rows_of *of, size_t row) {
    switch (owner) {
    case OWNER_MODULE:
        return module_of(of, row);
    case OWNER_OPERATOR:
        return operator_at(of, row);
    case OWNER_BATCH:
        return batch_at(of, row);
    case OWNER_LAYER:
        return layer_at(of, row);
    case OWNER_LAYER_TIME:
        return layer_time_at(of, row);
    case OWNER_PLANS:
        return batch_at(of, row)->plans;
    case OWNER_LAYER_PLAN: {
        const struct cm_layer_time *time = layer_time_at(of, row);
        return time != NULL ? time->plan : NULL;
    }
    case OWNER_STEP:
        return of->rows == ROWS_MODULES ? module_at(of, row)->training
                                        : node_at(of, row)->training;
    case OWNER_ACHIEVED:
        return module_at(of, row)->achieved;
    }
    BUG("unknown owner");
}

GETTER(get_member) {
    const char *owner = owner_of(field->owner, of, row);
    if (field->kind == CELL_TEXT) {
        const char *text = NULL;
        if (owner != NULL) memcpy(&text, owner + field->offset, sizeof(text));
        set_text(cell, text ? text : "");
    } else if (owner != NULL) {
        cell->kind = field->kind;
        cell->unit = field->unit;
        cell->whole = CM_RATIO_ONE;
        memcpy(&cell->value, owner + field->offset, sizeof(cell->value));
    }
}

/* The arena or the required memory of a batch. */
GETTER(get_memory) {
    get_member(field, of, row, cell);
    if (batch_at(of, row)->memory_upper_bound) cell->bound = NUMBER_AT_MOST;
}

GETTER(get_index) {
    set_count(cell, (int64_t)row);
}

GETTER(get_speedup) {
    const struct cm_layer_time *time = of->rows == ROWS_LAYERS ? layer_time_at(of, row) : NULL;
    const int64_t ratio = of->rows == ROWS_BATCHES ? batch_at(of, row)->speedup
                          : time != NULL           ? time->speedup
                                                   : CM_UNKNOWN;
    set_quotient(cell, ratio, CM_RATIO_ONE, 1);
}

GETTER(get_name) {
    set_text(cell,
             of->rows == ROWS_MODULES ? module_at(of, row)->name : node_at(of, row)->name);
}

GETTER(get_type) {
    if (of->rows == ROWS_MODULES) {
        set_text(cell, module_at(of, row)->type);
    } else if (of->rows == ROWS_OPERATORS) {
        set_text(cell, operator_at(of, row)->op);
    } else {
        const struct cm_node *node = node_at(of, row);
        if (*node->domain != '\0') {
            set_text(cell, node->domain);
            text_append(cell->words, "::");
        }
        set_text(cell, node->op);
    }
}

GETTER(get_depth) {
    const struct cm_module *module = module_of(of, row);
    set_count(cell, module == NULL ? CM_UNKNOWN : module->depth);
}

GETTER(get_shape) {
    const bool is_module = of->rows == ROWS_MODULES;
    const size_t n = is_module ? module_at(of, row)->n_outputs : node_at(of, row)->n_outputs;
    const struct cm_value *outputs =
        is_module ? module_at(of, row)->outputs : node_at(of, row)->outputs;
    set_text(cell, "");
    for (size_t i = 0; i < n; i++) {
        if (i > 0) text_append(cell->words, "; ");
        type_append(cell->words, &outputs[i].type);
    }
}

static const struct cm_costs *costs_of(const struct rows_of *of, size_t row) {
    if (of->rows == ROWS_MODULES) return &module_at(of, row)->costs;
    if (of->rows == ROWS_NODES) return &node_at(of, row)->costs;
    return of->rows == ROWS_OPERATORS ? &operator_at(of, row)->costs
                                      : &batch_at(of, row)->costs;
}

GETTER(get_metric) {
    const struct cm_costs *costs = costs_of(of, row);
    set_figure(cell, field->column->unit, column_get(field->column, costs));
    cell->bound = column_bound(field->column, costs);
}

GETTER(get_metric_share) {
    set_share(cell, column_get(field->column, costs_of(of, row)),
              column_get(field->column, &of->result->totals));
}

static int64_t bytes_of(const struct rows_of *of, size_t row) {
    const struct cm_costs *costs = costs_of(of, row);
    return checked_add(costs->bytes_read, costs->bytes_written);
}

GETTER(get_bytes) {
    set_figure(cell, NUMBER_BYTES, bytes_of(of, row));
    const uint32_t of_traffic = CM_COST_BIT(bytes_read) | CM_COST_BIT(bytes_written);
    if ((costs_of(of, row)->upper_bound & of_traffic) != 0) cell->bound = NUMBER_AT_MOST;
}

GETTER(get_intensity) {
    const struct cm_costs *costs = costs_of(of, row);
    set_quotient(cell, column_operations(of->result, costs->flops, costs->int_ops),
                 bytes_of(of, row), 1);
}

/* The peak of a module is an upper bound if its activation_bytes is. */
static bool is_peak_upper_bound(const struct rows_of *of, size_t row) {
    if (of->rows == ROWS_BATCHES) return batch_at(of, row)->peak_upper_bound;
    return (module_at(of, row)->costs.upper_bound & CM_COST_BIT(activation_bytes)) != 0;
}

GETTER(get_peak) {
    set_figure(cell, NUMBER_BYTES,
               of->rows == ROWS_MODULES ? module_at(of, row)->peak_activation_bytes
                                        : batch_at(of, row)->peak_activation_bytes);
    if (is_peak_upper_bound(of, row)) cell->bound = NUMBER_AT_MOST;
}

/* Compares the required memory with the limit; without one with the device's memory. */
GETTER(get_fits) {
    const int64_t required = batch_at(of, row)->required_bytes;
    const int64_t limit = is_known(of->sweep->memory_limit) ? of->sweep->memory_limit
                                                            : batch_at(of, row)->device_bytes;
    set_text(cell, !is_known(required) || !is_known(limit) ? "?"
                   : required <= limit                     ? "yes"
                                                           : "no");
}

/* "seq=128 height=224" */
GETTER(get_dims) {
    const struct cm_sweep_row *batch = batch_at(of, row);
    set_text(cell, "");
    for (size_t i = 0; i < batch->n_dims; i++)
        text_printf(cell->words, "%s%s=%lld", i > 0 ? " " : "", batch->dims[i].name,
                    (long long)batch->dims[i].size);
}

static void add_word(struct text *words, const char *word) {
    if (words->length > 0) text_append(words, " ");
    text_append(words, word);
}

static void add_keys(struct text *words, uint32_t bits) {
    for (size_t i = 0; i < n_columns; i++)
        if ((bits & column_bit(&columns[i])) != 0) add_word(words, columns[i].key);
}

/* Returns true if the time omits nodes. Files of earlier versions have only untimed_nodes. */
static bool omits_nodes(const struct cm_sweep_row *batch) {
    return batch->untimed_nodes > 0 || (batch->costs.partial & CM_COST_BIT(latency_ps)) != 0;
}

/* Keys of the figures that are upper bounds, for formats that cannot mark a figure. */
GETTER(get_upper_bound) {
    const bool is_batch = of->rows == ROWS_BATCHES;
    set_text(cell, "");
    add_keys(cell->words, costs_of(of, row)->upper_bound);
    if ((is_batch || of->rows == ROWS_MODULES) && is_peak_upper_bound(of, row))
        add_word(cell->words, "peak_activation_bytes");
    if (is_batch && batch_at(of, row)->memory_upper_bound)
        add_word(cell->words, "arena_bytes required_bytes");
    if (is_batch && omits_nodes(batch_at(of, row))) add_word(cell->words, "samples_per_second");
}

/* Keys of the times that omit nodes, for formats that cannot mark a figure. */
GETTER(get_partial) {
    set_text(cell, "");
    add_keys(cell->words, costs_of(of, row)->partial);
}

#define PS_PER_SECOND 1e12

GETTER(get_speed) {
    const struct cm_sweep_row *batch = batch_at(of, row);
    set_quotient(cell, batch->batch, batch->costs.latency_ps, PS_PER_SECOND);
    if (omits_nodes(batch)) cell->bound = NUMBER_AT_MOST; /* omitted nodes would reduce it */
}

GETTER(get_timed_share) {
    set_share(cell, batch_at(of, row)->timed_macs, batch_at(of, row)->costs.macs);
}

GETTER(get_planned_share) {
    const struct cm_sweep_row *batch = batch_at(of, row);
    set_share(cell, batch->plans != NULL ? batch->plans->planned_macs : CM_UNKNOWN,
              batch->costs.macs);
}

static bool has_plans(const struct rows_of *of) {
    for (size_t i = 0; i < of->sweep->n_rows; i++)
        if (of->sweep->rows[i].plans != NULL) return true;
    return false;
}

/* Returns true if `kind` ("measured", "modelled") describes times; it may be NULL. */
static bool is_time(const char *kind) {
    return kind != NULL && kind[0] != '\0' && !text_equal(kind, "planned");
}

static bool has_times(const struct rows_of *of) {
    if (of->sweep == NULL) return cm_result_timed(of->result);
    for (size_t i = 0; i < of->sweep->n_rows; i++)
        if (is_time(of->sweep->rows[i].times)) return true;
    return is_time(of->sweep->times);
}

static bool is_modelled(const struct rows_of *of) {
    if (of->sweep == NULL) return cm_result_modelled(of->result);
    for (size_t i = 0; i < of->sweep->n_rows; i++)
        if (text_equal(of->sweep->rows[i].times, "modelled")) return true;
    return text_equal(of->sweep->times, "modelled");
}

static bool is_campaign(const struct rows_of *of) {
    return of->sweep->model[0] == '\0';
}

/* Returns true for a campaign, and for a sweep whose rows have several texts at the offset. */
static bool has_several(const struct rows_of *of, size_t offset) {
    const char *first = NULL;
    if (is_campaign(of)) return true;
    for (size_t i = 0; i < of->sweep->n_rows; i++) {
        const char *text = *(const char *const *)((const char *)&of->sweep->rows[i] + offset);
        if (text == NULL) continue;
        if (first != NULL && !text_equal(first, text)) return true;
        first = text;
    }
    return false;
}

static bool has_precisions(const struct rows_of *of) {
    return has_several(of, offsetof(struct cm_sweep_row, precision));
}

static bool has_devices(const struct rows_of *of) {
    return has_several(of, offsetof(struct cm_sweep_row, device));
}

static bool has_speedups(const struct rows_of *of) {
    for (size_t i = 0; i < of->sweep->n_rows; i++)
        if (is_known(of->sweep->rows[i].speedup)) return true;
    return false;
}

static bool has_dims(const struct rows_of *of) {
    for (size_t i = 0; i < of->sweep->n_rows; i++)
        if (of->sweep->rows[i].n_dims > 0) return true;
    return false;
}

static bool has_training(const struct rows_of *of) {
    return of->result->training.present;
}

static bool has_limit(const struct rows_of *of) {
    return is_known(of->sweep->memory_limit) || (is_campaign(of) && has_times(of));
}

/* clang-format off */
static const struct requirement times = {"times: --measure, --device, --times or --backend", has_times};
static const struct requirement model = {"modelled times: --device", is_modelled};
static const struct requirement training = {"a training step: --optimizer", has_training};
static const struct requirement limit = {"a limit: --memory-limit", has_limit};
static const struct requirement campaign = {"a merged campaign", is_campaign};
static const struct requirement devices = {"several devices", has_devices};
static const struct requirement precisions = {"several precisions: --precision A,B", has_precisions};
static const struct requirement layers = {"layers: several precisions, or --layers", has_speedups};
static const struct requirement plans = {"plans: --cudnn-plan", has_plans};
static const struct requirement dims = {"dims of a campaign: --dim NAME=A,B", has_dims};
/* clang-format on */

#define MODULES   FIELD_OF(ROWS_MODULES)
#define NODES     FIELD_OF(ROWS_NODES)
#define OPERATORS FIELD_OF(ROWS_OPERATORS)
#define BATCHES   FIELD_OF(ROWS_BATCHES)
#define LAYERS    FIELD_OF(ROWS_LAYERS)

#define AT(owner_, kind_, type, member)                                                        \
    .owner = (owner_), .kind = (kind_), .offset = offsetof(type, member)
#define MEMBER(...) .get = get_member, AT(__VA_ARGS__)

/* clang-format off */
static const struct field before_metrics[] = {
    /* key        heading      rows                         text   empty     needs, get */
    {"model",     "model",     BATCHES,                     true,  NULL,     &campaign, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, model)},
    {"device",    "device",    BATCHES,                     true,  NULL,     &devices, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, device)},
    {"type",      "type",      LAYERS,                      true,  NULL,     NULL, MEMBER(OWNER_LAYER, CELL_TEXT, struct cm_sweep_layer, op)},
    {"path",      "path",      LAYERS,                      true,  "(root)", NULL, MEMBER(OWNER_LAYER, CELL_TEXT, struct cm_sweep_layer, path)},
    {"name",      "name",      LAYERS,                      true,  NULL,     NULL, MEMBER(OWNER_LAYER, CELL_TEXT, struct cm_sweep_layer, node)},
    {"nodes",     "nodes",     LAYERS,                      false, NULL,     NULL, MEMBER(OWNER_LAYER, CELL_COUNT, struct cm_sweep_layer, nodes)},
    {"precision", "precision", BATCHES | LAYERS,            true,  NULL,     &precisions, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, precision)},
    {"dims",      "dims",      BATCHES,                     true,  NULL,     &dims, .get = get_dims},
    {"batch",     "batch",     BATCHES | LAYERS,            false, NULL,     NULL, MEMBER(OWNER_BATCH, CELL_COUNT, struct cm_sweep_row, batch)},
    {"state",     "state",     BATCHES,                     true,  NULL,     NULL, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, state)},
    {"index",     "index",     MODULES | NODES,             false, NULL,     NULL, .get = get_index},
    {"path",      "path",      MODULES | NODES,             true,  "(root)", NULL, MEMBER(OWNER_MODULE, CELL_TEXT, struct cm_module, path)},
    {"name",      "name",      MODULES | NODES,             true,  NULL,     NULL, .get = get_name},
    {"type",      "type",      MODULES | NODES | OPERATORS, true,  NULL,     NULL, .get = get_type},
    {"arguments", "arguments", MODULES,                     true,  NULL,     NULL, MEMBER(OWNER_MODULE, CELL_TEXT, struct cm_module, arguments)},
    {"depth",     "depth",     MODULES | NODES,             false, NULL,     NULL, .get = get_depth},
    {"calls",     "calls",     MODULES,                     false, NULL,     NULL, MEMBER(OWNER_MODULE, CELL_COUNT, struct cm_module, calls)},
    {"nodes",     "nodes",     OPERATORS,                   false, NULL,     NULL, MEMBER(OWNER_OPERATOR, CELL_COUNT, struct cm_operator, nodes)},
    {"shape",     "shape",     MODULES | NODES,             true,  NULL,     NULL, .get = get_shape},
};

static const struct field after_metrics[] = {
    {"bytes",                 "bytes",           MODULES | NODES | OPERATORS, false, NULL, NULL, .get = get_bytes},
    {"peak_activation_bytes", "peak activation", MODULES | BATCHES,           false, NULL, NULL, .get = get_peak},
    {"arena_bytes",           "arena",           BATCHES,                     false, NULL, NULL, .get = get_memory, AT(OWNER_BATCH, CELL_FIGURE, struct cm_sweep_row, arena_bytes), .unit = NUMBER_BYTES},
    {"required_bytes",        "required",        BATCHES,                     false, NULL, NULL, .get = get_memory, AT(OWNER_BATCH, CELL_FIGURE, struct cm_sweep_row, required_bytes), .unit = NUMBER_BYTES},
    {"fits",                  "fits",            BATCHES,                     true,  NULL, &limit, .get = get_fits},
    {"intensity",             "FLOP/byte",       MODULES | NODES | OPERATORS, false, NULL, NULL, .get = get_intensity},
    {"upper_bound",           "upper bound",     MODULES | NODES | OPERATORS | BATCHES, true, NULL, NULL, .get = get_upper_bound},
    {"partial",               "omits nodes",     MODULES | OPERATORS | BATCHES, true, NULL, &times, .get = get_partial},
    {"backward_macs",         "backward MACs",   MODULES | NODES,             false, NULL, &training, MEMBER(OWNER_STEP, CELL_FIGURE, struct cm_step, backward_macs), .unit = NUMBER_MACS},
    {"saved_bytes",           "saved",           MODULES | NODES,             false, NULL, &training, MEMBER(OWNER_STEP, CELL_FIGURE, struct cm_step, saved_bytes), .unit = NUMBER_BYTES},
    {"flops_per_s",           "FLOPS",           MODULES,                     false, NULL, &times, MEMBER(OWNER_ACHIEVED, CELL_FIGURE, struct cm_achieved, flops_per_s), .unit = NUMBER_RATE},
    {"bytes_per_s",           "bandwidth",       MODULES,                     false, NULL, &times, MEMBER(OWNER_ACHIEVED, CELL_FIGURE, struct cm_achieved, bytes_per_s), .unit = NUMBER_TRAFFIC},
    {"roofline",              "roofline",        MODULES,                     false, NULL, &times, MEMBER(OWNER_ACHIEVED, CELL_SHARE, struct cm_achieved, roofline), .is_share = true},
    {"limited_by",            "limited by",      MODULES,                     true,  NULL, &times, MEMBER(OWNER_ACHIEVED, CELL_TEXT, struct cm_achieved, limited_by)},
    {"device_bytes",          "device memory",   BATCHES,                     false, NULL, &times, MEMBER(OWNER_BATCH, CELL_FIGURE, struct cm_sweep_row, device_bytes), .unit = NUMBER_BYTES},
    {"latency_low_ps",        "at least",        BATCHES,                     false, NULL, &times, MEMBER(OWNER_BATCH, CELL_FIGURE, struct cm_sweep_row, latency_low_ps), .unit = NUMBER_TIME},
    {"latency_high_ps",       "at most",         BATCHES,                     false, NULL, &times, MEMBER(OWNER_BATCH, CELL_FIGURE, struct cm_sweep_row, latency_high_ps), .unit = NUMBER_TIME},
    {"times",                 "times",           BATCHES,                     true,  NULL, &times, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, times)},
    {"samples_per_second",    "samples/second",  BATCHES,                     false, NULL, &times, .get = get_speed},
    {"timed_macs_share",      "MACs timed",      BATCHES,                     false, NULL, &times, .get = get_timed_share, .is_share = true},
    {"planned_macs_share",    "MACs planned",    BATCHES,                     false, NULL, &plans, .get = get_planned_share, .is_share = true},
    {"workspace_bytes",       "workspace",       BATCHES,                     false, NULL, &plans, MEMBER(OWNER_PLANS, CELL_FIGURE, struct cm_sweep_plans, workspace_bytes), .unit = NUMBER_BYTES},
    {"cached",                "cached",          BATCHES,                     false, NULL, &times, MEMBER(OWNER_BATCH, CELL_COUNT, struct cm_sweep_row, cached)},
    {"latency_ps",            "time",            LAYERS,                      false, NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_FIGURE, struct cm_layer_time, latency_ps), .unit = NUMBER_TIME},
    {"speedup",               "speed-up",        BATCHES | LAYERS,            false, NULL, &layers, .get = get_speedup},
    {"state",                 "state",           LAYERS,                      true,  NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_TEXT, struct cm_layer_time, state)},
    {"provider",              "provider",        LAYERS,                      true,  NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_TEXT, struct cm_layer_time, provider)},
    {"algorithm",             "algorithm",       LAYERS,                      true,  NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_TEXT, struct cm_layer_time, algorithm)},
    {"tensor_cores",          "tensor cores",    LAYERS,                      true,  NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_TEXT, struct cm_layer_time, tensor_cores)},
    {"workspace_bytes",       "workspace",       LAYERS,                      false, NULL, &plans, MEMBER(OWNER_LAYER_PLAN, CELL_FIGURE, struct cm_layer_plan, workspace_bytes), .unit = NUMBER_BYTES},
    {"reason",                "reason",          LAYERS,                      true,  NULL, &plans, MEMBER(OWNER_LAYER_PLAN, CELL_TEXT, struct cm_layer_plan, reason)},
    {"primitive",             "primitive",       LAYERS,                      true,  NULL, NULL, MEMBER(OWNER_LAYER_TIME, CELL_TEXT, struct cm_layer_time, primitive)},
    {"problem",               "problem",         BATCHES,                     true,  NULL, NULL, MEMBER(OWNER_BATCH, CELL_TEXT, struct cm_sweep_row, problem)},
};
/* clang-format on */

#define N_BEFORE (sizeof(before_metrics) / sizeof(before_metrics[0]))
#define N_AFTER  (sizeof(after_metrics) / sizeof(after_metrics[0]))

/* Returns "MACs" instead of "fwd MACs", because tables are narrow. */
static const char *short_heading(const struct column *column) {
    return column->ranking ? column->ranking : column->heading;
}

static void make_metric(const struct column *column, struct field *ret) {
    *ret = (struct field){
        .key = column->key,
        .heading = short_heading(column),
        .rows = MODULES | NODES | (column->of_operator ? OPERATORS : 0) |
                (column->of_batch ? BATCHES : 0),
        .needs = column->modelled ? &model
                 : column->timed  ? &times
                                  : NULL,
        .get = get_metric,
        .column = column,
    };
}

/* Sets *ret to the i-th column of all kinds of rows; returns false past the last. */
static bool any_field(size_t i, struct arena *arena, struct field *ret) {
    if (i < N_BEFORE) {
        *ret = before_metrics[i];
        return true;
    }
    i -= N_BEFORE;
    if (i < 2 * n_columns) { /* each metric is followed by its share */
        const struct column *column = &columns[i / 2];
        make_metric(column, ret);
        if (i % 2 == 0) return true;
        ret->key = arena_printf(arena, "%s_share", column->key);
        ret->heading = arena_printf(arena, "%% of %s", short_heading(column));
        ret->rows &= ~BATCHES;
        ret->get = get_metric_share;
        ret->is_share = true;
        return true;
    }
    i -= 2 * n_columns;
    if (i >= N_AFTER) return false;
    *ret = after_metrics[i];
    return true;
}

bool field_at(enum rows rows, size_t i, struct arena *arena, struct field *ret) {
    for (size_t k = 0; any_field(k, arena, ret); k++) {
        if ((ret->rows & FIELD_OF(rows)) == 0 || i-- > 0) continue;
        if (!ret->heading) ret->key = NULL; /* out of memory */
        return ret->key != NULL;
    }
    ret->key = "";
    return false;
}

const char *fields_usual(enum rows rows) {
    static const char *const usual[] = {
        [ROWS_MODULES] = "path,type,params,macs,macs_share,flops,activation_bytes,"
                         "peak_activation_bytes,latency_ps,lower_bound_ps,latency_ps_share",
        [ROWS_NODES] = "index,path,name,type,macs,macs_share,flops,bytes,shape,latency_ps,"
                       "lower_bound_ps,latency_ps_share",
        [ROWS_OPERATORS] = "type,nodes,macs,macs_share,flops,bytes,latency_ps,"
                           "lower_bound_ps,latency_ps_share",
        [ROWS_BATCHES] = "model,device,precision,dims,batch,state,@counts,"
                         "peak_activation_bytes,arena_bytes,required_bytes,fits,@times,"
                         "latency_low_ps,latency_high_ps,samples_per_second,speedup,timed_macs_"
                         "share,planned_macs_share,"
                         "workspace_bytes,problem",
        [ROWS_LAYERS] =
            "type,path,name,nodes,batch,precision,latency_ps,speedup,state,provider,"
            "algorithm,tensor_cores,workspace_bytes,reason,primitive",
    };
    return usual[rows];
}

/* The most important columns first, beginning with columns that identify a row. */
/* clang-format off */
static const char *const ranked[] = {
    "batch", "model", "device", "precision", "dims", "path", "name", "type", "state",
    "macs", "latency_ps", "speedup", "required_bytes", "fits", "params", "flops", "nodes",
    "samples_per_second", "problem", "activation_bytes", "bytes", "lower_bound_ps", "shape",
    "peak_activation_bytes", "arena_bytes",
};
/* clang-format on */

size_t fields_rank(const struct field *field) {
    size_t rank = 0;
    while (rank < sizeof(ranked) / sizeof(ranked[0]) && !text_equal(ranked[rank], field->key))
        rank++;
    return rank;
}

void field_get(const struct field *field, const struct rows_of *of, size_t row,
               struct text *words, struct cell *ret) {
    text_clear(words);
    *ret = (struct cell){.kind = CELL_NONE, .words = words};
    field->get(field, of, row, ret);
}

const char *field_words(const struct field *field, const struct cell *cell) {
    const char *words = text_string(cell->words);
    return *words == '\0' && field->empty ? field->empty : words;
}
