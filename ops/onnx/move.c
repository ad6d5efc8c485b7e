/* SPDX-License-Identifier: Apache-2.0 */
/* Data movement: Transpose, Expand, Tile, DepthToSpace and others. See also slice.c, concat.c
 * and gather.c. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"

/* Reads perm: output axis i is input axis perm[i]. Default: reversed order. */
static int read_perm(const struct op_context *context, int rank, int *perm) {
    size_t n = 0;
    const int64_t *given = op_attr_ints(context, "perm", &n);
    bool seen[SHAPE_MAX_RANK] = {false};
    if (given && n != (size_t)rank)
        return op_fail(context, DIAG_SHAPE, "perm has %zu entries, the input has %d axes", n,
                       rank);
    for (int axis = 0; axis < rank; axis++) {
        int64_t from = given ? given[axis] : rank - 1 - axis;
        if (from < 0 || from >= rank || seen[from])
            return op_fail(context, DIAG_ATTRIBUTE, "perm is not a permutation of %d axes",
                           rank);
        seen[from] = true;
        perm[axis] = (int)from;
    }
    return 0;
}

static int infer_transpose(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int perm[SHAPE_MAX_RANK];
    if (!shape_has_rank(input)) return common_infer_unknown_rank(context);
    int status = read_perm(context, input->rank, perm);
    if (status) return status;
    for (int axis = 0; axis < input->rank; axis++) dims[axis] = input->dims[perm[axis]];
    return common_output(context, input->rank, dims);
}

/* Returns VIEW_SAME if the axes whose dim is not 1 keep their order, as perm 1,0,2 of [1,8,4]
 * does; else VIEW_STRIDED. */
static enum op_view view_transpose(const struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    struct op_context quiet = *context; /* infer has reported the errors */
    int perm[SHAPE_MAX_RANK];
    int last = -1;
    quiet.diag = NULL;
    if (!shape_has_rank(input) || read_perm(&quiet, input->rank, perm)) return VIEW_STRIDED;
    for (int axis = 0; axis < input->rank; axis++) {
        if (input->dims[perm[axis]] == 1) continue;
        if (perm[axis] < last) return VIEW_STRIDED;
        last = perm[axis];
    }
    return VIEW_SAME;
}

static int fold_transpose(struct op_context *context) {
    struct remap remap = {0};
    int64_t strides[SHAPE_MAX_RANK];
    int perm[SHAPE_MAX_RANK];
    int status = op_value(context, 0, &remap.from);
    if (status || !remap.from) return status;
    const struct shape *from = &remap.from->shape;
    status = read_perm(context, from->rank, perm);
    if (status) return status;
    remap_strides(from, strides);
    for (int axis = 0; axis < from->rank; axis++) remap.strides[axis] = strides[perm[axis]];
    return remap_fold(context, 0, &remap);
}

static int infer_expand(struct op_context *context) {
    struct int_list list;
    int64_t dims[SHAPE_MAX_RANK];
    struct shape shape;
    int status = op_int_list(context, 1, &list);
    if (!status) status = common_check_n_axes(context, list.n);
    if (status) return status;
    if (!list.known && list.n == 0) return common_infer_unknown_rank(context);
    for (size_t i = 0; i < list.n; i++) {
        dims[i] = list.known ? list.values[i] : DIM_UNKNOWN;
        if (list.known && dims[i] < 0)
            return op_fail(context, DIAG_VALUE, "target dim %zu is %lld, less than 0", i,
                           (long long)dims[i]);
    }
    const struct shape target = {(int)list.n, dims};
    status = op_broadcast(context, op_shape(context, 0), &target, &shape);
    return status ? status : op_output(context, 0, op_dtype(context, 0), &shape);
}

