/* SPDX-License-Identifier: Apache-2.0 */
/* Einsum: sums of products over labelled axes. FLOPs = 2 * MACs.
 *     one operand    MACs = 0: a sum without products
 *     two operands   MACs = product of the sizes of all labels
 *     more operands  contracted in pairs, in the cheapest order: exact for up to 6 operands,
 *                    greedy for more
 * A label is a letter or an axis of the ellipsis. Ellipsis axes are numbered from the last one:
 * if "..." is [2,3] in one operand and [3] in another, both 3 have the same label. */
#include <string.h>

#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"
#include "support/arena.h"

#define N_LETTERS    52
#define N_LABELS     (N_LETTERS + SHAPE_MAX_RANK) /* and the axes of an ellipsis */
#define MAX_OPERANDS 32
#define MAX_EXACT    6
#define MAX_CELLS    10 /* operands that a cell of saved_for_backward can name */

/* A set of labels. */
struct labels {
    uint64_t bits[2];
};

struct term {
    int n_letters;
    int ellipsis; /* number of letters before "..."; -1 if none */
    uint8_t letters[SHAPE_MAX_RANK];
};

/* Two factors that are multiplied, as sets of operands (bits): operands or products. */
struct pair {
    uint32_t a, b;
};

struct einsum {
    size_t n;
    struct term operands[MAX_OPERANDS];
    struct labels sets[MAX_OPERANDS]; /* labels of each operand */
    struct term output;
    int ellipsis_rank;       /* number of axes of "..."; RANK_UNKNOWN */
    int64_t sizes[N_LABELS]; /* by label; 1 for labels that do not occur */
};

static void add_label(struct labels *set, int label) {
    set->bits[label / 64] |= UINT64_C(1) << (label % 64);
}

static bool has_label(const struct labels *set, int label) {
    return set->bits[label / 64] >> (label % 64) & 1;
}

static struct labels both(struct labels a, struct labels b) {
    return (struct labels){{a.bits[0] | b.bits[0], a.bits[1] | b.bits[1]}};
}

static struct labels common(struct labels a, struct labels b) {
    return (struct labels){{a.bits[0] & b.bits[0], a.bits[1] & b.bits[1]}};
}

static bool is_single(uint32_t operands) {
    return (operands & (operands - 1)) == 0;
}

static int refuse_equation(const struct op_context *context, const char *why) {
    return op_fail(context, DIAG_ATTRIBUTE, "the equation %s", why);
}

/* Reads the term of one operand or output, from `from` to `to`. */
static int read_term(const struct op_context *context, const char *from, const char *to,
                     struct term *ret) {
    *ret = (struct term){.ellipsis = -1};
    for (const char *at = from; at < to; at++) {
        if (*at == ' ') continue;
        if (to - at >= 3 && strncmp(at, "...", 3) == 0) {
            if (ret->ellipsis >= 0)
                return refuse_equation(context, "has two ellipses in a term");
            ret->ellipsis = ret->n_letters;
            at += 2;
            continue;
        }
        const bool upper = *at >= 'A' && *at <= 'Z';
        if (!upper && (*at < 'a' || *at > 'z'))
            return refuse_equation(context, "has a character that is not a label");
        if (ret->n_letters == SHAPE_MAX_RANK)
            return refuse_equation(context, "has too many labels in a term");
        ret->letters[ret->n_letters++] = (uint8_t)(upper ? *at - 'A' : 26 + *at - 'a');
    }
    return CM_OK;
}

static int read_operands(const struct op_context *context, const char *from, const char *to,
                         struct einsum *einsum) {
    einsum->n = 0;
    for (bool more = true; more; einsum->n++) {
        const char *comma = memchr(from, ',', (size_t)(to - from));
        const char *end = comma ? comma : to;
        if (einsum->n == context->n_inputs || einsum->n == MAX_OPERANDS)
            return op_fail(context, DIAG_ATTRIBUTE, "the equation has more than %zu terms",
                           einsum->n);
        int status = read_term(context, from, end, &einsum->operands[einsum->n]);
        if (status < 0) return status;
        more = comma;
        from = end + 1;
    }
    if (einsum->n == context->n_inputs) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "the equation has %zu terms for %zu inputs",
                   einsum->n, context->n_inputs);
}

