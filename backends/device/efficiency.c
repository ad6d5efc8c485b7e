/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of efficiencies in device files, and default efficiencies by device generation. */
#include <stddef.h>

#include "backends/device/devices.h"
#include "support/json/json_writer.h"
#include "support/text.h"

/* Values of an RTX 3090, the only device with measured training steps. */
#define GRADIENT         0.78
#define GROUPED_GRADIENT 0.29

#define MEMBER(name)                                                                           \
    { #name, offsetof(struct device_efficiency, name) }

static const struct {
    const char *name;
    size_t offset;
} members[] = {
    MEMBER(product),   MEMBER(convolution), MEMBER(attention),        MEMBER(bandwidth),
    MEMBER(reduction), MEMBER(pool),        MEMBER(depthwise),        MEMBER(cache_bandwidth),
    MEMBER(resident),  MEMBER(group_tile),  MEMBER(winograd),         MEMBER(tile_seconds),
    MEMBER(launch),    MEMBER(gradient),    MEMBER(grouped_gradient),
};

const char *device_efficiency_name(size_t index) {
    return index < sizeof(members) / sizeof(*members) ? members[index].name : NULL;
}

double *device_efficiency_at(struct device_efficiency *efficiency, size_t index) {
    void *member = (char *)efficiency + members[index].offset;
    return member;
}

void device_efficiency_write(const struct device_efficiency *efficiency,
                             struct json_writer *json) {
    struct device_efficiency copy = *efficiency;
    json_begin(json, '{');
    for (size_t i = 0; device_efficiency_name(i) != NULL; i++) {
        const double value = *device_efficiency_at(&copy, i);
        if (value <= 0) continue;
        json_write_key(json, device_efficiency_name(i));
        json_write_double(json, value, 4);
    }
    json_end(json, '}');
}

/* Rounded fits to the measured devices of a generation (devices/, docs/times.md). Values that
 * were not measured are copied from the nearest measured generation. `cache` is a multiple of
 * the memory bandwidth. */
static const struct generation {
    const char *architecture; /* prefix of the architecture's name */
    struct device_efficiency efficiency[CM_N_RUNTIMES];
} generations[] = {
/* clang-format off */
#define ROW(product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch) \
    {product, convolution, attention, bandwidth, reduction, pool, depthwise, cache, resident, group_tile, winograd, tile, launch, GRADIENT, GROUPED_GRADIENT}
    /*              product conv. attn. bandw. reduce pool  depthw. cache res.  group wino. tile  launch */
    {"sm_6",   {ROW(0.90, 0.75, 0.50, 0.45, 0.45, 0.37, 0.90, 3.4, 0.10, 256, 1.65, 1.0e-6, 4.5e-6),    /* Pascal */
                ROW(0.80, 0.60, 0.50, 0.60, 0.30, 0.35, 0.60, 3.4, 0.10, 200, 1.65, 1.0e-6, 5.5e-6)}},
    {"sm_7",   {ROW(0.75, 0.70, 0.50, 0.73, 0.45, 0.37, 0.90, 2.1, 0.10, 256, 1.60, 1.7e-6, 4.7e-6),    /* Volta, Turing */
                ROW(0.68, 0.60, 0.50, 0.90, 0.30, 0.35, 0.60, 2.1, 0.10, 200, 1.60, 1.7e-6, 5.0e-6)}},
    {"sm_89",  {ROW(0.90, 1.00, 0.65, 0.80, 0.45, 0.36, 0.95, 6.0, 0.15, 256, 1.70, 0.7e-6, 2.8e-6),    /* Ada */
                ROW(0.80, 0.80, 0.56, 1.00, 0.30, 0.34, 0.65, 6.0, 0.13, 220, 1.70, 0.7e-6, 3.4e-6)}},
    {"sm_8",   {ROW(0.90, 0.95, 0.60, 0.75, 0.45, 0.37, 0.90, 3.0, 0.10, 256, 1.70, 1.5e-6, 2.5e-6),    /* Ampere */
                ROW(0.80, 0.80, 0.60, 1.00, 0.28, 0.37, 0.55, 3.0, 0.10, 180, 1.70, 1.3e-6, 4.0e-6)}},
    {"sm_9",   {ROW(0.89, 0.90, 0.60, 0.80, 0.45, 0.37, 0.95, 4.2, 0.06, 256, 1.70, 0.7e-6, 2.4e-6),    /* Hopper */
                ROW(0.80, 0.75, 0.50, 1.00, 0.30, 0.35, 0.65, 4.2, 0.06, 200, 1.70, 0.7e-6, 3.3e-6)}},
    {"sm_1",   {ROW(0.90, 1.00, 0.65, 0.78, 0.45, 0.37, 0.90, 4.2, 0.08, 280, 1.70, 0.6e-6, 2.5e-6),    /* Blackwell */
                ROW(0.65, 0.77, 0.40, 1.10, 0.30, 0.32, 0.90, 4.5, 0.10, 150, 1.70, 0.9e-6, 3.2e-6)}},
    {"x86_64", {ROW(0.50, 0.60, 0.50, 0.16, 0.60, 0.40, 0.75, 2.0, 0.07, 120, 1.00, 1.0e-6, 2.2e-5),    /* CPU */
                ROW(0.45, 0.50, 0.40, 0.16, 0.50, 0.40, 0.60, 2.0, 0.07, 120, 1.00, 1.0e-6, 3.0e-5)}},
    {"",       {ROW(0.80, 0.80, 0.50, 0.75, 0.45, 0.37, 0.85, 3.0, 0.10, 256, 1.60, 1.5e-6, 4.0e-6),    /* others */
                ROW(0.70, 0.65, 0.45, 0.80, 0.30, 0.35, 0.60, 3.0, 0.10, 200, 1.60, 1.5e-6, 5.0e-6)}},
#undef ROW
    /* clang-format on */
};

void device_efficiency_complete(struct device_model *model) {
    const char *architecture = model->architecture ? model->architecture : "";
    const struct generation *generation = generations;
    while (!text_starts_with(architecture, generation->architecture)) generation++;
    for (int runtime = 0; runtime < CM_N_RUNTIMES; runtime++) {
        struct device_efficiency *efficiency = &model->efficiency[runtime];
        struct device_efficiency missing = generation->efficiency[runtime];
        missing.cache_bandwidth *= model->bandwidth;
        for (size_t i = 0; device_efficiency_name(i) != NULL; i++) {
            double *value = device_efficiency_at(efficiency, i);
            if (*value <= 0) *value = *device_efficiency_at(&missing, i);
        }
    }
}
