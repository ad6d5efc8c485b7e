/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formulas of real models equal a derivation by hand, and the values of profiles that were not
 * used to make them.
 */
#include "costmodel/costmodel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    struct cm_diagnostics *diag;
    struct cm_model *model;
    struct cm_options options;
    struct cm_formula *formula;
};

static void set_up(struct fixture *f, const char *path) {
    *f = (struct fixture){.diag = cm_diagnostics_new()};
    assert_non_null(f->diag);
    cm_options_init(&f->options);
    assert_int_equal(cm_model_load_file(path, f->diag, &f->model), CM_OK);
}

static void find(struct fixture *f) {
    assert_int_equal(cm_model_formula(f->model, &f->options, f->diag, &f->formula), CM_OK);
}

static void tear_down(struct fixture *f) {
    cm_formula_free(f->formula);
    cm_model_free(f->model);
    cm_diagnostics_free(f->diag);
}

static const struct cm_formula_module *module_at(const struct fixture *f, const char *path) {
    for (size_t i = 0; i < f->formula->n_modules; i++)
        if (strcmp(f->formula->modules[i].path, path) == 0) return &f->formula->modules[i];
    fail_msg("no module %s", path);
    return NULL;
}

static const struct cm_polynomial *figure(const struct cm_formula_module *module,
                                          const char *metric) {
    for (size_t i = 0; i < module->n_polynomials; i++)
        if (strcmp(module->polynomials[i].metric, metric) == 0) return &module->polynomials[i];
    fail_msg("no figure %s", metric);
    return NULL;
}

/* A term of a polynomial in at most two variables: numerator * N^i * seq^j. */
struct coefficient {
    size_t exponents[2];
    int64_t numerator;
};

static void assert_terms(const struct cm_polynomial *have, const struct coefficient *want,
                         size_t n) {
    assert_string_equal(have->state, "polynomial");
    assert_int_equal(have->n_terms, n);
    for (size_t i = 0; i < n; i++) {
        const struct cm_monomial *term = &have->terms[i];
        assert_true(term->n_exponents <= 2);
        for (size_t k = 0; k < term->n_exponents; k++)
            assert_int_equal(term->exponents[k], want[i].exponents[k]);
        assert_int_equal(term->numerator, want[i].numerator);
        assert_int_equal(term->denominator, 1);
    }
}

/*
 * Four layers of width d = 256 with a feed-forward layer of 4 d, over N sequences of S tokens.
 * MACs per token and layer: queries, keys, values and the output 4 d^2, the feed-forward layer
 * 8 d^2, scores and weighted values 2 S d. In total 4 N S (12 d^2 + 2 S d) = 8 d N S^2 +
 * 48 d^2 N S. The head projects each token to 1000 words: 1000 d N S.
 */
static void attention_macs_are_quadratic_in_the_sequence_length(void **state) {
    const int64_t d = 256;
    const struct coefficient layers[] = {{{1, 2}, 8 * d}, {{1, 1}, 48 * d * d}};
    const struct coefficient model[] = {{{1, 2}, 8 * d}, {{1, 1}, 48 * d * d + 1000 * d}};
    struct fixture f;
    (void)state;
    set_up(&f, "transformer_encoder.onnx");
    find(&f);
    assert_int_equal(f.formula->n_variables, 2);
    assert_string_equal(f.formula->variables[0].name, "N");
    assert_string_equal(f.formula->variables[0].what, "batch");
    assert_string_equal(f.formula->variables[0].dim, "batch");
    assert_string_equal(f.formula->variables[1].name, "seq");
    assert_string_equal(f.formula->variables[1].what, "dim");
    assert_terms(figure(module_at(&f, "enc"), "macs"), layers, N(layers));
    assert_terms(figure(module_at(&f, ""), "macs"), model, N(model));
    tear_down(&f);
}

/*
 * For long sequences, the peak of a layer is at the softmax. Alive are, with 4 bytes per
 * element: scores and probabilities [N,8,S,S], the values and the input of the layer [N,S,256].
 */
static void the_peak_is_the_largest_of_several_polynomials(void **state) {
    const struct coefficient scores[] = {{{1, 2}, 2 * 8 * 4}, {{1, 1}, 2 * 256 * 4}};
    struct fixture f;
    (void)state;
    set_up(&f, "transformer_encoder.onnx");
    find(&f);
    const struct cm_polynomial *peak = figure(module_at(&f, ""), "peak_activation_bytes");
    assert_string_equal(peak->state, "largest");
    assert_int_equal(peak->n_alternatives, 3);
    const struct cm_polynomial second = {.state = "polynomial",
                                         .n_terms = peak->alternatives[1].n_terms,
                                         .terms = peak->alternatives[1].terms};
    assert_terms(&second, scores, N(scores));
    tear_down(&f);
}

