/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the time of a kernel from tiles, waves and shares of the peak rates. */
#include "backends/device/kernel_time.h"

#include <math.h>

#include "backends/primitive.h"

/* A product as `batch` independent matrix products of m x k by k x n, and the bytes of an
 * element of its operands. */
struct geometry {
    double batch, m, n, k;
    double left_bytes, right_bytes;
};

/* Tile shapes of the libraries; fastest_tiles also tries the transposed shapes. */
static const struct {
    double m, n;
} tiles[] = {{256, 128}, {192, 128}, {128, 128}, {128, 64}, {128, 32},
             {128, 16},  {64, 64},   {64, 32},   {64, 16},  {32, 32}};

#define MAX_SPLITS  16  /* parts of the dimension k of a product (split-K) */
#define MIN_SPLIT_K 128 /* smallest k of a part */
#define TILE_K      64  /* step of the innermost loop of a tile */

/* Sides of the tiles of Winograd's algorithm (Lavin and Gray, CVPR 2016) in libraries: 6 on
 * matrix units, where F(4x4, 3x3) multiplies 36 times, not 144; 8 elsewhere, F(6x6, 3x3). */
#define MATRIX_TILE 6.0
#define VECTOR_TILE 8.0

/* Order of the norm that combines the times of arithmetic and memory. The result is at least
 * the larger time, and at most 26 % above it (if both are equal). */
#define OVERLAP 3.0

static double size(const struct cm_tensor *tensor, int32_t axis) {
    return axis >= 0 && axis < tensor->rank ? (double)tensor->dims[axis] : 1;
}

static double elements_between(const struct cm_tensor *tensor, int32_t from, int32_t to) {
    return (double)primitive_elements_of(tensor, from, to);
}

static bool is_convolution(const struct cm_primitive *primitive) {
    return primitive->kind == CM_CONV || primitive->kind == CM_DECONV;
}

/* Returns the matrix product, with the same FLOPs, that computes a gradient of (m x k) (k x n).
 * The gradient of the first operand is (m x n) (n x k), that of the second (k x m) (m x n). */
static struct geometry gradient_geometry(struct geometry forward, int32_t gradient) {
    if (gradient == CM_GRADIENT_DATA)
        return (struct geometry){
            .batch = forward.batch, .m = forward.m, .n = forward.k, .k = forward.n};
    if (gradient == CM_GRADIENT_WEIGHT)
        return (struct geometry){
            .batch = forward.batch, .m = forward.k, .n = forward.n, .k = forward.m};
    return forward;
}

/* Returns the convolution as an implicit matrix product per group: rows are the output
 * positions of all images, columns the output channels; the sum is over kernel positions and
 * input channels. A transposed convolution is one from its output to its input. */
static struct geometry convolution_geometry(const struct cm_primitive *primitive) {
    const bool transposed = primitive->kind == CM_DECONV;
    const struct cm_tensor *image = transposed ? &primitive->inputs[0] : &primitive->outputs[0];
    const struct cm_tensor *weight = &primitive->inputs[1];
    const double groups = (double)primitive->groups;
    const double m = size(image, 0) * elements_between(image, 2, image->rank);
    const double n = size(weight, 0) / groups;
    const double kernel = elements_between(weight, 2, weight->rank);
    const double channels = size(weight, 1);
    if (primitive->fusion.gradient == CM_GRADIENT_DATA) /* sums over kernel and outputs */
        return (struct geometry){.batch = groups, .m = m, .n = channels, .k = kernel * n};
    const struct geometry forward = {.batch = groups, .m = m, .n = n, .k = kernel * channels};
    return gradient_geometry(forward, primitive->fusion.gradient);
}

static struct geometry matrix_geometry(const struct cm_primitive *primitive) {
    const struct cm_tensor *a = &primitive->inputs[0];
    const struct cm_tensor *y = &primitive->outputs[0];
    const double batch = elements_between(y, 0, y->rank > 2 ? y->rank - 2 : 0);
    const struct geometry forward = {.batch = batch,
                                     .m = size(y, y->rank - 2),
                                     .n = size(y, y->rank - 1),
                                     .k = size(a, a->rank - 1)};
    return gradient_geometry(forward, primitive->fusion.gradient);
}

