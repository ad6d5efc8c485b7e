/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns imported layers with nodes by their order, operators and sizes: the two sequences have
 * the same order, but each may lack items of the other. An optimal monotone alignment
 * (dynamic programming, as for a longest common subsequence), first of convolutions and
 * matrix products alone, then of the other items between two of these. Example:
 *
 *     trace    aten::conv2d  aten::batch_norm  aten::relu  aten::max_pool2d  aten::linear
 *     model    Conv                            Relu        MaxPool  Flatten  Gemm
 *
 * The score of a pair counts the operands that have as many elements. A layer with `many` may
 * take several nodes: attention runs two products.
 */
#include "timing/times_import.h"

#include <string.h>

#include "backends/times/times.h"
#include "backends/times/times_names.h"
#include "passes/memory/liveness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/map.h"
#include "support/text.h"

/* Largest table of one alignment, and work of all: above, the nearest of WINDOW nodes counts.
 */
#define MAX_CELLS ((uint64_t)1 << 24)
#define MAX_WORK  ((uint64_t)1 << 27)
#define WINDOW    128
/* Largest table of operators: limits the memory for hostile files. */
#define MAX_OPERATORS ((uint64_t)1 << 24)

/* A layer or a node. */
struct item {
    uint32_t id;
    uint32_t class; /* of its types; of its operator */
    bool is_product;
    bool many;
    bool is_copy;
    int64_t sizes[TIMES_MAX_SIZES]; /* elements of the operands; 0: unknown */
};

struct aligner {
    const struct timing *timing;
    const uint32_t *owner;
    uint32_t *layers; /* result, by node */
    struct item *a;   /* layers */
    struct item *b;   /* nodes */
    uint32_t *picked; /* scratch: indices into a, then into b */
    size_t n_a, n_b;
    size_t n_types;
    const char *may_run; /* by class of layer and of node */
    char *choices;       /* scratch: by cell */
    uint64_t n_choices;
    int32_t *rows; /* scratch: 4 rows of numbers by node */
    uint64_t work;
    int least; /* smallest score of a pair */
};

enum { LEFT = 1, PAIR = 2, MORE = 4, TAKEN = 8 };

/* Scores of a layer and a node, by their operands' numbers of elements. */
enum {
    OTHER_SIZES = 1, /* another batch, for example */
    SOME_SIZES = 2,
    UNKNOWN_SIZES = 3,
    EQUAL_SIZES = 6,
    FIRST_SIZES = 8,   /* equal, and of the first operands of a layer that may have more */
    KNOWN_PAIR = 1000, /* the node is known to be the layer's own */
};

static int score(const struct aligner *aligner, uint32_t layer, uint32_t node) {
    const struct item *a = &aligner->a[layer];
    const struct item *b = &aligner->b[node];
    const uint32_t owner = aligner->owner[b->id];
    int next = 0; /* the operands have the same order */
    int n_known = 0;
    int n_found = 0;
    if (owner == a->id) return KNOWN_PAIR;
    if (owner != ID_NONE || !aligner->may_run[a->class * aligner->n_types + b->class]) return 0;
    for (int i = 0; i < 2 && a->sizes[0] > 0; i++) {
        int k = next;
        if (b->sizes[i] <= 1) continue;
        n_known++;
        while (k < TIMES_MAX_SIZES && a->sizes[k] != b->sizes[i]) k++;
        if (k == TIMES_MAX_SIZES) continue;
        next = k + 1;
        n_found++;
    }
    if (n_known == 0) return UNKNOWN_SIZES;
    if (n_found == n_known) return next == n_found ? FIRST_SIZES : EQUAL_SIZES;
    if (n_found > 0) return SOME_SIZES;
    return a->many ? 0 : OTHER_SIZES;
}

static void take(const struct aligner *aligner, uint32_t layer, uint32_t node) {
    aligner->layers[aligner->b[node].id] = aligner->a[layer].id;
}

