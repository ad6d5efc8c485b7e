/* SPDX-License-Identifier: Apache-2.0 */
/* Pass in_place: finds the nodes that could overwrite an operand, and the resulting peak. */
#pragma once

#include "passes/pass.h"

/* Tables that pass in_place reads. */
#define IN_PLACE_READS (TABLE_INFER | TABLE_LIVENESS)

struct in_place_table {
    uint32_t *overwrites; /* by value: the root whose bytes it could overwrite, ID_NONE */
    size_t n_overwriting; /* values that could overwrite a root */
    int64_t peak_bytes;   /* the peak if all of them are in place */
};

pass_run pass_in_place;