/* Returns the seconds of a tile of m x n x k on one multiprocessor, roughly the larger of two
 * times: its arithmetic, and reading its operands from the cache. `rate` is that of the whole
 * device, `row_bytes` and `column_bytes` are the sizes of an element. */
static double tile_seconds(const struct device_model *model,
                           const struct device_efficiency *efficiency, double m, double n,
                           double k, double rate, double row_bytes, double column_bytes) {
    const double units = model->n_units > 0 ? model->n_units : 1;
    const double arithmetic = 2 * m * n * k / (rate / units);
    const double operands =
        (m * row_bytes + n * column_bytes) * k / (efficiency->cache_bandwidth / units);
    const double squared = arithmetic * arithmetic;
    const double moved = operands * operands;
    /* The norm of order 4, by square roots: hypot would require glibc 2.35 (docs/static.md). */
    return sqrt(sqrt(squared * squared + moved * moved)) + efficiency->tile_seconds;
}

/* Returns the fastest tile shape and number of splits of a product, in whole waves. */
static struct kernel_tiles fastest_tiles(const struct device_model *model,
                                         const struct device_efficiency *efficiency,
                                         const struct geometry *product, double rate) {
    const double units = model->n_units > 0 ? model->n_units : 1;
    struct kernel_tiles best = {.seconds = INFINITY};
    for (size_t i = 0; i < 2 * sizeof(tiles) / sizeof(*tiles); i++) {
        const double m = i % 2 ? tiles[i / 2].n : tiles[i / 2].m;
        const double n = i % 2 ? tiles[i / 2].m : tiles[i / 2].n;
        for (int n_splits = 1; n_splits <= MAX_SPLITS; n_splits *= 2) {
            const double splits = n_splits;
            const double k = ceil(product->k / splits / TILE_K) * TILE_K;
            const double n_tiles =
                product->batch * ceil(product->m / m) * ceil(product->n / n) * splits;
            if (splits > 1 && product->k / splits < MIN_SPLIT_K) break;
            const double waves = ceil(n_tiles / units);
            double seconds = waves * tile_seconds(model, efficiency, m, n, k, rate,
                                                  product->left_bytes, product->right_bytes);
            if (splits > 1) /* a kernel adds the partial sums: 4 bytes written and read */
                seconds += efficiency->launch + 8 * product->batch * product->m * product->n *
                                                    splits / efficiency->cache_bandwidth;
            if (seconds < best.seconds)
                best = (struct kernel_tiles){seconds, m, n, splits, n_tiles, waves};
        }
    }
    return best;
}

static bool is_depthwise(const struct cm_primitive *primitive) {
    return is_convolution(primitive) && primitive->groups > 1 &&
           primitive->inputs[1].dims[1] == 1;
}

/* Returns the side of the kernel of a dense 2-D convolution of stride 1; else 1. */
static double square_kernel(const struct cm_primitive *primitive) {
    const struct cm_window *window = &primitive->window;
    if (primitive->kind != CM_CONV || window->n_spatial != 2 || is_depthwise(primitive) ||
        window->kernel[0] != window->kernel[1])
        return 1;
    for (int i = 0; i < 2; i++)
        if (window->strides[i] != 1 || window->dilations[i] != 1) return 1;
    return (double)window->kernel[0];
}

/* Returns the factor by which Winograd's algorithm needs fewer multiplications: a tile of
 * tile x tile products gives (tile - kernel + 1)^2 results. */
static double winograd_saving(const struct cm_primitive *primitive, double tile) {
    const double kernel = square_kernel(primitive);
    const double saving = fmax(1, kernel * (tile - kernel + 1) / tile);
    return saving * saving;
}

/* Returns n, rounded up to whole tiles, divided by n: padding(100, 64) is 1.28. */
static double padding(double n, double tile) {
    return n > 0 ? ceil(n / tile) * tile / n : 1;
}

/* Returns true if the mask is the same for all heads and differs by query: it may be causal. */
static bool may_mask_keys(const struct cm_primitive *primitive) {
    const struct cm_tensor *mask = &primitive->inputs[3];
    return primitive->n_inputs > 3 && mask->rank >= 2 && mask->dims[mask->rank - 2] > 1 &&
           (mask->rank < 3 || mask->dims[mask->rank - 3] == 1);
}