static int fold_expand(struct op_context *context) {
    const struct shape *output = op_output_shape(context, 0);
    struct remap remap = {0};
    int64_t strides[SHAPE_MAX_RANK];
    int status = op_value(context, 0, &remap.from);
    if (status || !remap.from || !shape_has_rank(output)) return status;
    const struct shape *from = &remap.from->shape;
    remap_strides(from, strides);
    int ahead = output->rank - from->rank;
    for (int axis = ahead; axis < output->rank; axis++)
        remap.strides[axis] = from->dims[axis - ahead] == 1 ? 0 : strides[axis - ahead];
    return remap_fold(context, 0, &remap);
}

static int infer_tile(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    struct int_list repeats;
    int64_t dims[SHAPE_MAX_RANK];
    int status = op_int_list(context, 1, &repeats);
    if (!status) status = common_check_n_axes(context, repeats.n);
    if (status) return status;
    if (!repeats.known && repeats.n == 0) return common_output(context, input->rank, NULL);
    if (shape_has_rank(input) && repeats.n != (size_t)input->rank)
        return op_fail(context, DIAG_SHAPE, "repeats has %zu entries, the input has %d axes",
                       repeats.n, input->rank);
    for (size_t i = 0; i < repeats.n; i++) {
        const int64_t times = repeats.known ? repeats.values[i] : DIM_UNKNOWN;
        if (is_known(times) && times < 0)
            return op_fail(context, DIAG_VALUE, "repeats of axis %zu is %lld, less than 0", i,
                           (long long)times);
        dims[i] = checked_mul(op_dim(context, 0, (int)i), times);
    }
    return common_output(context, (int)repeats.n, dims);
}

/* Tile-1: input 1 is the number of tiles, input 2 the axis; scalars with the data's dtype. */
static int infer_tile_1(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    struct int_list tiles, axes;
    int axis = 0;
    int status = op_int_list(context, 1, &tiles);
    if (!status) status = op_int_list(context, 2, &axes);
    if (status) return status;
    if (!shape_has_rank(input) || !axes.known || axes.n != 1)
        return common_output(context, input->rank, NULL);
    status = op_normalize_axis(context, axes.values[0], input->rank, &axis);
    if (status) return status;
    const bool known = tiles.known && tiles.n == 1;
    if (known && tiles.values[0] < 0)
        return op_fail(context, DIAG_VALUE, "tiles is %lld, less than 0",
                       (long long)tiles.values[0]);
    return common_output_resized(
        context, 0, op_dtype(context, 0), axis,
        checked_mul(input->dims[axis], known ? tiles.values[0] : DIM_UNKNOWN));
}

static int fold_tile(struct op_context *context) {
    struct remap remap = {0};
    int status = op_value(context, 0, &remap.from);
    if (status || !remap.from) return status;
    remap.wrap = remap.from->shape.dims;
    remap_strides(&remap.from->shape, remap.strides);
    return remap_fold(context, 0, &remap);
}

/* DepthToSpace divides the channels by b * b and multiplies height and width by b; SpaceToDepth
 * is its inverse. */
static int infer_blocks(struct op_context *context) {
    const bool to_space = text_equal(context->op->type, "DepthToSpace");
    const int64_t size = op_attr_int(context, "blocksize");
    const struct shape *input = op_shape(context, 0);
    int64_t dims[4];
    if (shape_has_rank(input) && input->rank != 4)
        return op_fail(context, DIAG_SHAPE, "input %s has %d axes, expected 4",
                       op_shape_text(context, input), input->rank);
    if (size < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "blocksize is %lld, less than 1",
                       (long long)size);
    dims[0] = op_dim(context, 0, 0);
    for (int axis = 1; axis < 4; axis++) {
        const int64_t dim = op_dim(context, 0, axis);
        const int64_t by = axis == 1 ? checked_mul(size, size) : size;
        const bool divides = (axis == 1) == to_space;
        if (divides && is_known(dim) && is_known(by) && dim % by != 0)
            return op_fail(context, DIAG_SHAPE, "axis %d of %s is not a multiple of %lld", axis,
                           op_shape_text(context, input), (long long)by);
        if (!divides)
            dims[axis] = checked_mul(dim, by);
        else
            dims[axis] = is_overflow(by) ? DIM_UNKNOWN : checked_div_floor(dim, by);
    }
    return common_output(context, 4, dims);
}

