/* SPDX-License-Identifier: Apache-2.0 */
/* Trip counts from --trip-count: see trip_counts.h. */
#include "passes/infer/trip_counts.h"

#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Returns true if `name` is the node's name, the name of an output, or its number (17, #17). */
static bool is_called(const struct model *model, uint32_t id, const char *name) {
    const struct node *node = &model->nodes[id];
    const char *digits = *name == '#' ? name + 1 : name;
    int64_t number = 0;
    if (node->name[0] && text_equal(node->name, name)) return true;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (text_equal(value_name(model, node->outputs[i]), name)) return true;
    return *digits && text_to_int64(digits, strlen(digits), &number) && number == id;
}

int trips_find(const struct analysis *analysis, const int64_t **ret) {
    const struct cm_options *options = analysis->options;
    const struct model *model = analysis->model;
    *ret = NULL;
    if (options->n_trip_counts == 0) return CM_OK;
    int64_t *trips = arena_array(analysis->arena, model->n_nodes, sizeof *trips);
    if (!trips) return diag_no_memory(analysis->diag);
    for (uint32_t id = 0; id < model->n_nodes; id++) trips[id] = DIM_UNKNOWN;
    for (size_t i = 0; i < options->n_trip_counts; i++) {
        const struct cm_dim_option *asked = &options->trip_counts[i];
        bool found = false;
        for (uint32_t id = 0; id < model->n_nodes; id++) {
            if (!is_called(model, id, asked->name)) continue;
            trips[id] = asked->size;
            found = true;
        }
        if (!found)
            return diag_error(analysis->diag, DIAG_USAGE,
                              "--trip-count names '%s', but no node has this name",
                              asked->name);
    }
    *ret = trips;
    return CM_OK;
}

int trips_check(const struct analysis *analysis, const enum trip_outcome *uses) {
    const struct cm_options *options = analysis->options;
    struct cm_diagnostics *diag = analysis->diag;
    for (size_t i = 0; i < options->n_trip_counts; i++) {
        const char *name = options->trip_counts[i].name;
        const long long size = options->trip_counts[i].size;
        enum trip_outcome best = TRIPS_NO_LOOP; /* a Loop may be inlined several times */
        for (uint32_t id = 0; id < analysis->model->n_nodes; id++)
            if (uses[id] > best && is_called(analysis->model, id, name)) best = uses[id];
        switch (best) {
        case TRIPS_APPLIED:
            diag_note(diag, DIAG_ASSUMPTION, "assuming that the body of '%s' runs %lld times",
                      name, size);
            break;
        case TRIPS_KNOWN:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count names '%s', whose trip count is static", name);
        case TRIPS_TOO_MANY:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count for '%s' exceeds the maximum in the file, got %lld",
                              name, size);
        default:
            return diag_error(diag, DIAG_USAGE,
                              "--trip-count must name a Loop that runs, got '%s'", name);
        }
    }
    return CM_OK;
}