/* Pairs each layer with the best of the next nodes. */
static void align_greedily(const struct aligner *aligner, const uint32_t *a, size_t n_a,
                           const uint32_t *b, size_t n_b) {
    size_t next = 0;
    for (size_t i = 0; i < n_a; i++) {
        size_t best = n_b;
        int most = OTHER_SIZES;
        for (size_t j = next; j < n_b && j < next + WINDOW; j++) {
            const int points = score(aligner, a[i], b[j]);
            if (points > most) best = j;
            if (points > most) most = points;
        }
        if (best == n_b) continue;
        take(aligner, a[i], b[best]);
        next = best + 1;
    }
}

/* Pairs items of two lists such that the sum of scores is largest. Returns CM_OK or
 * CM_NO_MEMORY. */
static int align_lists(struct aligner *aligner, const uint32_t *a, size_t n_a,
                       const uint32_t *b, size_t n_b) {
    struct arena *scratch = aligner->timing->core.scratch;
    const size_t width = n_b + 1;
    const uint64_t cells = (uint64_t)(n_a + 1) * width;
    if (n_a == 0 || n_b == 0) return CM_OK;
    if (cells > MAX_CELLS || aligner->work + cells > MAX_WORK) {
        align_greedily(aligner, a, n_a, b, n_b);
        return CM_OK;
    }
    aligner->work += cells;
    if (cells > aligner->n_choices) {
        aligner->n_choices = 2 * cells;
        aligner->choices = arena_array(scratch, 2 * (size_t)cells, 1);
        if (aligner->choices == NULL) return CM_NO_MEMORY;
    }
    int32_t *before = aligner->rows; /* sums of the row above */
    int32_t *here = before + width;
    memset(before, 0, width * sizeof(*before));
    for (size_t i = 1; i <= n_a; i++) {
        char *row = aligner->choices + i * width;
        int32_t taken = -1; /* largest sum in which the layer has a node up to here */
        here[0] = 0;
        for (size_t j = 1; j <= n_b; j++) {
            const int points = score(aligner, a[i - 1], b[j - 1]);
            char choice = 0;
            int32_t best = before[j];
            if (here[j - 1] > best) {
                best = here[j - 1];
                choice = LEFT;
            }
            if (points >= aligner->least) {
                int32_t sum = before[j - 1] + points;
                char more = 0;
                /* A further node counts less than the first one of another layer. */
                if (aligner->a[a[i - 1]].many && taken >= 0 && taken + (points + 1) / 2 > sum) {
                    sum = taken + (points + 1) / 2;
                    more = MORE;
                }
                if (sum > best) {
                    best = sum;
                    choice = PAIR;
                }
                if (sum > taken) {
                    taken = sum;
                    choice = (char)(choice | TAKEN);
                }
                choice = (char)(choice | more);
            }
            here[j] = best;
            row[j] = choice;
        }
        int32_t *swap = before;
        before = here;
        here = swap;
    }
    for (size_t i = n_a, j = n_b; i > 0 && j > 0;) {
        const char *row = aligner->choices + i * width;
        if (!(row[j] & PAIR)) {
            if (row[j] & LEFT)
                j--;
            else
                i--;
            continue;
        }
        take(aligner, a[i - 1], b[j - 1]);
        while (row[j] & MORE) {
            do j--;
            while (!(row[j] & TAKEN));
            take(aligner, a[i - 1], b[j - 1]);
        }
        i--;
        j--;
    }
    return CM_OK;
}

/* Aligns the items of both ranges; only products, or only items without a partner. */
static int align_range(struct aligner *aligner, const size_t *a, const size_t *b,
                       const bool *has_node, bool products) {
    uint32_t *left = aligner->picked;
    uint32_t *right = left + aligner->n_a;
    size_t n_left = 0;
    size_t n_right = 0;
    for (size_t i = a[0]; i < a[1]; i++)
        if (products ? aligner->a[i].is_product : !has_node[i]) left[n_left++] = (uint32_t)i;
    for (size_t i = b[0]; i < b[1]; i++)
        if (products ? aligner->b[i].is_product : aligner->layers[aligner->b[i].id] == ID_NONE)
            right[n_right++] = (uint32_t)i;
    return align_lists(aligner, left, n_left, right, n_right);
}

