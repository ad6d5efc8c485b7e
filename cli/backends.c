/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel backends`: lists the backends, whether their devices are usable, and why not. Each
 * device is opened in a child process, as for a measurement. */
#include "cli/command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "backends/backend_registry.h"
#include "backends/device/collectives.h"
#include "backends/device/devices.h"
#include "backends/plugin/settings.h"
#include "backends/process/subprocess.h"
#include "cli/names.h"
#include "cli/options.h"
#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/json/json_writer.h"
#include "support/option_names.h"
#include "support/text.h"

#define MAX_COLUMNS ((size_t)76)

enum format { FORMAT_TEXT, FORMAT_JSON };

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"}, {"json", FORMAT_JSON, NULL}, {.name = NULL}};

/* A backend and the facts of its device. */
struct found {
    struct backends_entry entry;
    bool usable;
    struct cm_device_facts facts;
};

struct listing {
    const struct invocation *call;
    int format; /* enum format */
    struct places places;
    size_t n;
    struct found *items;
};

/* clang-format off */
const struct option backends_options[] = {
    {.heading = "Output", .name = "format", .letter = 'f',
     OPTION_INTO(CHOICE, struct listing, format), .value = "FORMAT", .choices = formats,
     .help = "format of the list:"},
    {.name = NULL},
};
/* clang-format on */

bool names_of_backends(const struct option_query *query, size_t index,
                       struct option_choice *ret) {
    struct places places;
    struct backends_list list;
    if (loader_places(query->call->arena, &places) != CM_OK ||
        backends_list(&places, query->call->arena, &list) != CM_OK || index >= list.n)
        return false;
    const struct backends_entry *entry = &list.items[index];
    *ret =
        (struct option_choice){entry->name, 0, entry->backend ? entry->backend->summary : NULL};
    return true;
}

/* `query->value` is "NAME:...". */
bool names_of_settings(const struct option_query *query, size_t index,
                       struct option_choice *ret) {
    struct places places;
    struct cm_reason reason;
    const struct cm_backend *backend = NULL;
    struct arena *arena = query->call->arena;
    const char *name = arena_strndup(arena, query->value, strcspn(query->value, ":"));
    if (name == NULL || loader_places(arena, &places) != CM_OK ||
        backends_find(&places, name, arena, &backend, &reason) != CM_BACKEND_OK)
        return false;
    for (const struct cm_backend_option *at = backend->options; at && at->name; at++) {
        if (index-- > 0) continue;
        *ret = (struct option_choice){arena_printf(arena, "%s=", at->name), 0, at->help};
        return ret->name != NULL;
    }
    return false;
}

/* Opens the device in a child process. Sets found->usable and facts, or else the reason. */
static void try_device(const struct listing *listing, const struct cm_settings *settings,
                       struct found *found) {
    struct subprocess_setup setup;
    struct subprocess *child = NULL;
    if (found->entry.backend == NULL) return;
    subprocess_setup_init(&setup, found->entry.backend);
    setup.settings = *settings;
    if (subprocess_start(&setup, listing->call->arena, &child, &found->entry.reason) !=
        CM_BACKEND_OK)
        return;
    found->usable = true;
    found->facts = *subprocess_facts(child);
    subprocess_stop(child);
}

static int find_all(struct listing *listing) {
    const struct cm_settings none = {.n = 0};
    struct backends_list list;
    struct arena *arena = listing->call->arena;
    int status = backends_list(&listing->places, arena, &list);
    if (status != CM_OK) return diag_no_memory(listing->call->diag);
    listing->items = arena_array(arena, list.n, sizeof(*listing->items));
    if (listing->items == NULL) return diag_no_memory(listing->call->diag);
    listing->n = list.n;
    for (size_t i = 0; i < list.n; i++) {
        listing->items[i].entry = list.items[i];
        try_device(listing, &none, &listing->items[i]);
    }
    return CM_OK;
}

static int find_one(struct listing *listing, const char *spec) {
    struct cm_settings settings;
    const char *name = NULL;
    struct arena *arena = listing->call->arena;
    struct found *found = arena_alloc(arena, sizeof(*found));
    if (found == NULL) return diag_no_memory(listing->call->diag);
    struct cm_reason *reason = &found->entry.reason;
    if (settings_parse(spec, arena, &name, &settings, reason) != CM_BACKEND_OK)
        return options_fault(listing->call, "'%s': %s", spec, reason->text);
    found->entry.name = name;
    listing->items = found;
    listing->n = 1;
    if (backends_find(&listing->places, name, arena, &found->entry.backend, reason) ==
        CM_BACKEND_OK)
        try_device(listing, &settings, found);
    return CM_OK;
}

static const char *kind_of(const struct cm_backend *backend) {
    if (backend == NULL) return "-";
    return backend->estimate ? "models" : "measures";
}

static void print_label(struct arena *arena, const char *label, const char *string) {
    if (string == NULL || string[0] == '\0') return;
    printf("  %-8s %s\n", label, text_name(arena, string));
}

static void print_safe(const struct listing *listing, const char *label, const char *string) {
    print_label(listing->call->arena, label, string);
}

static void print_text(const struct listing *listing, const struct found *found) {
    const struct cm_backend *backend = found->entry.backend;
    printf("%-10s %-9s %s\n", text_name(listing->call->arena, found->entry.name),
           kind_of(backend), found->usable ? "usable" : "not usable");
    print_safe(listing, "summary", backend ? backend->summary : NULL);
    print_safe(listing, "module", found->entry.path);
    print_safe(listing, "reason", found->usable ? "" : found->entry.reason.text);
    print_safe(listing, "device", found->facts.name);
    print_safe(listing, found->facts.modelled ? "source" : "version", found->facts.version);
    print_safe(listing, "warning", found->facts.warning);
    const struct cm_backend_option *option = backend ? backend->options : NULL;
    for (; option != NULL && option->name != NULL; option++)
        printf("  option   %s=%s: %s\n", option->name, option->value, option->help);
}

/* Columns of the device table: product rates by element type. */
static const struct {
    const char *name;
    enum cm_element element;
    enum cm_precision precision;
} figure_columns[] = {
    {"fp64", CM_F64, CM_PRECISION_AS_STORED}, {"fp32", CM_F32, CM_PRECISION_AS_STORED},
    {"tf32", CM_F32, CM_PRECISION_TF32},      {"fp16", CM_F16, CM_PRECISION_FP16},
    {"bf16", CM_BF16, CM_PRECISION_BF16},     {"fp8", CM_F8E4M3, CM_PRECISION_FP8},
    {"int8", CM_I8, CM_PRECISION_INT8},
};

#define N_FIGURE_COLUMNS (sizeof(figure_columns) / sizeof(figure_columns[0]))

#define NAME_COLUMN 21 /* the longest name */

/* Prints "-" for 0: unknown. A figure below 0.1 has a digit less, to fit. */
static void print_figure(int width, double value) {
    if (value > 0)
        printf(" %*.*g", width, value < 0.1 ? 3 : 4, value);
    else
        printf(" %*s", width, "-");
}

static int print_figures(const struct listing *listing) {
    printf("\nbuilt-in devices: dense products in 10^12 operations/s, memory in GB/s and GB\n"
           "  %-*s",
           NAME_COLUMN, "device");
    for (size_t i = 0; i < N_FIGURE_COLUMNS; i++) printf(" %6s", figure_columns[i].name);
    printf(" %6s %5s\n", "GB/s", "GB");
    for (size_t i = 0; device_name_at(i) != NULL; i++) {
        struct device_model model;
        struct cm_reason reason = {""};
        if (device_built_in(device_name_at(i), listing->call->arena, &model, &reason) !=
            CM_BACKEND_OK)
            return diag_no_memory(listing->call->diag);
        printf("  %-*s", NAME_COLUMN, model.name);
        for (size_t k = 0; k < N_FIGURE_COLUMNS; k++) {
            const enum device_rate rate = device_product_rate(&model, figure_columns[k].element,
                                                              figure_columns[k].precision);
            print_figure(6, rate == RATE_NONE ? 0 : model.rates[rate] / 1e12);
        }
        print_figure(6, model.bandwidth / 1e9);
        print_figure(5, (double)model.memory_bytes / 1e9);
        printf("\n");
    }
    return CM_OK;
}

static void print_link(const struct invocation *call, const char *label,
                       const struct device_link *link) {
    if (link->bytes_per_s <= 0) return;
    print_label(call->arena, label,
                arena_printf(call->arena, "%s, %.4g GB/s in each direction", link->name,
                             link->bytes_per_s / 1e9));
}

/* Prints the links of a device and its calibrations, each with the error of its modelled times.
 */
static int print_calibrations(const struct invocation *call, const char *name) {
    struct device_model model;
    struct cm_reason reason = {""};
    const int status = device_find(name, call->arena, &model, &reason);
    if (status == CM_BACKEND_NO_MEMORY) return diag_no_memory(call->diag);
    if (status != CM_BACKEND_OK) return options_fault(call, "%s", reason.text);
    const struct device_link link = device_link_find(&model);
    printf("%s\n", text_name(call->arena, model.title));
    print_link(call, "link", &link);
    print_link(call, "network", &model.network);
    if (model.basis) print_label(call->arena, "fitted to", model.basis);
    if (model.n_calibrations == 0) {
        printf("  not calibrated: expected times use defaults of the device's generation\n");
        return CM_OK;
    }
    printf("  %-14s %-6s %6s %13s %16s %9s\n", "runtime", "width", "times", "median error",
           "90th percentile", "coverage");
    for (size_t i = 0; i < model.n_calibrations; i++) {
        const struct device_calibration *item = &model.calibrations[i];
        const struct cm_calibration *fit = &item->fit;
        printf("  %-14s %-6s", option_runtime_name((int32_t)item->runtime),
               item->width == WIDTH_ANY ? "any" : device_width_name(item->width));
        if (fit->n_times > 0)
            printf(" %6d %11.1f %% %14.1f %% %7.0f %%\n", (int)fit->n_times,
                   100 * fit->median_error, 100 * fit->p90_error, 100 * fit->coverage);
        else
            printf(" %6s %13s %16s %9s\n", "-", "-", "-", "-");
    }
    printf("\nErrors are those of models whose family the fit did not see. Other combinations "
           "have\n"
           "the calibration of the nearest one, and an interval of %.1f to %.1f times the "
           "expected\n"
           "time (docs/times.md).\n",
           DEVICE_UNSEEN_LOW, DEVICE_UNSEEN_HIGH);
    return CM_OK;
}

/* Writes null for an empty string. */
static void write_member(struct json_writer *json, const char *key, const char *string) {
    json_key_string(json, key, string == NULL || string[0] == '\0' ? NULL : string);
}

static void write_backend(struct json_writer *json, const struct found *found) {
    const struct cm_backend *backend = found->entry.backend;
    json_break_line(json, 4, false);
    json_begin(json, '{');
    json_key_string(json, "name", found->entry.name);
    write_member(json, "kind", backend ? kind_of(backend) : NULL);
    write_member(json, "module", found->entry.path);
    json_key_bool(json, "usable", found->usable);
    write_member(json, "reason", found->usable ? NULL : found->entry.reason.text);
    if (found->usable) {
        const struct cm_device_facts *facts = &found->facts;
        json_break_line(json, 5, false);
        json_open(json, "device", '{');
        json_key_string(json, "name", facts->name);
        write_member(json, facts->modelled ? "source" : "version", facts->version);
        write_member(json, "architecture", facts->architecture);
        write_member(json, "address", facts->address);
        write_member(json, "warning", facts->warning);
        json_key_integer(json, "memory_bytes", facts->memory_bytes);
        json_key_integer(json, "cache_bytes", facts->cache_bytes);
        json_key_integer(json, "units", facts->n_units);
        json_key_integer(json, "threads_per_unit", facts->threads_a_unit);
        json_key_bool(json, "has_tensor_cores", facts->has_tensor_cores);
        json_write_key(json, "bandwidth");
        json_write_double(json, facts->bandwidth, 17);
        json_write_key(json, "floor");
        json_write_double(json, facts->floor, 17);
        json_end(json, '}');
    }
    json_end(json, '}');
}

static void write_json(const struct listing *listing) {
    struct json_writer json = {.out = stdout, .spaced = true};
    json_begin(&json, '{');
    json_break_line(&json, 2, false);
    json_key_string(&json, "schema", "costmodel/backends/1");
    json_break_line(&json, 2, false);
    json_open(&json, "backends", '[');
    for (size_t i = 0; i < listing->n; i++) write_backend(&json, &listing->items[i]);
    json_break_line(&json, 2, true);
    json_end(&json, ']');
    json_break_line(&json, 2, false);
    json_open(&json, "places", '[');
    for (size_t i = 0; i < listing->places.n; i++) {
        json_break_line(&json, 4, false);
        json_begin(&json, '{');
        json_key_string(&json, "path", listing->places.items[i].path);
        write_member(&json, "reason", listing->places.items[i].reason.text);
        json_end(&json, '}');
    }
    json_break_line(&json, 2, true);
    json_end(&json, ']');
    json_break_line(&json, 2, false);
    json_open(&json, "devices", '[');
    for (size_t i = 0; device_name_at(i) != NULL; i++)
        json_write_string(&json, device_name_at(i));
    json_end(&json, ']');
    json_break_line(&json, 0, true);
    json_end(&json, '}');
    putchar('\n');
}

static int print_listing(const struct listing *listing, bool all) {
    if (listing->format == FORMAT_JSON) {
        write_json(listing);
        return CM_OK;
    }
    for (size_t i = 0; i < listing->n; i++) {
        if (i > 0) printf("\n");
        print_text(listing, &listing->items[i]);
    }
    if (all) {
        size_t column = 0;
        printf("\nbuilt-in devices of the roofline backend:\n");
        for (size_t i = 0; device_name_at(i) != NULL; i++) {
            if (column + strlen(device_name_at(i)) > MAX_COLUMNS) {
                printf("\n");
                column = 0;
            }
            column += (size_t)printf("%s%s", column == 0 ? "  " : " ", device_name_at(i));
        }
        printf("\n");
        printf("\nsearch path of backend modules:\n");
        for (size_t i = 0; i < listing->places.n; i++) {
            const struct module_place *place = &listing->places.items[i];
            const bool searched = place->reason.text[0] == '\0';
            printf("  %s%s%s\n", place->path, searched ? "" : ": ", place->reason.text);
        }
        if (listing->places.n == 0) printf("  (empty)\n");
    } else if (listing->items[0].entry.backend == &roofline_backend &&
               !listing->items[0].usable) {
        return print_figures(listing); /* no device was given: list them */
    }
    return CM_OK;
}

int command_backends(const struct invocation *call) {
    struct listing listing = {.call = call, .format = FORMAT_TEXT};
    struct option_list operands = {0, NULL};
    int status = options_parse(backends_options, call, &listing, &operands);
    if (status == CM_OK && operands.n > 1)
        status = options_fault(call, "backends takes at most one backend or device, got %zu",
                               operands.n);
    const char *device = NULL;
    struct cm_reason reason = {""};
    if (status == CM_OK && operands.n == 1 && listing.format == FORMAT_TEXT &&
        device_resolve(operands.values[0], &device, &reason) == CM_BACKEND_OK) {
        status = print_calibrations(call, device);
        return status != CM_OK ? command_exit(status) : command_finish(call, EXIT_DONE);
    }
    if (status == CM_OK && loader_places(call->arena, &listing.places) != CM_OK)
        status = diag_no_memory(call->diag);
    if (status != CM_OK) return command_exit(status);
    const bool all = operands.n == 0;
    status = all ? find_all(&listing) : find_one(&listing, operands.values[0]);
    if (status != CM_OK) return command_exit(status);
    status = print_listing(&listing, all);
    if (status != CM_OK) return command_exit(status);
    /* For a named backend, the exit status reports whether it is usable. */
    return command_finish(call, all || listing.items[0].usable ? EXIT_DONE : EXIT_INCOMPLETE);
}
