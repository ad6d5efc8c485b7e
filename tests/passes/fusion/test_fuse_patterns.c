/* SPDX-License-Identifier: Apache-2.0 */
/* Fused patterns in the forms that exporters write, and near misses. x is [2,8,16] by default.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"

#include "passes/fusion/fuse_patterns.h"
#include "passes/walk/context.h"

struct found_case {
    const char *name;
    const char *lines; /* after the input x and constants "c2" of 2, "half", "one", ... */
    const char *want;  /* "LayerNorm 9, GELU 5": patterns and numbers of nodes */
};

#define HEAD                                                                                   \
    "in x float[2,8,16]\n"                                                                     \
    "const c2 float[] =2\nconst half float[] =0.5\nconst one float[] =1\n"                     \
    "const c3 float[] =3\nconst c6 float[] =6\nconst zero float[] =0\n"                        \
    "const eps float[] =0.00001\nconst root2 float[] =1.4142135\n"                             \
    "init w float[16]\ninit b float[16]\n"

static void describe(const struct bench *bench, char *out, size_t size) {
    const struct fused_patterns_table *table = bench->analysis.fused_patterns;
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < table->n; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s %zu", i ? ", " : "",
                                   table->items[i].name, table->items[i].n_nodes);
}

static void check_cases(const struct found_case *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char lines[4096];
        char have[512];
        (void)snprintf(lines, sizeof lines, "%s%s", HEAD, rows[i].lines);
        struct bench *bench = bench_open(lines);
        if (bench->status != CM_OK) fail_msg("%s: %s", rows[i].name, bench_messages(bench));
        describe(bench, have, sizeof have);
        if (strcmp(have, rows[i].want) != 0)
            fail_msg("%s: got '%s', expected '%s'", rows[i].name, have, rows[i].want);
        bench_close(bench);
    }
}

#define CHECK(rows) check_cases(rows, sizeof(rows) / sizeof *(rows))

#define MEAN   "node m ReduceMean x -> m axes=[-1]\n"
#define CENTRE MEAN "node s Sub x m -> s\n"
#define SQUARE CENTRE "node p Pow s c2 -> p\n"
#define SPREAD SQUARE "node v ReduceMean p -> v axes=[-1]\n"
#define BARE   SPREAD "node e Add v eps -> e\nnode q Sqrt e -> q\nnode d Div s q -> d\n"

static void test_matches_all_forms_of_layer_norm(void **state) {
    static const struct found_case rows[] = {
        {"with scale and shift", BARE "node a Mul d w -> g\nnode z Add g b -> y\nout y\n",
         "LayerNorm 9"},
        {"without", BARE "out d\n", "LayerNorm 7"},
        {"with a scale alone", BARE "node a Mul d w -> y\nout y\n", "LayerNorm 8"},
        {"operands swapped",
         SPREAD "node e Add eps v -> e\nnode q Sqrt e -> q\nnode d Div s q -> d\n"
                "node a Mul w d -> g\nnode z Add b g -> y\nout y\n",
         "LayerNorm 9"},
        {"the square as a product, operands of the sum swapped",
         CENTRE "node p Mul s s -> p\nnode v ReduceMean p -> v axes=[2]\n"
                "node e Add v eps -> e\nnode q Sqrt e -> q\nnode r Reciprocal q -> r\n"
                "node d Mul s r -> d\nnode a Mul d w -> g\nnode z Add g b -> y\nout y\n",
         "LayerNorm 10"},
        {"the square root as a Pow",
         SPREAD "const h float[] =-0.5\nnode e Add v eps -> e\nnode q Pow e h -> q\n"
                "node d Mul q s -> d\nout d\n",
         "LayerNorm 7"},
        {"a Reciprocal of the root",
         SPREAD "node e Add v eps -> e\nnode q Sqrt e -> q\nnode r Div one q -> r\n"
                "node d Mul s r -> d\nout d\n",
         "LayerNorm 8"},
        {"the difference computed twice",
         MEAN "node s1 Sub x m -> s1\nnode s2 Sub x m -> s2\nnode p Pow s2 c2 -> p\n"
              "node v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\nnode q Sqrt e -> q\n"
              "node d Div s1 q -> d\nout d\n",
         "LayerNorm 8"},
        {"axes as an operand (opset 18), two of them",
         "opset 18\nconst ax int64[2] =-1,-2\ninit w2 float[8,16]\n"
         "node m ReduceMean x ax -> m\nnode s Sub x m -> s\nnode p Pow s c2 -> p\n"
         "node v ReduceMean p ax -> v\nnode e Add v eps -> e\nnode q Sqrt e -> q\n"
         "node d Div s q -> d\nnode a Mul d w2 -> y\nout y\n",
         "LayerNorm 8"},
        {"half floats are cast on the way",
         "in h float16[2,8,16]\ninit hw float16[16]\nnode t Cast h -> t to=1\n"
         "node m ReduceMean t -> m axes=[-1]\nnode s Sub t m -> s\nnode s1 Cast s -> s1 to=1\n"
         "node p Pow s1 c2 -> p\nnode v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\n"
         "node q Sqrt e -> q\nnode d Div s1 q -> d\nnode k Cast d -> k to=10\n"
         "node a Mul k hw -> y\nout y\n",
         "LayerNorm 10"},
        {"as tf.nn.batch_normalization writes it",
         SPREAD "node e Add v eps -> e\nnode q Sqrt e -> q\nnode r Reciprocal q -> r\n"
                "node k Mul r w -> k\nnode xk Mul x k -> xk\nnode mk Mul m k -> mk\n"
                "node o Sub b mk -> o\nnode z Add xk o -> y\nout y\n",
         "LayerNorm 12"},
    };
    (void)state;
    CHECK(rows);
}

