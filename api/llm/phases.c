/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the phases: prefill, steps of decode, and a whole generation. */
#include <math.h>

#include "api/llm/figures.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_BENDS 64 /* windows at which the costs of a generation bend */
#define N_SAMPLES 9  /* steps of a generation whose times are modelled */

int64_t figures_ps(double seconds) {
    const double ps = seconds * 1e12;
    return ps > 0 && ps < 9e18 ? (int64_t)llround(ps) : CM_UNKNOWN;
}

int64_t figures_whole(double value) {
    return value < 9e18 ? llround(value) : CM_UNKNOWN;
}

struct llm_costs figures_costs(const struct serving *serving, int64_t batch, int64_t tokens,
                               int64_t past) {
    const struct llm_step step = {batch, tokens, past, serving->memory.source};
    return llm_step_costs(&serving->language, &serving->setup, &serving->machine, &step);
}

static struct cm_llm_phase phase_of(const struct serving *serving, const char *name,
                                    int64_t batch, int64_t tokens, int64_t past,
                                    const struct llm_costs *costs) {
    const struct llm_machine *machine = &serving->machine;
    struct cm_llm_phase phase = {.name = name,
                                 .batch = batch,
                                 .tokens = tokens,
                                 .past = past,
                                 .macs = figures_whole(costs->macs),
                                 .bytes = figures_whole(llm_moved(costs)),
                                 .weight_bytes = figures_whole(costs->weight_bytes),
                                 .kv_bytes = figures_whole(costs->kv_bytes),
                                 .state_bytes = figures_whole(costs->state_bytes),
                                 .lower_bound_ps = CM_UNKNOWN,
                                 .latency_ps = CM_UNKNOWN,
                                 .latency_low_ps = CM_UNKNOWN,
                                 .latency_high_ps = CM_UNKNOWN,
                                 .communication_ps = CM_UNKNOWN,
                                 .limited_by = ""};
    if (!machine->name) return phase;
    phase.lower_bound_ps = figures_ps(costs->bound);
    phase.communication_ps = costs->communication > 0 ? figures_ps(costs->communication) : 0;
    phase.limited_by =
        costs->compute >= llm_moved(costs) / machine->bandwidth ? "compute" : "memory";
    if (costs->is_untimed) return phase;
    if (costs->communication > costs->expected / 2) phase.limited_by = "collectives";
    phase.latency_ps = figures_ps(costs->expected);
    phase.latency_low_ps = figures_ps(fmax(costs->expected * machine->low, costs->bound));
    phase.latency_high_ps = figures_ps(costs->expected * machine->high);
    return phase;
}

static void add_costs(struct llm_costs *sum, const struct llm_costs *costs, double times) {
    sum->macs += times * costs->macs;
    sum->compute += times * costs->compute;
    sum->weight_bytes += times * costs->weight_bytes;
    sum->kv_bytes += times * costs->kv_bytes;
    sum->state_bytes += times * costs->state_bytes;
    sum->expected += times * costs->expected;
    sum->bound += times * costs->bound;
    sum->communication += times * costs->communication;
    sum->is_untimed = sum->is_untimed || costs->is_untimed;
}

/* Returns prefill, in chunks if requested. */
static struct llm_costs prefill(const struct serving *serving, int64_t batch) {
    const struct cm_llm_options *options = serving->options;
    const int64_t chunk = options->chunk > 0 && options->chunk < options->prompt
                              ? options->chunk
                              : options->prompt;
    struct llm_costs sum = {.macs = 0};
    for (int64_t done = 0; done < options->prompt; done += chunk) {
        const int64_t left = options->prompt - done;
        const struct llm_costs costs =
            figures_costs(serving, batch, left < chunk ? left : chunk, done);
        add_costs(&sum, &costs, 1);
        if (costs.activation_bytes > sum.activation_bytes)
            sum.activation_bytes = costs.activation_bytes;
    }
    return sum;
}

