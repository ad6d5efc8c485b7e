/* SPDX-License-Identifier: Apache-2.0 */
/* Parents stand before their children, so one walk from the end sees children first. */
#include "compare/fingerprint.h"

#include "compare/bins.h"
#include "costmodel/costmodel.h"
#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"

#include "support/banned.h"

/* Names stay out, and times: they differ from run to run. */
static uint64_t own_print(const struct cm_module *module, uint64_t kind) {
    uint64_t print = bins_mix(kind, bins_text(module->arguments));
    for (size_t i = 0; i < n_columns; i++)
        if (!columns[i].timed)
            print = bins_mix(print, (uint64_t)column_get(&columns[i], &module->costs));
    return bins_mix(print, module->n_children);
}

int fingerprint_make(const struct cm_result *result, struct arena *arena, struct prints *ret) {
    const size_t n = result->n_modules;
    *ret = (struct prints){
        .whole = arena_array(arena, n, sizeof(*ret->whole)),
        .kind = arena_array(arena, n, sizeof(*ret->kind)),
        .size = arena_array(arena, n, sizeof(*ret->size)),
    };
    if (!ret->whole || !ret->kind || !ret->size) return CM_NO_MEMORY;
    for (size_t i = n; i-- > 0;) {
        const struct cm_module *module = &result->modules[i];
        ret->kind[i] = bins_text(module->type_known ? module->type : "");
        ret->whole[i] = own_print(module, ret->kind[i]);
        ret->size[i] = 1;
        for (size_t k = 0; k < module->n_children; k++) {
            ret->whole[i] = bins_mix(ret->whole[i], ret->whole[module->children[k]]);
            ret->size[i] += ret->size[module->children[k]];
        }
    }
    return CM_OK;
}

bool fingerprint_has_weight(const struct cm_module *module) {
    return (is_known(module->costs.params) && module->costs.params > 0) ||
           (is_known(module->costs.macs) && module->costs.macs > 0);
}