static void test_rejects_near_misses_of_layer_norm(void **state) {
    static const struct found_case rows[] = {
        {"another node reads the variance", BARE "node u Relu v -> u\nout d\nout u\n", ""},
        {"the variance is an output of the model", BARE "out d\nout v\n", ""},
        {"a cube",
         CENTRE "node p Pow s c3 -> p\nnode v ReduceMean p -> v axes=[-1]\n"
                "node e Add v eps -> e\nnode q Sqrt e -> q\nnode d Div s q -> d\nout d\n",
         ""},
        {"epsilon is not small",
         SPREAD "node e Add v one -> e\nnode q Sqrt e -> q\nnode d Div s q -> d\nout d\n", ""},
        {"epsilon is a tensor",
         SPREAD "in t float[2,8,1]\nnode e Add v t -> e\nnode q Sqrt e -> q\n"
                "node d Div s q -> d\nout d\n",
         ""},
        {"two means over different axes",
         CENTRE "node p Pow s c2 -> p\nnode v ReduceMean p -> v axes=[1]\n"
                "node e Add v eps -> e\nnode q Sqrt e -> q\nnode d Div s q -> d\nout d\n",
         ""},
        {"means over axes that are not the last",
         "node m ReduceMean x -> m axes=[1]\nnode s Sub x m -> s\nnode p Pow s c2 -> p\n"
         "node v ReduceMean p -> v axes=[1]\nnode e Add v eps -> e\nnode q Sqrt e -> q\n"
         "node d Div s q -> d\nout d\n",
         ""},
        {"the mean of another value",
         "in o float[2,8,16]\nnode m ReduceMean o -> m axes=[-1]\nnode s Sub x m -> s\n"
         "node p Pow s c2 -> p\nnode v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\n"
         "node q Sqrt e -> q\nnode d Div s q -> d\nout d\n",
         /* the remaining nodes match */ "RMSNorm 5"},
        {"the sign is wrong",
         MEAN "node s Add x m -> s\nnode p Pow s c2 -> p\nnode v ReduceMean p -> v axes=[-1]\n"
              "node e Add v eps -> e\nnode q Sqrt e -> q\nnode d Mul s q -> d\nout d\n",
         ""},
        {"scaled by another activation: the bare form alone",
         BARE "in o float[2,8,16]\nnode a Mul d o -> y\nout y\n", "LayerNorm 7"},
        {"scaled along another axis: the bare form alone",
         BARE "init w8 float[8,1]\nnode a Mul d w8 -> y\nout y\n", "LayerNorm 7"},
        {"scaled along another axis of the same size: the bare form alone",
         "in x float[2,16,16]\n" BARE "init wt float[16,1]\nnode a Mul d wt -> y\nout y\n",
         "LayerNorm 7"},
        {"scaled with broadcasting: the bare form alone",
         BARE "init wt float[16,1,1,1]\nnode a Mul d wt -> y\nout y\n", "LayerNorm 7"},
        {"nearly a square",
         CENTRE "const near float[] =2.005\nnode p Pow s near -> p\n"
                "node v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\n"
                "node q Sqrt e -> q\nnode d Div s q -> d\nout d\n",
         ""},
        {"multiplies by the negative of the root, not its reciprocal",
         SPREAD "node e Add v eps -> e\nnode q Sqrt e -> q\nnode r Neg q -> r\n"
                "node d Mul s r -> d\nout d\n",
         ""},
        {"adds the reciprocal of the mean, not its negative",
         MEAN "node i Reciprocal m -> i\nnode s Add x i -> s\nnode p Pow s c2 -> p\n"
              "node v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\nnode q Sqrt e -> q\n"
              "node d Div s q -> d\nout d\n",
         /* the remaining nodes match */ "RMSNorm 5"},
        {"another node reads the scaled value: the bare form alone",
         BARE "node a Mul d w -> y\nnode u Relu d -> u\nout y\nout u\n", "LayerNorm 7"},
    };
    (void)state;
    CHECK(rows);
}

