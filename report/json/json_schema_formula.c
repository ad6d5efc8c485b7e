/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of formulas (docs/formula.md), and their reading and writing. */
#include "costmodel/costmodel.h"
#include "costmodel/formula.h"

#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "report/json/json_schema.h"

#include "support/banned.h"

static const struct json_field variable_fields[] = {
    VALUE("name", JSON_TEXT, struct cm_formula_variable, name,
          "`N` of the batch, else the dim's"),
    VALUE("what", JSON_TEXT, struct cm_formula_variable, what, "`batch` or `dim`"),
    VALUE("dim", JSON_TEXT, struct cm_formula_variable, dim,
          "the file's name for it; empty of a batch that has none"),
    VALUE("same_as", JSON_TEXT, struct cm_formula_variable, same_as,
          "the variable that it always equals, which stands for both; empty: none"),
    VALUE("from", JSON_COUNT, struct cm_formula_variable, from,
          "formulas hold at `from`, `from` + `step` and so on"),
    VALUE("step", JSON_COUNT, struct cm_formula_variable, step, "from one size to the next"),
    VALUE("largest", JSON_COUNT, struct cm_formula_variable, largest,
          "size that a profile was taken at"),
};

static const struct json_record variable_record =
    RECORD(struct cm_formula_variable, variable_fields, "variable", "What a formula is in");

static const struct json_field monomial_fields[] = {
    MANY("exponents", JSON_INDICES, struct cm_monomial, exponents, n_exponents,
         "one for each variable"),
    VALUE("numerator", JSON_COUNT, struct cm_monomial, numerator, "of the coefficient"),
    VALUE("denominator", JSON_COUNT, struct cm_monomial, denominator, "of it, at least 1"),
};

static const struct json_record monomial_record =
    RECORD(struct cm_monomial, monomial_fields, "monomial",
           "A coefficient times the variables to their exponents");

static const struct json_field alternative_fields[] = {
    LIST("terms", struct cm_alternative, terms, n_terms, monomial_record, "added up"),
};

static const struct json_record alternative_record =
    RECORD(struct cm_alternative, alternative_fields, "alternative", "One of several sums");

static const struct json_field sample_fields[] = {
    MANY("sizes", JSON_INDICES, struct cm_sample, sizes, n_sizes, "of the variables"),
    VALUE("value", JSON_COUNT, struct cm_sample, value, "what a profile says there"),
};

static const struct json_record sample_record =
    RECORD(struct cm_sample, sample_fields, "sample", "A figure at one choice of sizes");

static const struct json_field polynomial_fields[] = {
    VALUE("metric", JSON_TEXT, struct cm_polynomial, metric, "a key of a profile's figures"),
    VALUE(
        "state", JSON_TEXT, struct cm_polynomial, state,
        "`polynomial`: the sum of `terms` is exactly what every profile says; `largest`: the "
        "largest of the sums in `largest_of` is; `other`: there are samples alone; `unknown`: "
        "the file does not say; `large`: past 2^63"),
    LIST("terms", struct cm_polynomial, terms, n_terms, monomial_record,
         "the highest degree first; none: 0"),
    OPTIONAL_MANY("largest_of", JSON_LIST, struct cm_polynomial, alternatives, n_alternatives,
                  &alternative_record, "the sums of which the largest counts"),
    OPTIONAL_MANY("samples", JSON_LIST, struct cm_polynomial, samples, n_samples,
                  &sample_record, "where no one polynomial has the figures of all profiles"),
};

static const struct json_record polynomial_record =
    RECORD(struct cm_polynomial, polynomial_fields, "polynomial", "One figure as a formula");

static const struct json_field module_fields[] = {
    VALUE("path", JSON_TEXT, struct cm_formula_module, path, "dotted; empty for the root"),
    VALUE("name", JSON_TEXT, struct cm_formula_module, name, "last part of the path"),
    VALUE("class", JSON_TEXT, struct cm_formula_module, type, "as in a profile"),
    VALUE("depth", JSON_DEPTH, struct cm_formula_module, depth, "0 for the root"),
    LIST("polynomials", struct cm_formula_module, polynomials, n_polynomials, polynomial_record,
         "one for each metric"),
};

static const struct json_record module_record =
    RECORD(struct cm_formula_module, module_fields, "formula_module",
           "A module and its formulas, children included");

static const struct json_field formula_fields[] = {
    VALUE("model", JSON_TEXT, struct cm_formula, model, "path"),
    VALUE("convention", JSON_TEXT, struct cm_formula, convention, "whose rules count FLOPs"),
    VALUE("mode", JSON_TEXT, struct cm_formula, mode, "as in a profile"),
    VALUE("fixed_batch", JSON_TEXT, struct cm_formula, fixed_batch,
          "why the batch of the file cannot be changed, and is no variable; empty: it is one"),
    LIST("variables", struct cm_formula, variables, n_variables, variable_record,
         "the batch and the free dims"),
    MANY("dims", JSON_SIZES, struct cm_formula, dims, n_dims,
         "dims that are no variables, and their sizes"),
    VALUE("profiles", JSON_COUNT, struct cm_formula, profiles, "how many were taken"),
    VALUE("checks", JSON_COUNT, struct cm_formula, checks,
          "how many of them only check the formulas"),
    LIST("modules", struct cm_formula, modules, n_modules, module_record, "the model first"),
};

static const struct json_record formula_record =
    RECORD(struct cm_formula, formula_fields, "formula",
           "What an ONNX model costs as formulas in the batch and its free dims");

const struct json_document json_formula = {"costmodel/formula/1", NULL, "formula",
                                           &formula_record, offsetof(struct cm_formula, arena)};

int cm_formula_read_json(const char *text, size_t size, const char *name,
                         struct cm_diagnostics *diagnostics, struct cm_formula **ret_formula) {
    const struct json_text from = {text, size, name};
    void *formula = NULL;
    const int status = json_document_read(&json_formula, &from, diagnostics, &formula);
    if (status == CM_OK) *ret_formula = formula;
    return status;
}

int cm_formula_write_json(const struct cm_formula *formula, FILE *out) {
    return json_document_write(&json_formula, formula, out);
}
