/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits the efficiencies of a device (backends/device/kernel_time.h) to measured times. A model
 * is analysed once; its time is then a sum over its distinct primitives, so that a fit takes
 * seconds. It uses Levenberg-Marquardt with difference quotients, on logarithms of times and
 * efficiencies.
 */
#include "costmodel/fit.h"

#include <math.h>
#include <string.h>

#include "api/handle.h"
#include "backends/device/devices.h"
#include "backends/device/kernel_time.h"
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
#include "support/option_names.h"
#include "support/text.h"
#include "timing/gradient_kernels.h"
#include "timing/kernels.h"
#include "timing/pipeline.h"
#include "timing/primitives.h"

#define MAX_EFFICIENCIES 16 /* >= number of names of device_efficiency_name */
#define MAX_ROUNDS       30
#define STEP             0.02 /* of the logarithm of an efficiency, for a difference quotient */
#define PRIOR            0.25 /* weight of the change of an efficiency; all times together: 1 */
#define FAR              0.1  /* of the pseudo-Huber loss: errors above it count linearly */
#define MAX_CHANGE       0.3  /* of the logarithm of an efficiency in one round */
#define SMALL_CHANGE     0.005

/* The kernels of one measured time: distinct primitives and how often each runs. */
struct timed_work {
    size_t n;
    const struct cm_primitive *primitives;
    const double *runs;
    enum cm_precision precision;
    int64_t run_bytes; /* of a whole model: as in kernels_table */
};

struct fitting {
    struct arena *arena;
    struct cm_diagnostics *diag;
    const char *device;
    struct device_model model;
    enum cm_runtime runtime;
    size_t n_times;
    struct cm_measured_time *times;
    struct timed_work *works; /* by index of `times`; n is 0 if the time covers no primitive */
};

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
    *ret = (struct timed_work){0, items, runs, analysis->options->precision,
                               time->node ? 0 : timing->kernels->run_bytes};
    for (size_t i = 0; i < table->n; i++) {
        if (runs_of[i] == 0) continue;
        items[ret->n] = table->items[i];
        runs[ret->n++] = runs_of[i];
    }
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
 * dtype the device has no rate. */
static struct kernel_time time_of(const struct fitting *fitting, const struct timed_work *work,
                                  const struct device_efficiency *efficiency) {
    struct kernel_time sum = {0};
    for (size_t i = 0; i < work->n; i++) {
        const struct cm_primitive *primitive = &work->primitives[i];
        if (primitive->flops > 0 &&
            kernel_rate(&fitting->model, primitive, work->precision) == RATE_NONE)
            continue;
        const struct kernel_time time =
            kernel_time(&fitting->model, efficiency, primitive, work->precision);
        sum.expected += work->runs[i] * time.expected;
        sum.lower_bound += work->runs[i] * time.lower_bound;
    }
    const double from_memory = (double)work->run_bytes - (double)fitting->model.cache_bytes;
    sum.lower_bound = fmax(sum.lower_bound, from_memory / fitting->model.bandwidth);
    return sum;
}

/* Sets errors[i] to log(modelled / measured); 0 for held-out times and times without work. */
static void find_log_errors(const struct fitting *fitting,
                            const struct device_efficiency *efficiency, double *errors) {
    for (size_t i = 0; i < fitting->n_times; i++) {
        const double modelled = time_of(fitting, &fitting->works[i], efficiency).expected;
        errors[i] = modelled > 0 && !fitting->times[i].held_out
                        ? log(modelled / fitting->times[i].seconds)
                        : 0;
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
        loss += 2 * (sqrt(1 + far * far) - 1) / (double)fitting->n_times;
    }
    for (size_t k = 0; device_efficiency_name(k) != NULL; k++) {
        const double change = log(*device_efficiency_at(efficiency, k)) - prior[k];
        loss += PRIOR * PRIOR * change * change;
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
    const double share = 1 / sqrt((double)fitting->n_times);
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
        const double far = errors[i] / FAR;
        const double weight = share * share / (FAR * FAR) / sqrt(1 + far * far);
        for (size_t k = 0; k < n; k++) {
            const double slope = slopes[k * fitting->n_times + i];
            change[k] -= weight * slope * errors[i];
            for (size_t l = 0; l < n; l++)
                normal[k][l] += weight * slope * slopes[l * fitting->n_times + i];
        }
    }
    /* Add the prior and the damping. */
    for (size_t k = 0; k < n; k++) {
        normal[k][k] += PRIOR * PRIOR;
        normal[k][k] *= 1 + damping;
        change[k] -= PRIOR * PRIOR * (log(*device_efficiency_at(efficiency, k)) - prior[k]);
    }
    solve(n, normal, change);
    for (size_t k = 0; k < n; k++) {
        const double step = fmax(-MAX_CHANGE, fmin(MAX_CHANGE, change[k]));
        *device_efficiency_at(efficiency, k) *= exp(step);
        largest = fmax(largest, fabs(step));
    }
    return largest;
}

