/* SPDX-License-Identifier: Apache-2.0 */
/* A device as the costs of a language model need it. The timing half fills it (api/half.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

enum llm_collective {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_SEND,
    N_COLLECTIVES
};

struct llm_machine {
    void *context;
    const char *name;  /* "NVIDIA H100 SXM"; NULL: no device, all else is 0 */
    const char *basis; /* of the expected times */
    /* Sets *ret to the expected seconds of a primitive. Returns false if the device cannot
     * compute with its elements. */
    bool (*time)(void *context, const struct cm_primitive *primitive, double *ret);
    /* Returns the FLOP/s that no product of these elements exceeds; 0: none. */
    double (*rate)(void *context, enum cm_element element);
    /* Returns the expected seconds of a collective in which each of `gpus` has `bytes`, and
     * sets *ret_bound to a lower bound. */
    double (*collective)(void *context, enum llm_collective kind, int64_t gpus, double bytes,
                         double *ret_bound);
    double bandwidth;     /* bytes per second */
    double run;           /* seconds of a step besides its kernels */
    double low, high;     /* of ten steps, eight take between low and high times the expected */
    int64_t memory_bytes; /* 0: unknown */
};
