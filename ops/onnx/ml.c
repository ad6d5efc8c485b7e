/* SPDX-License-Identifier: Apache-2.0 */
/* Classical machine learning (ai.onnx.ml). Learned values are attributes: coefficients,
 * support vectors, trees. X [N, C]; a model of E classes or targets gives scores [N, E].
 *     linear models     MACs = N * coefficients
 *     support vectors   MACs = N * (elements of the support vectors + coefficients)
 *     other models      MACs = 0
 * Comparisons along the path of a row through a tree are not counted. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"
#include "support/arena.h"

static size_t attr_length(const struct op_context *context, const char *name) {
    const struct attr *attr = node_attr(context->node, name);
    return attr ? attr->n : 0;
}

/* Returns the number of rows of X; 1 for [C]. */
static int64_t n_rows(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    if (rank == RANK_UNKNOWN) return DIM_UNKNOWN;
    return rank < 2 ? 1 : op_dim(context, 0, 0);
}

static int infer_float(struct op_context *context) {
    return common_infer_same_shape(context, DTYPE_FLOAT);
}

/* Selects elements of the last axis by indices; [C] is treated as [1, C]. */
static int infer_extract(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK] = {1, DIM_UNKNOWN};
    int status = common_check_rank(context, 0, 1);
    if (status < 0 || !shape_has_rank(x))
        return status < 0 ? status : common_infer_unknown_rank(context);
    const int rank = x->rank > 1 ? x->rank : 2;
    for (int axis = 0; x->rank > 1 && axis < rank - 1; axis++) dims[axis] = x->dims[axis];
    dims[rank - 1] = op_elements(context, 1);
    return common_output(context, rank, dims);
}

/* Infers [1, entries]: max_map entries for a sparse map; data-dependent for a dense one. */
static int infer_cast_map(struct op_context *context) {
    static const struct {
        const char *name;
        enum dtype dtype;
    } types[] = {
        {"TO_FLOAT", DTYPE_FLOAT}, {"TO_INT64", DTYPE_INT64}, {"TO_STRING", DTYPE_STRING}};
    const bool sparse = text_equal(op_attr_string(context, "map_form"), "SPARSE");
    const int64_t dims[] = {1, sparse ? op_attr_int(context, "max_map") : DIM_UNKNOWN};
    const char *to = op_attr_string(context, "cast_to");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_equal(to, types[i].name))
            return op_output_dims(context, 0, types[i].dtype, 2, dims);
    return op_fail(context, DIAG_ATTRIBUTE, "cast_to is none of TO_FLOAT, TO_INT64, TO_STRING");
}

/* Maps strings to integers, and integers to strings. */
static int infer_category(struct op_context *context) {
    const enum dtype dtype = op_dtype(context, 0);
    if (dtype == DTYPE_STRING) return common_infer_same_shape(context, DTYPE_INT64);
    return common_infer_same_shape(context,
                                   dtype == DTYPE_UNDEFINED ? DTYPE_UNDEFINED : DTYPE_STRING);
}

/* Sets output 0 to the shape of input 0 and the dtype of the table's values. Before version 2,
 * strings map to int64 and int64 to strings. */
static int infer_label(struct op_context *context) {
    const struct constant *values = op_attr_tensor(context, "values_tensor");
    if (context->op->since < 2) return infer_category(context);
    if (values) return common_infer_same_shape(context, values->dtype);
    if (op_has_attr(context, "values_int64s"))
        return common_infer_same_shape(context, DTYPE_INT64);
    if (op_has_attr(context, "values_floats")) return infer_float(context);
    if (op_has_attr(context, "values_strings"))
        return common_infer_same_shape(context, DTYPE_STRING);
    return op_fail(context, DIAG_ATTRIBUTE, "no attribute gives the values of the labels");
}

