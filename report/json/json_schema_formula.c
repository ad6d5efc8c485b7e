/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables, reader and writer of formulas (docs/formula.md). */
#include "costmodel/costmodel.h"
#include "costmodel/formula.h"

#include "report/json/json_document.h"
#include "report/json/json_rows.h"

/* clang-format off */
static const struct json_record variable_record = RECORD(struct cm_formula_variable, "variable", "A variable of the formulas",
    VALUE("name", JSON_TEXT, struct cm_formula_variable, name, "`N` for the batch, else the name of the dim"),
    VALUE("what", JSON_TEXT, struct cm_formula_variable, what, "`batch` or `dim`"),
    VALUE("dim", JSON_TEXT, struct cm_formula_variable, dim, "name of the dim in the file; empty for an anonymous batch dim"),
    VALUE("same_as", JSON_TEXT, struct cm_formula_variable, same_as, "variable that it always equals and that formulas use instead; empty: none"),
    VALUE("from", JSON_COUNT, struct cm_formula_variable, from, "formulas hold at `from`, `from` + `step`, `from` + 2 `step` etc."),
    VALUE("step", JSON_COUNT, struct cm_formula_variable, step, "difference between consecutive sizes"),
    VALUE("largest", JSON_COUNT, struct cm_formula_variable, largest, "largest profiled size"));

static const struct json_record monomial_record = RECORD(struct cm_monomial, "monomial", "A coefficient times the variables to their exponents",
    MANY("exponents", JSON_INDICES, struct cm_monomial, exponents, n_exponents, "one for each variable"),
    VALUE("numerator", JSON_COUNT, struct cm_monomial, numerator, "numerator of the coefficient"),
    VALUE("denominator", JSON_COUNT, struct cm_monomial, denominator, "denominator of the coefficient, >= 1"));

static const struct json_record alternative_record = RECORD(struct cm_alternative, "alternative", "One of several sums",
    LIST("terms", struct cm_alternative, terms, n_terms, monomial_record, "terms of the sum"));

static const struct json_record sample_record = RECORD(struct cm_sample, "sample", "A figure at one set of sizes",
    MANY("sizes", JSON_INDICES, struct cm_sample, sizes, n_sizes, "sizes of the variables"),
    VALUE("value", JSON_COUNT, struct cm_sample, value, "the figure in the profile at these sizes"));

static const struct json_record polynomial_record = RECORD(struct cm_polynomial, "polynomial", "One figure as a formula",
    VALUE("metric", JSON_TEXT, struct cm_polynomial, metric, "a key of a profile's figures"),
    VALUE("state", JSON_TEXT, struct cm_polynomial, state, "`polynomial`: the sum of `terms` equals the figure in every profile; `largest`: the maximum of the sums in `largest_of` does; `other`: only samples; `unknown`: not determined by the file; `large`: exceeds 2^63 - 1"),
    LIST("terms", struct cm_polynomial, terms, n_terms, monomial_record, "highest degree first; an empty list is 0"),
    OPTIONAL_MANY("largest_of", JSON_LIST, struct cm_polynomial, alternatives, n_alternatives, &alternative_record, "the figure is the maximum of these sums"),
    OPTIONAL_MANY("samples", JSON_LIST, struct cm_polynomial, samples, n_samples, &sample_record, "sampled figures; only if no polynomial fits all profiles"));

static const struct json_record module_record = RECORD(struct cm_formula_module, "formula_module", "A module and its formulas, children included",
    VALUE("path", JSON_TEXT, struct cm_formula_module, path, "dotted; empty for the root"),
    VALUE("name", JSON_TEXT, struct cm_formula_module, name, "last part of the path"),
    VALUE("class", JSON_TEXT, struct cm_formula_module, type, "as in a profile"),
    VALUE("depth", JSON_DEPTH, struct cm_formula_module, depth, "0 for the root"),
    LIST("polynomials", struct cm_formula_module, polynomials, n_polynomials, polynomial_record, "one for each metric"));

static const struct json_record formula_record = RECORD(struct cm_formula, "formula", "Costs of an ONNX model as formulas in the batch and its symbolic dims (docs/formula.md)",
    VALUE("model", JSON_TEXT, struct cm_formula, model, "path"),
    VALUE("convention", JSON_TEXT, struct cm_formula, convention, "FLOP counting convention"),
    OPTIONAL("precision", JSON_NULLABLE, struct cm_formula, precision, "precision of bytes; `null`: as in the file"),
    VALUE("mode", JSON_TEXT, struct cm_formula, mode, "as in a profile"),
    VALUE("fixed_batch", JSON_TEXT, struct cm_formula, fixed_batch, "why the batch cannot be changed and is not a variable; empty: the batch is a variable"),
    LIST("variables", struct cm_formula, variables, n_variables, variable_record, "the batch and the symbolic dims"),
    MANY("dims", JSON_SIZES, struct cm_formula, dims, n_dims, "sizes of symbolic dims that are not variables"),
    VALUE("profiles", JSON_COUNT, struct cm_formula, profiles, "number of profiles"),
    VALUE("checks", JSON_COUNT, struct cm_formula, checks, "number of profiles used only to check the formulas"),
    LIST("modules", struct cm_formula, modules, n_modules, module_record, "formulas of each module; the first is the model"));

const struct json_document json_formula = {"costmodel/formula/1", NULL, "formula", &formula_record, offsetof(struct cm_formula, arena)};
/* clang-format on */

int cm_formula_read_json(const char *text, size_t size, const char *name,
                         struct cm_diagnostics *diagnostics, struct cm_formula **ret_formula) {
    return json_document_read(&json_formula, text, size, name, diagnostics, ret_formula);
}

int cm_formula_write_json(const struct cm_formula *formula, FILE *out) {
    return json_document_write(&json_formula, formula, false, out);
}