/* Returns the steps that decode new_tokens - 1 tokens after prefill, which gives the first.
 * MACs and bytes are piecewise linear in the past, and their sums are exact: between the
 * windows of layers, the mean of the first and last step, times their number. The times are
 * sampled. */
static struct llm_costs decode_all(const struct serving *serving, int64_t batch) {
    const struct cm_llm_options *options = serving->options;
    const struct language *language = &serving->language;
    const int64_t end = options->prompt + options->new_tokens - 1;
    struct llm_costs sum = {.macs = 0};
    int n_bends = 0;
    for (int64_t from = options->prompt; from < end;) {
        int64_t to = end; /* the next window at which the costs bend */
        for (size_t i = 0; i < language->n_attentions && n_bends < MAX_BENDS; i++) {
            const int64_t bend = language->attentions[i].window;
            if (bend > from && bend < to) to = bend;
        }
        const double n = (double)(to - from);
        const int64_t samples = to - from < N_SAMPLES ? to - from : N_SAMPLES;
        struct llm_costs ends = {.macs = 0};
        struct llm_costs first = figures_costs(serving, batch, 1, from);
        struct llm_costs last = figures_costs(serving, batch, 1, to - 1);
        add_costs(&ends, &first, n / 2);
        add_costs(&ends, &last, n / 2);
        double expected = 0, bound = 0;
        for (int64_t i = 0; i < samples; i++) {
            const struct llm_costs at = figures_costs(
                serving, batch, 1, from + (to - from) * (2 * i + 1) / (2 * samples));
            expected += at.expected * n / (double)samples;
            bound += at.bound * n / (double)samples;
        }
        ends.expected = expected;
        ends.bound = bound;
        add_costs(&sum, &ends, 1);
        from = to;
        n_bends++;
    }
    return sum;
}

int64_t figures_mean_past(const struct cm_llm_options *options) {
    return checked_add(options->prompt, options->new_tokens / 2);
}

/* Warns of batches whose caches do not fit. */
static void check_batches(const struct serving *serving) {
    const struct cm_llm_options *options = serving->options;
    const int64_t request = checked_add(options->prompt, options->new_tokens);
    const int64_t fits =
        llm_sequences(&serving->language, &serving->setup, &serving->memory, request);
    int64_t largest = 1;
    for (size_t i = 0; i < serving->n_batches; i++)
        if (serving->batches[i] > largest) largest = serving->batches[i];
    if (fits >= 0 && fits < largest)
        diag_warn(
            serving->diag, DIAG_FIT,
            "%lld of %lld sequences of %lld tokens fit: the times of larger batches are those "
            "of more memory",
            (long long)fits, (long long)largest, (long long)request);
}

int figures_list_phases(struct serving *serving) {
    struct cm_llm *result = serving->result;
    const struct cm_llm_options *options = serving->options;
    struct cm_llm_phase *phases =
        arena_array(serving->arena, serving->n_batches + 2, sizeof *phases);
    if (!phases) return diag_no_memory(serving->diag);
    result->phases = phases;
    const int64_t batch = serving->batches[0];
    struct llm_costs whole_run = prefill(serving, 1);
    serving->memory.arena =
        options->arena >= 0 ? (double)options->arena : whole_run.activation_bytes;
    phases[result->n_phases++] =
        phase_of(serving, "prefill", 1, options->prompt, 0, &whole_run);
    for (size_t i = 0; i < serving->n_batches; i++) {
        const struct llm_costs costs =
            figures_costs(serving, serving->batches[i], 1, figures_mean_past(options));
        phases[result->n_phases++] = phase_of(serving, "decode", serving->batches[i], 1,
                                              figures_mean_past(options), &costs);
    }
    check_batches(serving);
    if (batch > 1) whole_run = prefill(serving, batch);
    const struct llm_costs decoded = decode_all(serving, batch);
    add_costs(&whole_run, &decoded, 1);
    phases[result->n_phases++] =
        phase_of(serving, "generate", batch, options->new_tokens, options->prompt, &whole_run);
    return CM_OK;
}
