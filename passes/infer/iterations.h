/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the runs of bodies inside a Loop that is executed iteration by iteration, each with
 * its own shapes. Example: iteration i of a torch.split appends x[2 * i : 2 * i + 2].
 */
#ifndef PASSES_INFER_ITERATIONS_H
#define PASSES_INFER_ITERATIONS_H

#include "passes/pass.h"

struct walk;

/* Appends a run of the body inside walk->run. Returns NULL if out of memory. */
struct iteration *iterations_add(const struct walk *walk, uint32_t graph);
/* Copies the infos of the body's values, after the body was walked. */
int iterations_store(const struct walk *walk, struct iteration *iteration) CM_MUST_CHECK;
/* Removes the newest runs of the body inside walk->run, with the runs inside them. */
void iterations_drop(const struct walk *walk, uint32_t graph);
/* Returns the newest run of the body, or NULL. */
struct iteration *iterations_last(const struct infer_table *table, uint32_t graph);

/* After the walk of the model: removes runs that a later walk replaced, and sets table->infos
 * of the bodies to what is the same in every run. */
int iterations_finish(const struct walk *walk) CM_MUST_CHECK;
/* After the walk for upper bounds: sets the infos of values whose shapes are static in each
 * run, but differ between runs, to the largest shapes. */
int iterations_finish_upper(const struct walk *upper) CM_MUST_CHECK;

/* Returns true if the graph is a body inside an executed Loop. */
bool iterations_exist(const struct infer_table *table, uint32_t graph);
/* Copies into `infos` (by value) the infos of the run and of those around it. */
void iterations_load(const struct infer_table *table, const struct iteration *iteration,
                     struct value_info *infos);

#endif