static void test_matches_other_norms(void **state) {
    static const struct found_case rows[] = {
        {"RMSNorm",
         "node p Pow x c2 -> p\nnode v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\n"
         "node q Sqrt e -> q\nnode r Reciprocal q -> r\nnode d Mul x r -> d\n"
         "node a Mul w d -> y\nout y\n",
         "RMSNorm 7"},
        {"RMSNorm, cast back before it is scaled",
         "in h float16[2,8,16]\ninit hw float16[16]\nnode t Cast h -> t to=1\n"
         "node p Mul t t -> p\nnode v ReduceMean p -> v axes=[-1]\nnode e Add v eps -> e\n"
         "node q Sqrt e -> q\nnode d Div t q -> d\nnode k Cast d -> k to=10\n"
         "node a Mul hw k -> y\nout y\n",
         "RMSNorm 7"},
        {"GroupNorm",
         "const s int64[3] =0,4,-1\nconst t int64[3] =2,8,16\nconst g1 float[4] =1\n"
         "const g0 float[4] =0\ninit cw float[8,1]\ninit cb float[8,1]\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i epsilon=0.001\n"
         "node k Reshape i t -> k\nnode a Mul k cw -> g\nnode z Add g cb -> y\nout y\n",
         "GroupNorm 5"},
        {"an InstanceNorm with its own scale is not a GroupNorm",
         "const s int64[3] =0,4,-1\nconst t int64[3] =2,8,16\ninit g1 float[4]\n"
         "const g0 float[4] =0\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i\n"
         "node k Reshape i t -> y\nout y\n",
         ""},
        {"not if the result has another shape",
         "const s int64[3] =0,4,-1\nconst t int64[3] =2,16,8\nconst g1 float[4] =1\n"
         "const g0 float[4] =0\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i\n"
         "node k Reshape i t -> y\nout y\n",
         ""},
        {"not if groups span the batch",
         "const s int64[3] =4,4,-1\nconst t int64[3] =2,8,16\nconst g1 float[4] =1\n"
         "const g0 float[4] =0\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i\n"
         "node k Reshape i t -> y\nout y\n",
         ""},
        {"not if groups split channels",
         "const s int64[3] =0,16,-1\nconst t int64[3] =2,8,16\nconst g1 float[16] =1\n"
         "const g0 float[16] =0\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i\n"
         "node k Reshape i t -> y\nout y\n",
         ""},
        {"scaled along the last axis: the bare form alone",
         "in x float[2,8,8]\nconst s int64[3] =0,4,-1\nconst t int64[3] =2,8,8\n"
         "const g1 float[4] =1\nconst g0 float[4] =0\ninit cw float[8]\n"
         "node r Reshape x s -> r\nnode i InstanceNormalization r g1 g0 -> i\n"
         "node k Reshape i t -> k\nnode a Mul k cw -> y\nout y\n",
         "GroupNorm 3"},
    };
    (void)state;
    CHECK(rows);
}

#define ERF "node d Div x root2 -> d\nnode f Erf d -> f\nnode a Add f one -> a\n"

