/* SPDX-License-Identifier: Apache-2.0 */
/* A result under construction: what every part of it is made with. */
#ifndef API_ASSEMBLY_H
#define API_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "passes/pass.h"
#include "support/checked.h"

struct message_list;

/* Texts that many nodes share, as operator types, and their copies. */
#define N_SHARED_TEXTS 64
struct shared_text {
    const char *text;
    const char *copy;
};

/* Once `failed` is set (out of memory) nothing is read any more. */
struct assembly {
    const struct analysis *analysis;
    struct arena *arena; /* the result's */
    struct cm_result *result;
    const struct cm_fit *fit; /* NULL: not asked */
    struct cm_value *values;  /* by value id, in the result's arena */
    struct shared_text shared[N_SHARED_TEXTS];
    bool failed;
};

/* Zeroed, in the result's arena; NULL: failed. */
void *assembly_array(struct assembly *assembly, size_t n, size_t size);
/* A copy; NULL text is "". */
const char *assembly_text(struct assembly *assembly, const char *text);
/* The same of a text of the model that is mostly the same object again. */
const char *assembly_shared(struct assembly *assembly, const char *text);
/* An unknown or overflown count as the public API says it. */
static inline int64_t assembly_count(int64_t value) {
    return is_known(value) ? value : CM_UNKNOWN;
}
/* Rounded; what is negative, no number or past 2^63 is unknown. */
int64_t assembly_rounded(double value);
/* In millionths; negative is unknown. */
int64_t assembly_ratio(double value);
/* Seconds in picoseconds; none is unknown. */
int64_t assembly_ps(double seconds);
/* ID_NONE is an omitted operand. */
struct cm_value assembly_value(const struct assembly *assembly, uint32_t id);
const struct cm_value *assembly_values(struct assembly *assembly, const uint32_t *ids,
                                       size_t n);

/* Of enum cm_tensor_cores: "yes", "no", "unknown" for anything else. */
const char *assembly_tensor_cores(int32_t said);
/* NULL where there is no time. */
const struct cm_achieved *assembly_achieved(struct assembly *assembly,
                                            const struct achieved *from);

/* The parts that stand in files of their own. */
void assemble_memory(struct assembly *assembly);
void assemble_training(struct assembly *assembly);
void assemble_explanations(struct assembly *assembly);
void assemble_timed(struct assembly *assembly, size_t index, struct cm_timed *ret);
void assemble_measure(struct assembly *assembly);
void assemble_operators(struct assembly *assembly);
void assemble_advice(struct assembly *assembly);
void assemble_diagnostics(struct assembly *assembly, const struct message_list *first,
                          const struct message_list *then);

#endif
