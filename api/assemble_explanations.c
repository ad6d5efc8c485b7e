/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a result that says how figures come about: pass count's terms, with names. */
#include "api/assembly.h"
#include "ops/flops/names/convention_names.h"
#include "passes/cost/count.h"

#include "support/banned.h"

static const struct cm_term *take_terms(struct assembly *assembly,
                                        const struct count_terms *from) {
    struct cm_term *terms = assembly_array(assembly, from->n, sizeof(*terms));
    for (size_t i = 0; terms && i < from->n; i++)
        terms[i] = (struct cm_term){
            .factor = from->terms[i].factor,
            .of = assembly_text(assembly, from->terms[i].of),
            .count = assembly_count(from->terms[i].count),
            .of_integers = from->terms[i].of_integers,
        };
    return terms;
}

static const struct cm_named_size *take_factors(struct assembly *assembly,
                                                const struct product *from) {
    struct cm_named_size *factors = assembly_array(assembly, from->n, sizeof(*factors));
    for (size_t i = 0; factors && i < from->n; i++)
        factors[i] = (struct cm_named_size){assembly_text(assembly, from->factors[i].name),
                                            assembly_count(from->factors[i].size)};
    return factors;
}

static const struct cm_explained_node *take_explained(struct assembly *assembly,
                                                      const struct explained *from) {
    struct cm_explained_node *nodes = assembly_array(assembly, from->n_nodes, sizeof(*nodes));
    for (size_t i = 0; !assembly->failed && i < from->n_nodes; i++) {
        const struct count_terms *terms = &from->terms[i];
        nodes[i] = (struct cm_explained_node){
            .node = from->nodes[i],
            .runs = assembly_count(terms->runs),
            .n_factors = terms->macs.n,
            .factors = take_factors(assembly, &terms->macs),
            .n_terms = terms->n,
            .terms = take_terms(assembly, terms),
        };
    }
    return nodes;
}

/* Terms are a node's: a module's would be as many as its nodes have. */
static const struct cm_explained_by *take_by(struct assembly *assembly,
                                             const struct explained *from) {
    const size_t n = conventions_count();
    struct cm_explained_by *by = assembly_array(assembly, n, sizeof(*by));
    for (size_t i = 0; !assembly->failed && i < n; i++) {
        const struct cm_convention *convention = conventions_at(i);
        const struct count_terms none = {.n = 0};
        const struct count_terms *terms = from->by ? &from->by[i] : &none;
        by[i] = (struct cm_explained_by){
            .convention = convention->name,
            .unit = convention->unit,
            .flops = assembly_count(from->flops[i]),
            .int_ops = assembly_count(from->int_ops[i]),
            .n_terms = terms->n,
            .terms = take_terms(assembly, terms),
        };
    }
    return by;
}

void assemble_explanations(struct assembly *assembly) {
    const struct explain_table *table = &assembly->analysis->explain;
    struct cm_explanation *list = assembly_array(assembly, table->n, sizeof(*list));
    for (size_t i = 0; !assembly->failed && i < table->n; i++) {
        const struct explained *from = &table->items[i];
        list[i] = (struct cm_explanation){
            .name = assembly_text(assembly, from->name),
            .of_module = from->of_module,
            .module = from->module,
            .n_nodes = from->n_nodes,
            .nodes = take_explained(assembly, from),
            .n_free = from->n_free,
            .n_by = conventions_count(),
            .by = take_by(assembly, from),
        };
    }
    assembly->result->n_explanations = table->n;
    assembly->result->explanations = list;
}
