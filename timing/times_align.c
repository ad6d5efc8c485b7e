/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns imported layers with nodes by their order, operators and sizes: the two sequences have
 * the same order, but each may lack items of the other. An optimal monotone alignment
 * (dynamic programming, as for a longest common subsequence), first of convolutions and
 * matrix products alone, then of the other items between two of these. Example:
 *
 *     trace    aten::conv2d  aten::batch_norm  aten::relu  aten::max_pool2d  aten::linear
 *     model    Conv                            Relu        MaxPool  Flatten  Gemm
 *
 * The score of a pair counts the operands that have as many elements. A layer with `many` may
 * take several nodes: attention runs two products. */
#include "timing/times_import.h"

#include <string.h>

#include "backends/times/times.h"
#include "passes/memory/liveness.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/map.h"
#include "support/text.h"

/* Largest table of one alignment, and work of all; above, the nearest of WINDOW nodes. */
#define MAX_CELLS ((uint64_t)1 << 24)
#define MAX_WORK  ((uint64_t)1 << 27)
#define WINDOW    128
/* Largest table of operators: limits the memory for hostile files. */
#define MAX_OPERATORS ((uint64_t)1 << 24)

/* A layer or a node. */
struct item {
    uint32_t id;
    uint32_t class;   /* of its types; of its operator */
    uint32_t partner; /* index of the item that it is aligned with, of a node the layer; NONE */
    bool is_product;
    bool many;
    bool is_placed; /* a copy, or a node whose layer is known: only aligned in order */
    int64_t sizes[TIMES_MAX_SIZES]; /* elements of the operands; 0: unknown */
};