static void matches_gelu(void **state) {
    static const struct found_case rows[] = {
        {"GELU", ERF "node n Mul x a -> n\nnode z Mul n half -> y\nout y\n", "GELU 5"},
        {"GELU, halved first", ERF "node n Mul x half -> n\nnode z Mul n a -> y\nout y\n",
         "GELU 5"},
        {"GELU, the sum halved", ERF "node n Mul half a -> n\nnode z Mul n x -> y\nout y\n",
         "GELU 5"},
        {"GELU, divided by two", ERF "node n Mul a x -> n\nnode z Div n c2 -> y\nout y\n",
         "GELU 5"},
        {"GELU, times sqrt(0.5)",
         "const k float[] =0.70710677\nnode d Mul k x -> d\nnode f Erf d -> f\n"
         "node a Add one f -> a\nnode n Mul x a -> n\nnode z Mul n half -> y\nout y\n",
         "GELU 5"},
        {"GELU of float16 with a rounded sqrt(2)",
         "in h float16[2,8]\nconst k float16[] =1.4140625\nconst o float16[] =1\n"
         "const f16 float16[] =0.5\nnode d Div h k -> d\nnode f Erf d -> f\nnode a Add f o -> "
         "a\n"
         "node n Mul h a -> n\nnode z Mul n f16 -> y\nout y\n",
         "GELU 5"},
        {"not with sqrt(3)",
         "const k float[] =1.7320508\nnode d Div x k -> d\nnode f Erf d -> f\n"
         "node a Add f one -> a\nnode n Mul x a -> n\nnode z Mul n half -> y\nout y\n",
         ""},
        {"not of two different tensors",
         "in o float[2,8,16]\n" ERF "node n Mul o a -> n\nnode z Mul n half -> y\nout y\n", ""},
        {"not if another node reads the error function",
         ERF "node n Mul x a -> n\nnode z Mul n half -> y\nout y\nout f\n", ""},
        {"not with the opposite sign",
         "node d Div x root2 -> d\nnode f Erf d -> f\nnode a Sub f one -> a\n"
         "node n Mul x a -> n\nnode z Mul n half -> y\nout y\n",
         ""},
        {"not if a constant broadcasts it",
         ERF "const wide float[3,1,1,1] =0.5\nnode n Mul x a -> n\nnode z Mul n wide -> y\n"
             "out y\n",
         ""},
        {"GELU by tanh",
         "const k float[] =0.7978846\nconst j float[] =0.044715\nnode p Pow x c3 -> p\n"
         "node m Mul p j -> m\nnode a Add x m -> a\nnode s Mul a k -> s\nnode t Tanh s -> t\n"
         "node o Add t one -> o\nnode h Mul x half -> h\nnode z Mul h o -> y\nout y\n",
         "GELU 8"},
        {"GELU by tanh, the cube as products",
         "const k float[] =0.7978846\nconst j float[] =0.044715\nnode p Mul x x -> p\n"
         "node p3 Mul x p -> p3\nnode m Mul j p3 -> m\nnode a Add x m -> a\nnode s Mul k a -> "
         "s\n"
         "node t Tanh s -> t\nnode o Add one t -> o\nnode h Mul half x -> h\n"
         "node z Mul h o -> y\nout y\n",
         "GELU 9"},
        {"GELU by tanh, x factored out of the sum",
         "const k float[] =0.7978846\nconst j float[] =0.044715\nnode i Mul x k -> i\n"
         "node jx Mul x j -> jx\nnode jxx Mul jx x -> jxx\nnode a Add jxx one -> a\n"
         "node s Mul i a -> s\nnode t Tanh s -> t\nnode o Add t one -> o\n"
         "node h Mul x half -> h\nnode z Mul h o -> y\nout y\n",
         "GELU 9"},
    };
    (void)state;
    CHECK(rows);
}

