/* SPDX-License-Identifier: Apache-2.0 */
/* Fingerprints of modules: what two modules have in common whatever they are called. */
#ifndef COMPARE_FINGERPRINT_H
#define COMPARE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cm_module;
struct cm_result;

struct prints {
    uint64_t *whole; /* by module: class, arguments and figures, and those of all inside */
    uint64_t *kind;  /* the class alone; one for all of which it is not known */
    size_t *size;    /* modules inside, itself too */
};

/* CM_OK, CM_NO_MEMORY. */
int fingerprint_make(const struct cm_result *result, struct arena *arena, struct prints *ret)
    __attribute__((warn_unused_result));

/* Whether it computes or holds anything that tells it from others of its class. */
bool fingerprint_has_weight(const struct cm_module *module);

#endif