/* Infers one column per word of the vocabulary. */
static int infer_dictionary(struct op_context *context) {
    const struct value_info *map = op_input(context, 0);
    const size_t n =
        attr_length(context, "string_vocabulary") + attr_length(context, "int64_vocabulary");
    const int64_t dims[] = {1, (int64_t)n};
    const bool known = map->kind == CM_TYPE_MAP && map->element;
    return op_output_dims(context, 0, known ? map->element->dtype : DTYPE_UNDEFINED, 2, dims);
}

/* Concatenates rows; inputdimensions has the number of columns of each operand. */
static int infer_features(struct op_context *context) {
    size_t n = 0;
    const int64_t *columns = op_attr_ints(context, "inputdimensions", &n);
    int64_t dims[] = {n_rows(context), 0};
    for (size_t i = 0; i < context->n_inputs; i++)
        checked_add_to(&dims[1], i < n ? columns[i] : common_last_dim(context, i));
    return op_output_dims(context, 0, DTYPE_FLOAT, 2, dims);
}

/* Adds a last axis with one element per category. */
static int infer_one_hot(struct op_context *context) {
    const size_t n = attr_length(context, "cats_int64s") + attr_length(context, "cats_strings");
    return common_output_appended(context, 0, DTYPE_FLOAT, op_shape(context, 0), (int64_t)n);
}

/* Outputs: the class of each row, and the scores of all classes. */
static int infer_classifier(struct op_context *context) {
    const size_t texts = attr_length(context, "classlabels_strings");
    const size_t numbers =
        attr_length(context, "classlabels_ints") + attr_length(context, "classlabels_int64s");
    const int64_t dims[] = {n_rows(context), (int64_t)(texts + numbers)};
    int status = op_output_dims(context, 0, texts ? DTYPE_STRING : DTYPE_INT64, 1, dims);
    return status < 0 ? status : op_output_dims(context, 1, DTYPE_FLOAT, 2, dims);
}

/* Infers [N, targets]: `targets`, n_targets, or the largest target id of the leaves + 1. */
static int infer_regressor(struct op_context *context) {
    const bool trees = text_equal(context->op->type, "TreeEnsemble");
    size_t n = 0;
    const int64_t *ids = op_attr_ints(context, trees ? "leaf_targetids" : "target_ids", &n);
    int64_t largest = 0;
    for (size_t i = 0; i < n; i++)
        if (ids[i] > largest) largest = ids[i];
    int64_t dims[] = {n_rows(context), checked_add(largest, 1)};
    if (op_has_attr(context, "n_targets")) dims[1] = op_attr_int(context, "n_targets");
    if (text_equal(context->op->type, "LinearRegressor"))
        dims[1] = op_attr_int(context, "targets");
    return op_output_dims(context, 0, trees ? op_dtype(context, 0) : DTYPE_FLOAT, 2, dims);
}

/* Infers a sequence with one map from label to score per row. */
static int infer_zip_map(struct op_context *context) {
    const bool texts = attr_length(context, "classlabels_strings") > 0;
    const struct value_info score = value_info_tensor(DTYPE_FLOAT, (struct shape){0, NULL});
    struct value_info map = value_info_unknown();
    struct value_info rows = value_info_unknown();
    map.kind = CM_TYPE_MAP;
    map.dtype = texts ? DTYPE_STRING : DTYPE_INT64;
    map.element = arena_copy(context->arena, &score, sizeof score);
    rows.kind = CM_TYPE_SEQUENCE;
    rows.element = map.element ? arena_copy(context->arena, &map, sizeof map) : NULL;
    if (!rows.element) return diag_no_memory(context->diag);
    return op_output_info(context, 0, &rows);
}

/* N * coefficients: each coefficient is multiplied once per row. */
static void macs_coefficients(const struct op_context *context, struct product *ret) {
    product_add(ret, "rows", n_rows(context));
    product_add(ret, "coefficients", (int64_t)attr_length(context, "coefficients"));
}

/* Per row: a kernel function of each support vector (C MACs), and the weighted sums of the
 * results. */