static int read_equation(const struct op_context *context, struct einsum *einsum) {
    const char *equation = op_attr_string(context, "equation");
    const char *end = equation + strlen(equation);
    const char *arrow = strstr(equation, "->");
    struct term *output = &einsum->output;
    int occurrences[N_LETTERS] = {0};
    struct labels seen = {{0, 0}};
    int status = read_operands(context, equation, arrow ? arrow : end, einsum);
    if (status == CM_OK && arrow) status = read_term(context, arrow + 2, end, output);
    if (status < 0) return status;
    if (!arrow) *output = (struct term){.ellipsis = -1};
    for (size_t i = 0; i < einsum->n; i++) {
        const struct term *term = &einsum->operands[i];
        if (!arrow && term->ellipsis >= 0) output->ellipsis = 0;
        for (int k = 0; k < term->n_letters; k++) occurrences[term->letters[k]]++;
    }
    /* without "->": the ellipsis, then the letters that occur once, in alphabetical order */
    for (int label = 0; label < N_LETTERS && !arrow; label++)
        if (occurrences[label] == 1) output->letters[output->n_letters++] = (uint8_t)label;
    for (int k = 0; k < output->n_letters; k++) {
        if (!occurrences[output->letters[k]])
            return refuse_equation(context, "has an output label that no operand has");
        if (has_label(&seen, output->letters[k]))
            return refuse_equation(context, "repeats an output label");
        add_label(&seen, output->letters[k]);
    }
    return CM_OK;
}

/* Sets ellipsis_rank; RANK_UNKNOWN if an operand with "..." has unknown rank. */
static int read_ellipsis_rank(const struct op_context *context, struct einsum *einsum) {
    einsum->ellipsis_rank = 0;
    for (size_t i = 0; i < einsum->n; i++) {
        const struct term *term = &einsum->operands[i];
        int rank = op_rank(context, i);
        if (rank == RANK_UNKNOWN) {
            if (term->ellipsis >= 0) einsum->ellipsis_rank = RANK_UNKNOWN;
            continue;
        }
        int rest = rank - term->n_letters;
        if (rest < 0 || (rest > 0 && term->ellipsis < 0))
            return op_fail(context, DIAG_SHAPE, "input %zu has rank %d, its term has %d labels",
                           i, rank, term->n_letters);
        if (einsum->ellipsis_rank != RANK_UNKNOWN && rest > einsum->ellipsis_rank)
            einsum->ellipsis_rank = rest;
    }
    return CM_OK;
}

/* Lists the label of each axis of a term whose "..." has n axes. Returns the number of axes. */
static int label_axes(const struct term *term, int n, uint8_t *labels) {
    int rank = 0;
    for (int k = 0; k <= term->n_letters; k++) {
        for (int i = 0; k == term->ellipsis && i < n; i++)
            labels[rank++] = (uint8_t)(N_LABELS - n + i);
        if (k < term->n_letters) labels[rank++] = term->letters[k];
    }
    return rank;
}

/* Merges the size of a label with a dim; 1 broadcasts to any size. Returns false if both are
 * known, differ and are not 1. */
static bool merge_size(int64_t *size, int64_t dim) {
    if (dim == 1 || dim == *size) return true;
    if (*size == 1 || !is_known(*size)) {
        if (*size == 1 || is_known(dim)) *size = dim;
        return true;
    }
    return !is_known(dim);
}