static int describe_depth_to_space(const struct op_context *context, struct text *out) {
    text_printf(out, "upscale_factor=%lld", (long long)op_attr_int(context, "blocksize"));
    return 0;
}

static int infer_trilu(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    if (shape_has_rank(input) && input->rank < 2)
        return op_fail(context, DIAG_SHAPE, "input %s has %d axes, expected at least 2",
                       op_shape_text(context, input), input->rank);
    return common_infer_same(context);
}

struct triangle {
    struct remap remap;
    int64_t diagonal;
    bool upper;
};

static int64_t triangle_source(const void *context, const int64_t *coords) {
    const struct triangle *triangle = context;
    const int rank = triangle->remap.from->shape.rank;
    const int64_t offset = coords[rank - 1] - coords[rank - 2];
    const bool in_triangle =
        triangle->upper ? offset >= triangle->diagonal : offset <= triangle->diagonal;
    return in_triangle ? remap_strided(&triangle->remap, rank, coords) : REMAP_FILL;
}

static int fold_trilu(struct op_context *context) {
    struct triangle triangle = {.upper = op_attr_int(context, "upper") != 0};
    struct remap *remap = &triangle.remap;
    struct int_list k;
    int status = op_value(context, 0, &remap->from);
    if (!status) status = op_int_list(context, 1, &k);
    if (status || !remap->from || (k.given && !k.known)) return status;
    if (k.known && k.n != 1)
        return op_fail(context, DIAG_SHAPE, "k has %zu elements, expected 1", k.n);
    triangle.diagonal = k.known ? k.values[0] : 0;
    remap_strides(&remap->from->shape, remap->strides);
    remap->source = triangle_source;
    remap->context = &triangle;
    remap->fills = true;
    return remap_fold(context, 0, remap);
}

static int infer_reverse_sequence(struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t time = op_attr_int(context, "time_axis");
    const int64_t batch = op_attr_int(context, "batch_axis");
    if (rank != RANK_UNKNOWN && rank < 2)
        return op_fail(context, DIAG_SHAPE, "input has %d axes, expected at least 2", rank);
    if (time < 0 || time > 1 || batch != 1 - time)
        return op_fail(context, DIAG_ATTRIBUTE,
                       "time_axis is %lld and batch_axis %lld, expected 0 and 1 or 1 and 0",
                       (long long)time, (long long)batch);
    return common_infer_same(context);
}

static int infer_eye_like(struct op_context *context) {
    const struct shape *input = op_shape(context, 0);
    enum dtype dtype = op_dtype(context, 0);
    if (shape_has_rank(input) && input->rank != 2)
        return op_fail(context, DIAG_SHAPE, "input %s has %d axes, expected 2",
                       op_shape_text(context, input), input->rank);
    if (op_has_attr(context, "dtype")) dtype = dtype_from_onnx(op_attr_int(context, "dtype"));
    return op_output_dims(context, 0, dtype, 2, shape_has_rank(input) ? input->dims : NULL);
}

static int infer_one_hot(struct op_context *context) {
    const struct shape *indices = op_shape(context, 0);
    struct int_list depth;
    int64_t dims[SHAPE_MAX_RANK];
    int axis = 0;
    int status = op_int_list(context, 1, &depth);
    if (status) return status;
    if (depth.known && (depth.n != 1 || depth.values[0] < 0))
        return op_fail(context, DIAG_VALUE, "depth is not one number that is at least 0");
    if (!shape_has_rank(indices))
        return op_output_dims(context, 0, op_dtype(context, 2), RANK_UNKNOWN, NULL);
    int rank = indices->rank + 1;
    status = common_check_n_axes(context, (size_t)rank);
    if (!status) status = op_axis(context, rank, &axis);
    if (status) return status;
    for (int i = 0, from = 0; i < rank; i++)
        if (i != axis) dims[i] = indices->dims[from++];
    dims[axis] = depth.known ? depth.values[0] : DIM_UNKNOWN;
    return op_output_dims(context, 0, op_dtype(context, 2), rank, dims);
}

