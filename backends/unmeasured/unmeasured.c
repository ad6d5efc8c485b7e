/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring on systems without it: there are no modules to load, no processes to isolate them,
 * and no measured times to keep. The roofline backend, which only computes, opens as elsewhere.
 */
#include <string.h>

#include "backends/backend_registry.h"
#include "backends/cache/cache.h"
#include "backends/measure.h"
#include "backends/plugin/loader.h"
#include "backends/plugin/reason.h"
#include "backends/process/subprocess.h"
#include "costmodel/status.h"
#include "support/arena.h"

#define NOT_HERE "this system only models times: measure on Linux or macOS"

int loader_places_in(const char *path, struct arena *arena, struct places *ret) {
    struct module_place *place = arena_array(arena, 1, sizeof(*place));
    (void)path;
    if (place == NULL) return CM_NO_MEMORY;
    place->path = "modules";
    (void)reason_fail(&place->reason, 0, "are absent: " NOT_HERE);
    *ret = (struct places){1, place};
    return CM_OK;
}

int loader_places(struct arena *arena, struct places *ret) {
    return loader_places_in("", arena, ret);
}

int loader_load(const char *name, bool any_owner, const struct cm_backend **ret,
                struct cm_reason *reason) {
    (void)name;
    (void)any_owner;
    (void)ret;
    return reason_fail(reason, CM_BACKEND_REFUSED, NOT_HERE);
}

struct subprocess {
    struct subprocess_setup setup;
    struct cm_device *device;
    struct cm_device_facts facts;
};

void subprocess_setup_init(struct subprocess_setup *setup, const struct cm_backend *backend) {
    *setup = (struct subprocess_setup){
        .backend = backend, .policy = timing_default_policy, .stop = -1};
}

int subprocess_start(const struct subprocess_setup *setup, struct arena *arena,
                     struct subprocess **ret, struct cm_reason *reason) {
    struct subprocess *subprocess = arena_alloc(arena, sizeof(*subprocess));
    if (subprocess == NULL) return reason_fail(reason, CM_BACKEND_NO_MEMORY, "out of memory");
    if (setup->backend != &roofline_backend || setup->settings.plan_only != 0)
        return reason_fail(reason, CM_BACKEND_REFUSED, NOT_HERE);
    subprocess->setup = *setup;
    const int status = setup->backend->open(&setup->settings, &subprocess->device, reason);
    if (status != CM_BACKEND_OK) return status;
    setup->backend->facts(subprocess->device, &subprocess->facts);
    *ret = subprocess;
    return CM_BACKEND_OK;
}

const struct cm_device_facts *subprocess_facts(const struct subprocess *subprocess) {
    return &subprocess->facts;
}

bool subprocess_is_stopped(const struct subprocess *subprocess) {
    (void)subprocess;
    return false;
}

int subprocess_n_processes(const struct subprocess *subprocess) {
    (void)subprocess;
    return 0;
}

void subprocess_measure(struct subprocess *subprocess, const struct cm_primitive *primitive,
                        struct cm_measurement *ret) {
    (void)measure_primitive(subprocess->setup.backend, subprocess->device, primitive,
                            &subprocess->setup.policy, ret);
}

void subprocess_measure_network(struct subprocess *subprocess, const struct cm_network *network,
                                struct cm_measurement *ret) {
    (void)subprocess;
    (void)network;
    memset(ret, 0, sizeof(*ret));
    (void)reason_fail(&ret->reason, 0, NOT_HERE);
}

void subprocess_stop(struct subprocess *subprocess) {
    if (subprocess != NULL) subprocess->setup.backend->close(subprocess->device);
}

int cache_open(const char *folder, const struct cache_key *key, bool invented,
               struct arena *arena, struct cache **ret, struct cm_reason *note) {
    (void)folder;
    (void)key;
    (void)invented;
    (void)arena;
    (void)note;
    *ret = NULL;
    return CM_BACKEND_OK;
}

const struct cache_entry *cache_find(const struct cache *cache,
                                     const struct cm_primitive *primitive) {
    (void)cache;
    (void)primitive;
    return NULL;
}

int cache_put(struct cache *cache, const struct cm_primitive *primitive,
              const struct cm_measurement *measurement, int64_t when) {
    (void)cache;
    (void)primitive;
    (void)measurement;
    (void)when;
    return CM_BACKEND_OK;
}

int cache_save(struct cache *cache, struct cm_reason *reason) {
    (void)cache;
    (void)reason;
    return CM_BACKEND_OK;
}