/* Returns the share of the scores of attention that a kernel has to compute: those that a
 * causal mask leaves. Attention modelled as one matrix product: half. Other kinds: 1. */
static double visible_share(const struct cm_primitive *primitive) {
    const double queries = size(&primitive->inputs[0], 2);
    const double keys = size(&primitive->inputs[1], 2);
    const double equal = fmin(queries, keys); /* length of the diagonal */
    if (primitive->kind != CM_ATTENTION) return primitive->causal == CM_CAUSAL_NONE ? 1 : 0.5;
    if (primitive->causal == CM_CAUSAL_NONE && !may_mask_keys(primitive)) return 1;
    const double whole = primitive->causal == CM_CAUSAL_FIRST ? (queries - equal) * keys
                                                              : (keys - equal) * equal;
    return (equal * (equal + 1) / 2 + whole) / (queries * keys);
}

#define QUERY_TILE      128 /* queries of a tile of attention; of few queries 64 */
#define MAX_FEW_QUERIES 64

/* Returns true for queries that fill no tile and see the keys of a cache. */
static bool is_over_cache(const struct cm_primitive *primitive) {
    const double queries = size(&primitive->inputs[0], 2);
    return primitive->kind == CM_ATTENTION && queries < MAX_FEW_QUERIES &&
           queries < size(&primitive->inputs[1], 2);
}

/* Returns the arithmetic of causal attention, or of few queries over a cache. Query heads that
 * share a key head fill tiles together if there are few queries; the keys are then divided, so
 * that all multiprocessors have work. Tiles on the diagonal compute masked scores. */
static struct kernel_tiles causal_attention(const struct device_model *model,
                                            const struct device_efficiency *efficiency,
                                            const struct cm_primitive *primitive, double peak) {
    const struct cm_tensor *query = &primitive->inputs[0], *key = &primitive->inputs[1];
    const double units = model->n_units > 0 ? model->n_units : 1;
    const double queries = size(query, 2), heads = size(query, 1), keys = size(key, 2);
    const double kv_heads = fmax(1, size(key, 1));
    const bool few = is_over_cache(primitive);
    const double rows = few ? queries * heads / kv_heads : queries;
    const double tile = rows >= QUERY_TILE ? QUERY_TILE : MAX_FEW_QUERIES;
    const double n_tiles = size(query, 0) * (few ? kv_heads : heads) * ceil(rows / tile);
    const double seen = fmin(keys, visible_share(primitive) * keys + (few ? 0 : tile / 2));
    const double columns =
        ceil(size(query, 3) / 64) * 64 + ceil(size(&primitive->outputs[0], 3) / 64) * 64;
    const double each = 2 * tile * seen * columns / (peak / units * efficiency->attention);
    struct kernel_tiles ret = {.m = tile, .n = keys, .splits = 1, .n_tiles = n_tiles};
    ret.waves = few ? n_tiles / units : ceil(n_tiles / units);
    ret.seconds = ret.waves * (each + (few ? 0 : efficiency->attention_tile));
    return ret;
}

/* Returns the bytes of an element of the right operand. Weights that are stored in fewer bits
 * than they are multiplied in are read so: their bytes are all reads but the left operand. */
static double weight_bytes(const struct cm_primitive *primitive,
                           const struct geometry *product) {
    const double whole = (double)primitive_element_size(primitive->inputs[0].element);
    const double stored = (double)primitive_element_size(primitive->inputs[1].element);
    const double left = product->batch * product->m * product->k * whole;
    if (stored >= whole || primitive->inputs[0].element == CM_I8 ||
        primitive->inputs[0].element == CM_U8)
        return whole;
    return fmin(stored, fmax(0, (double)primitive->bytes_read - left) /
                            (product->batch * product->k * product->n));
}

