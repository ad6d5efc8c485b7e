/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice: what would make the model faster, told from its times. A rule is a row of the table
 * in advice_rules.c. It picks the nodes that it is about, each with the time that it could
 * save, and says what it saw.
 */
#ifndef PASSES_LATENCY_ADVICE_H
#define PASSES_LATENCY_ADVICE_H

#include "passes/pass.h"
#include "support/text.h"

/* What one rule finds. Times are seconds in one pass through the model. */
struct advice_case {
    const struct analysis *analysis;
    double total_s;  /* of all nodes */
    double *seconds; /* by node; 0: no time */
    bool *picked;    /* by node */
    size_t n_picked;
    double picked_s; /* of the nodes that were picked */
    double gain_s;   /* what is known of it */
    bool has_gain;
    struct text text; /* sentences: what was seen, what to do */
};

struct advice_rule {
    const char *id;   /* "R3" */
    const char *name; /* "channels-last" */
    double least;     /* share of the latency that what it picks must have; 0: any */
    /* Picks nodes. */
    void (*pick)(struct advice_case *advice);
    /* Writes the text, where enough was picked. */
    void (*tell)(struct advice_case *advice);
};

/* NULL past the last. */
const struct advice_rule *advice_rule_at(size_t index);

/* `gain_s` negative: nobody knows. A node is picked once; gains add up. */
void advice_pick(struct advice_case *advice, uint32_t node, double gain_s);
/* `12 of the nodes (34.56% of latency)` */
void advice_append_picked(struct advice_case *advice, const char *what);
/* "3.46 GB" */
void advice_append_bytes(struct advice_case *advice, double bytes);

#endif