/* clang-format off */
#define ROW(infer_fn, folds, letters, keeps)                                                   \
    .infer = infer_fn, .fold = folds, .param_roles = letters,                                  \
    .backward.saved_for_backward = keeps
#define TILE(from, infer_fn)                                                                   \
    {                                                                                          \
        SIGNATURE(ONNX, Tile, from, BOUNDS("vv-"), MOVES(scale_unchanged),                     \
                  LOWER(lower_tile, CM_COPY, COPY_REPEATED, IMAGES_NONE, LIMIT_TILE)),         \
        ROW(infer_fn, fold_tile, "pi", ",-")                                                   \
    }
#define BLOCKS(name, from, which, ...)                                                         \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, LOWER(lower_blocks, CM_COPY, which, IMAGES_NONE, NULL),    \
                  BOUNDS("d"), MOVES(scale_along_all_axes)),                                   \
        ROW(infer_blocks, NULL, "x", ""), __VA_ARGS__                                          \
    }

static const struct op rows[] = {
    {SIGNATURE(ONNX, Transpose, 1, LOWER(lower_transpose, CM_COPY, COPY_STRIDED, IMAGES_NONE, NULL), BOUNDS("v"),
        MOVES(scale_through_transpose)),
     ROW(infer_transpose, fold_transpose, "p", ""), .backward.view = view_transpose},
    {SIGNATURE(ONNX, Expand, 8, LOWER(lower_expand, CM_COPY, COPY_STRIDED, IMAGES_NONE, NULL), BOUNDS("v"),
        MOVES(scale_through_expand)),
     ROW(infer_expand, fold_expand, "pi", ",-"), .backward.view = common_view_strided},
    TILE(1, infer_tile_1),
    TILE(6, infer_tile),
    SINCE2(BLOCKS, DepthToSpace, 1, 11, 0, .module = "PixelShuffle", .describe = describe_depth_to_space),
    SINCE2(BLOCKS, SpaceToDepth, 1, 28, 1, .module = NULL),
    {SIGNATURE(ONNX, Trilu, 14, LOWER(lower_gather, CM_GATHER, 0, IMAGES_NONE, NULL), BOUNDS("d-"), MOVES(scale_unchanged),
        TRIANGLE), ROW(infer_trilu, fold_trilu, "pi", ",-")},
    {SIGNATURE(CONTRIB, Trilu, 1, NO_PRIMITIVE(NO_CONTRIB), MOVES(scale_unchanged), NO_BOUNDS, TRIANGLE),
     ROW(infer_trilu, fold_trilu, "pi", "-")},
    {SIGNATURE(ONNX, ReverseSequence, 10, LOWER(lower_gather, CM_GATHER, 0, IMAGES_NONE, NULL), BOUNDS("d")),
     ROW(infer_reverse_sequence, NULL, "xi", ",-")},
    {SIGNATURE(ONNX, EyeLike, 9, NO_PRIMITIVE(NO_FILL), BOUNDS("d")), ROW(infer_eye_like, NULL, "i", "-")},
    {SIGNATURE(ONNX, OneHot, 9, NO_PRIMITIVE("no primitive writes a table by indices alone"), BOUNDS("dvd")),
     ROW(infer_one_hot, NULL, "i", "-")},
};
/* clang-format on */

OP_FAMILY(move, .why_free = "moves elements", .declines = FACETS_RARE | FACET_EXACT);