struct aligner {
    const struct timing *timing;
    const uint32_t *owner;
    struct item *a;   /* layers */
    struct item *b;   /* nodes */
    uint32_t *picked; /* scratch: indices into a, then into b */
    size_t n_a, n_b;
    size_t n_types;
    bool *may_run; /* by class of layer and of node */
    char *choices; /* scratch: by cell */
    uint64_t n_choices;
    int64_t *rows; /* scratch: 2 rows of sums by node */
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
    aligner->a[layer].partner = node;
    aligner->b[node].partner = layer;
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

/* Fills the table of choices of the layers a and the nodes b. A row of sums: the largest one of
 * the layers up to here and the nodes up to each. */
static void choose(const struct aligner *aligner, const uint32_t *a, size_t n_a,
                   const uint32_t *b, size_t n_b) {
    const size_t width = n_b + 1;
    int64_t *before = aligner->rows; /* the row above */
    int64_t *here = before + width;
    memset(before, 0, width * sizeof(*before));
    for (size_t i = 1; i <= n_a; i++) {
        char *row = aligner->choices + i * width;
        int64_t taken = -1; /* largest sum in which the layer has a node up to here */
        here[0] = 0;
        for (size_t j = 1; j <= n_b; j++) {
            const int points = score(aligner, a[i - 1], b[j - 1]);
            /* A further node counts less than the first one of another layer. */
            const int64_t further = taken + (points + 1) / 2;
            const bool is_pair = points >= aligner->least;
            const bool is_more = is_pair && aligner->a[a[i - 1]].many && taken >= 0 &&
                                 further > before[j - 1] + points;
            const int64_t sum = is_more ? further : before[j - 1] + points;
            const bool is_left = here[j - 1] > before[j];
            int choice = is_left ? LEFT : 0;
            here[j] = is_left ? here[j - 1] : before[j];
            if (is_pair && sum > here[j]) {
                here[j] = sum;
                choice = PAIR;
            }
            if (is_pair && sum > taken) {
                taken = sum;
                choice |= TAKEN;
            }
            row[j] = (char)(choice | (is_more ? MORE : 0));
        }
        int64_t *swap = before;
        before = here;
        here = swap;
    }
}

/* Pairs the items that the table chose. */
static void follow(const struct aligner *aligner, const uint32_t *a, size_t n_a,
                   const uint32_t *b, size_t n_b) {
    for (size_t i = n_a, j = n_b; i > 0 && j > 0;) {
        const char *row = aligner->choices + i * (n_b + 1);
        if (!(row[j] & PAIR)) {
            const bool is_left = row[j] & LEFT;
            i -= !is_left;
            j -= is_left;
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
}

enum stage { PRODUCTS, BETWEEN, OTHER_PRODUCTS, OTHERS };

/* Lists the items of a range that take part in a stage. */
static size_t pick(const struct item *items, const size_t *range, enum stage stage,
                   uint32_t *ret) {
    size_t n = 0;
    for (size_t i = range[0]; i < range[1]; i++) {
        const struct item *item = &items[i];
        bool is_in = item->is_product;
        if (stage != PRODUCTS) is_in = item->partner == ID_NONE;
        if (stage > BETWEEN && (item->is_placed || item->is_product != (stage < OTHERS)))
            is_in = false;
        if (is_in) ret[n++] = (uint32_t)i;
    }
    return n;
}

/* Pairs items of two ranges such that the sum of scores is largest. CM_OK, CM_NO_MEMORY. */
static int align_range(struct aligner *aligner, const size_t *range_a, const size_t *range_b,
                       enum stage stage) {
    const uint32_t *a = aligner->picked;
    const uint32_t *b = a + aligner->n_a;
    const size_t n_a = pick(aligner->a, range_a, stage, aligner->picked);
    const size_t n_b = pick(aligner->b, range_b, stage, aligner->picked + aligner->n_a);
    const uint64_t cells = (uint64_t)(n_a + 1) * (n_b + 1);
    if (n_a == 0 || n_b == 0) return CM_OK;
    if (cells > MAX_CELLS || aligner->work + cells > MAX_WORK) {
        align_greedily(aligner, a, n_a, b, n_b);
        return CM_OK;
    }
    aligner->work += cells;
    if (cells > aligner->n_choices) {
        aligner->n_choices = 2 * cells;
        aligner->choices =
            arena_array(aligner->timing->core.scratch, (size_t)aligner->n_choices, 1);
        if (aligner->choices == NULL) return CM_NO_MEMORY;
    }
    choose(aligner, a, n_a, b, n_b);
    follow(aligner, a, n_a, b, n_b);
    return CM_OK;
}

/* Aligns products, then the items between them, then what is left on both sides: a tool may run
 * two branches in another order than the model has. Of what is left, those without products
 * need equal sizes. */
static int align(struct aligner *aligner) {
    const size_t all_a[2] = {0, aligner->n_a};
    const size_t all_b[2] = {0, aligner->n_b};
    size_t a[2] = {0, 0};
    size_t b[2] = {0, 0};
    int status = align_range(aligner, all_a, all_b, PRODUCTS);
    for (size_t i = 0; i <= aligner->n_b && status == CM_OK; i++) {
        const struct item *node = &aligner->b[i];
        const bool is_end = i == aligner->n_b;
        if (!is_end && (node->partner == ID_NONE || !node->is_product)) continue;
        b[1] = i;
        a[1] = is_end ? aligner->n_a : node->partner;
        if (a[1] > a[0]) status = align_range(aligner, a, b, BETWEEN);
        b[0] = i + 1;
        a[0] = a[1] + 1;
    }
    aligner->least = UNKNOWN_SIZES;
    if (status == CM_OK) status = align_range(aligner, all_a, all_b, OTHER_PRODUCTS);
    aligner->least = EQUAL_SIZES;
    return status == CM_OK ? align_range(aligner, all_a, all_b, OTHERS) : status;
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
    const int64_t size = shape_elements(&timing->core.infer->infos[node->inputs[i]].shape);
    return is_known(size) ? size : 0;
}

/* Lists the layers that have types. */
static int list_layers(struct aligner *aligner, const struct imported *imported,
                       struct map *classes) {
    for (uint32_t i = 0; i < imported->n; i++) {
        const struct times_layer *from = imported->layers[i].from;
        struct item *item = &aligner->a[aligner->n_a];
        if (from->types == NULL || from->types[0] == '\0') continue;
        *item = (struct item){.id = i,
                              .partner = ID_NONE,
                              .is_product = from->is_product,
                              .many = from->many,
                              .is_placed = from->role == TIMES_COPIES};
        memcpy(item->sizes, from->sizes, sizeof(item->sizes));
        if (find_class(classes, from->types, &item->class) < 0) return CM_NO_MEMORY;
        aligner->n_a++;
    }
    return CM_OK;
}

/* Lists the nodes that the runtime must compute, in execution order. */
static int list_nodes(struct aligner *aligner, struct map *types) {
    const struct analysis *core = &aligner->timing->core;
    for (uint32_t step = 0; step < core->liveness->n_steps; step++) {
        struct item *item = &aligner->b[aligner->n_b];
        const uint32_t id = core->liveness->node_at[step];
        const struct node *node = &core->model->nodes[id];
        if (node->n_outputs == 0 || node->outputs[0] == ID_NONE ||
            core->infer->infos[node->outputs[0]].is_constant)
            continue;
        *item = (struct item){
            .id = id, .partner = ID_NONE, .is_placed = aligner->owner[id] != ID_NONE};
        for (size_t i = 0; i < 2; i++) item->sizes[i] = size_of(aligner->timing, node, i);
        if (find_class(types, node->type, &item->class) < 0) return CM_NO_MEMORY;
        aligner->n_b++;
    }
    return CM_OK;
}

/* Sets may_run, and which nodes are products: those that a layer of a product may run. */
static int find_types(struct aligner *aligner, const struct imported *imported,
                      const struct map *classes, const struct map *types) {
    struct arena *scratch = aligner->timing->core.scratch;
    bool *is_product = arena_array(scratch, types->n_entries, sizeof(*is_product));
    bool *done = arena_array(scratch, classes->n_entries, sizeof(*done));
    aligner->n_types = types->n_entries;
    aligner->may_run = arena_array(scratch, classes->n_entries * types->n_entries, 1);
    if (!aligner->may_run || !is_product || !done) return CM_NO_MEMORY;
    for (size_t i = 0; i < aligner->n_a; i++) {
        const struct item *item = &aligner->a[i];
        const char *word = imported->layers[item->id].from->types;
        if (done[item->class]) continue;
        done[item->class] = true;
        for (size_t length = 0; word[0] != '\0'; word += length + (word[length] == ' ')) {
            length = strcspn(word, " ");
            const uint32_t type = map_get_n(types, word, length);
            if (type == MAP_NONE) continue;
            aligner->may_run[item->class * types->n_entries + type] = true;
            is_product[type] |= item->is_product;
        }
    }
    for (size_t i = 0; i < aligner->n_b; i++)
        aligner->b[i].is_product = is_product[aligner->b[i].class];
    return CM_OK;
}

int times_align(const struct timing *timing, const struct imported *imported,
                const uint32_t *owner, uint32_t *ret_layer) {
    const size_t n_nodes = timing->core.model->n_nodes;
    const size_t n_steps = timing->core.liveness->n_steps;
    struct arena *scratch = timing->core.scratch;
    struct aligner aligner = {.timing = timing, .owner = owner, .least = OTHER_SIZES};
    struct map classes; /* by types */
    struct map types;   /* by operator */
    map_init(&classes, scratch);
    map_init(&types, scratch);
    for (size_t i = 0; i < n_nodes; i++) ret_layer[i] = ID_NONE;
    aligner.a = arena_array(scratch, imported->n, sizeof(*aligner.a));
    aligner.b = arena_array(scratch, n_steps + 1, sizeof(*aligner.b));
    aligner.picked = arena_array(scratch, imported->n + n_steps, sizeof(*aligner.picked));
    aligner.rows = arena_array(scratch, 2 * (n_steps + 1), sizeof(*aligner.rows));
    if (!aligner.a || !aligner.b || !aligner.picked || !aligner.rows ||
        list_layers(&aligner, imported, &classes) < 0 || list_nodes(&aligner, &types) < 0)
        return CM_NO_MEMORY;
    if ((uint64_t)classes.n_entries * types.n_entries > MAX_OPERATORS) return CM_OK;
    if (find_types(&aligner, imported, &classes, &types) < 0 || align(&aligner) < 0)
        return CM_NO_MEMORY;
    for (size_t i = 0; i < aligner.n_b; i++)
        if (aligner.b[i].partner != ID_NONE)
            ret_layer[aligner.b[i].id] = aligner.a[aligner.b[i].partner].id;
    return CM_OK;
}
