/* SPDX-License-Identifier: Apache-2.0 */
/* Number of parameters of the framework's model: what the exporter folded, merged and tied. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/shape.h"
#include "model_harness.h"
#include "passes/params/params.h"

struct framework_case {
    const char *lines;
    int64_t elements;
    size_t n_absent;
};

static void check_row(const struct framework_case *row, size_t i) {
    struct bench *bench = bench_open(row->lines);
    if (bench->status != CM_OK) fail_msg("row %zu: %s", i, bench_messages(bench));
    const struct framework_table *framework = &bench->analysis.params->framework;
    if (framework->elements != row->elements || framework->n_absent != row->n_absent)
        fail_msg("row %zu: %lld elements, %zu absent, %zu unknown", i,
                 (long long)framework->elements, framework->n_absent, framework->n_unknown);
    bench_close(bench);
}

#define CHECK(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) check_row(&(rows)[i], i)

#define IMAGE "in x float[1,3,8,8]\n"
#define CONV  "params c.weight c.bias bn.weight bn.bias\ninit c.weight float[4,3,3,3]\n"

static void counts_a_batchnorm_that_was_fused(void **state) {
    static const struct framework_case rows[] = {
        {IMAGE CONV "init c.bias float[4]\nfused :Net bn:BatchNorm2d\n"
                    "node n Conv x c.weight c.bias -> y\nout y\n",
         108 + 4 + 4 + 4, 2},
        /* biases of zeros were dropped, too */
        {IMAGE CONV "fused :Net bn:BatchNormAct2d\nnode n Conv x c.weight -> y\nout y\n",
         108 + 4 + 4 + 4, 3},
        {IMAGE
         "params d.weight bn.weight bn.bias\ninit d.weight float[3,5,2,2]\n"
         "fused :Net bn:BatchNorm2d\nnode n ConvTranspose x d.weight -> y group=1\nout y\n",
         60 + 5 + 5, 2},
        {"in x float[2,3]\nparams f.weight bn.weight bn.bias\ninit f.weight float[5,3]\n"
         "fused :Net bn:BatchNorm1d\nnode n Gemm x f.weight -> y transB=1\nout y\n",
         15 + 5 + 5, 2},
        /* fused into two convolutions with different channels */
        {IMAGE "params c.weight d.weight bn.weight bn.bias\ninit c.weight float[4,3,1,1]\n"
               "init d.weight float[6,3,1,1]\nfused :Net bn:BatchNorm2d\n"
               "node n Conv x c.weight -> y\nnode m Conv x d.weight -> z\nout y\nout z\n",
         DIM_UNKNOWN, 2},
        /* a fused module of another class; a BatchNorm that was not fused */
        {IMAGE CONV "fused :Net bn:Affine\nnode n Conv x c.weight -> y\nout y\n", DIM_UNKNOWN,
         3},
        {IMAGE CONV "at :Net bn:BatchNorm2d\nnode n Conv x c.weight -> y\nout y\n", DIM_UNKNOWN,
         3},
    };
    (void)state;
    CHECK(rows);
}

static void counts_a_bias_that_was_dropped(void **state) {
    static const struct framework_case rows[] = {
        {IMAGE "params c.weight c.bias\ninit c.weight float[4,3,1,1]\n"
               "node n Conv x c.weight -> y\nout y\n",
         12 + 4, 1},
        {"in x float[2,7,3]\nparams f.weight f.bias\ninit val_3 float[3,5]\nderived val_3 "
         "f.weight\n"
         "node n MatMul x val_3 -> y\nout y\n",
         15 + 5, 1},
        {"in x float[2,3]\nparams weight bias\ninit weight float[5,3]\n"
         "node n Gemm x weight -> y transB=1\nout y\n",
         15 + 5, 1},
        /* the dropped parameter is not named bias */
        {IMAGE "params c.weight c.gain\ninit c.weight float[4,3,1,1]\n"
               "node n Conv x c.weight -> y\nout y\n",
         DIM_UNKNOWN, 1},
    };
    (void)state;
    CHECK(rows);
}

static void counts_stored_parameters_once(void **state) {
    static const struct framework_case rows[] = {
        {"in x float[2,3]\nparams a b\ninit a float[3]\ninit b float[2,3]\n"
         "node n Add x a -> z\nnode m Add z b -> y\nout y\n",
         3 + 6, 0},
        /* a transposed copy beside the parameter */
        {"in x float[2,3]\nparams w\ninit w float[3,3]\ninit val_1 float[3,3]\nderived val_1 "
         "w\n"
         "node n MatMul x val_1 -> z\nnode m MatMul z w -> y\nout y\n",
         9, 0},
        /* a table that a Gather reads was computed in one step, as a tied head is */
        {"in i int64[2]\nparams w\ninit val_1 float[20,64]\nderived val_1 w\n"
         "node n Gather val_1 i -> y\nout y\n",
         1280, 0},
        /* the exporter may have added all elements */
        {"in x float[2,3]\nparams a\ninit val_1 float[1,1]\nderived val_1 a\n"
         "node m Add x val_1 -> y\nout y\n",
         DIM_UNKNOWN, 1},
        /* parts of one parameter */
        {"in x float[2,3]\nparams a\ninit val_1 float[2,3]\nderived val_1 a\n"
         "init val_2 float[2,3]\nderived val_2 a\n"
         "node m Add x val_1 -> t\nnode n Add t val_2 -> y\nout y\n",
         DIM_UNKNOWN, 0},
        /* a quantized parameter has another layout */
        {"in x float[2,3]\nparams w\ninit w int8[3,3]\ninit s float[]\n"
         "node d DequantizeLinear w s -> f\nnode m MatMul x f -> y\nout y\n",
         DIM_UNKNOWN, 1},
        {"in x float[2,3]\nnode m Relu x -> y\nout y\n", DIM_UNKNOWN, 0},
        {"in x float[2,3]\nparams unused\nnode m Relu x -> y\nout y\n", DIM_UNKNOWN, 1},
    };
    (void)state;
    CHECK(rows);
}

