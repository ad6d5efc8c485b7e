/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake backend: reads times from a file, to test the code around a backend, faults included.
 * Each line is a prefix of a primitive's text (primitive_print), a colon and the result:
 *
 *     conv f32 1x3x224x224: 0.002 0.0021    seconds, used in turn
 *     conv: 0.001 / 0.0005                  cold / warm
 *     conv: 0.003 | 0.001 0.004             cold and warm; two kernels and their times
 *     conv: 0.003 | lost 0.001 0.004        the same; timing the kernels loses the device
 *     pool: proxy 0.003                     measured as a proxy
 *     gemm: hang                            or crash, lost, refuse, memory, view
 *     open: hang                            opening the device: hang, crash, refuse
 *     network: 0.02                         time of any whole network
 *
 * The first line that matches is used. A primitive that no line matches is refused.
 */
#include "fake.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/plugin/reason.h"
#include "backends/plugin/settings.h"
#include "backends/primitive.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#define MAX_BYTES ((size_t)65536)
#define MAX_ROWS  256
#define MAX_TIMES 32

enum fake_action {
    FAKE_TIMES,
    FAKE_PROXY,
    FAKE_VIEW,
    FAKE_REFUSE,
    FAKE_NO_MEMORY,
    FAKE_LOST,
    FAKE_CRASH,
    FAKE_HANG,
    N_FAKE_ACTIONS
};

static const char *const action_words[N_FAKE_ACTIONS] = {
    [FAKE_TIMES] = "times",   [FAKE_PROXY] = "proxy",      [FAKE_VIEW] = "view",
    [FAKE_REFUSE] = "refuse", [FAKE_NO_MEMORY] = "memory", [FAKE_LOST] = "lost",
    [FAKE_CRASH] = "crash",   [FAKE_HANG] = "hang",
};

struct fake_times {
    size_t n;
    double seconds[MAX_TIMES];
};

struct fake_row {
    char *prefix;
    enum fake_action action;
    struct fake_times times[2];      /* indexed by enum cm_cache */
    enum fake_action kernels_action; /* fault while the kernels are timed; FAKE_TIMES: none */
    struct fake_times kernels;       /* empty: one kernel, without a time of its own */
};

struct cm_device {
    struct arena *arena;
    size_t n_rows;
    struct fake_row *rows;
};

struct cm_plan {
    struct arena *arena;
    const struct fake_row *row;
    size_t n_runs[2]; /* runs so far, indexed by enum cm_cache */
};

/* Injects a fault: crashes, hangs, or sets the reason and returns the status of the fault.
 * Returns CM_BACKEND_OK if the action is not a fault. */
static int inject_fault(enum fake_action action, struct cm_reason *reason) {
    if (action == FAKE_CRASH) {
        /* ASan and valgrind do not report SIGKILL. */
        const struct rlimit none = {0, 0};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)raise(SIGKILL);
    }
    if (action == FAKE_HANG)
        for (;;) (void)pause();
    if (action == FAKE_REFUSE)
        return reason_fail(reason, CM_BACKEND_REFUSED, "the table refuses it");
    if (action == FAKE_NO_MEMORY)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "the table has no memory for it");
    if (action == FAKE_LOST)
        return reason_fail(reason, CM_BACKEND_BROKEN, "the table loses the device");
    return CM_BACKEND_OK;
}

static char *trim(char *text) {
    while (*text == ' ' || *text == '\t') text++;
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r", text[length - 1]) != NULL) text[--length] = '\0';
    return text;
}

/* Consumes a keyword such as "hang" at *at; returns FAKE_TIMES if there is none. */
static enum fake_action take_action(char **at) {
    for (int i = FAKE_TIMES + 1; i < N_FAKE_ACTIONS; i++) {
        if (!text_starts_with(*at, action_words[i])) continue;
        *at = trim(*at + strlen(action_words[i]));
        return (enum fake_action)i;
    }
    return FAKE_TIMES;
}

/* Parses times in seconds; returns false if there is none, too many, or one is not > 0. */
static bool take_times(char *at, struct fake_times *ret) {
    while (*at != '\0') {
        char *end = at;
        const double seconds = strtod(at, &end);
        if (end == at || !(seconds > 0) || ret->n == MAX_TIMES) return false;
        ret->seconds[ret->n++] = seconds;
        at = trim(end);
    }
    return ret->n > 0;
}

