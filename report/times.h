/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies and rates as text, and the source of times that were not measured. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "report/number.h"

struct cm_costs;
struct cm_result;
struct text;

/* Appends "76.67 us"; "0 s" for 0, "?" if unknown. */
void times_append(struct text *text, enum number_style style, int64_t latency_ps);
/* Appends the latency of these costs: ">= 76.67 us" if it omits nodes without a time. */
void times_append_sum(struct text *text, enum number_style style, const struct cm_costs *costs,
                      bool unicode);
/* Returns "modelled", "imported" or "invented", or "" for measured times. */
const char *times_kind(const struct cm_result *result);
/* Appends operations per second: "15.86 TFLOPS"; "0 FLOPS" if the time is 0; "?" if unknown or
 * if the times of the result have no rates. */
void times_append_rate(struct text *text, enum number_style style,
                       const struct cm_result *result, int64_t operations, int64_t latency_ps);

/* Returns false if the times belong to other shapes than the costs (cm_measure.other_shape). */
bool times_have_rates(const struct cm_result *result);