/* A bound dim is a constant: with 16 tokens, the coefficients of N contain 16^2 and 16. */
static void bound_dims_are_not_variables(void **state) {
    static const struct cm_dim_option dims[] = {{"seq", 16}};
    const struct coefficient macs[] = {{{1, 0}, 2048 * 256 + 3401728 * 16}};
    struct fixture f;
    (void)state;
    set_up(&f, "transformer_encoder.onnx");
    f.options.n_dims = 1;
    f.options.dims = dims;
    find(&f);
    assert_int_equal(f.formula->n_variables, 1);
    assert_int_equal(f.formula->n_dims, 1);
    assert_string_equal(f.formula->dims[0].name, "seq");
    assert_int_equal(f.formula->dims[0].size, 16);
    assert_terms(figure(module_at(&f, ""), "macs"), macs, 1);
    tear_down(&f);
}

static void given_batch_is_not_a_variable(void **state) {
    struct fixture f;
    const struct coefficient macs[] = {{{0, 0}, 8 * INT64_C(439629568)}};
    (void)state;
    set_up(&f, "pointnet.onnx");
    f.options.batch = 8;
    find(&f);
    assert_int_equal(f.formula->n_variables, 0);
    assert_terms(figure(module_at(&f, ""), "macs"), macs, 1);
    tear_down(&f);
}

/*
 * Two poolings with stride 2 round down, so formulas hold only for heights and widths that are
 * multiples of 4. Each level has a quarter of the pixels of the level above. 3x3 convolutions
 * count per output pixel, transposed 2x2 convolutions per input pixel. The 1x1 head maps 32
 * channels to 2 classes.
 */
static void strides_limit_the_formula_to_multiples(void **state) {
    const int64_t down =
        9 * (3 * 32 + 32 * 32) + 9 * (32 * 64 + 64 * 64) / 4 + 9 * (64 * 128 + 128 * 128) / 16;
    const int64_t up = 4 * 128 * 64 / 16 + 9 * (128 * 64 + 64 * 64) / 4 + 4 * 64 * 32 / 4 +
                       9 * (64 * 32 + 32 * 32);
    struct fixture f;
    (void)state;
    set_up(&f, "unet.onnx");
    find(&f);
    assert_int_equal(f.formula->n_variables, 3);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(f.formula->variables[i].step, 4);
        assert_int_equal(f.formula->variables[i].from, 4);
    }
    const struct cm_polynomial *macs = figure(module_at(&f, ""), "macs");
    assert_int_equal(macs->n_terms, 1);
    for (size_t i = 0; i < 3; i++) assert_int_equal(macs->terms[0].exponents[i], 1);
    assert_int_equal(macs->terms[0].numerator, down + up + 32 * 2);
    assert_int_equal(macs->terms[0].denominator, 1);
    tear_down(&f);
}

/* A product of numerator and sizes may exceed int64_t. */
__extension__ typedef __int128 wide;

static wide value_of(const struct cm_monomial *terms, size_t n_terms, const int64_t *sizes) {
    wide sum = 0;
    for (size_t i = 0; i < n_terms; i++) {
        wide product = terms[i].numerator;
        for (size_t k = 0; k < terms[i].n_exponents; k++)
            for (size_t n = 0; n < terms[i].exponents[k]; n++) product *= sizes[k];
        /* at valid sizes, the denominator divides numerator * sizes exactly */
        assert_true(product % terms[i].denominator == 0);
        sum += product / terms[i].denominator;
    }
    return sum;
}

static bool has_value(const struct cm_polynomial *polynomial, const int64_t *sizes,
                      int64_t value) {
    wide largest = value_of(polynomial->terms, polynomial->n_terms, sizes);
    for (size_t i = 0; i < polynomial->n_alternatives; i++) {
        const struct cm_alternative *one = &polynomial->alternatives[i];
        const wide have = value_of(one->terms, one->n_terms, sizes);
        if (have > largest) largest = have;
    }
    return largest == value;
}

static int64_t figure_of(const struct cm_module *module, const char *metric) {
    const struct cm_costs *costs = &module->costs;
    const struct {
        const char *metric;
        int64_t value;
    } all[] = {{"params", costs->params},
               {"buffers", costs->buffers},
               {"macs", costs->macs},
               {"int_macs", costs->int_macs},
               {"flops", costs->flops},
               {"int_ops", costs->int_ops},
               {"bytes_read", costs->bytes_read},
               {"bytes_written", costs->bytes_written},
               {"weight_bytes", costs->weight_bytes},
               {"activation_bytes", costs->activation_bytes},
               {"peak_activation_bytes", module->peak_activation_bytes}};
    for (size_t i = 0; i < N(all); i++)
        if (strcmp(all[i].metric, metric) == 0) return all[i].value;
    fail_msg("no figure %s", metric);
    return 0;
}

/* Requires each formula to equal a profile at the sizes. Returns the number of formulas
 * compared: those of metrics with a polynomial, or with the largest of several. */