/* Returns the arithmetic. Requires FLOPs > 0 and a known rate. */
static struct kernel_tiles compute(const struct device_model *model,
                                   const struct device_efficiency *efficiency,
                                   const struct cm_primitive *primitive,
                                   enum device_rate rate) {
    const int32_t element = primitive->inputs[0].element;
    const bool is_int8 = element == CM_I8 || element == CM_U8;
    const double peak = model->rates[rate] * (is_int8 ? efficiency->int8_product : 1);
    const double bytes = (double)primitive_element_size(element);
    const double flops = (double)primitive->flops;
    struct kernel_tiles ret = {.seconds = flops / peak};
    if (primitive->kind == CM_ATTENTION &&
        (primitive->causal != CM_CAUSAL_NONE || is_over_cache(primitive)))
        return causal_attention(model, efficiency, primitive, peak);
    if (primitive->kind == CM_ATTENTION) { /* queries and columns of a head in tiles of 64 */
        const struct cm_tensor *query = &primitive->inputs[0];
        ret.seconds = flops * (padding(size(query, 2), 64) * padding(size(query, 3), 64)) /
                      (peak * efficiency->attention);
        return ret;
    }
    if (primitive->kind == CM_GEMM) {
        struct geometry product = matrix_geometry(primitive);
        product.left_bytes = bytes;
        product.right_bytes = weight_bytes(primitive, &product);
        return fastest_tiles(model, efficiency, &product, peak * efficiency->product);
    }
    if (!is_convolution(primitive) && primitive_is_product(primitive))
        ret.seconds /= efficiency->product;
    if (!is_convolution(primitive) || is_depthwise(primitive)) return ret;
    struct geometry product = convolution_geometry(primitive);
    product.left_bytes = product.right_bytes = bytes;
    const double reached = peak * efficiency->convolution;
    if (primitive->groups > 1) { /* libraries have dedicated kernels for some widths */
        const double n = product.n;
        const bool is_usual = n == 2 || n == 4 || n == 8 || n == 16 || n == 32;
        ret.seconds = flops * fmax(1, is_usual ? 1 : efficiency->group_tile / n) / reached;
        return ret;
    }
    double saving = square_kernel(primitive) == 3 && !device_rate_is_matrix(rate)
                        ? efficiency->winograd
                        : 1;
    if (is_int8) /* Winograd's transformed integers have 16 bits: at most twice as fast as fp32
                  */
        saving = fmax(1, saving * fmin(1, 2 * model->rates[RATE_FP32] / model->rates[rate]));
    ret = fastest_tiles(model, efficiency, &product, reached);
    ret.seconds /= saving;
    return ret;
}

/* Returns the arithmetic, of 0 seconds if *rate is RATE_NONE. If *rate is tf32, kernels may
 * also compute in fp32: the faster of both is chosen, and *rate is set to its rate. */
static struct kernel_tiles fastest(const struct device_model *model,
                                   const struct device_efficiency *efficiency,
                                   const struct cm_primitive *primitive,
                                   enum device_rate *rate) {
    const struct kernel_tiles none = {.seconds = 0};
    if (*rate == RATE_NONE || model->rates[*rate] <= 0) return none;
    const struct kernel_tiles matrix = compute(model, efficiency, primitive, *rate);
    if (*rate != RATE_MATRIX_TF32 || model->rates[RATE_FP32] <= 0) return matrix;
    const struct kernel_tiles plain = compute(model, efficiency, primitive, RATE_FP32);
    if (plain.seconds >= matrix.seconds) return matrix;
    *rate = RATE_FP32;
    return plain;
}

/* Returns the seconds of the kernel that quantizes the rows of a matrix product's first
 * operand: each multiprocessor reduces one row at a time. Constants of vLLM's kernel, equal on
 * H100 and B200. */
static double quantization_seconds(const struct device_model *model,
                                   const struct cm_primitive *primitive) {
    const double row_seconds = 0.7e-6;
    const double elements_per_second = 3.5e9;
    const double units = model->n_units > 0 ? model->n_units : 1;
    const struct geometry product = matrix_geometry(primitive);
    return fmax(product.batch * product.m / units, 1) *
           (row_seconds + product.k / elements_per_second);
}

/* Sets the memory traffic, and its seconds at the share of the peak bandwidth that kernels of
 * this kind reach. Part of it is read from the last-level cache, where earlier kernels left
 * operands. A BatchNormalization in training reads its operands twice: computing the batch
 * statistics is a separate pass. */
