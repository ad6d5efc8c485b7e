/* SPDX-License-Identifier: Apache-2.0 */
/* Fits the efficiencies of a device (backends/device/kernel_time.h) to measured times. A model
 * is analysed once; its time is then a sum over its distinct primitives, so that a fit takes
 * seconds. It uses Levenberg-Marquardt with difference quotients, on logarithms of times and
 * efficiencies. */
#include "costmodel/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/handle.h"
#include "backends/device/devices.h"
#include "backends/device/kernel_time.h"
#include "backends/device/run_time.h"
#include "backends/primitive.h"
#include "passes/cost/count.h"
#include "passes/norms/restore_norms.h"
#include "passes/pass.h"
#include "passes/pipeline/pipeline.h"
#include "passes/training/optimizers.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/json/json_writer.h"
#include "support/sort.h"
#include "support/text.h"
#include "timing/gradient_kernels.h"
#include "timing/kernels.h"
#include "timing/pipeline.h"
#include "timing/primitives.h"

#define MAX_EFFICIENCIES 32 /* >= number of names of device_efficiency_name */
#define MAX_ROUNDS       30
#define STEP             0.02 /* of the logarithm of an efficiency, for a difference quotient */
#define FAR              0.1  /* of the pseudo-Huber loss: errors above it count linearly */
#define MAX_CHANGE       0.3  /* of the logarithm of an efficiency in one round */
#define SMALL_CHANGE     0.005
#define N_FOLDS          5   /* of the families of models, to find the error of the fit */
#define FOLD_ROUNDS      8   /* at most, from the fit to all */
#define FAMILIES         2   /* families with the error of an unseen device, added to all */
#define POOLED           8   /* times of all kinds that an interval of one kind is mixed with */
#define OUTSIDE          0.1 /* share of the times below an interval, and above it */

/* The kernels of one measured time: distinct primitives and how often each runs. */
struct timed_work {
    size_t n;
    const struct cm_primitive *primitives;
    const double *runs;
    enum cm_precision precision;
    int64_t run_bytes;   /* of a whole model: as in kernels_table */
    int64_t moved_bytes; /* inputs and outputs of the model */
    enum device_width width;
    uint32_t family; /* hash of the family of models */
    uint32_t fold;
    double log_error;       /* log(measured / expected) of a fit without its fold */
    enum cm_time_kind kind; /* in that fit */
};

struct fitting {
    struct arena *arena;
    struct cm_diagnostics *diag;
    const char *device;
    struct device_model model;
    enum cm_runtime runtime;
    enum device_width width; /* this and the next: the fit uses only these times */
    uint32_t left_out;       /* a fold; N_FOLDS: none */
    bool has_models;         /* some of them, of all folds, are times of models */
    size_t n_used[2];        /* number of these times: of models, of nodes */
    size_t n_times;
    struct cm_measured_time *times;
    struct timed_work *works; /* by index of `times`; n is 0 if the time covers no primitive */
};

/* Returns a hash of the family of a time: models whose file names begin with the same letters,
 * or one node. Errors within a family are alike. */
