/* SPDX-License-Identifier: Apache-2.0 */
/* Prints "TYPE LETTERS" for each operator of ai.onnx with `bounds` (ops/op.h). */
#include <stdio.h>

#include "ops/registry/registry.h"

int main(void) {
    for (size_t f = 0; f < registry_n_families(); f++)
        for (size_t i = 0; i < registry_family(f)->n_rows; i++) {
            const struct op *op = &registry_family(f)->rows[i];
            if (op->domain[0] == '\0' && op->facets && op->facets->bounds)
                printf("%s %s\n", op->type, op->facets->bounds);
        }
    return 0;
}