static void move_bytes(const struct device_model *model,
                       const struct device_efficiency *efficiency,
                       const struct cm_primitive *primitive, struct kernel_time *ret) {
    const int32_t kind = primitive->kind;
    const bool is_training = kind == CM_NORM && primitive->algorithm == CM_NORM_BATCH_TRAINING;
    const bool is_batch_norm =
        is_training || (kind == CM_NORM && primitive->algorithm == CM_NORM_BATCH);
    double share = efficiency->bandwidth;
    if (is_depthwise(primitive))
        share = efficiency->depthwise;
    else if (kind == CM_POOL || kind == CM_RESAMPLE)
        share = efficiency->pool;
    else if (kind == CM_SOFTMAX || kind == CM_REDUCE || (kind == CM_NORM && !is_batch_norm))
        share = efficiency->reduction;
    double moved = (double)primitive->bytes_read + (double)primitive->bytes_written;
    if (is_training && primitive->fusion.gradient == CM_GRADIENT_NONE)
        moved += (double)primitive->bytes_read;
    const double resident = fmin(moved, efficiency->resident * (double)model->cache_bytes);
    ret->memory_bytes = moved - resident;
    ret->cache_bytes = resident;
    ret->bandwidth_share = share;
    ret->memory = (moved - resident) / (model->bandwidth * share) +
                  resident / efficiency->cache_bandwidth;
}

/* Returns the bytes of operand 0 that no window covers: a convolution of 1x1 and stride 2 reads
 * a quarter of its image. */
static double uncovered_bytes(const struct cm_primitive *primitive) {
    const struct cm_tensor *image = &primitive->inputs[0];
    const struct cm_window *window = &primitive->window;
    const double bytes = (double)primitive_bytes(image);
    double covered = 1;
    if ((primitive->kind != CM_CONV && primitive->kind != CM_POOL) ||
        primitive->fusion.gradient == CM_GRADIENT_DATA)
        return 0;
    for (int32_t i = 0; i < window->n_spatial; i++)
        covered *= fmin(1, size(&primitive->outputs[0], i + 2) * (double)window->kernel[i] /
                               size(image, i + 2));
    return bytes * (1 - covered);
}

/* Returns the bytes of the tensors that a norm over the batch reads twice, because its sums
 * come before its first result: its operand, and in backward the gradient of its result. */
static double reread_bytes(const struct cm_primitive *primitive) {
    const int tensors = primitive->fusion.gradient == CM_GRADIENT_NONE ? 1 : 2;
    if (primitive->kind != CM_NORM || primitive->algorithm != CM_NORM_BATCH_TRAINING) return 0;
    return tensors * (double)primitive_bytes(&primitive->inputs[0]);
}

/* Returns the lower bound in seconds, the larger of two times: the FLOPs of a product, by the
 * cheapest known algorithm, at the highest rate; and the compulsory memory traffic. The cache
 * holds at most its size of what the kernel reads and writes; each primitive of the kernel has
 * its share of that. */
static double bound_seconds(const struct device_model *model,
                            const struct cm_primitive *primitive, enum device_rate rate) {
    const struct cm_fusion *fusion = &primitive->fusion;
    const double listed =
        fusion->in_graph ? (double)fusion->compulsory_bytes
                         : (double)primitive->bytes_read + (double)primitive->bytes_written;
    const double uncovered = uncovered_bytes(primitive);
    const double moved = fmax(0, listed - uncovered);
    const double by_kernel = fmax(moved, (double)fusion->group_bytes - uncovered);
    const double cache = (double)model->cache_bytes;
    const double from_memory = moved > 0 ? moved * fmax(0, 1 - cache / by_kernel) +
                                               fmax(0, reread_bytes(primitive) - cache)
                                         : 0;
    const double flops = primitive_is_product(primitive)
                             ? (double)primitive->flops * visible_share(primitive)
                             : 0;
    const enum device_rate plain =
        device_plain_rate(model, (enum cm_element)primitive->inputs[0].element);
    const double tile = device_rate_is_matrix(rate) ? MATRIX_TILE : VECTOR_TILE;
    const double fastest = fmax(model->rates[rate] * winograd_saving(primitive, tile),
                                model->rates[plain] * winograd_saving(primitive, VECTOR_TILE));
    const double compute =
        flops > 0 && rate != RATE_NONE ? flops / (fastest * fmax(model->clock_headroom, 1)) : 0;
    return fmax(compute, from_memory / model->bandwidth);
}

