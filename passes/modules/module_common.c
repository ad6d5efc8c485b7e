/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest module that contains several nodes. */
#include "passes/modules/module_common.h"

#include "support/banned.h"

/* A parent precedes its children, so the later of two different modules cannot contain the
 * other. */
uint32_t module_common(const struct modules_table *table, const uint32_t *nodes, size_t n) {
    uint32_t common = n > 0 ? table->of_node[nodes[0]] : 0;
    for (size_t i = 1; i < n; i++) {
        uint32_t other = table->of_node[nodes[i]];
        while (common != other) {
            uint32_t *later = common > other ? &common : &other;
            *later = table->parents[*later];
        }
    }
    return common;
}
