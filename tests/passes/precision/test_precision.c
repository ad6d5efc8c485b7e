/* SPDX-License-Identifier: Apache-2.0 */
/* The dtypes of values by --precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/walk/walk.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *what;
    const char *lines;
    enum cm_precision precision;
    const char *want; /* values in the order of the model */
} rows[] = {
    {"fp16 replaces fp32, bf16 and fp16",
     "in x float[4]\nin h bfloat16[4]\nin i float16[4]\nnode a Exp x -> y\nout y\n",
     CM_PRECISION_FP16, "x f16 h f16 i f16 y f16"},
    {"fp32 replaces 16 bits", "in x float16[4]\nnode a Exp x -> y\nout y\n", CM_PRECISION_FP32,
     "x f32 y f32"},
    {"tf32 is as in the file", "in x float16[4]\nin z float[4]\nnode a Exp x -> y\nout y\n",
     CM_PRECISION_TF32, "x f16 z f32 y f16"},
    {"doubles, integers and booleans are as in the file",
     "in d double[4]\nin i int64[4]\nin w int8[4]\nin b bool[4]\nnode a Exp d -> y\nout y\n",
     CM_PRECISION_BF16, "d f64 i i64 w i8 b b1 y f64"},
    {"int8 changes weights that only products read, also through views",
     "in x float[2,4]\ninit w float[4,4]\ninit v float[4,4]\ninit s float[4]\nnode t Transpose "
     "w -> u\n"
     "node a MatMul x u -> y\nnode m MatMul y v -> z\nnode e Mul z s -> r\nnode f Neg v -> "
     "n\nout r\n",
     CM_PRECISION_INT8, "x f16 w i8 v f16 s f16 u i8 y f16 z f16 r f16 n f16"},
    {"fp8 leaves the weights of recurrences and norms in fp16",
     "opset 17\nin x float[2,4]\ninit w float[4,4]\ninit n float[4]\nnode a MatMul x w -> y\n"
     "node m LayerNormalization y n -> z\nout z\n",
     CM_PRECISION_FP8, "x f16 w f8e4m3 n f16 y f16 z f16"},
    {"amp: products give 16 bits, norms, softmax, powers and sums 32 bits",
     "opset 17\nin x float[2,4]\ninit w float[4,4]\ninit n float[4]\nnode a MatMul x w -> y\n"
     "node l LayerNormalization y n -> l\nnode s Softmax y -> s\nnode e Exp y -> e\n"
     "node r ReduceSum y -> r\nnode m ReduceMean y -> m\nnode c Relu y -> c\nout c\n",
     CM_PRECISION_AMP, "x f32 w f32 n f32 y f16 l f32 s f32 e f32 r f32 m f16 c f16"},
    {"amp: the widest tensor decides, numbers and the weights of a norm do not",
     "opset 17\nin x float[2,4]\ninit w float[4,4]\ninit n float[4]\ninit k float[]\n"
     "node a MatMul x w -> y\nnode j Mul k y -> j\nnode r Add j x -> r\nnode g Mul y n -> g\n"
     "node b BatchNormalization y n n n n -> b\nnode q Concat y r -> q axis=0\nout q\n",
     CM_PRECISION_AMP, "x f32 w f32 n f32 k f32 y f16 j f16 r f32 g f32 b f16 q f32"},
    {"amp: a cast of the model decides",
     "opset 17\nin x float[2,4]\ninit w float[4,4]\n"
     "node a MatMul x w -> y\nnode c Cast x -> c to=10\nnode d Cast c -> d to=1\nout d\n",
     CM_PRECISION_AMP, "x f32 w f32 y f16 c f16 d f32"},
    {"amp: the bias of a linear layer is part of the product",
     "in x float[2,4]\ninit w float[4,4]\ninit b float[4]\nnode a MatMul x w -> y\n"
     "node s Add b y -> s\nout s\n",
     CM_PRECISION_AMP, "x f32 w f32 b f32 y f16 s f16"},
};

static void precision_sets_the_dtype_of_values(void **state) {
    (void)state;
    for (size_t i = 0; i < N(rows); i++) {
        const struct cm_options options = {.precision = rows[i].precision};
        struct bench *bench = bench_open_with(rows[i].lines, &options);
        char have[512] = "";
        size_t n = 0;
        if (bench->status != CM_OK) fail_msg("%s: %s", rows[i].what, bench_messages(bench));
        for (size_t id = 0; id < bench->model.n_values; id++)
            n += (size_t)snprintf(have + n, sizeof(have) - n, "%s%s %s", n > 0 ? " " : "",
                                  bench->model.values[id].name,
                                  dtype_short_name(bench->analysis.infer->infos[id].dtype));
        if (strcmp(have, rows[i].want) != 0)
            fail_msg("%s: got '%s', expected '%s'", rows[i].what, have, rows[i].want);
        bench_close(bench);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(precision_sets_the_dtype_of_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