static void macs_support(const struct op_context *context, struct product *ret) {
    const size_t n =
        attr_length(context, "support_vectors") + attr_length(context, "coefficients");
    product_add(ret, "rows", n_rows(context));
    product_add(ret, "numbers of support vectors and coefficients", (int64_t)n);
}

/* Returns one addition per tree and row: the weight of the leaf. TreeEnsemble lists the roots
 * of the trees; the older operators have the tree number of each node. */
static int64_t exact_tree_votes(const struct op_context *context) {
    size_t n = 0;
    if (op_has_attr(context, "tree_roots"))
        return checked_mul(n_rows(context), (int64_t)attr_length(context, "tree_roots"));
    const int64_t *trees = op_attr_ints(context, "nodes_treeids", &n);
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) count += i == 0 || trees[i] != trees[i - 1];
    return checked_mul(n_rows(context), count);
}

/* clang-format off */
#define COUNTED(name, from, infer_fn, macs_fn, formula, ...)                                   \
    {                                                                                          \
        SIGNATURE(ML, name, from, NO_PRIMITIVE(NO_ML), __VA_ARGS__), .infer = infer_fn,        \
        .cost = {macs_fn, formula}, .param_roles = "xi", .backward.saved_for_backward = "-"    \
    }
#define ROW(name, from, infer_fn)                                                              \
    COUNTED(name, from, infer_fn, NULL, NULL, INTEGERS(INTEGERS_BY_TYPES))
#define COEFFICIENTS "rows x coefficients"
#define SUPPORT      "rows x (support vectors + coefficients)"

static const struct op rows[] = {
    ROW(ArrayFeatureExtractor, 1,      infer_extract),
    ROW(Binarizer, 1,                  common_infer_same),
    ROW(CastMap, 1,                    infer_cast_map),
    ROW(CategoryMapper, 1,             infer_category),
    ROW(DictVectorizer, 1,             infer_dictionary),
    ROW(FeatureVectorizer, 1,          infer_features),
    ROW(Imputer, 1,                    common_infer_same),
    SINCE3(ROW, LabelEncoder, 1, 2, 4, infer_label),
    COUNTED(LinearClassifier, 1,       infer_classifier, macs_coefficients, COEFFICIENTS,
            EXACT(EXACT_INTERCEPTS), INTEGERS(INTEGERS_NONE)),
    COUNTED(LinearRegressor, 1,        infer_regressor,  macs_coefficients, COEFFICIENTS, EXACT(EXACT_INTERCEPTS)),
    COUNTED(Normalizer, 1,             infer_float,      NULL,              NULL,         EXACT(.per_output = 3)),
    ROW(OneHotEncoder, 1,              infer_one_hot),
    COUNTED(SVMClassifier, 1,          infer_classifier, macs_support,      SUPPORT,      INTEGERS(INTEGERS_NONE)),
    COUNTED(SVMRegressor, 1,           infer_regressor,  macs_support,      SUPPORT,      INTEGERS(INTEGERS_BY_TYPES)),
    COUNTED(Scaler, 1,                 infer_float,      NULL,              NULL,         EXACT(.per_output = 2)),
    SINCE2(COUNTED, TreeEnsembleClassifier, 1, 3, infer_classifier, NULL, NULL, EXACT(EXACT_TREE_VOTES), INTEGERS(INTEGERS_NONE)),
    SINCE2(COUNTED, TreeEnsembleRegressor, 1, 3,  infer_regressor,  NULL, NULL, EXACT(EXACT_TREE_VOTES)),
    COUNTED(TreeEnsemble, 5,           infer_regressor,  NULL,              NULL,         EXACT(EXACT_TREE_VOTES)),
    ROW(ZipMap, 1,                     infer_zip_map),
};
/* clang-format on */

OP_FAMILY(ml, .why_free = "looks up or compares",
          .declines = FACETS_RARE | FACET_EXACT | FACET_BOUNDS);