#define REPEATED(dims)                                                                         \
    "in x float[2,1,64]\nparams cls_token\ninit expand float" dims                             \
    "\nderived expand cls_token\nmark expand repeated\nnode n Add x expand -> y\nout y\n"

static void counts_a_token_that_was_repeated_for_the_batch(void **state) {
    static const struct framework_case rows[] = {
        {REPEATED("[2,1,64]"), 64, 0},
        {REPEATED("[1,64]"), 64, 0},
        {REPEATED("[2,1,1,64]"), 64, 0},
        /* the second axis may have been repeated, too */
        {REPEATED("[2,5,64]"), DIM_UNKNOWN, 1},
        {REPEATED("[2,64,1]"), DIM_UNKNOWN, 1},
    };
    (void)state;
    CHECK(rows);
}

static void prefers_recorded_sizes(void **state) {
    static const struct framework_case rows[] = {
        /* the file has the used rows of a table; auxiliary heads are not in the file */
        {"in x float[2,3]\nparams pos.weight=96 aux.weight=40\ninit embedding float[2,3]\n"
         "node n Add x embedding -> y\nout y\n",
         136, 2},
        /* tied: the size is 0 */
        {"in i int64[2]\nparams emb.weight=320 head.weight=0\ninit head.weight float[10,32]\n"
         "at :Net emb:Embedding\nnode g Gather head.weight i -> y\nout y\n",
         320, 1},
        {"in x float[2,3]\nparams a=6 b\ninit a float[2,3]\nnode n Add x a -> y\nout y\n",
         DIM_UNKNOWN, 1},
    };
    (void)state;
    CHECK(rows);
}

#define NORMS "in x float[2,3]\nparams a.weight b.weight c.weight\ninit a.weight float[3]\n"

static void counts_merged_parameters_separately(void **state) {
    struct bench *bench = bench_open(
        NORMS
        "at :Net a:Norm\nnode n Mul x a.weight -> s\nat :Net b:Norm\n"
        "node m Mul s a.weight -> t\nat :Net c:Norm\nnode l Mul t a.weight -> y\nout y\n");
    const struct framework_table *framework = &bench->analysis.params->framework;
    (void)state;
    assert_int_equal(framework->elements, 9);
    assert_int_equal(framework->n_absent, 2);
    assert_int_equal(framework->n_sharing, 3);
    assert_string_equal(framework->shared, "a.weight");
    bench_close(bench);
}

static void does_not_guess_whether_parameters_are_tied(void **state) {
    static const struct framework_case rows[] = {
        /* tied: the last name remains, and the tensor is too large to be merged */
        {"in i int64[2]\nparams emb.weight head.weight\ninit head.weight float[100,32]\n"
         "at :Net emb:Embedding\nnode g Gather head.weight i -> x\nat :Net head:Linear\n"
         "node n Gemm x head.weight -> y transB=1\nout y\n",
         3200, 1},
        /* small: either tied, or merged by another tool */
        {"in i int64[2]\nparams emb.weight head.weight\ninit head.weight float[10,32]\n"
         "at :Net emb:Embedding\nnode g Gather head.weight i -> x\nat :Net head:Linear\n"
         "node n Gemm x head.weight -> y transB=1\nout y\n",
         DIM_UNKNOWN, 1},
        /* large, and the first name remains */
        {"in i int64[2]\nparams emb.weight head.weight\ninit emb.weight float[100,32]\n"
         "at :Net emb:Embedding\nnode g Gather emb.weight i -> x\nat :Net head:Linear\n"
         "node n Gemm x emb.weight -> y transB=1\nout y\n",
         DIM_UNKNOWN, 1},
        /* a bias that belongs to another layer */
        {"in x float[2,3]\nparams a.weight a.bias b.weight b.bias\ninit a.weight float[3,3]\n"
         "init b.weight float[3,3]\ninit b.bias float[3]\nat :Net a:Linear\n"
         "node n Gemm x a.weight b.bias -> z transB=1\nat :Net b:Linear\n"
         "node m Gemm z b.weight b.bias -> y transB=1\nout y\n",
         DIM_UNKNOWN, 1},
        /* a module that reads a parameter of another module on purpose */
        {NORMS "at :Net d:Norm\nnode n Mul x a.weight -> y\nout y\n", DIM_UNKNOWN, 2},
    };
    (void)state;
    CHECK(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_a_batchnorm_that_was_fused),
        cmocka_unit_test(counts_a_bias_that_was_dropped),
        cmocka_unit_test(counts_stored_parameters_once),
        cmocka_unit_test(counts_a_token_that_was_repeated_for_the_batch),
        cmocka_unit_test(prefers_recorded_sizes),
        cmocka_unit_test(counts_merged_parameters_separately),
        cmocka_unit_test(does_not_guess_whether_parameters_are_tied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