static uint32_t family_of(const struct cm_measured_time *time) {
    const char *at = strrchr(time->model, '/') ? strrchr(time->model, '/') + 1 : time->model;
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z'); at++)
        hash = (hash ^ (unsigned char)(*at | ' ')) * 16777619u;
    for (at = time->node ? time->node : ""; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash >> 16;
}

/* Collects the primitives of the nodes that the time covers. */
static int collect_work(struct fitting *fitting, const struct timing *timing,
                        const struct cm_measured_time *time, struct timed_work *ret) {
    const struct primitives_table *table = timing->primitives;
    const struct gradient_kernels_table *gradients = timing->gradient_kernels;
    const struct analysis *analysis = &timing->core;
    double *runs_of = arena_array(analysis->arena, table->n, sizeof(*runs_of));
    size_t n = 0;
    if (!runs_of) return diag_no_memory(fitting->diag);
    for (uint32_t id = 0; id < analysis->model->n_nodes; id++) {
        const struct node *node = &analysis->model->nodes[id];
        const int64_t times = analysis->count->runs[node->graph];
        const bool is_covered = time->node == NULL || text_equal(node->name, time->node);
        if (table->lowered[id] == LOWERED_PRIMITIVE && is_covered && is_known(times))
            runs_of[table->of_node[id]] += (double)times;
    }
    for (size_t i = 0; i < table->n; i++) n += runs_of[i] > 0;
    n += gradients->n;
    double *runs = arena_array(fitting->arena, n, sizeof(*runs));
    struct cm_primitive *items = arena_array(fitting->arena, n, sizeof(*items));
    if (!runs || !items) return diag_no_memory(fitting->diag);
    *ret = (struct timed_work){
        .primitives = items,
        .runs = runs,
        .precision = analysis->options->precision,
        .run_bytes = time->node ? 0 : timing->kernels->run_bytes,
        .moved_bytes = fitting->model.host_link > 0 ? timing->kernels->moved_bytes : 0,
        .family = family_of(time)};
    ret->fold = ret->family % N_FOLDS;
    for (size_t i = 0; i < table->n; i++) {
        if (runs_of[i] == 0) continue;
        items[ret->n] = table->items[i];
        runs[ret->n++] = runs_of[i];
    }
    ret->width = device_width_of(primitive_main_element(items, ret->n), ret->precision);
    for (size_t i = 0; i < gradients->n; i++) {
        items[ret->n] = gradients->items[i];
        runs[ret->n++] = (double)gradients->runs[i];
    }
    return CM_OK;
}

/* Analyses the model of times[first], and collects the work of times[first .. end - 1]. */
static int analyse(struct fitting *fitting, struct cm_model *model, size_t first, size_t end,
                   struct cm_diagnostics *diag) {
    const struct cm_measured_time *time = &fitting->times[first];
    struct cm_options options;
    cm_options_init(&options);
    options.batch = time->batch;
    options.precision = time->precision;
    options.layout = time->layout;
    options.runtime = fitting->runtime;
    options.optimizer = time->optimizer;
    if (time->optimizer) options.mode = CM_MODE_TRAINING;
    options.n_dims = time->n_dims;
    options.dims = time->dims;
    options.backend = arena_printf(fitting->arena, "roofline:device=%s", fitting->device);
    struct analysis analysis = {
        .options = &options, .arena = arena_new("fit", 0), .diag = diag};
    if (!options.backend || !analysis.arena) return diag_no_memory(fitting->diag);
    struct timing timing;
    const unsigned wanted = time->optimizer ? TABLE_GRADIENT_KERNELS : TABLE_PRIMITIVES;
    int status = restore_norms(model->model, &options, analysis.arena, &analysis.model);
    if (status < 0) (void)diag_no_memory(diag);
    if (status == CM_OK) status = pipeline_run_to(&analysis, 0);
    if (status == CM_OK) status = timing_passes_run(&analysis, wanted, &timing);
    for (size_t i = first; i < end && status == CM_OK; i++)
        status = collect_work(fitting, &timing, &fitting->times[i], &fitting->works[i]);
    arena_free(analysis.arena);
    return status;
}

/* Returns true if one analysis covers both times: their settings differ at most in the node. */
static bool share_analysis(const struct cm_measured_time *a, const struct cm_measured_time *b) {
    if (a->n_dims != b->n_dims) return false;
    for (size_t i = 0; i < a->n_dims; i++)
        if (a->dims[i].size != b->dims[i].size || !text_equal(a->dims[i].name, b->dims[i].name))
            return false;
    return text_equal(a->model, b->model) && a->batch == b->batch &&
           a->precision == b->precision && a->layout == b->layout &&
           text_equal(a->optimizer, b->optimizer);
}

/* Loads and analyses the model of a group of times. If it is refused, warns and skips them. */
static int load_group(struct fitting *fitting, size_t first, size_t end) {
    const char *path = fitting->times[first].model;
    struct cm_diagnostics *diag = cm_diagnostics_new();
    struct cm_model *model = NULL;
    if (!diag) return diag_no_memory(fitting->diag);
    int status = cm_model_load_file(path, diag, &model);
    if (status == CM_OK) status = analyse(fitting, model, first, end, diag);
    const struct cm_diagnostic *error = diag_first_error(diag);
    for (size_t i = first; i < end && status == CM_OK; i++) {
        const char *node = fitting->times[i].node;
        if (fitting->works[i].n == 0)
            diag_warn(fitting->diag, DIAG_BACKEND, "%s is left out: no work to model in %s",
                      fitting->times[i].model, node ? node : "any node");
    }
    if (status == CM_NO_MEMORY)
        status = diag_no_memory(fitting->diag);
    else if (status != CM_OK)
        diag_warn(fitting->diag, DIAG_BACKEND, "%s is left out: %s", path,
                  error ? error->message : "");
    cm_model_free(model);
    cm_diagnostics_free(diag);
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* Collects the work of all times; analyses consecutive times together if they can share it. */
static int load_works(struct fitting *fitting) {
    const struct cm_measured_time *times = fitting->times;
    size_t n_loaded = 0;
    size_t end = 0;
    for (size_t first = 0; first < fitting->n_times; first = end) {
        for (end = first + 1; end < fitting->n_times; end++)
            if (!share_analysis(&times[first], &times[end])) break;
        const int status = load_group(fitting, first, end);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < fitting->n_times; i++)
        n_loaded += fitting->works[i].n > 0 && !times[i].held_out;
    if (n_loaded > 0) return CM_OK;
    return diag_error(fitting->diag, DIAG_USAGE, "there is no time to fit to");
}

/* Returns expected time and lower bound of the work, in seconds, without the kernels for whose
 * dtype the device has no rate. The time of a node is that of its kernels alone. */
static struct kernel_time time_of(const struct fitting *fitting, size_t index,
                                  const struct device_efficiency *efficiency,
                                  enum cm_time_kind *ret_kind) {
    const struct timed_work *work = &fitting->works[index];
    struct kernel_time sum = {0};
    struct run_time run = {.moved = (double)work->moved_bytes};
    const struct cm_calibration fit = {
        .host = efficiency->host, .run = efficiency->run, .transfer = efficiency->transfer};
    for (size_t i = 0; i < work->n; i++) {
        const struct cm_primitive *primitive = &work->primitives[i];
        if (primitive->flops > 0 &&
            kernel_rate(&fitting->model, primitive, work->precision) == RATE_NONE)
            continue;
        const struct kernel_time time =
            kernel_time(&fitting->model, efficiency, primitive, work->precision);
        run_time_add(&run, primitive, time.expected, time.limit, work->runs[i]);
        sum.lower_bound += work->runs[i] * time.lower_bound;
    }
    const double from_memory = (double)work->run_bytes - (double)fitting->model.cache_bytes;
    sum.lower_bound = fmax(sum.lower_bound, from_memory / fitting->model.bandwidth);
    sum.expected = fitting->times[index].node || run.seconds <= 0
                       ? run.seconds
                       : run_time_expected(&run, &fit);
    *ret_kind = run_time_kind(&run, sum.expected);
    return sum;
}

/* Returns true if the fit uses the time. */
static bool is_used(const struct fitting *fitting, size_t i) {
    const struct timed_work *work = &fitting->works[i];
    return work->n > 0 && work->width == fitting->width && !fitting->times[i].held_out &&
           work->fold != fitting->left_out;
}

/* Returns the weight of a used time. All times together have weight 1; if there are times of
 * models and of nodes, half of it is that of the models, which may be few. */
static double weight_of(const struct fitting *fitting, size_t i) {
    const size_t *n = fitting->n_used;
    const double share = n[0] > 0 && n[1] > 0 ? 0.5 : 1;
    return share / (double)n[fitting->times[i].node != NULL];
}

/* Sets errors[i] to log(modelled / measured); 0 for times that the fit does not use. */
static void find_log_errors(const struct fitting *fitting,
                            const struct device_efficiency *efficiency, double *errors) {
    for (size_t i = 0; i < fitting->n_times; i++) {
        enum cm_time_kind kind;
        errors[i] = 0;
        if (!is_used(fitting, i)) continue;
        const double modelled = time_of(fitting, i, efficiency, &kind).expected;
        if (modelled > 0) errors[i] = log(modelled / fitting->times[i].seconds);
    }
}

/* Solves the symmetric positive definite system a x = b by elimination; b becomes x. */
static void solve(size_t n, double a[][MAX_EFFICIENCIES], double *b) {
    for (size_t k = 0; k < n; k++)
        for (size_t row = k + 1; row < n; row++) {
            const double factor = a[row][k] / a[k][k];
            for (size_t column = k; column < n; column++)
                a[row][column] -= factor * a[k][column];
            b[row] -= factor * b[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t column = k + 1; column < n; column++) b[k] -= a[k][column] * b[column];
        b[k] /= a[k][k];
    }
}

/* Returns the loss that the fit minimises: a term for each time, quadratic for a small error
 * and linear for a large one, and a quadratic term for each change of an efficiency. */
static double find_loss(const struct fitting *fitting, struct device_efficiency *efficiency,
                        const double *prior, double *errors) {
    double loss = 0;
    find_log_errors(fitting, efficiency, errors);
    for (size_t i = 0; i < fitting->n_times; i++) {
        const double far = errors[i] / FAR;
        if (is_used(fitting, i)) loss += 2 * (sqrt(1 + far * far) - 1) * weight_of(fitting, i);
    }
    for (size_t k = 0; device_efficiency_name(k) != NULL; k++) {
        const double change = log(*device_efficiency_at(efficiency, k)) - prior[k];
        const double weight = device_efficiency_prior(k);
        loss += weight * weight * change * change;
    }
    return loss;
}

/* Changes the efficiencies by one step of Levenberg-Marquardt. `errors`, `moved` and `slopes`
 * are scratch. Returns the largest change of the logarithm of an efficiency. */
static double levenberg_marquardt_step(const struct fitting *fitting, const double *prior,
                                       size_t n, double damping,
                                       struct device_efficiency *efficiency, double *errors,
                                       double *moved, double *slopes) {
    double normal[MAX_EFFICIENCIES][MAX_EFFICIENCIES] = {{0}};
    double change[MAX_EFFICIENCIES] = {0};
    double largest = 0;
    find_log_errors(fitting, efficiency, errors);
    /* Difference quotients of the errors by each efficiency. */
    for (size_t k = 0; k < n; k++) {
        struct device_efficiency shifted = *efficiency;
        *device_efficiency_at(&shifted, k) *= exp(STEP);
        find_log_errors(fitting, &shifted, moved);
        for (size_t i = 0; i < fitting->n_times; i++)
            slopes[k * fitting->n_times + i] = (moved[i] - errors[i]) / STEP;
    }
    /* Normal equations of the weighted errors. */
    for (size_t i = 0; i < fitting->n_times; i++) {
        if (!is_used(fitting, i)) continue;
        const double far = errors[i] / FAR;
        const double weight = weight_of(fitting, i) / (FAR * FAR) / sqrt(1 + far * far);
        for (size_t k = 0; k < n; k++) {
            const double slope = slopes[k * fitting->n_times + i];
            change[k] -= weight * slope * errors[i];
            for (size_t l = 0; l < n; l++)
                normal[k][l] += weight * slope * slopes[l * fitting->n_times + i];
        }
    }
    /* Add the prior and the damping. */
    for (size_t k = 0; k < n; k++) {
        const double weight = device_efficiency_prior(k) * device_efficiency_prior(k);
        normal[k][k] += weight;
        normal[k][k] *= 1 + damping;
        change[k] -= weight * (log(*device_efficiency_at(efficiency, k)) - prior[k]);
    }
    solve(n, normal, change);
    for (size_t k = 0; k < n; k++) {
        const double step = fmax(-MAX_CHANGE, fmin(MAX_CHANGE, change[k]));
        *device_efficiency_at(efficiency, k) *= exp(step);
        largest = fmax(largest, fabs(step));
    }
    return largest;
}

/* Arrays of the fit. */
struct scratch {
    double *prior;  /* by efficiency: logarithm of its value before the fit */
    double *errors; /* by time */
    double *moved;
    double *slopes; /* by efficiency and time */
    size_t n;       /* efficiencies */
};

/* Changes the efficiencies until they fit to the times that is_used selects. */
static void optimize(struct fitting *fitting, const struct scratch *scratch, int rounds,
                     struct device_efficiency *efficiency) {
    double damping = 0.01;
    fitting->n_used[0] = fitting->n_used[1] = 0;
    for (size_t i = 0; i < fitting->n_times; i++)
        if (is_used(fitting, i)) fitting->n_used[fitting->times[i].node != NULL]++;
    if (fitting->n_used[0] + fitting->n_used[1] == 0) return;
    double loss = find_loss(fitting, efficiency, scratch->prior, scratch->errors);
    for (int round = 0; round < rounds; round++) {
        struct device_efficiency next = *efficiency;
        const double change =
            levenberg_marquardt_step(fitting, scratch->prior, scratch->n, damping, &next,
                                     scratch->errors, scratch->moved, scratch->slopes);
        const double next_loss = find_loss(fitting, &next, scratch->prior, scratch->errors);
        damping *= next_loss < loss ? 0.2 : 5;
        if (next_loss < loss) {
            loss = next_loss;
            *efficiency = next;
        }
        if (change < SMALL_CHANGE) break;
    }
}

/* Finds the error of each used time in a fit without the times of its fold. */
static void leave_out(struct fitting *fitting, const struct scratch *scratch,
                      const struct device_efficiency *efficiency) {
    for (fitting->left_out = 0; fitting->left_out < N_FOLDS; fitting->left_out++) {
        struct device_efficiency other = *efficiency;
        optimize(fitting, scratch, FOLD_ROUNDS, &other);
        for (size_t i = 0; i < fitting->n_times; i++) {
            struct timed_work *work = &fitting->works[i];
            if (work->fold != fitting->left_out) continue;
            const double expected = time_of(fitting, i, &other, &work->kind).expected;
            work->log_error = expected > 0 ? log(fitting->times[i].seconds / expected) : 0;
        }
    }
}

static int compare_doubles(const void *left, const void *right) {
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns the quantile of sorted values so that a new value is below it with that share. */
static double quantile(const double *sorted, size_t n, double share) {
    const double at = share * (double)(n + 1) - 1;
    const double inside = fmax(0, fmin((double)(n - 1), at));
    const size_t below = (size_t)inside;
    const double rest = inside - (double)below;
    return sorted[below] + (below + 1 < n ? rest * (sorted[below + 1] - sorted[below]) : 0);
}

/* Returns true if the error of a time decides the intervals: that of models, if any. */
static bool is_judged(const struct fitting *fitting, size_t i) {
    return fitting->works[i].n > 0 && fitting->works[i].width == fitting->width &&
           !fitting->times[i].held_out &&
           (!fitting->has_models || fitting->times[i].node == NULL);
}

/* Returns the number of different families of the times that decide. `values` is scratch. */
static double count_families(const struct fitting *fitting, double *values) {
    size_t n = 0;
    size_t n_families = 0;
    for (size_t i = 0; i < fitting->n_times; i++)
        if (is_judged(fitting, i) && is_used(fitting, i))
            values[n++] = fitting->works[i].family;
    if (n > 0) sort_stable(values, n, sizeof(*values), compare_doubles);
    for (size_t i = 0; i < n; i++) n_families += i == 0 || values[i] > values[i - 1];
    return (double)n_families;
}

/* Sets the intervals from the errors of the times that decide and are not in the left-out fold.
 * That of few families is mixed with that of an unseen device.
 * `values` is scratch. An interval of a kind with few times is mixed with that of all kinds. */
static void find_intervals(const struct fitting *fitting, double *values,
                           struct cm_calibration *ret) {
    double pooled[2] = {log(DEVICE_UNSEEN_LOW), log(DEVICE_UNSEEN_HIGH)};
    const double families = count_families(fitting, values);
    for (int kind = CM_N_TIME_KINDS; kind >= 0; kind--) { /* first: all kinds */
        size_t n = 0;
        for (size_t i = 0; i < fitting->n_times; i++)
            if (is_judged(fitting, i) && is_used(fitting, i) &&
                (kind == CM_N_TIME_KINDS || (int)fitting->works[i].kind == kind))
                values[n++] = fitting->works[i].log_error;
        if (n > 0) sort_stable(values, n, sizeof(*values), compare_doubles);
        const double weight = kind < CM_N_TIME_KINDS ? (double)n / (double)(n + POOLED)
                                                     : families / (families + FAMILIES);
        for (int side = 0; side < 2; side++) {
            double at = n > 0 ? quantile(values, n, side == 0 ? OUTSIDE : 1 - OUTSIDE) : 0;
            at = weight * at + (1 - weight) * pooled[side];
            if (kind == CM_N_TIME_KINDS) {
                pooled[side] = at;
                continue;
            }
            at = exp(at);
            *(side == 0 ? &ret->intervals[kind].low : &ret->intervals[kind].high) = at;
        }
    }
}

/* Sets the errors and intervals of the calibration. Coverage is that of intervals from other
 * families. */
static void find_errors(struct fitting *fitting, const struct scratch *scratch,
                        struct cm_calibration *ret) {
    size_t n = 0;
    size_t n_inside = 0;
    for (fitting->left_out = 0; fitting->left_out < N_FOLDS; fitting->left_out++) {
        find_intervals(fitting, scratch->errors, ret);
        for (size_t i = 0; i < fitting->n_times; i++) {
            const struct timed_work *work = &fitting->works[i];
            if (!is_judged(fitting, i) || work->fold != fitting->left_out) continue;
            const double ratio = exp(work->log_error);
            n_inside += ratio >= ret->intervals[work->kind].low &&
                        ratio <= ret->intervals[work->kind].high;
            scratch->moved[n++] = fabs(1 / ratio - 1);
        }
    }
    find_intervals(fitting, scratch->errors, ret);
    sort_stable(scratch->moved, n, sizeof(*scratch->moved), compare_doubles);
    ret->n_times = (int32_t)n;
    ret->median_error = quantile(scratch->moved, n, 0.5);
    ret->p90_error = quantile(scratch->moved, n, 0.9);
    ret->coverage = (double)n_inside / (double)n;
}

/* Fits to the times of one width. */
static struct device_calibration fit_width(struct fitting *fitting,
                                           const struct scratch *scratch) {
    struct device_calibration ret =
        device_calibration_find(&fitting->model, fitting->runtime, fitting->width);
    ret.runtime = fitting->runtime;
    ret.width = fitting->width;
    ret.basis = NULL;
    for (size_t i = 0; i < scratch->n; i++)
        scratch->prior[i] = log(*device_efficiency_at(&ret.efficiency, i));
    fitting->left_out = N_FOLDS;
    optimize(fitting, scratch, MAX_ROUNDS, &ret.efficiency);
    fitting->has_models = fitting->n_used[0] > 0;
    leave_out(fitting, scratch, &ret.efficiency);
    find_errors(fitting, scratch, &ret.fit);
    ret.fit.match = CM_CALIBRATION_EXACT;
    return ret;
}

/* Sets the modelled times of one width. */
static void model_times(struct fitting *fitting, const struct device_calibration *calibration) {
    for (size_t i = 0; i < fitting->n_times; i++) {
        struct cm_measured_time *time = &fitting->times[i];
        enum cm_time_kind kind;
        if (fitting->works[i].width != fitting->width) continue;
        const struct kernel_time modelled =
            time_of(fitting, i, &calibration->efficiency, &kind);
        time->expected = modelled.expected;
        time->lower_bound = modelled.lower_bound;
        time->low = modelled.expected * calibration->fit.intervals[kind].low;
        time->high = modelled.expected * calibration->fit.intervals[kind].high;
    }
}

/* Fits to the times of each width, and writes the calibrations. */
static int fit(struct fitting *fitting, const char *basis, FILE *out) {
    const size_t n_times = fitting->n_times;
    struct device_model *model = &fitting->model;
    struct scratch scratch = {.n = 0};
    struct json_writer json = {.out = out};
    bool is_done[N_WIDTHS] = {false};
    while (device_efficiency_name(scratch.n) != NULL) scratch.n++;
    BUG_ON(scratch.n > MAX_EFFICIENCIES);
    scratch.prior = arena_array(fitting->arena, scratch.n, sizeof(*scratch.prior));
    scratch.errors = arena_array(fitting->arena, n_times, sizeof(*scratch.errors));
    scratch.moved = arena_array(fitting->arena, n_times, sizeof(*scratch.moved));
    scratch.slopes = arena_array(fitting->arena, scratch.n * n_times, sizeof(*scratch.slopes));
    struct device_calibration *all =
        arena_array(fitting->arena, model->n_calibrations + N_WIDTHS, sizeof(*all));
    if (arena_failed(fitting->arena)) return diag_no_memory(fitting->diag);
    struct device_calibration *fitted = &all[model->n_calibrations];
    for (size_t i = 0; i < model->n_calibrations; i++) all[i] = model->calibrations[i];
    model->calibrations = all;
    json_begin(&json, '{');
    json_break_line(&json, 2, false);
    json_key_string(&json, "basis", basis);
    size_t n_fitted = 0;
    for (int width = 0; width < N_WIDTHS; width++) {
        fitting->width = (enum device_width)width;
        fitting->left_out = N_FOLDS;
        for (size_t i = 0; i < n_times && !is_done[width]; i++)
            is_done[width] = is_used(fitting, i);
        if (!is_done[width]) continue;
        fitted[n_fitted] = fit_width(fitting, &scratch);
        model_times(fitting, &fitted[n_fitted]);
        json_break_line(&json, 2, false);
        device_calibration_write(&fitted[n_fitted++], &json);
    }
    model->n_calibrations += n_fitted;
    for (int width = 0; width < N_WIDTHS; width++) { /* times that are all held out */
        fitting->width = (enum device_width)width;
        const struct device_calibration nearest =
            device_calibration_find(model, fitting->runtime, fitting->width);
        if (!is_done[width]) model_times(fitting, &nearest);
    }
    json_break_line(&json, 0, true);
    json_end(&json, '}');
    fputc('\n', out);
    return CM_OK;
}

int cm_device_fit(const char *device, enum cm_runtime runtime, const char *basis,
                  struct cm_measured_time *times, size_t n_times,
                  struct cm_diagnostics *diagnostics, FILE *out) {
    struct fitting fitting = {.diag = diagnostics,
                              .device = device,
                              .runtime = runtime,
                              .left_out = N_FOLDS,
                              .n_times = n_times,
                              .times = times};
    int status = arguments_check(ARGUMENT_cm_measured_time, times, n_times,
                                 device && basis && times && out, diagnostics);
    if (status == CM_OK && runtime >= CM_N_RUNTIMES)
        status = diag_error(diagnostics, DIAG_USAGE, "runtime must be from 0 to %d, got %d",
                            CM_N_RUNTIMES - 1, (int)runtime);
    if (status < 0) return status;
    if (runtime == CM_RUNTIME_AUTO) fitting.runtime = CM_RUNTIME_TORCH_COMPILE;
    fitting.arena = arena_new("device fit", 0);
    if (!fitting.arena) return diag_finish(diagnostics, diag_no_memory(diagnostics));
    fitting.works = arena_array(fitting.arena, n_times, sizeof(*fitting.works));
    struct cm_reason reason = {""};
    status = CM_NO_MEMORY;
    const int found = device_find(device, fitting.arena, &fitting.model, &reason);
    if (fitting.works && found != CM_BACKEND_NO_MEMORY) status = CM_OK;
    if (status == CM_OK && found != CM_BACKEND_OK)
        status = diag_error(diagnostics, DIAG_USAGE, "%s", reason.text);
    for (size_t i = 0; i < n_times && status == CM_OK; i++)
        if (!(times[i].seconds > 0) || !isfinite(times[i].seconds))
            status = diag_error(diagnostics, DIAG_USAGE, "%s: seconds must be > 0, got %g",
                                times[i].model, times[i].seconds);
        else if (times[i].optimizer && !optimizers_find(times[i].optimizer))
            status = diag_error(diagnostics, DIAG_USAGE, "%s: optimizer '%s' not found",
                                times[i].model, times[i].optimizer);
    if (status == CM_OK) status = load_works(&fitting);
    if (status == CM_OK) status = fit(&fitting, basis, out);
    status = arena_end(fitting.arena, status);
    return diag_finish(diagnostics, status);
}
