/* SPDX-License-Identifier: Apache-2.0 */
/* Formats latencies and rates. Rates are rounded to whole operations per second. */
#include "report/times.h"

#include <math.h>

#include "report/number.h"
#include "support/checked.h"
#include "support/text.h"

#define PS_PER_SECOND 1e12

void times_append(struct text *text, enum number_style style, int64_t latency_ps) {
    if (latency_ps == 0 && style != NUMBERS_EXACT)
        text_append(text, "0 s");
    else
        number_append(text, style, NUMBER_TIME, latency_ps);
}

void times_append_sum(struct text *text, enum number_style style, const struct cm_costs *costs,
                      bool unicode) {
    const bool is_partial = (costs->partial & CM_COST_BIT(latency_ps)) != 0;
    text_append(text,
                number_bound_prefix(is_partial ? NUMBER_AT_LEAST : NUMBER_NO_BOUND, unicode));
    times_append(text, style, costs->latency_ps);
}

const char *times_kind(const struct cm_result *result) {
    const struct cm_measure *measure = result->measure;
    if (measure == NULL) return "";
    return measure->modelled   ? "modelled"
           : measure->imported ? "imported"
           : measure->invented ? "invented"
                               : "";
}

bool times_have_rates(const struct cm_result *result) {
    return result->measure == NULL || result->measure->other_shape == NULL;
}

void times_append_rate(struct text *text, enum number_style style,
                       const struct cm_result *result, int64_t operations, int64_t latency_ps) {
    if (!is_known(operations) || !is_known(latency_ps) || !times_have_rates(result)) {
        text_append(text, "?");
        return;
    }
    double rate = 0;
    if (latency_ps > 0) rate = round((double)operations / (double)latency_ps * PS_PER_SECOND);
    number_append(text, style, NUMBER_RATE, rate < 9e18 ? (int64_t)rate : DIM_OVERFLOW);
}