/* Sets whether each layer has a node. */
static void mark_layers(const struct aligner *aligner, const uint32_t *index_of,
                        bool *has_node) {
    for (size_t i = 0; i < aligner->n_b; i++)
        if (aligner->layers[aligner->b[i].id] != ID_NONE)
            has_node[index_of[aligner->layers[aligner->b[i].id]]] = true;
}

/* Aligns what is left on both sides, except copies: a tool may run two branches in another
 * order than the model has. Without products: only items of equal sizes. */
static int align_rest(struct aligner *aligner, const uint32_t *index_of, bool *has_node,
                      bool products) {
    uint32_t *left = aligner->picked;
    uint32_t *right = left + aligner->n_a;
    size_t n_left = 0;
    size_t n_right = 0;
    mark_layers(aligner, index_of, has_node);
    for (uint32_t i = 0; i < aligner->n_a; i++)
        if (!has_node[i] && !aligner->a[i].is_copy && aligner->a[i].is_product == products)
            left[n_left++] = i;
    for (uint32_t i = 0; i < aligner->n_b; i++)
        if (aligner->layers[aligner->b[i].id] == ID_NONE &&
            aligner->owner[aligner->b[i].id] == ID_NONE && aligner->b[i].is_product == products)
            right[n_right++] = i;
    aligner->least = products ? UNKNOWN_SIZES : EQUAL_SIZES;
    return align_lists(aligner, left, n_left, right, n_right);
}

/* Aligns products, then the items between them, then what is left. */
static int align(struct aligner *aligner, const uint32_t *index_of) {
    struct arena *scratch = aligner->timing->core.scratch;
    bool *has_node = arena_array(scratch, aligner->n_a, sizeof(*has_node));
    size_t a[2] = {0, aligner->n_a};
    size_t b[2] = {0, aligner->n_b};
    if (has_node == NULL) return CM_NO_MEMORY;
    int status = align_range(aligner, a, b, has_node, true);
    mark_layers(aligner, index_of, has_node);
    for (size_t i = 0; i <= aligner->n_b && status == CM_OK; i++) {
        const uint32_t layer = i < aligner->n_b ? aligner->layers[aligner->b[i].id] : ID_NONE;
        if (i < aligner->n_b && (layer == ID_NONE || !aligner->b[i].is_product)) continue;
        b[1] = i;
        a[1] = layer == ID_NONE ? aligner->n_a : index_of[layer];
        if (a[1] > a[0]) status = align_range(aligner, a, b, has_node, false);
        b[0] = i + 1;
        a[0] = layer == ID_NONE ? a[1] : a[1] + 1;
    }
    if (status < 0) return status;
    for (int products = 1; products >= 0 && status == CM_OK; products--)
        status = align_rest(aligner, index_of, has_node, products);
    return status;
}

/* Returns the class of a text in the map: a number from 0. */
static int find_class(struct map *map, const char *text, uint32_t *ret) {
    const uint32_t next = (uint32_t)map->n_entries;
    if (map_add(map, text, next, ret) != CM_OK) return CM_NO_MEMORY;
    if (*ret == MAP_NONE) *ret = next;
    return CM_OK;
}

/* Returns the elements of an operand; 0: unknown. */
static int64_t size_of(const struct timing *timing, const struct node *node, size_t i) {
    if (i >= node->n_inputs || node->inputs[i] == ID_NONE) return 0;
    const struct shape *shape = &timing->core.infer->infos[node->inputs[i]].shape;
    int64_t size = 1;
    if (!shape_is_known(shape)) return 0;
    for (int axis = 0; axis < shape->rank; axis++) size = checked_mul(size, shape->dims[axis]);
    return is_known(size) ? size : 0;
}