static int read_operand_sizes(const struct op_context *context, size_t i,
                              struct einsum *einsum) {
    uint8_t labels[SHAPE_MAX_RANK];
    const struct term *term = &einsum->operands[i];
    const struct shape *shape = op_shape(context, i);
    for (int k = 0; k < term->n_letters; k++) add_label(&einsum->sets[i], term->letters[k]);
    if (!shape_has_rank(shape)) {
        for (int k = 0; k < term->n_letters; k++)
            (void)merge_size(&einsum->sizes[term->letters[k]], DIM_UNKNOWN);
        return CM_OK;
    }
    int rank = label_axes(term, shape->rank - term->n_letters, labels);
    for (int axis = 0; axis < rank; axis++) {
        int64_t before = einsum->sizes[labels[axis]];
        add_label(&einsum->sets[i], labels[axis]);
        if (!merge_size(&einsum->sizes[labels[axis]], shape->dims[axis]))
            return op_fail(context, DIAG_SHAPE,
                           "axis %d of input %zu has %lld, the same label %lld before", axis, i,
                           (long long)shape->dims[axis], (long long)before);
    }
    return CM_OK;
}

static int read_einsum(const struct op_context *context, struct einsum *einsum) {
    int status = CM_OK;
    if (context->n_inputs > MAX_OPERANDS)
        return op_fail(context, DIAG_LIMIT, "%zu operands, at most %d are read",
                       context->n_inputs, MAX_OPERANDS);
    *einsum = (struct einsum){.n = 0};
    for (int label = 0; label < N_LABELS; label++) einsum->sizes[label] = 1;
    status = read_equation(context, einsum);
    if (status == CM_OK) status = read_ellipsis_rank(context, einsum);
    for (size_t i = 0; i < einsum->n && status == CM_OK; i++)
        status = read_operand_sizes(context, i, einsum);
    return status;
}

static int infer_einsum(struct op_context *context) {
    struct einsum einsum;
    uint8_t labels[2 * SHAPE_MAX_RANK];
    int64_t dims[2 * SHAPE_MAX_RANK];
    enum dtype dtype = common_dtype(context, 0);
    int status = common_check_same_type(context, 0);
    if (status == CM_OK) status = read_einsum(context, &einsum);
    if (status < 0) return status;
    if (einsum.output.ellipsis >= 0 && einsum.ellipsis_rank == RANK_UNKNOWN)
        return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    int rank = label_axes(&einsum.output, einsum.ellipsis_rank, labels);
    for (int axis = 0; axis < rank; axis++) dims[axis] = einsum.sizes[labels[axis]];
    return op_output_dims(context, 0, dtype, rank, dims);
}

static int64_t product_of(const struct einsum *einsum, struct labels set) {
    int64_t product = 1;
    for (int label = 0; label < N_LABELS; label++)
        if (has_label(&set, label)) product = checked_mul(product, einsum->sizes[label]);
    return product;
}

static struct labels output_set(const struct einsum *einsum) {
    uint8_t labels[2 * SHAPE_MAX_RANK];
    struct labels set = {{0, 0}};
    int rank = label_axes(&einsum->output, einsum->ellipsis_rank, labels);
    for (int axis = 0; axis < rank; axis++) add_label(&set, labels[axis]);
    return set;
}

/* Returns true if cost a is less than b. Overflow is the largest cost; an unknown cost is
 * neither less nor greater than a known one. */
static bool is_cheaper(int64_t a, int64_t b) {
    if (is_overflow(a) || is_overflow(b)) return is_overflow(b) && !is_overflow(a);
    return is_known(a) && is_known(b) && a < b;
}

/* Returns the labels of the product of some operands (bits): those that the output or another
 * operand has. A single operand keeps all labels. */
static struct labels labels_of(const struct einsum *einsum, uint32_t operands) {
    struct labels inside = {{0, 0}};
    struct labels outside = output_set(einsum);
    for (size_t i = 0; i < einsum->n; i++) {
        struct labels *side = operands >> i & 1 ? &inside : &outside;
        *side = both(*side, einsum->sets[i]);
    }
    return is_single(operands) ? inside : common(inside, outside);
}