static bool read_row(char *line, struct fake_row *ret) {
    char *colon = strchr(line, ':');
    if (colon == NULL) return false;
    *colon = '\0';
    ret->prefix = trim(line);
    char *at = trim(colon + 1);
    ret->action = take_action(&at);
    if (ret->action >= FAKE_VIEW) return *at == '\0';
    char *bar = strchr(at, '|');
    if (bar != NULL) {
        *bar = '\0';
        char *kernels = trim(bar + 1);
        ret->kernels_action = take_action(&kernels);
        if (!take_times(kernels, &ret->kernels) || ret->kernels.n < 2 ||
            ret->kernels.n > CM_MAX_KERNELS)
            return false;
    }
    char *slash = strchr(at, '/');
    if (slash != NULL) *slash = '\0';
    if (!take_times(trim(at), &ret->times[CM_COLD])) return false;
    if (slash != NULL) return take_times(trim(slash + 1), &ret->times[CM_WARM]);
    ret->times[CM_WARM] = ret->times[CM_COLD];
    return true;
}

static int read_table(const char *path, struct cm_device *device, struct cm_reason *reason) {
    struct source *source = NULL;
    size_t got = 0;
    char *text = arena_alloc(device->arena, MAX_BYTES + 1);
    device->rows = arena_array(device->arena, MAX_ROWS, sizeof(*device->rows));
    if (text == NULL || device->rows == NULL)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    int status = source_open(path, NULL, &source);
    if (status == CM_OK) status = source_read(source, text, MAX_BYTES, &got, NULL);
    source_close(source);
    if (status == CM_NO_MEMORY)
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (status != CM_OK)
        return reason_fail(reason, CM_BACKEND_REFUSED, "the table '%s' cannot be read", path);
    for (size_t number = 1; *text != '\0'; number++) {
        const size_t length = strcspn(text, "\n");
        char *next = text + length + (text[length] == '\n');
        text[length] = '\0';
        char *line = trim(text);
        text = next;
        if (line[0] == '\0' || line[0] == '#') continue;
        if (device->n_rows == MAX_ROWS || !read_row(line, &device->rows[device->n_rows]))
            return reason_fail(reason, CM_BACKEND_REFUSED,
                               "line %zu of the table: expected 'primitive: seconds...'",
                               number);
        device->n_rows++;
    }
    return CM_BACKEND_OK;
}

static const struct fake_row *find_row(const struct cm_device *device, const char *text) {
    for (size_t i = 0; i < device->n_rows; i++)
        if (text_starts_with(text, device->rows[i].prefix)) return &device->rows[i];
    return NULL;
}

static int fake_open(const struct cm_settings *settings, struct cm_device **ret,
                     struct cm_reason *reason) {
    const char *table = settings_get(settings, "table");
    int status = settings_check(settings, &fake_backend, reason);
    if (status != CM_BACKEND_OK) return status;
    if (table == NULL)
        return reason_fail(reason, CM_BACKEND_REFUSED, "a table is required: fake:table=FILE");
    struct arena *arena = arena_new("device", 0);
    struct cm_device *device = arena ? arena_alloc(arena, sizeof(*device)) : NULL;
    if (device == NULL) {
        arena_free(arena);
        return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    }
    device->arena = arena;
    status = read_table(table, device, reason);
    const struct fake_row *row = status == CM_BACKEND_OK ? find_row(device, "open") : NULL;
    if (row != NULL) status = inject_fault(row->action, reason);
    if (status == CM_BACKEND_OK)
        *ret = device;
    else
        arena_free(arena);
    return status;
}

static void fake_facts(const struct cm_device *device, struct cm_device_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    (void)snprintf(ret->name, sizeof(ret->name), "a table of %zu rows", device->n_rows);
    (void)snprintf(ret->version, sizeof(ret->version), "1");
    ret->n_units = 1;
}

static void fake_close(struct cm_device *device) {
    arena_free(device->arena);
}

