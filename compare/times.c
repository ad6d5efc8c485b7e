/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the total of measured times may be off: between the sum of all first quartiles and
 * the sum of all third ones. Layers err together (a clock, a neighbour) more than alone, so the
 * quartiles are added and not their squares.
 */
#include "compare/baseline.h"

#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

/* latency * quartile / median: the node may run several times. */
static int64_t scaled(int64_t latency, int64_t quartile, int64_t median) {
    if (!is_known(quartile) || median <= 0) return latency;
    const double scaled = (double)latency * ((double)quartile / (double)median);
    return scaled < 0x1p62 ? (int64_t)scaled : DIM_OVERFLOW;
}

static void add_primitive(const struct cm_result *result, const struct cm_timed *timed,
                          struct cm_baseline_times *times) {
    for (size_t i = 0; i < timed->n_nodes; i++) {
        if (timed->nodes[i] >= result->n_nodes) continue; /* a file may say anything */
        const int64_t latency = result->nodes[timed->nodes[i]].costs.latency_ps;
        if (!is_known(latency)) continue;
        times->low_ps =
            checked_add(times->low_ps, scaled(latency, timed->q1_ps, timed->median_ps));
        times->high_ps =
            checked_add(times->high_ps, scaled(latency, timed->q3_ps, timed->median_ps));
    }
}

static const char *doubt_of(const struct cm_measure *measure) {
    if (measure->warning[0] != '\0') return measure->warning;
    for (size_t i = 0; i < measure->n_primitives; i++) {
        const struct cm_timed *timed = &measure->primitives[i];
        if (timed->unstable) return "layers were unstable";
        if (timed->throttled) return "the device held its clock back";
        if (timed->few_samples) return "layers have few samples";
    }
    return "";
}

struct cm_baseline_times baseline_times(const struct cm_result *result) {
    struct cm_baseline_times times = {
        .state = "", .device = "", .precision = "", .layout = "", .doubt = ""};
    const struct cm_measure *measure = result->measure;
    if (!cm_result_timed(result)) return times;
    times.present = true;
    times.state = measure->modelled ? "modelled" : measure->invented ? "invented" : "measured";
    times.device = measure->device;
    times.precision = measure->precision;
    times.layout = measure->layout;
    for (size_t i = 0; i < measure->n_untimed; i++)
        times.untimed_nodes = checked_add(times.untimed_nodes, measure->untimed[i].nodes);
    if (measure->modelled) {
        times.low_ps = result->totals.latency_ps;
        times.high_ps = result->totals.latency_ps;
        return times;
    }
    for (size_t i = 0; i < measure->n_primitives; i++)
        add_primitive(result, &measure->primitives[i], &times);
    times.doubt = doubt_of(measure);
    return times;
}