static void matches_silu_mish_and_softplus(void **state) {
    static const struct found_case rows[] = {
        {"SiLU", "node s Sigmoid x -> s\nnode z Mul s x -> y\nout y\n", "SiLU 2"},
        {"a gate is not a SiLU",
         "in o float[2,8,16]\nnode s Sigmoid o -> s\nnode z Mul x s -> y\nout y\n", ""},
        {"a SiLU with rounding is not one",
         "node i Cast x -> i to=6\nnode c Cast i -> c to=1\nnode s Sigmoid x -> s\n"
         "node z Mul c s -> y\nout y\n",
         ""},
        {"the inverse of Softplus",
         "node e Exp x -> e\nnode a Sub e one -> a\nnode l Log a -> y\nout y\n", ""},
        {"QuickGELU",
         "const k float[] =1.702\nnode m Mul x k -> m\nnode s Sigmoid m -> s\n"
         "node z Mul x s -> y\nout y\n",
         "QuickGELU 3"},
        {"Mish", "node s Softplus x -> s\nnode t Tanh s -> t\nnode z Mul x t -> y\nout y\n",
         "Mish 3"},
        {"Mish with its Softplus",
         "node e Exp x -> e\nnode a Add e one -> a\nnode l Log a -> l\nnode t Tanh l -> t\n"
         "node z Mul x t -> y\nout y\n",
         "Mish 5"},
        {"Softplus that returns x for large x",
         "const c20 float[] =20\nnode s Softplus x -> s\nnode g Greater x c20 -> g\n"
         "node z Where g x s -> y\nout y\n",
         "Softplus 3"},
    };
    (void)state;
    CHECK(rows);
}

static void matches_hardswish_and_clips(void **state) {
    static const struct found_case rows[] = {
        {"Hardswish",
         "node s HardSigmoid x -> s alpha=0.16666667\nnode z Mul x s -> y\nout y\n",
         "Hardswish 2"},
        {"another slope", "node s HardSigmoid x -> s alpha=0.2\nnode z Mul x s -> y\nout y\n",
         ""},
        {"Hardswish by Clip",
         "node a Add x c3 -> a\nnode k Clip a zero c6 -> k\nnode m Mul x k -> m\n"
         "node z Div m c6 -> y\nout y\n",
         "Hardswish 4"},
        {"Hardswish by Clip, whose bounds are attributes",
         "opset 9\nnode a Add x c3 -> a\nnode k Clip a -> k min=0.0 max=6.0\n"
         "node d Div k c6 -> d\nnode z Mul x d -> y\nout y\n",
         "Hardswish 4"},
        {"Hardsigmoid",
         "node a Add x c3 -> a\nnode k Clip a zero c6 -> k\nnode z Div k c6 -> y\nout y\n",
         "Hardsigmoid 3"},
        {"ReLU6", "node z Clip x zero c6 -> y\nout y\n", "ReLU6 1"},
        {"not with an upper limit of 5",
         "const c5 float[] =5\nnode z Clip x zero c5 -> y\nout y\n", ""},
        {"not with an upper limit close to 6",
         "const near float[] =6.02\nnode z Clip x zero near -> y\nout y\n", ""},
        {"minus 3 instead of plus 3: a ReLU6 alone",
         "const third float[] =0.33333334\nnode a Sub x third -> a\n"
         "node k Clip a zero c6 -> k\nnode z Div k c6 -> y\nout y\n",
         "ReLU6 1"},
    };
    (void)state;
    CHECK(rows);
}

static void test_matches_softmax(void **state) {
    static const struct found_case rows[] = {
        {"with the maximum subtracted",
         "node m ReduceMax x -> m axes=[-1]\nnode d Sub x m -> d\nnode e Exp d -> e\n"
         "node s ReduceSum e ax -> s\nnode z Div e s -> y\nout y\n",
         "Softmax 5"},
        {"along any axis",
         "opset 11\nnode e Exp x -> e\nnode s ReduceSum e -> s axes=[1]\nnode z Div e s -> y\n"
         "out y\n",
         "Softmax 3"},
        {"the maximum along another axis: a softmax of the difference",
         "opset 11\nnode m ReduceMax x -> m axes=[-1]\nnode d Sub x m -> d\nnode e Exp d -> e\n"
         "node s ReduceSum e -> s axes=[1]\nnode z Div e s -> y\nout y\n",
         "Softmax 3"},
        {"with keepdims=0",
         "opset 11\nnode e Exp x -> e\nnode s ReduceSum e -> s axes=[0] keepdims=0\n"
         "node z Div e s -> y\nout y\n",
         ""},
        {"its logarithm",
         "opset 11\nnode m ReduceMax x -> m axes=[-1]\nnode d Sub x m -> d\nnode e Exp d -> e\n"
         "node s ReduceSum e -> s axes=[-1]\nnode l Log s -> l\nnode z Sub d l -> y\nout y\n",
         "LogSoftmax 6"},
    };
    struct found_case with_axes[sizeof rows / sizeof *rows];
    char lines[512];
    (void)state;
    memcpy(with_axes, rows, sizeof rows);
    (void)snprintf(lines, sizeof lines, "const ax int64[1] =-1\n%s", rows[0].lines);
    with_axes[0].lines = lines;
    CHECK(with_axes);
}