/* Plans a primitive, or a network if NULL: finds its row and injects its fault. */
static int fake_plan(struct cm_device *device, const struct cm_primitive *primitive,
                     struct cm_plan **ret, struct cm_reason *reason) {
    struct text text;
    struct arena *arena = arena_new("plan", 0);
    if (arena == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    struct cm_plan *plan = arena_alloc(arena, sizeof(*plan));
    text_init(&text, arena);
    if (primitive != NULL)
        primitive_print(primitive, &text);
    else
        text_append(&text, "network");
    const struct fake_row *row = find_row(device, text_string(&text));
    int status = CM_BACKEND_OK;
    if (plan == NULL || text.failed)
        status = reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    else if (row == NULL)
        status = reason_fail(reason, CM_BACKEND_REFUSED, "the table has no row for %s",
                             primitive != NULL ? text_string(&text) : "a network");
    else
        status = inject_fault(row->action, reason);
    if (status != CM_BACKEND_OK) {
        arena_free(arena);
        return status;
    }
    *plan = (struct cm_plan){arena, row, {0, 0}};
    *ret = plan;
    return CM_BACKEND_OK;
}

/* Checks that every operand lies in its block, which other backends assume: an operand outside
 * its block is a bug of the caller. */
static int fake_network(struct cm_device *device, const struct cm_network *network,
                        struct cm_plan **ret, struct cm_reason *reason) {
    for (uint32_t i = 0; i < network->n_steps; i++) {
        const struct cm_network_step *step = &network->steps[i];
        const struct cm_primitive *primitive = &network->primitives[step->primitive];
        for (int32_t k = 0; k < primitive->n_inputs; k++)
            BUG_ON(!primitive_fits(&primitive->inputs[k], step->inputs[k], network));
        for (int32_t k = 0; k < primitive->n_outputs; k++)
            BUG_ON(!primitive_fits(&primitive->outputs[k], step->outputs[k], network));
    }
    return fake_plan(device, NULL, ret, reason);
}

/* Seconds of a view. Nothing runs, but a time of 0 would be refused. */
#define VIEW_S 1e-9

static int fake_run(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
                    struct cm_reason *reason) {
    const struct fake_times *times = &plan->row->times[cache];
    (void)reason;
    *ret_seconds = n * VIEW_S;
    if (times->n > 0) *ret_seconds = n * times->seconds[plan->n_runs[cache]++ % times->n];
    return CM_BACKEND_OK;
}

static void fake_plan_facts(const struct cm_plan *plan, struct cm_plan_facts *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->state = CM_INVENTED;
    if (plan->row->action == FAKE_VIEW) ret->state = CM_VIEW;
    if (plan->row->action == FAKE_PROXY) {
        ret->state = CM_PROXY;
        (void)reason_fail(&ret->reason, 0, "a row of the table instead");
    }
    ret->how.workspace_bytes = 4096;
    ret->how.n_kernels = plan->row->kernels.n > 0 ? (int32_t)plan->row->kernels.n : 1;
    for (int32_t i = 0; i < ret->how.n_kernels; i++) {
        struct cm_kernel *kernel = &ret->how.kernels[i];
        kernel->calls = 1;
        if (i == 0)
            (void)snprintf(kernel->name, sizeof(kernel->name), "fake_%s", plan->row->prefix);
        else
            (void)snprintf(kernel->name, sizeof(kernel->name), "fake_%s kernel %d",
                           plan->row->prefix, (int)i + 1);
    }
}

static int fake_run_kernels(struct cm_plan *plan, double *ret_seconds,
                            struct cm_reason *reason) {
    const struct fake_times *kernels = &plan->row->kernels;
    for (size_t i = 0; i < kernels->n; i++) ret_seconds[i] = kernels->seconds[i];
    return inject_fault(plan->row->kernels_action, reason);
}

static void fake_drop(struct cm_plan *plan) {
    arena_free(plan->arena);
}

static const struct cm_backend_option fake_options[] = {
    {"table", "FILE", "the times, one primitive per line"},
    {"cache", "invented", "cache the times between runs, for tests"},
    {NULL, NULL, NULL},
};

const struct cm_backend fake_backend = {
    .abi = CM_BACKEND_ABI,
    .size = sizeof(struct cm_backend),
    .name = "fake",
    .summary = "times from a file, for tests; nothing runs",
    .options = fake_options,
    .open = fake_open,
    .facts = fake_facts,
    .close = fake_close,
    .plan = fake_plan,
    .run = fake_run,
    .plan_facts = fake_plan_facts,
    .drop = fake_drop,
    .network = fake_network,
    .run_kernels = fake_run_kernels,
};

__attribute__((visibility("default"))) cm_backend_entry costmodel_backend;

const struct cm_backend *costmodel_backend(uint32_t abi) {
    return abi == CM_BACKEND_ABI ? &fake_backend : NULL;
}
