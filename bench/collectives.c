/* SPDX-License-Identifier: Apache-2.0 */
/* Prints modelled times of collectives, for bench/collectives.py. Arguments: device files or
 * names. Lines of the standard input: the index of a device, then OPERATION GPUS BYTES, or
 * `dispatch` or `combine` NODES GPUS TOKENS TOKEN_BYTES EXPERTS TOP_K NODE_LIMIT. Each becomes
 * a line: expected seconds, lower bound, wire bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/device/collectives.h"
#include "costmodel/backend.h"
#include "support/arena.h"

#define MAX_DEVICES 8

int main(int argc, char **argv) {
    struct device_model models[MAX_DEVICES];
    struct arena *arena = arena_new("bench", 0);
    char line[256];
    if (argc < 2 || argc > MAX_DEVICES + 1 || arena == NULL) return 2;
    for (int i = 1; i < argc; i++) {
        struct cm_reason reason = {""};
        if (device_find(argv[i], arena, &models[i - 1], &reason) != CM_BACKEND_OK) {
            fprintf(stderr, "%s\n", reason.text);
            return 1;
        }
    }
    while (fgets(line, sizeof(line), stdin) != NULL) {
        struct device_collective_time time = {.expected = 0};
        char op[32];
        int device = 0;
        int read = 0;
        int gpus = 0;
        double bytes = 0;
        bool known = false;
        if (sscanf(line, "%d %31s %n", &device, op, &read) != 2 || device < 0 ||
            device >= argc - 1)
            return 2;
        const enum device_collective collective = device_collective_find(op);
        if (collective < DEVICE_N_COLLECTIVES) {
            if (sscanf(line + read, "%d %lf", &gpus, &bytes) != 2) return 2;
            known = device_collective_time(&models[device], collective, gpus, bytes, &time);
        } else {
            struct device_exchange x = {.combine = strcmp(op, "combine") == 0};
            if (sscanf(line + read, "%d %d %lf %lf %d %d %d", &x.nodes, &x.gpus, &x.tokens,
                       &x.token_bytes, &x.experts, &x.top_k, &x.node_limit) != 7)
                return 2;
            known = device_exchange_time(&models[device], &x, &time);
        }
        if (!known) return 1;
        printf("%.9g %.9g %.9g\n", time.expected, time.bound, time.wire_bytes);
    }
    arena_free(arena);
    return 0;
}
