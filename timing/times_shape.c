/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether imported times belong to other shapes than those of the model: another batch,
 * sequence length or image size. */
#include "timing/times_import.h"

#include "backends/times/times.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/map.h"
#include "support/text.h"

/* Times belong to other shapes if 1 of this many layers has another. Optimizers change some. */
#define OTHER_SHAPES 4

/* Returns the value that the first output of a layer is: the value that the file names, or that
 * of the node with the layer's name and operator; ID_NONE if unknown. */
static uint32_t output_of(const struct model *model, const struct times_layer *layer,
                          const struct map *nodes, const struct map *values) {
    if (layer->output != NULL) {
        const uint32_t value = map_get(values, layer->output);
        return value == MAP_NONE ? ID_NONE : value;
    }
    const uint32_t id = map_get(nodes, layer->name);
    if (id == MAP_NONE || !text_equal(model->nodes[id].type, layer->op)) return ID_NONE;
    return model->nodes[id].n_outputs > 0 ? model->nodes[id].outputs[0] : ID_NONE;
}

/* Returns true if the layer has the dims of the shape in any order: optimizers that change
 * layouts permute them. Both have the same rank. */
static bool has_dims(const struct times_layer *layer, const struct shape *shape) {
    for (int axis = 0; axis < shape->rank; axis++) {
        int more = 0;
        for (int i = 0; i < shape->rank; i++)
            more +=
                (layer->dims[i] == shape->dims[axis]) - (shape->dims[i] == shape->dims[axis]);
        if (more != 0) return false;
    }
    return true;
}

/* Returns true if the runtime must read the value at this shape: a node of the main graph whose
 * result is not constant does. */
static bool must_be_read(const struct timing *timing, uint32_t id) {
    const struct model *model = timing->core.model;
    const struct value *value = &model->values[id];
    const struct shape *shape = &timing->core.infer->infos[id].shape;
    if (value->constant != NULL || shape->rank < 1 || !shape_is_known(shape)) return false;
    for (size_t i = 0; i < value->n_uses; i++) {
        const struct node *node = &model->nodes[value->uses[i].node];
        if (node->graph == value->graph && node->n_outputs > 0 && node->outputs[0] != ID_NONE &&
            !timing->core.infer->infos[node->outputs[0]].is_constant)
            return true;
    }
    return false;
}

static void append_dims(struct text *text, int rank, const int64_t *dims) {
    text_append(text, "[");
    for (int axis = 0; axis < rank; axis++) {
        if (axis > 0) text_append(text, ", ");
        shape_print_dim(dims[axis], text);
    }
    text_append(text, "]");
}

/* Returns true if layers read the shape in all runs whose times count. */
static bool is_read(const struct cm_times *times, const char *shape) {
    const uint32_t n = map_get(&times->reads, shape);
    return n != MAP_NONE && (int64_t)n >= times_n_counted(times);
}

/* Returns an input of the model whose shape no layer of the files reads in all runs; ID_NONE if
 * there is none, or if a file lacks the shapes that its layers read. */
static uint32_t find_unread(const struct timing *timing) {
    const struct cm_options *options = timing->core.options;
    const struct graph *main = &timing->core.model->graphs[0];
    for (size_t k = 0; k < options->n_times; k++)
        if (options->times[k]->has_times && options->times[k]->reads.n_entries == 0)
            return ID_NONE;
    for (size_t i = 0; i < main->n_inputs; i++) {
        if (!must_be_read(timing, main->inputs[i])) continue;
        const struct shape *shape = &timing->core.infer->infos[main->inputs[i]].shape;
        struct text text = {.arena = timing->core.scratch};
        append_dims(&text, shape->rank, shape->dims);
        size_t k = 0;
        while (k < options->n_times && !is_read(options->times[k], text_string(&text))) k++;
        if (k == options->n_times) return main->inputs[i];
    }
    return ID_NONE;
}

int times_compare_shapes(const struct timing *timing, const struct map *nodes,
                         const struct map *values, struct imported *imported) {
    const struct cm_options *options = timing->core.options;
    const struct times_layer *first = NULL;
    const struct shape *here = NULL; /* of `first` in the model */
    size_t n = 0;
    size_t n_other = 0;
    for (size_t i = 0; i < options->n_times; i++)
        for (size_t k = 0; k < options->times[i]->n; k++) {
            const struct times_layer *layer = &options->times[i]->layers[k];
            const uint32_t value = output_of(timing->core.model, layer, nodes, values);
            if (value == ID_NONE) continue;
            const struct shape *shape = &timing->core.infer->infos[value].shape;
            if (layer->rank != shape->rank || !shape_is_known(shape)) continue;
            n++;
            if (has_dims(layer, shape)) continue;
            if (n_other++ == 0) first = layer;
            if (n_other == 1) here = shape;
        }
    const uint32_t unread = find_unread(timing);
    if (unread == ID_NONE && (first == NULL || n_other * OTHER_SHAPES < n)) return CM_OK;
    struct text text = {.arena = timing->core.arena};
    if (first != NULL) {
        text_printf(&text, "layer '%s' has the output shape ", first->name);
        append_dims(&text, first->rank, first->dims);
        text_append(&text, " in the imported times, ");
    } else {
        here = &timing->core.infer->infos[unread].shape;
        text_printf(&text,
                    "no layer of the imported times reads input '%s', which has the shape ",
                    timing->core.model->values[unread].name);
    }
    append_dims(&text, here->rank, here->dims);
    text_append(&text, " in the model");
    imported->other_shape = text_string(&text);
    return text.failed || arena_failed(timing->core.scratch) ? CM_NO_MEMORY : CM_OK;
}
