/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a result that says what a training step costs. */
#include "api/assembly.h"
#include "passes/training/optimizers.h"

#include "support/banned.h"

static const char *const phase_names[] = {
    [PHASE_FORWARD] = "forward",
    [PHASE_RECOMPUTE] = "recompute",
    [PHASE_BACKWARD] = "backward",
    [PHASE_STEP] = "step",
};

static const char *const *take_patterns(struct assembly *assembly, const char *const *patterns,
                                        size_t n) {
    const char **list = assembly_array(assembly, n, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) list[i] = assembly_text(assembly, patterns[i]);
    return list;
}

void assemble_training(struct assembly *assembly) {
    const struct analysis *analysis = assembly->analysis;
    const struct cm_options *options = analysis->options;
    const struct training_table *table = &analysis->training;
    if (!table->optimizer) return;
    assembly->result->training = (struct cm_training){
        .present = true,
        .optimizer = assembly_text(assembly, table->optimizer->name),
        .amp = options->amp,
        .n_freeze = options->n_freeze,
        .freeze = take_patterns(assembly, options->freeze, options->n_freeze),
        .n_checkpoint = options->n_checkpoint,
        .checkpoint = take_patterns(assembly, options->checkpoint, options->n_checkpoint),
        .learned = assembly_count(table->learned),
        .frozen = assembly_count(table->frozen),
        .backward_macs = assembly_count(table->backward_macs),
        .backward_flops = assembly_count(table->backward_flops),
        .recompute_macs = assembly_count(table->recompute_macs),
        .recompute_flops = assembly_count(table->recompute_flops),
        .recompute_int_ops = assembly_count(table->recompute_int_ops),
        .step_flops = assembly_count(table->step_flops),
        .iteration_flops = assembly_count(table->iteration_flops),
        .iteration_int_ops = assembly_count(table->iteration_int_ops),
        .weight_bytes = assembly_count(table->weight_bytes),
        .gradient_bytes = assembly_count(table->gradient_bytes),
        .optimizer_bytes = assembly_count(table->optimizer_bytes),
        .master_bytes = assembly_count(table->master_bytes),
        .saved_bytes = assembly_count(table->saved_bytes),
        .peak_bytes = assembly_count(table->peak_bytes),
        .peak_phase = phase_names[table->peak_phase],
        .peak_node = table->peak_node == ID_NONE ? CM_NO_INDEX : table->peak_node,
    };
}
