/* SPDX-License-Identifier: Apache-2.0 */
/* Efficiencies of devices without measurements, by generation. */
#include <stddef.h>
#include <string.h>

#include "backends/device/devices.h"
#include "support/text.h"

#include "support/banned.h"

#define MEMBER(name)                                                                           \
    { #name, offsetof(struct device_efficiency, name) }

static const struct {
    const char *name;
    size_t offset;
} members[] = {
    MEMBER(product),    MEMBER(convolution), MEMBER(attention),    MEMBER(bandwidth),
    MEMBER(reduction),  MEMBER(pool),        MEMBER(depthwise),    MEMBER(cache_bandwidth),
    MEMBER(group_tile), MEMBER(winograd),    MEMBER(tile_seconds), MEMBER(launch),
};

const char *device_efficiency_name(size_t index) {
    return index < sizeof(members) / sizeof(*members) ? members[index].name : NULL;
}

double *device_efficiency_at(struct device_efficiency *efficiency, size_t index) {
    return (double *)((char *)efficiency + members[index].offset);
}

static const struct device_efficiency defaults[CM_N_RUNTIMES] = {
    [CM_RUNTIME_COMPILED] = {.product = 0.85,
                             .convolution = 0.85,
                             .attention = 0.5,
                             .bandwidth = 0.83,
                             .reduction = 0.6,
                             .pool = 0.4,
                             .depthwise = 0.75,
                             .cache_bandwidth = 0,
                             .group_tile = 256,
                             .winograd = 1.7,
                             .tile_seconds = 1e-6,
                             .launch = 3e-6},
    [CM_RUNTIME_EAGER] = {.product = 0.75,
                          .convolution = 0.75,
                          .attention = 0.5,
                          .bandwidth = 0.85,
                          .reduction = 0.5,
                          .pool = 0.4,
                          .depthwise = 0.6,
                          .cache_bandwidth = 0,
                          .group_tile = 200,
                          .winograd = 1.7,
                          .tile_seconds = 1e-6,
                          .launch = 4e-6},
};

/* The last-level cache of most GPUs feeds about this many times the memory's bandwidth. */
#define CACHE_TO_MEMORY 4

void device_efficiency_complete(struct device_model *model) {
    for (int runtime = 0; runtime < CM_N_RUNTIMES; runtime++) {
        struct device_efficiency *efficiency = &model->efficiency[runtime];
        struct device_efficiency missing = defaults[runtime];
        missing.cache_bandwidth = CACHE_TO_MEMORY * model->bandwidth;
        for (size_t i = 0; device_efficiency_name(i) != NULL; i++) {
            double *value = device_efficiency_at(efficiency, i);
            if (*value <= 0) *value = *device_efficiency_at(&missing, i);
        }
    }
}