static int64_t pair_macs(const struct einsum *einsum, struct pair pair) {
    return product_of(einsum, both(labels_of(einsum, pair.a), labels_of(einsum, pair.b)));
}

/* Finds the cheapest order, from left to right if several are, by dynamic programming over
 * subsets S of the operands: best(S) = min over S = A + B of best(A) + best(B) + product(sizes
 * of the labels of A and B). */
static void best_order(const struct einsum *einsum, struct pair *ret_pairs) {
    int64_t best[1U << MAX_EXACT] = {0};
    struct pair last[1U << MAX_EXACT]; /* pair of the last product of a subset */
    const uint32_t all = (1U << einsum->n) - 1;
    uint64_t needed = UINT64_C(1) << all; /* subsets that the order computes */
    for (uint32_t subset = 1; subset <= all; subset++) {
        best[subset] = is_single(subset) ? 0 : DIM_OVERFLOW;
        last[subset] = (struct pair){subset & (subset - 1), subset & -subset};
        for (uint32_t a = (subset - 1) & subset; a > 0; a = (a - 1) & subset) {
            const struct pair pair = {a, subset & ~a};
            if (a > pair.b) continue; /* the same pair follows */
            int64_t cost = checked_add(best[pair.a], best[pair.b]);
            checked_add_to(&cost, pair_macs(einsum, pair));
            if (!is_cheaper(cost, best[subset])) continue;
            best[subset] = cost;
            last[subset] = pair;
        }
    }
    for (uint32_t subset = all; subset > 0; subset--) {
        if (is_single(subset) || !(needed >> subset & 1)) continue;
        *ret_pairs++ = last[subset];
        needed |= UINT64_C(1) << last[subset].a | UINT64_C(1) << last[subset].b;
    }
}

/* Multiplies the cheapest pair first, repeatedly. */
static void greedy_order(const struct einsum *einsum, struct pair *ret_pairs) {
    uint32_t groups[MAX_OPERANDS];
    for (size_t i = 0; i < einsum->n; i++) groups[i] = UINT32_C(1) << i;
    for (size_t n = einsum->n; n > 1; n--) {
        size_t best_a = 0;
        size_t best_b = 1;
        int64_t best = DIM_OVERFLOW;
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++) {
                int64_t cost = pair_macs(einsum, (struct pair){groups[a], groups[b]});
                if (!is_cheaper(cost, best)) continue;
                best = cost;
                best_a = a;
                best_b = b;
            }
        *ret_pairs++ = (struct pair){groups[best_a], groups[best_b]};
        groups[best_a] |= groups[best_b];
        groups[best_b] = groups[n - 1];
    }
}

/* Reads the products of an Einsum of two or more operands, one less than it has operands.
 * Returns false if an operand has an unknown rank. */
static bool read_pairs(const struct op_context *context, struct einsum *einsum,
                       struct pair *ret_pairs) {
    struct op_context quiet = *context; /* infer has reported the errors */
    quiet.diag = NULL;
    for (size_t i = 0; i < context->n_inputs; i++)
        if (op_rank(context, i) == RANK_UNKNOWN) return false;
    if (read_einsum(&quiet, einsum) < 0) return false;
    if (einsum->n <= MAX_EXACT)
        best_order(einsum, ret_pairs);
    else
        greedy_order(einsum, ret_pairs);
    return true;
}

/* Returns the MACs of all products, each times its factors that contain one of `operands`. */
static int64_t sum_macs(const struct op_context *context, uint32_t operands, bool is_forward) {
    struct einsum einsum;
    struct pair pairs[MAX_OPERANDS];
    int64_t macs = 0;
    if (context->n_inputs < 2) return 0;
    if (!read_pairs(context, &einsum, pairs)) return DIM_UNKNOWN;
    for (size_t i = 0; i + 1 < einsum.n; i++) {
        const int n = ((pairs[i].a & operands) != 0) + ((pairs[i].b & operands) != 0);
        if (is_forward || n > 0)
            checked_add_to(&macs,
                           checked_mul(is_forward ? 1 : n, pair_macs(&einsum, pairs[i])));
    }
    return macs;
}

