/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of serving a language model: what the functions of this folder read and set. */
#pragma once

#include "costmodel/llm.h"
#include "llm/language.h"
#include "llm/phases.h"
#include "llm/serving.h"

struct serving {
    struct cm_llm *result;
    const struct cm_llm_options *options;
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct language language;
    struct llm_roles roles;
    struct llm_machine machine;
    struct llm_setup setup;
    struct llm_memory memory;
    struct llm_format cache;
    const int64_t *batches;
    size_t n_batches;
};

/* --- The description. They return a CM_ status with a message. --- */

int figures_find_roles(struct serving *serving, struct cm_model *model,
                       const struct cm_options *options);
int figures_describe(struct serving *serving, struct cm_model *model,
                     const struct cm_options *options);

/* --- The parts of the result, in this order. They return a CM_ status with a message. --- */

int figures_list_layers(struct serving *serving);
int figures_list_phases(struct serving *serving); /* sets memory.arena */
int figures_list_capacity(struct serving *serving);
int figures_list_curve(struct serving *serving);
int figures_list_changes(struct serving *serving);
int figures_list_gains(struct serving *serving);
int figures_list_collectives(struct serving *serving);
int figures_list_active(struct serving *serving);

/* --- What several of them need. --- */

/* CM_UNKNOWN if out of range. */
int64_t figures_ps(double seconds);
int64_t figures_whole(double value);
/* The costs of a step of `tokens` of each sequence after `past`. */
struct llm_costs figures_costs(const struct serving *serving, int64_t batch, int64_t tokens,
                               int64_t past);
/* The past in the middle of decoding. */
int64_t figures_mean_past(const struct cm_llm_options *options);
/* Sums the bytes per token of layers of attention on one GPU, the most loaded stage. */
void figures_sum_cache(const struct language *language, const struct llm_setup *setup,
                       struct cm_llm *ret);
/* Replaces each number in a name by "*". */
const char *figures_generic_name(struct arena *arena, const char *name);
