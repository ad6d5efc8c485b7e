/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the runs of bodies inside a Loop that is executed iteration by iteration, because the
 * shapes may differ between runs. Example: iteration i of a torch.split appends
 * x[2 * i : 2 * i + 2], which may be shorter in the last iteration. */
#pragma once

#include "passes/pass.h"
#include "passes/walk/walk.h"

struct walk;

/* Appends a run of the body; walk->run is its enclosing run. Returns NULL if out of memory. */
struct iteration *iterations_add(const struct walk *walk, uint32_t graph);
/* Copies the infos of the body's values into the run, after the body was walked. */
int iterations_store(const struct walk *walk, struct iteration *iteration) CM_MUST_CHECK;
/* Removes the runs of the body whose enclosing run is walk->run, or was itself removed. */
void iterations_drop(const struct walk *walk, uint32_t graph);
/* Returns the newest run of the body, or NULL. */
struct iteration *iterations_last(const struct infer_table *table, uint32_t graph);

/* Call after the walk of the model: deletes removed runs, and merges the infos of all runs of a
 * body in table->infos, which then contain only what is the same in every run. */
int iterations_finish(const struct walk *walk) CM_MUST_CHECK;
/* Call after the walk for upper bounds: if a shape is static in each run but differs between
 * runs, sets the value's info to the largest of these shapes. */
int iterations_finish_upper(const struct walk *upper) CM_MUST_CHECK;

/* Returns true if the graph is a body inside an executed Loop. */
bool iterations_exist(const struct infer_table *table, uint32_t graph);
/* Copies the infos of the run and of its enclosing runs into `infos` (by value). */
void iterations_load(const struct infer_table *table, const struct iteration *iteration,
                     struct value_info *infos);