static void einsum_macs(const struct op_context *context, struct product *ret) {
    product_add(ret, "contractions, two operands at a time", sum_macs(context, 0, true));
}

/* The gradient of each factor of a pair is a product of the other factor. */
static int64_t einsum_backward(const struct op_context *context) {
    return sum_macs(context, context->gradients, false);
}

/* Returns the factor that the gradient of operand i needs from a pair; 0: none. */
static uint32_t needed_factor(struct pair pair, uint32_t i) {
    return pair.a >> i & 1 ? pair.b : pair.b >> i & 1 ? pair.a : 0;
}

/* Returns `saved_for_backward`. "bi,ij,jk->bk", multiplied from left to right, has "12,02,e":
 * the gradient of operand 0 is computed from operands 1 and 2, that of operand 2 from the first
 * product. */
static const char *einsum_saved(const struct op_context *context) {
    struct einsum einsum;
    struct pair pairs[MAX_OPERANDS];
    if (context->n_inputs <= 2) return context->n_inputs == 2 ? "1,0" : "";
    char *cells = arena_alloc(context->arena, MAX_CELLS * (MAX_CELLS + 1));
    if (!cells || context->n_inputs > MAX_CELLS || !read_pairs(context, &einsum, pairs))
        return "a";
    char *end = cells;
    for (uint32_t i = 0; i < einsum.n; i++) {
        for (size_t k = 0; k + 1 < einsum.n; k++) {
            const uint32_t factor = needed_factor(pairs[k], i);
            if (factor != 0 && !is_single(factor)) *end++ = 'e';
            for (uint32_t j = 0; is_single(factor) && j < einsum.n; j++)
                if (factor >> j & 1) *end++ = (char)('0' + j);
        }
        *end++ = i + 1 < einsum.n ? ',' : '\0';
    }
    return cells;
}

/* Returns the bytes of the products that gradients are computed from. */
static int64_t einsum_products(const struct op_context *context) {
    struct einsum einsum;
    struct pair pairs[MAX_OPERANDS];
    int64_t bytes = 0;
    if (!read_pairs(context, &einsum, pairs)) return DIM_UNKNOWN;
    for (size_t k = 0; k + 1 < einsum.n; k++) {
        const struct pair pair = pairs[k];
        const uint32_t factors[] = {pair.b & context->gradients ? pair.a : 0,
                                    pair.a & context->gradients ? pair.b : 0};
        for (size_t i = 0; i < 2; i++)
            if (!is_single(factors[i]))
                checked_add_to(
                    &bytes, dtype_bytes(common_dtype(context, 0),
                                        product_of(&einsum, labels_of(&einsum, factors[i]))));
    }
    return bytes;
}

struct einsum_term {
    int rank;
    uint8_t labels[2 * SHAPE_MAX_RANK]; /* of each axis, < N_LABELS */
};

struct einsum_axes {
    int n; /* operands: 1 or 2 */
    struct einsum_term operands[2];
    struct einsum_term output;
    int64_t sizes[N_LABELS];
};

/* Reads the labels of a node after type inference. Returns false if it has more than two
 * operands or one of unknown rank. An axis of size 1 may have a label of a larger size. */