static int fit(struct fitting *fitting) {
    struct device_efficiency *efficiency = &fitting->model.efficiency[fitting->runtime];
    double prior[MAX_EFFICIENCIES];
    size_t n = 0;
    for (; device_efficiency_name(n) != NULL; n++)
        prior[n] = log(*device_efficiency_at(efficiency, n));
    double *errors = arena_array(fitting->arena, fitting->n_times, sizeof(*errors));
    double *moved = arena_array(fitting->arena, fitting->n_times, sizeof(*moved));
    double *slopes = arena_array(fitting->arena, n * fitting->n_times, sizeof(*slopes));
    if (!errors || !moved || !slopes) return diag_no_memory(fitting->diag);
    double damping = 0.01;
    double loss = find_loss(fitting, efficiency, prior, errors);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        struct device_efficiency next = *efficiency;
        const double change =
            levenberg_marquardt_step(fitting, prior, n, damping, &next, errors, moved, slopes);
        const double next_loss = find_loss(fitting, &next, prior, errors);
        damping *= next_loss < loss ? 0.2 : 5;
        if (next_loss < loss) {
            loss = next_loss;
            *efficiency = next;
        }
        if (change < SMALL_CHANGE) break;
    }
    for (size_t i = 0; i < fitting->n_times; i++) {
        const struct kernel_time time = time_of(fitting, &fitting->works[i], efficiency);
        fitting->times[i].expected = time.expected;
        fitting->times[i].lower_bound = time.lower_bound;
    }
    return CM_OK;
}

static void write_calibration(struct fitting *fitting, const char *basis, FILE *out) {
    struct json_writer json = {.out = out};
    json_begin(&json, '{');
    json_break_line(&json, 2, false);
    json_key_string(&json, "basis", basis);
    json_break_line(&json, 2, false);
    json_write_key(&json, option_runtime_name((int32_t)fitting->runtime));
    device_efficiency_write(&fitting->model.efficiency[fitting->runtime], &json);
    json_break_line(&json, 0, true);
    json_end(&json, '}');
    fputc('\n', out);
}

int cm_device_fit(const char *device, enum cm_runtime runtime, const char *basis,
                  struct cm_measured_time *times, size_t n_times,
                  struct cm_diagnostics *diagnostics, FILE *out) {
    struct fitting fitting = {.diag = diagnostics,
                              .device = device,
                              .runtime = runtime,
                              .n_times = n_times,
                              .times = times};
    int status = arguments_check(ARGUMENT_cm_measured_time, times, n_times,
                                 device && basis && times && out, diagnostics);
    if (status == CM_OK && runtime >= CM_N_RUNTIMES)
        status = diag_error(diagnostics, DIAG_USAGE, "runtime must be from 0 to %d, got %d",
                            CM_N_RUNTIMES - 1, (int)runtime);
    if (status < 0) return status;
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
    if (status == CM_OK) status = fit(&fitting);
    if (status == CM_OK) write_calibration(&fitting, basis, out);
    status = arena_end(fitting.arena, status);
    return diag_finish(diagnostics, status);
}
