/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a tool would count of a node, in that tool's own unit. A convention is a small table
 * over operator types; `deepspeed`, the default, has none: it is what the operator rows say
 * themselves (struct op_cost). docs/conventions.md explains every row.
 */
#ifndef OPS_CONVENTIONS_H
#define OPS_CONVENTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct rule;

/*
 *     flops = per_mac * MACs + per_input * n + per_output * out + extra(rule, MACs)
 * n = elements of the first input, out = elements of the first output.
 */
struct convention_row {
    const char *op; /* operator type, of any domain */
    int64_t per_mac;
    int64_t per_input;
    int64_t per_output;
    int64_t (*extra)(const struct rule *rule, int64_t macs); /* NULL: none */
};

struct convention {
    const char *name; /* one of support/conventions.c, which says what it means */
    int64_t per_mac;  /* of operators without a row, which cost nothing else */
    const struct convention_row *rows; /* ends with a NULL op; NULL: the operator rows count */
    bool sees_nodes; /* counts what stands in the file, not the operations that it came from */
};

/* By name; NULL: there is none. */
const struct convention *convention_find(const char *name);
/* What the node costs, run once. Unknown and overflown figures pass. */
int64_t convention_flops(const struct convention *convention, const struct rule *rule,
                         int64_t macs);

#endif