/* Lists the layers that have types, and the nodes of the same order. */
static int list_items(struct aligner *aligner, const struct imported *imported,
                      uint32_t *index_of) {
    const struct analysis *core = &aligner->timing->core;
    struct map classes; /* by types */
    struct map types;   /* by operator */
    map_init(&classes, core->scratch);
    map_init(&types, core->scratch);
    for (uint32_t i = 0; i < imported->n; i++) {
        const struct times_layer *from = imported->layers[i].from;
        struct item *item = &aligner->a[aligner->n_a];
        if (from->types == NULL || from->types[0] == '\0') continue;
        *item = (struct item){.id = i,
                              .is_product = from->is_product,
                              .many = from->many,
                              .is_copy = from->role == TIMES_COPIES};
        memcpy(item->sizes, from->sizes, sizeof(item->sizes));
        if (find_class(&classes, from->types, &item->class) < 0) return CM_NO_MEMORY;
        index_of[i] = (uint32_t)aligner->n_a++;
    }
    for (uint32_t step = 0; step < core->liveness->n_steps; step++) {
        struct item *item = &aligner->b[aligner->n_b];
        const uint32_t id = core->liveness->node_at[step];
        const struct node *node = &core->model->nodes[id];
        if (node->n_outputs == 0 || node->outputs[0] == ID_NONE ||
            core->infer->infos[node->outputs[0]].is_constant)
            continue;
        *item = (struct item){.id = id};
        for (size_t i = 0; i < 2; i++) item->sizes[i] = size_of(aligner->timing, node, i);
        if (find_class(&types, node->type, &item->class) < 0) return CM_NO_MEMORY;
        aligner->n_b++;
    }
    aligner->n_types = types.n_entries;
    if ((uint64_t)classes.n_entries * types.n_entries > MAX_OPERATORS) {
        aligner->n_a = 0;
        return CM_OK;
    }
    char *may_run = arena_array(core->scratch, classes.n_entries * types.n_entries, 1);
    bool *is_product = arena_array(core->scratch, types.n_entries, sizeof(*is_product));
    bool *done = arena_array(core->scratch, classes.n_entries, sizeof(*done));
    if (!may_run || !is_product || !done) return CM_NO_MEMORY;
    for (size_t i = 0; i < aligner->n_a; i++) {
        const struct item *item = &aligner->a[i];
        const char *names = imported->layers[item->id].from->types;
        if (done[item->class] && !item->is_product) continue;
        done[item->class] = true;
        for (size_t k = 0; k < types.n_entries; k++) {
            if (!times_has_word(names, types.entries[k].key, types.entries[k].length)) continue;
            may_run[item->class * types.n_entries + types.entries[k].value] = 1;
            is_product[types.entries[k].value] |= item->is_product;
        }
    }
    for (size_t i = 0; i < aligner->n_b; i++)
        aligner->b[i].is_product = is_product[aligner->b[i].class];
    aligner->may_run = may_run;
    return CM_OK;
}

int times_align(const struct timing *timing, const struct imported *imported,
                const uint32_t *owner, uint32_t *ret_layer) {
    const size_t n_nodes = timing->core.model->n_nodes;
    const size_t n_steps = timing->core.liveness->n_steps;
    struct arena *scratch = timing->core.scratch;
    struct aligner aligner = {
        .timing = timing, .owner = owner, .layers = ret_layer, .least = OTHER_SIZES};
    for (size_t i = 0; i < n_nodes; i++) ret_layer[i] = ID_NONE;
    uint32_t *index_of = arena_array(scratch, imported->n, sizeof(*index_of));
    aligner.a = arena_array(scratch, imported->n, sizeof(*aligner.a));
    aligner.b = arena_array(scratch, n_steps + 1, sizeof(*aligner.b));
    aligner.picked = arena_array(scratch, imported->n + n_steps, sizeof(*aligner.picked));
    aligner.rows = arena_array(scratch, 2 * (n_steps + 1), sizeof(*aligner.rows));
    if (!index_of || !aligner.a || !aligner.b || !aligner.picked || !aligner.rows)
        return CM_NO_MEMORY;
    if (list_items(&aligner, imported, index_of) < 0) return CM_NO_MEMORY;
    return align(&aligner, index_of);
}