static bool einsum_read(const struct op_context *context, struct einsum_axes *ret) {
    struct einsum einsum;
    struct op_context quiet = *context;
    quiet.diag = NULL;
    if (context->n_inputs < 1 || context->n_inputs > 2) return false;
    if (read_einsum(&quiet, &einsum) < 0 || einsum.ellipsis_rank == RANK_UNKNOWN) return false;
    ret->n = (int)einsum.n;
    for (size_t i = 0; i < einsum.n; i++) {
        const struct term *term = &einsum.operands[i];
        const int rank = op_rank(context, i);
        if (rank == RANK_UNKNOWN) return false;
        ret->operands[i].rank =
            label_axes(term, rank - term->n_letters, ret->operands[i].labels);
    }
    ret->output.rank = label_axes(&einsum.output, einsum.ellipsis_rank, ret->output.labels);
    memcpy(ret->sizes, einsum.sizes, sizeof(ret->sizes));
    return true;
}

/* ---- lowering ---- */

/* An einsum of two operands is lowered to a batched matrix product. Each label is part of one
 * dim of the product:
 *     in both operands and in the output       batch
 *     in the output and the first operand      rows
 *     in the output and the second operand     columns
 *     in both operands, not in the output      summed over
 * Transposing the operands is free, since products read strided operands. If all dims but the
 * batch are 1 ("ij,ij->ij"), it is lowered to an elementwise product. An einsum of one operand
 * is lowered to a transposed copy or a reduction. */

/* Returns the axis with this label; -1 if there is none. */
static int axis_of(const struct einsum_term *term, int label) {
    for (int i = 0; i < term->rank; i++)
        if (term->labels[i] == label) return i;
    return -1;
}

/* Returns true if operand `which` broadcasts no axis and repeats no label (a diagonal). */
static bool is_plain(const struct op_context *context, const struct einsum_axes *axes,
                     int which) {
    const struct einsum_term *term = &axes->operands[which];
    for (int i = 0; i < term->rank; i++) {
        const int64_t size = axes->sizes[term->labels[i]];
        if (!is_known(size) || op_dim(context, (size_t)which, i) != size) return false;
        for (int k = 0; k < i; k++)
            if (term->labels[k] == term->labels[i]) return false;
    }
    return true;
}

struct contraction {
    int64_t batch, rows, columns, sums;
};

/* Computes the sizes of the product. Returns false if a label occurs in one operand and neither
 * in the other nor in the output: that operand is summed before the product. */
static bool read_contraction(const struct einsum_axes *axes, struct contraction *ret) {
    *ret = (struct contraction){1, 1, 1, 1};
    for (int label = 0; label < N_LABELS; label++) {
        const bool in_a = axis_of(&axes->operands[0], label) >= 0;
        const bool in_b = axis_of(&axes->operands[1], label) >= 0;
        const bool in_y = axis_of(&axes->output, label) >= 0;
        int64_t *const size = in_a && in_b ? in_y ? &ret->batch : &ret->sums
                              : in_a       ? &ret->rows
                                           : &ret->columns;
        if (!in_a && !in_b) continue;
        if (!in_y && !(in_a && in_b)) return false;
        *size = checked_mul(*size, axes->sizes[label]);
    }
    return true;
}

static void set_dims(struct cm_tensor *tensor, int64_t batch, int64_t rows, int64_t columns) {
    const int32_t element = tensor->element;
    const int32_t first = batch == 1 ? 1 : 0;
    const int64_t dims[] = {batch, rows, columns};
    *tensor = (struct cm_tensor){.element = element, .rank = 3 - first};
    for (int32_t i = 0; i < tensor->rank; i++) tensor->dims[i] = dims[first + i];
    lowering_pack(tensor);
}