#define QKV                                                                                    \
    "in q float[2,4,5,16]\nin k float[2,4,16,7]\nin v float[2,4,7,16]\nconst f float[] =4\n"
#define PRODUCT QKV "node p MatMul q k -> p\n"

static void test_matches_attention(void **state) {
    static const struct found_case rows[] = {
        {"plain", PRODUCT "node s Softmax p -> s axis=-1\nnode z MatMul s v -> y\nout y\n",
         "Attention 3"},
        {"scores scaled and masked",
         PRODUCT "in m float[2,1,1,7]\nnode d Div p f -> d\nnode a Add d m -> a\n"
                 "node s Softmax a -> s axis=-1\nnode z MatMul s v -> y\nout y\n",
         "Attention 5"},
        {"queries scaled",
         QKV "node d Div q f -> d\nnode p MatMul d k -> p\nnode s Softmax p -> s axis=3\n"
             "node z MatMul s v -> y\nout y\n",
         "Attention 4"},
        {"queries and keys scaled by a computed factor",
         "in c float[1]\n" QKV "node r Sqrt c -> r\nnode d Mul q r -> d\nnode e Mul k r -> e\n"
         "node p MatMul d e -> p\nnode s Softmax p -> s axis=-1\nnode z MatMul s v -> y\nout "
         "y\n",
         "Attention 5"},
        {"a position bias and a mask, between reshapes",
         PRODUCT
         "init t float[1,4,5,7]\nin m float[1,2,1,5,7]\nconst a5 int64[5] =1,2,4,5,7\n"
         "const a4 int64[4] =-1,4,5,7\nnode d Mul p f -> d\nnode a Add d t -> a\n"
         "node r Reshape a a5 -> r\nnode b1 Add r m -> b1\nnode r1 Reshape b1 a4 -> r1\n"
         "node s Softmax r1 -> s axis=-1\nnode o Dropout s -> o\n"
         "node z MatMul o v -> y\nout y\n",
         "Attention 9"},
        {"scores replaced by a constant under a boolean mask",
         PRODUCT "in m bool[5,7]\nconst inf float[] =-65504\nnode d Div p f -> d\n"
                 "node a Where m inf d -> a\nnode s Softmax a -> s axis=-1\n"
                 "node z MatMul s v -> y\nout y\n",
         "Attention 5"},
        {"fully masked rows set to 0",
         PRODUCT "in m float[5,7]\nnode a Add p m -> a\nnode s Softmax a -> s axis=-1\n"
                 "node n IsNaN s -> n\nnode o Where n zero s -> o\nnode z MatMul o v -> y\n"
                 "out y\n",
         "Attention 6"},
        {"with a decomposed softmax",
         "opset 11\n" PRODUCT "node e Exp p -> e\nnode t ReduceSum e -> t axes=[-1]\n"
         "node s Div e t -> s\nnode z MatMul s v -> y\nout y\n",
         "Attention 5"},
        {"not if the softmax is along another axis",
         PRODUCT "node s Softmax p -> s axis=1\nnode z MatMul s v -> y\nout y\n", ""},
        {"not if the scores are an output",
         PRODUCT "node s Softmax p -> s axis=-1\nnode z MatMul s v -> y\nout y\nout s\n", ""},
        {"not if the softmax spans more than the keys",
         PRODUCT "const a2 int64[2] =8,35\nconst a4 int64[4] =2,4,5,7\n"
                 "node r Reshape p a2 -> r\nnode s Softmax r -> s axis=-1\n"
                 "node t Reshape s a4 -> t\nnode z MatMul t v -> y\nout y\n",
         ""},
        {"two linear layers are not an attention",
         "init w1 float[16,7]\ninit w2 float[7,16]\nnode p MatMul x w1 -> p\n"
         "node s Softmax p -> s axis=-1\nnode z MatMul s w2 -> y\nout y\n",
         ""},
        {"not if the mask broadcasts the scores",
         PRODUCT "in m float[3,1,1,1,7]\nnode a Add p m -> a\nnode s Softmax a -> s axis=-1\n"
                 "node z MatMul s v -> y\nout y\n",
         ""},
        {"not of a vector",
         "const ax int64[1] =1\nin q float[16]\nin k float[2,16,7]\nin v float[2,7,16]\n"
         "node p MatMul q k -> p\nnode s Softmax p -> s axis=-1\n"
         "node t Unsqueeze s ax -> t\nnode z MatMul t v -> y\nout y\n",
         ""},
        {"scaled queries with another reader stay outside",
         QKV "node d Div q f -> d\nnode p MatMul d k -> p\nnode s Softmax p -> s axis=3\n"
             "node z MatMul s v -> y\nnode u Relu d -> u\nout y\nout u\n",
         "Attention 3"},
    };
    (void)state;
    CHECK(rows);
}

