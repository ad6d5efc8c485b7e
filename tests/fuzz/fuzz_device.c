/* SPDX-License-Identifier: Apache-2.0 */
/* Device descriptions (docs/devices.md). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/device/devices.h"
#include "fuzz.h"
#include "support/arena.h"

static void require_device(const struct device_model *device) {
    FUZZ_REQUIRE(device->name != NULL && device->title != NULL);
    FUZZ_REQUIRE(isfinite(device->bandwidth) && device->bandwidth > 0);
    FUZZ_REQUIRE(isfinite(device->floor) && device->floor >= 0);
    FUZZ_REQUIRE(device->memory_bytes >= 0 && device->cache_bytes >= 0);
    FUZZ_REQUIRE(device->n_units >= 0 && device->threads_a_unit >= 0);
    for (int i = 0; i < N_RATES; i++)
        FUZZ_REQUIRE(isfinite(device->rates[i]) && device->rates[i] >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena *arena = arena_new("device", 0);
    struct device_model device;
    struct cm_reason reason = {.text = ""};
    const double since = fuzz_now();
    FUZZ_REQUIRE(arena != NULL);
    const char *text = arena_strndup(arena, (const char *)data, size);
    FUZZ_REQUIRE(text != NULL);
    const int status = device_parse("fuzz.json", text, arena, &device, &reason);
    if (status == CM_BACKEND_OK)
        require_device(&device);
    else
        FUZZ_REQUIRE(reason.text[0] != '\0');
    arena_free(arena);
    fuzz_require_fast(since);
    return 0;
}