static bool lower_two(const struct op_context *context, const struct einsum_axes *axes,
                      struct cm_primitive *ret) {
    struct contraction sizes;
    if (!lowering_add_input(context, 0, ret) || !lowering_add_input(context, 1, ret) ||
        !lowering_add_output(context, 0, ret))
        return false;
    if (!is_plain(context, axes, 0) || !is_plain(context, axes, 1) ||
        !read_contraction(axes, &sizes))
        return false;
    if (sizes.rows == 1 && sizes.columns == 1 && sizes.sums == 1) {
        ret->kind = CM_ELTWISE;
        for (int i = 0; i < 2; i++) set_dims(&ret->inputs[i], 1, 1, sizes.batch);
        set_dims(&ret->outputs[0], 1, 1, sizes.batch);
        return lowering_step(ret, CM_MULTIPLY, 1);
    }
    set_dims(&ret->inputs[0], sizes.batch, sizes.rows, sizes.sums);
    set_dims(&ret->inputs[1], sizes.batch, sizes.sums, sizes.columns);
    set_dims(&ret->outputs[0], sizes.batch, sizes.rows, sizes.columns);
    return true;
}

/* Transposes the axes to the order of the output, followed by the summed axes. */
static bool lower_one(const struct op_context *context, const struct einsum_axes *axes,
                      struct cm_primitive *ret) {
    const struct einsum_term *term = &axes->operands[0];
    struct cm_tensor x;
    int32_t n = 0;
    if (!lowering_add_input(context, 0, ret) || !lowering_add_output(context, 0, ret))
        return false;
    if (!is_plain(context, axes, 0) || ret->outputs[0].rank > term->rank) return false;
    x = ret->inputs[0];
    struct cm_tensor *y = &ret->outputs[0];
    const int32_t output_rank = y->rank;
    for (; n < output_rank; n++) {
        const int axis = axis_of(term, axes->output.labels[n]);
        ret->inputs[0].dims[n] = x.dims[axis];
        ret->inputs[0].strides[n] = x.strides[axis];
    }
    for (int i = 0; i < term->rank; i++) {
        if (axis_of(&axes->output, term->labels[i]) >= 0) continue;
        ret->inputs[0].dims[n] = x.dims[i];
        ret->inputs[0].strides[n++] = x.strides[i];
        y->dims[y->rank++] = 1;
    }
    lowering_pack(y);
    ret->kind = y->rank == output_rank ? CM_COPY : CM_REDUCE;
    ret->algorithm = y->rank == output_rank ? CM_ALGORITHM_NONE : CM_REDUCE_SUM;
    return true;
}

static bool lower_einsum(const struct op_context *context, int32_t which,
                         struct cm_primitive *ret) {
    struct einsum_axes axes;
    (void)which;
    if (!einsum_read(context, &axes)) return false;
    return axes.n == 1 ? lower_one(context, &axes, ret) : lower_two(context, &axes, ret);
}

/* Returns the axes of the operand whose labels are not in the output; all axes if einsum_read
 * fails. */
static scale_axes scale_einsum_sums(const struct op_context *context, size_t operand) {
    struct einsum_axes read;
    scale_axes axes = SCALE_ALL_AXES;
    if (!einsum_read(context, &read)) return SCALE_ALL_AXES;
    const struct einsum_term *term = &read.operands[operand];
    for (int i = 0; i < term->rank; i++)
        if (axis_of(&read.output, term->labels[i]) >= 0) axes &= ~scale_axis(i);
    return axes;
}

/* clang-format off */
static const struct op rows[] = {
    {SIGNATURE(ONNX, Einsum, 12, PTFLOPS(.per_mac = 0), THOP(.per_mac = 0), /* they do not patch torch.einsum */
        LOWER(lower_einsum, CM_GEMM, 0, IMAGES_NONE, LIMIT_EINSUM), BOUNDS("d"), MULTIPLIES(0, scale_einsum_sums)),
     .infer = infer_einsum, .cost = {einsum_macs, "of the cheapest order of pairwise products"}, .param_roles = "w",
     .backward = {.saved_for_backward = "ae", .saved_for_backward_of = einsum_saved, .extra = einsum_products,
                  .factors = 2, .macs = einsum_backward}},
};
/* clang-format on */

OP_FAMILY(einsum, .declines = FACET_FOLD | FACET_ALGEBRA | FACET_MODULE);