#define STATISTICS "init n float[4]\n"

static void test_lists_foldable_norms_without_fusing(void **state) {
    static const struct found_case rows[] = {
        {"Conv+BN",
         STATISTICS "init cw float[4,8,3]\nnode c Conv x cw -> c kernel_shape=[3]\n"
                    "node z BatchNormalization c n n n n -> y\nout y\n",
         "Conv+BN 2"},
        {"not if another node reads the convolution",
         STATISTICS "init cw float[4,8,3]\nnode c Conv x cw -> c kernel_shape=[3]\n"
                    "node z BatchNormalization c n n n n -> y\nout y\nout c\n",
         ""},
        {"not in training mode",
         "opset 14\n" STATISTICS "init cw float[4,8,3]\n"
         "node c Conv x cw -> c kernel_shape=[3]\n"
         "node z BatchNormalization c n n n n -> y m1 v1 training_mode=1\nout y\n",
         ""},
        {"not if a statistic is computed",
         STATISTICS "in t float[4]\ninit cw float[4,8,3]\n"
                    "node c Conv x cw -> c kernel_shape=[3]\n"
                    "node z BatchNormalization c n n t n -> y\nout y\n",
         ""},
    };
    (void)state;
    CHECK(rows);
    struct bench *bench =
        bench_open(HEAD STATISTICS "init cw float[4,8,3]\n"
                                   "node c Conv x cw -> c kernel_shape=[3]\n"
                                   "node z BatchNormalization c n n n n -> y\nout y\n");
    const struct fused_patterns_table *table = bench->analysis.fused_patterns;
    assert_true(table->items[0].foldable);
    assert_int_equal(table->of_node[bench_node(bench, "c")], ID_NONE);
    assert_int_equal(bench_costs(bench, "z")->flops, 2 * 2 * 4 * 14);
    bench_close(bench);
}

static void test_represents_the_pattern_as_one_node(void **state) {
    struct bench *bench =
        bench_open(HEAD BARE "node a Mul d w -> g\nnode z Add g b -> y\nout y\n");
    const struct fused_pattern *fused_pattern = &bench->analysis.fused_patterns->items[0];
    (void)state;
    assert_int_equal(bench->analysis.fused_patterns->n, 1);
    assert_string_equal(fused_pattern->node->type, "LayerNormalization");
    assert_string_equal(fused_pattern->op->type, "LayerNormalization");
    assert_int_equal(fused_pattern->last, bench_node(bench, "z"));
    assert_int_equal(fused_pattern->node->n_inputs, 3);
    assert_int_equal(fused_pattern->node->inputs[0], bench_value(bench, "x"));
    assert_int_equal(fused_pattern->node->inputs[1], bench_value(bench, "w"));
    assert_int_equal(fused_pattern->node->inputs[2], bench_value(bench, "b"));
    assert_int_equal(fused_pattern->node->outputs[0], bench_value(bench, "y"));
    assert_int_equal(node_attr(fused_pattern->node, "axis")->i, 2);
    assert_true(node_attr(fused_pattern->node, "epsilon")->f == 0.00001F ||
                node_attr(fused_pattern->node, "epsilon")->f == 0.00001);
    assert_int_equal(bench->analysis.fused_patterns->of_node[bench_node(bench, "v")], 0);
    for (size_t i = 1; i < fused_pattern->n_nodes; i++)
        assert_true(fused_pattern->nodes[i - 1] < fused_pattern->nodes[i]);
    bench_close(bench);
}