enum device_rate kernel_rate(const struct device_model *model,
                             const struct cm_primitive *primitive,
                             enum cm_precision precision) {
    const enum cm_element element = (enum cm_element)primitive->inputs[0].element;
    if (!primitive_is_product(primitive)) return device_plain_rate(model, element);
    const enum device_rate rate = device_product_rate(model, element, precision);
    return rate == RATE_FP16 && !device_sums_in_fp16(model) ? RATE_FP32 : rate;
}

/* Returns the share of a kernel's traffic that any fusion of the graph has. */
static double compulsory_share(const struct cm_primitive *primitive) {
    const double moved = (double)primitive->bytes_read + (double)primitive->bytes_written;
    if (!primitive->fusion.in_graph || moved <= 0) return 1;
    return fmin(1, (double)primitive->fusion.compulsory_bytes / moved);
}

/* Returns what takes most of the time. */
static enum cm_limit limit_of(double compute, double memory, double launch) {
    if (launch > fmax(compute, memory)) return CM_LIMIT_LAUNCH;
    return compute > memory ? CM_LIMIT_COMPUTE : CM_LIMIT_MEMORY;
}

/* Returns the expected seconds of the parts. `share`: of the forward rates that it reaches. */
static double sum_parts(double compute, double memory, double extra, double launch,
                        double share) {
    const double together = pow(pow(compute, OVERLAP) + pow(memory, OVERLAP), 1 / OVERLAP);
    return (together + extra) / share + launch;
}

struct kernel_time kernel_time(const struct device_model *model,
                               const struct device_efficiency *efficiency,
                               const struct cm_primitive *primitive,
                               enum cm_precision precision) {
    struct kernel_time ret = {
        .rate = primitive->flops > 0 ? kernel_rate(model, primitive, precision) : RATE_NONE};
    const struct cm_fusion *fusion = &primitive->fusion;
    const bool is_grouped =
        primitive->groups > 1 && is_convolution(primitive) && !is_depthwise(primitive);
    double share = 1;
    ret.lower_bound = bound_seconds(model, primitive, ret.rate);
    ret.launches = (fusion->no_launch ? 0 : 1) + fusion->extra_kernels;
    ret.launch = ret.launches * (model->floor > 0 ? model->floor : efficiency->launch) +
                 (is_grouped ? (double)primitive->groups * efficiency->group_launch : 0) +
                 (is_over_cache(primitive) ? efficiency->attention_cache : 0);
    ret.extra = (double)fusion->extra_bytes / (model->bandwidth * efficiency->bandwidth) +
                (fusion->quantizes ? quantization_seconds(model, primitive) : 0);
    ret.arithmetic = fastest(model, efficiency, primitive, &ret.rate);
    if (ret.arithmetic.seconds > 0)
        ret.rate_share =
            (double)primitive->flops / (ret.arithmetic.seconds * model->rates[ret.rate]);
    move_bytes(model, efficiency, primitive, &ret);
    if (fusion->gradient != CM_GRADIENT_NONE)
        share = is_convolution(primitive) && primitive->groups > 1
                    ? efficiency->grouped_gradient
                    : efficiency->gradient;
    double compute_s = ret.arithmetic.seconds;
    double memory_s = ret.memory;
    double extra_s = ret.extra;
    double launch_s = ret.launch;
    ret.expected =
        fmax(sum_parts(compute_s, memory_s, extra_s, launch_s, share), ret.lower_bound);
    ret.traffic = sum_parts(compute_s, memory_s, extra_s, 0, share) -
                  sum_parts(compute_s, memory_s * compulsory_share(primitive), 0, 0, share);
    ret.limit = limit_of(compute_s, memory_s + extra_s, launch_s);
    if (ret.limit == CM_LIMIT_COMPUTE) compute_s = 0;
    if (ret.limit == CM_LIMIT_MEMORY) memory_s = extra_s = 0;
    if (ret.limit == CM_LIMIT_LAUNCH) launch_s = 0;
    ret.without = sum_parts(compute_s, memory_s, extra_s, launch_s, share);
    ret.next = limit_of(compute_s, memory_s + extra_s, launch_s);
    return ret;
}