static size_t compare(struct fixture *f, const int64_t *sizes) {
    struct cm_dim_option dims[8];
    struct cm_result *result = NULL;
    size_t n = 0;
    struct cm_options options = f->options;
    options.dims = dims;
    for (size_t i = 0; i < f->formula->n_variables; i++) {
        if (strcmp(f->formula->variables[i].what, "batch") == 0)
            options.batch = sizes[i];
        else
            dims[options.n_dims++] =
                (struct cm_dim_option){f->formula->variables[i].dim, sizes[i]};
    }
    assert_int_equal(cm_model_profile(f->model, &options, f->diag, &result), CM_OK);
    assert_int_equal(result->n_modules, f->formula->n_modules);
    for (size_t i = 0; i < result->n_modules; i++) {
        const struct cm_formula_module *module = &f->formula->modules[i];
        assert_string_equal(module->path, result->modules[i].path);
        for (size_t k = 0; k < module->n_polynomials; k++) {
            const struct cm_polynomial *polynomial = &module->polynomials[k];
            if (strcmp(polynomial->state, "polynomial") != 0 &&
                strcmp(polynomial->state, "largest") != 0)
                continue;
            n++;
            if (!has_value(polynomial, sizes,
                           figure_of(&result->modules[i], polynomial->metric)))
                fail_msg("%s of %s", polynomial->metric, module->path);
        }
    }
    cm_result_free(result);
    return n;
}

static void formulas_equal_profiles_at_other_sizes(void **state) {
    static const char *const models[] = {
        "bert_mini.onnx",
        "gpt_mini_tied.onnx",
        "loop_if.onnx",
        "lstm.onnx",
        "odd_conv.onnx",
        "pointnet.onnx",
        "pointnet_b32.onnx",
        "pointnet_functions.onnx",
        "qdq.onnx",
        "resnet50.onnx",
        "siamese.onnx",
        "transformer_encoder.onnx",
        "unet.onnx",
        "quantized/encoder_dynamic.onnx",
        "torch/gpt_dynamo.onnx",
    };
    /* in steps of each variable: sizes that were not used to make or check the formulas */
    static const int64_t distances[][3] = {{8, 22, 17}, {36, 9, 70}, {90, 101, 33}};
    (void)state;
    for (size_t i = 0; i < N(models); i++) {
        struct fixture f;
        set_up(&f, models[i]);
        find(&f);
        assert_int_not_equal(f.formula->n_variables, 0);
        for (size_t k = 0; k < N(distances); k++) {
            int64_t sizes[3] = {0};
            for (size_t v = 0; v < f.formula->n_variables; v++)
                sizes[v] = f.formula->variables[v].from +
                           distances[k][v] * f.formula->variables[v].step;
            /* most metrics have a polynomial; the peak of a module may have none */
            assert_true(compare(&f, sizes) > 8 * f.formula->n_modules);
        }
        tear_down(&f);
    }
}

static void reports_an_unknown_convention(void **state) {
    static const int64_t dims[] = {1, 3, 5};
    static const struct cm_input_option input = {"input", 3, dims};
    struct fixture f;
    (void)state;
    set_up(&f, "pointnet.onnx");
    f.options.n_inputs = 1;
    f.options.inputs = &input;
    f.options.convention = "guess";
    assert_int_equal(cm_model_formula(f.model, &f.options, f.diag, &f.formula), CM_USAGE);
    assert_string_equal(cm_diagnostics_get(f.diag, 0)->message, "unknown convention 'guess'");
    tear_down(&f);
}

/* Writing, reading and writing again gives the same text. */
static void formulas_round_trip_through_json(void **state) {
    struct fixture f;
    struct cm_formula *back = NULL;
    char *texts[2] = {NULL, NULL};
    size_t sizes[2] = {0, 0};
    (void)state;
    set_up(&f, "transformer_encoder.onnx");
    find(&f);
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&texts[i], &sizes[i]);
        assert_non_null(out);
        assert_int_equal(cm_formula_write_json(i == 0 ? f.formula : back, out), CM_OK);
        fclose(out);
        if (i == 1) break;
        assert_int_equal(cm_formula_read_json(texts[0], sizes[0], "test", f.diag, &back),
                         CM_OK);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(texts[0], texts[1], sizes[0]);
    free(texts[0]);
    free(texts[1]);
    cm_formula_free(back);
    tear_down(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_macs_are_quadratic_in_the_sequence_length),
        cmocka_unit_test(the_peak_is_the_largest_of_several_polynomials),
        cmocka_unit_test(bound_dims_are_not_variables),
        cmocka_unit_test(given_batch_is_not_a_variable),
        cmocka_unit_test(strides_limit_the_formula_to_multiples),
        cmocka_unit_test(formulas_equal_profiles_at_other_sizes),
        cmocka_unit_test(reports_an_unknown_convention),
        cmocka_unit_test(formulas_round_trip_through_json),
    };
    if (chdir(TEST_MODELS_DIR) != 0) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