/* 5n FLOPs at the last node, 0 at the others; bytes at each node. */
static void test_counts_the_operation_once(void **state) {
    struct bench *bench =
        bench_open(HEAD BARE "node a Mul d w -> g\nnode z Add g b -> y\nout y\n");
    (void)state;
    assert_int_equal(bench_costs(bench, "z")->flops, 5 * 2 * 8 * 16);
    assert_int_equal(bench_costs(bench, "d")->flops, 0);
    assert_int_equal(bench_costs(bench, "d")->bytes_written, 4 * 2 * 8 * 16);
    bench_close(bench);
}

/* FLOPs are 2 per MAC of both products and 1 per score. */
static void test_attention_keeps_the_macs_of_its_products(void **state) {
    struct bench *bench =
        bench_open(PRODUCT "node s Softmax p -> s axis=-1\nnode z MatMul s v -> y\nout y\n");
    (void)state;
    assert_int_equal(bench_costs(bench, "p")->macs, 2 * 4 * 5 * 7 * 16);
    assert_int_equal(bench_costs(bench, "z")->macs, 2 * 4 * 5 * 7 * 16);
    assert_int_equal(bench_costs(bench, "p")->flops, 0);
    assert_int_equal(bench_costs(bench, "z")->flops, 2 * 4 * 5 * 7 * (2 * 2 * 16 + 1));
    bench_close(bench);
}

static void test_node_based_convention_counts_the_nodes(void **state) {
    const struct cm_options options = {.convention = "onnx-tool"};
    struct bench *bench = bench_open_with(
        HEAD ERF "node n Mul x a -> n\nnode z Mul n half -> y\nout y\n", &options);
    (void)state;
    assert_int_equal(bench_costs(bench, "z")->flops, 2 * 8 * 16);
    assert_int_equal(bench_costs(bench, "d")->flops, 4 * 2 * 8 * 16);
    bench_close(bench);
}

/* Tries every pattern at each of 10^5 nodes. */
static void test_matches_long_chains_in_linear_time(void **state) {
    enum { N = 100000, LINE = 48 };
    static const char head[] = HEAD "node e Erf x -> e\nnode t Tanh e -> t\n"
                                    "node r ReduceMean t -> r axes=[-1]\n"
                                    "node g Sigmoid r -> g\nnode v Exp g -> v0\n";
    static const char *const steps[][2] = {
        {"Mul", "half"}, {"Add", "x"}, {"Div", "c2"}, {"Mul", "x"}, {"Sub", "one"}};
    char *lines = malloc(sizeof head + (size_t)N * LINE);
    size_t length = sizeof head - 1;
    (void)state;
    assert_non_null(lines);
    memcpy(lines, head, sizeof head);
    for (int i = 0; i < N; i++) {
        length += (size_t)snprintf(lines + length, LINE, "node - %s v%d %s -> v%d\n",
                                   steps[i % 5][0], i, steps[i % 5][1], i + 1);
    }
    (void)snprintf(lines + length, LINE, "out v%d\n", N);
    struct bench *bench = bench_open(lines);
    assert_int_equal(bench->status, CM_OK);
    assert_int_equal(bench->analysis.fused_patterns->n, 0);
    bench_close(bench);
    free(lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches_all_forms_of_layer_norm),
        cmocka_unit_test(test_rejects_near_misses_of_layer_norm),
        cmocka_unit_test(test_matches_other_norms),
        cmocka_unit_test(matches_gelu),
        cmocka_unit_test(matches_silu_mish_and_softplus),
        cmocka_unit_test(matches_hardswish_and_clips),
        cmocka_unit_test(test_matches_softmax),
        cmocka_unit_test(test_matches_attention),
        cmocka_unit_test(test_lists_foldable_norms_without_fusing),
        cmocka_unit_test(test_represents_the_pattern_as_one_node),
        cmocka_unit_test(test_counts_the_operation_once),
        cmocka_unit_test(test_attention_keeps_the_macs_of_its_products),
        cmocka_unit_test(test_node_based_convention_counts_the_nodes),
        cmocka_unit_test(test_matches_long_chains_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
