/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What llm_describe finds in graphs: caches, windows, latent vectors, experts, and how GPUs
 * divide the products. Batch 1, 10 new tokens after 6, a source of 20. Attention has 4 heads of
 * 8 columns, and 1 head of keys and values unless stated.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "llm/language.h"
#include "model_harness.h"
#include "support/arena.h"
#include "support/text.h"

struct row {
    const char *name;
    const char *lines;
    const char *want;
};

#define IDS                                                                                    \
    "opset 17\nin ids int64[?b,?s]\ninit emb float[100,16]\nnode - Gather emb ids -> x\n"
/* Weights and shapes; queries of x. */
#define QUERIES                                                                                \
    "init wq float[16,32]\ninit wk float[16,8]\ninit wv float[16,8]\ninit wo float[32,16]\n"   \
    "const qs int64[4] =0,-1,4,8\nconst ks int64[4] =0,-1,1,8\nconst os int64[3] =0,-1,32\n"   \
    "node q MatMul x wq -> q0\nnode - Reshape q0 qs -> q1\n"                                   \
    "node - Transpose q1 -> q perm=[0,2,1,3]\n"
/* Keys and values of another tensor. */
#define KEYS(of)                                                                               \
    "node k MatMul " of " wk -> k0\nnode - Reshape k0 ks -> k1\n"                              \
    "node - Transpose k1 -> k perm=[0,2,1,3]\n"                                                \
    "node v MatMul " of " wv -> v0\nnode - Reshape v0 ks -> v1\n"                              \
    "node - Transpose v1 -> v perm=[0,2,1,3]\n"
#define SCORES(keys) "node - Transpose " keys " -> kt perm=[0,1,3,2]\nnode - MatMul q kt -> s\n"
#define RESULT(scores, values)                                                                 \
    "node - Softmax " scores " -> p axis=-1\nnode - MatMul p " values " -> o0\n"               \
    "node - Transpose o0 -> o1 perm=[0,2,1,3]\nnode - Reshape o1 os -> o2\n"                   \
    "node o MatMul o2 wo -> y\nout y\n"
#define POSITIONS                                                                              \
    "const i0 int64[] =0\nconst i1 int64[] =1\nconst a0 int64[1] =0\nconst a1 int64[1] =1\n"   \
    "const zero float[] =0\nconst low float[] =-10000\nconst seven int64[] =7\n"               \
    "node - Shape ids -> sh\nnode - Gather sh i1 -> n\nnode - Range i0 n i1 -> r\n"            \
    "node - Unsqueeze r a0 -> col\nnode - Unsqueeze r a1 -> row\n"
#define CAUSAL "node - LessOrEqual col row -> le\nnode - Where le zero low -> m\n"
/* Causal, over 3 tokens. */
#define CONVOLUTION                                                                            \
    "init wx float[16,1,3]\nnode - Transpose x -> xt perm=[0,2,1]\n"                           \
    "node - Conv xt wx -> ct pads=[2,0] group=16\nnode - Transpose ct -> c perm=[0,2,1]\n"
#define PAST "in pk float[?b,1,?p,8]\nin pv float[?b,1,?p,8]\n"
#define GROWN                                                                                  \
    "node - Concat pk k -> K axis=2\nnode - Concat pv v -> V axis=2\n"                         \
    "type K float[?b,1,?,8]\ntype V float[?b,1,?,8]\nout K\nout V\n"

static void append_attention(struct text *text, const struct llm_attention *attention) {
    static const char *const caches[] = {"no cache", "grows", "buffer", "state", "source"};
    text_printf(text, "%s %d/%d x %d+%d", attention->is_cross ? "cross" : "attention",
                (int)attention->heads, (int)attention->kv_heads, (int)attention->key_columns,
                (int)attention->value_columns);
    if (attention->window > 0) text_printf(text, " window %d", (int)attention->window);
    if (attention->is_causal) text_append(text, " causal");
    text_printf(text, " cached %d", (int)attention->cached);
    if (attention->latent > 0)
        text_printf(text, " latent %d of %d", (int)attention->latent, (int)attention->expanded);
    text_printf(text, ", %s%s; ", caches[attention->cache],
                attention->is_split ? "" : " whole");
}

static void append_products(struct text *text, const struct bench *bench,
                            const struct language *language) {
    static const char *const splits[] = {"", " columns", " rows"};
    for (size_t i = 0; i < language->n_products; i++) {
        const struct llm_product *product = &language->products[i];
        const char *name = bench->model.nodes[product->node].name;
        text_printf(text, "%s %dx%d%s%s", name, (int)product->inner, (int)product->columns,
                    splits[product->split], product->reduces ? "+" : "");
        if (product->experts > 0)
            text_printf(text, " %d of %d", (int)product->chosen, (int)product->experts);
        text_append(text, product->is_logits ? " logits; " : "; ");
    }
}

/* Opens the model with the sizes of its symbolic dims. */
static struct bench *open_model(const struct row *row) {
    static const struct cm_dim_option sizes[] = {{"b", 1},  {"s", 10}, {"p", 6},
                                                 {"t", 16}, {"e", 20}, {"n", 10}};
    enum { N = sizeof sizes / sizeof *sizes };
    struct cm_dim_option dims[N];
    struct cm_options options = {.dims = dims};
    for (size_t i = 0; i < N; i++) {
        const char symbol[] = {'?', sizes[i].name[0], '\0'};
        if (strstr(row->lines, symbol)) dims[options.n_dims++] = sizes[i];
    }
    struct bench *bench = bench_open_with(row->lines, &options);
    if (bench->status != CM_OK) fail_msg("%s: %s", row->name, bench_messages(bench));
    return bench;
}

static bool matches(const struct row *row, const struct text *text) {
    if (strcmp(text_string(text), row->want) == 0) return true;
    print_error("%s: '%s', expected '%s'\n", row->name, text_string(text), row->want);
    return false;
}

static void check(const struct row *rows, size_t n) {
    int n_wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct bench *bench = open_model(&rows[i]);
        struct llm_roles roles;
        struct language language;
        struct text text;
        text_init(&text, bench->arena);
        assert_int_equal(llm_roles_find(&bench->analysis, &roles), CM_OK);
        assert_int_equal(
            llm_describe(&bench->analysis, &roles, 10, roles.has_past ? 6 : 0, &language),
            CM_OK);
        for (size_t k = 0; k < language.n_attentions; k++)
            append_attention(&text, &language.attentions[k]);
        if (strstr(rows[i].want, "columns")) append_products(&text, bench, &language);
        if (language.state_elements > 0)
            text_printf(&text, "state %d; ", (int)language.state_elements);
        if (language.lacks_state) text_append(&text, "state unknown; ");
        if (language.max_context > 0)
            text_printf(&text, "context %d; ", (int)language.max_context);
        if (language.expert_params > 0)
            text_printf(&text, "experts %d, chosen %d; ", (int)language.expert_params,
                        (int)language.chosen_params);
        if (language.is_bidirectional) text_append(&text, "encoder; ");
        n_wrong += !matches(&rows[i], &text);
        bench_close(bench);
    }
    assert_int_equal(n_wrong, 0);
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof *(rows))

static void caches(void **state) {
    static const struct row rows[] = {
        {"no cache", IDS QUERIES KEYS("x") SCORES("k") RESULT("s", "v"),
         "attention 4/1 x 8+8 cached 16, no cache; encoder; "},
        {"a cache that grows", IDS QUERIES KEYS("x") PAST GROWN SCORES("K") RESULT("s", "V"),
         "attention 4/1 x 8+8 cached 16, grows; "},
        {"a buffer",
         IDS QUERIES KEYS("x") "in pk float[1,1,64,8]\nin pv float[1,1,64,8]\n"
                               "in at int64[1,1,10,3]\nnode - ScatterND pk at k -> K\n"
                               "node - ScatterND pv at v -> V\ntype K float[1,1,64,8]\n"
                               "type V float[1,1,64,8]\nout K\nout V\n" SCORES("K")
                                   RESULT("s", "V"),
         "attention 4/1 x 8+8 cached 16, buffer; context 64; "},
        {"fixed dims: 6 earlier tokens",
         "opset 17\nin ids int64[1,10]\ninit emb float[100,16]\nnode - Gather emb ids -> "
         "x\n" QUERIES KEYS(
             "x") "in pk float[1,1,6,8]\nin pv float[1,1,6,8]\nnode - Concat pk k -> K "
                  "axis=2\n"
                  "node - Concat pv v -> V axis=2\ntype K float[1,1,16,8]\n"
                  "type V float[1,1,16,8]\nout K\nout V\n" SCORES("K") RESULT("s", "V"),
         "attention 4/1 x 8+8 cached 16, grows; "},
        {"a state",
         IDS QUERIES KEYS("x") SCORES("k") "in c float[?b,16,3]\nnode - Relu c -> C\n"
                                           "type C float[?b,16,3]\nout C\n" RESULT("s", "v"),
         "attention 4/1 x 8+8 cached 16, no cache; state 48; encoder; "},
        {"a convolution without its state",
         IDS QUERIES CONVOLUTION KEYS("c") SCORES("k") POSITIONS CAUSAL
         "node - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 causal cached 16, no cache; state unknown; "},
        {"a convolution with its state",
         IDS QUERIES CONVOLUTION KEYS("c") SCORES("k") POSITIONS CAUSAL
         "in old float[?b,16,2]\nnode - Relu old -> new\ntype new float[?b,16,2]\nout new\n"
         "node - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 causal cached 16, no cache; state 32; "},
        {"a convolution of single tokens",
         IDS QUERIES
         "init wx float[16,16,1]\nnode - Transpose x -> xt perm=[0,2,1]\n"
         "node - Conv xt wx -> ct\nnode - Transpose ct -> c perm=[0,2,1]\n" KEYS("c")
             SCORES("k") POSITIONS CAUSAL "node - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 causal cached 16, no cache; "},
        {"keys of the source",
         IDS QUERIES "in h float[?b,?e,16]\n" KEYS("h") SCORES("k") RESULT("s", "v"),
         "cross 4/1 x 8+8 cached 16, no cache; "},
        {"cached keys of the source",
         IDS QUERIES "in h.k float[?b,1,?e,8]\nin h.v float[?b,1,?e,8]\n" SCORES("h.k")
             RESULT("s", "h.v"),
         "cross 4/1 x 8+8 cached 16, source; "},
        {"two layers with the keys and values of one",
         IDS QUERIES KEYS("x") SCORES("k") "node - Softmax s -> p axis=-1\n"
                                           "node - MatMul p v -> o0\n"
                                           "node - Add q o0 -> q2\nnode - MatMul q2 kt -> s2\n"
                                           "node - Softmax s2 -> p2 axis=-1\n"
                                           "node - MatMul p2 v -> o\nout o\n",
         "attention 4/1 x 8+8 cached 16, no cache; attention 4/4 x 8+8 cached 0, no cache; "
         "encoder; "},
        {"GroupQueryAttention of the runtime",
         IDS QUERIES
         "init w2 float[16,16]\nnode - MatMul x w2 -> k2\nnode - MatMul x w2 -> v2\n"
         "in pk float[?b,2,?p,8]\nin pv float[?b,2,?p,8]\nin l int32[?b]\n"
         "in n int32[]\nnode - com.microsoft::GroupQueryAttention q0 k2 v2 pk pv l "
         "n -> o K V num_heads=4 kv_num_heads=2 local_window_size=8\n"
         "type K float[?b,2,?,8]\ntype V float[?b,2,?,8]\nout o\nout K\nout V\n",
         "attention 4/2 x 8+8 window 8 causal cached 32, grows; "},
        {"MultiHeadAttention of the runtime",
         IDS QUERIES
         "init w2 float[16,32]\nnode - MatMul x w2 -> k2\n"
         "node - MatMul x w2 -> v2\nin pk float[?b,4,?p,8]\n"
         "in pv float[?b,4,?p,8]\nnode - com.microsoft::MultiHeadAttention q0 k2 v2 "
         "- - - pk pv -> o K V num_heads=4 unidirectional=1\n"
         "type K float[?b,4,?,8]\ntype V float[?b,4,?,8]\nout o\nout K\nout V\n",
         "attention 4/4 x 8+8 causal cached 64, grows; "},
        {"PagedAttention: pages of 16 tokens",
         "opset 17\nin ids int64[?s]\ninit emb float[100,32]\nnode - Gather emb ids -> x\n"
         "init w2 float[32,16]\nnode - MatMul x w2 -> k2\nnode - MatMul x w2 -> v2\n"
         "in kc float[64,16,2,8]\nin vc float[64,16,2,8]\nin cu int32[2]\nin past int32[1]\n"
         "in table int32[1,8]\nnode - com.microsoft::PagedAttention x k2 v2 kc vc cu past "
         "table "
         "-> o K V num_heads=4 kv_num_heads=2\ntype K float[64,16,2,8]\n"
         "type V float[64,16,2,8]\nout o\nout K\nout V\n",
         "attention 4/2 x 8+8 causal cached 32, buffer; "},
        {"Attention of the runtime with stacked keys and values",
         IDS "init w float[16,48]\ninit b float[48]\nin kv float[2,?b,4,64,4]\n"
             "in at int32[1]\nnode - com.microsoft::Attention x w b - kv - at -> y KV "
             "num_heads=4 unidirectional=1 past_present_share_buffer=1\n"
             "type KV float[2,?b,4,64,4]\nout y\nout KV\n",
         "attention 4/4 x 4+4 causal cached 32, buffer; context 64; "},
    };
    (void)state;
    CHECK(rows);
}

static void masks(void **state) {
    static const struct row rows[] = {
        {"causal",
         IDS QUERIES KEYS("x") SCORES("k") POSITIONS CAUSAL
         "node - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 causal cached 16, no cache; "},
        {"a window",
         IDS QUERIES KEYS("x") SCORES("k") POSITIONS
         "node - Sub row seven -> from\nnode - Greater col from -> gt\n"
         "node - LessOrEqual col row -> le\nnode - And gt le -> both\n"
         "node - Where both zero low -> m\nnode - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 window 7 causal cached 16, no cache; "},
        {"a window of scores with a soft cap",
         IDS QUERIES KEYS("x") SCORES("k") POSITIONS
         "node - Sub row seven -> from\nnode - Greater col from -> gt\n"
         "node - Where gt zero low -> m\nconst cap float[] =50\n"
         "node - Div s cap -> t0\nnode - Tanh t0 -> t1\nnode - Mul t1 cap -> t2\n"
         "node - Relu t2 -> t3\nnode - Relu t3 -> t4\nnode - Add t4 m -> s1\n" RESULT("s1",
                                                                                      "v"),
         "attention 4/1 x 8+8 window 7 causal cached 16, no cache; "},
        {"padding only",
         IDS QUERIES KEYS("x") SCORES("k") POSITIONS
         "in am int64[?b,?s]\nnode - Cast am -> am1 to=1\n"
         "node - Unsqueeze am1 a1 -> am2\nnode - Unsqueeze am2 a1 -> am3\n"
         "node - Mul am3 low -> m\nnode - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 cached 16, no cache; encoder; "},
        {"a triangle",
         IDS QUERIES KEYS("x")
             SCORES("k") "const nn int64[2] =10,10\nconst low float[] =9\n"
                         "node - ConstantOfShape nn -> ones\n"
                         "node - Trilu ones -> tri upper=0\n"
                         "node - Mul tri low -> m\nnode - Add s m -> s1\n" RESULT("s1", "v"),
         "attention 4/1 x 8+8 causal cached 16, no cache; "},
    };
    (void)state;
    CHECK(rows);
}

static void latent_vectors(void **state) {
    static const struct row rows[] = {
        {"keys and values of one vector of 6",
         IDS QUERIES "init wc float[16,6]\ninit wu float[6,64]\nconst us int64[4] =0,-1,4,16\n"
                     "const half int64[2] =8,8\nnode c MatMul x wc -> c\n"
                     "node u MatMul c wu -> u0\nnode - Reshape u0 us -> u1\n"
                     "node - Transpose u1 -> u perm=[0,2,1,3]\n"
                     "node - Split u half -> k v axis=3\n" SCORES("k") RESULT("s", "v"),
         "attention 4/4 x 8+8 cached 6 latent 6 of 64, no cache; encoder; "},
        {"keys and values of x itself",
         IDS QUERIES "init wu float[16,64]\nconst us int64[4] =0,-1,4,16\n"
                     "const half int64[2] =8,8\nnode u MatMul x wu -> u0\n"
                     "node - Reshape u0 us -> u1\nnode - Transpose u1 -> u perm=[0,2,1,3]\n"
                     "node - Split u half -> k v axis=3\n" SCORES("k") RESULT("s", "v"),
         "attention 4/4 x 8+8 cached 64, no cache; encoder; "},
    };
    (void)state;
    CHECK(rows);
}

static void experts(void **state) {
    static const struct row rows[] = {
        {"MoE with biases",
         IDS "init r float[16,8]\ninit w1 float[8,24,16]\ninit b1 float[8,24]\n"
             "init w2 float[8,16,24]\ninit b2 float[8,16]\nnode r MatMul x r -> l\n"
             "node moe com.microsoft::MoE x l w1 b1 w2 b2 -> y k=2\ninit hd float[16,99]\n"
             "node h MatMul y hd -> z\nout z\n",
         "r 16x8; moe 16x24 columns 2 of 8; moe 24x16 rows+ 2 of 8; h 16x99 columns logits; "
         "experts 6464, chosen 1616; "},
        {"all experts of a stack are computed",
         IDS "init r float[16,8]\ninit w1 float[8,16,24]\nconst two int64[1] =2\n"
             "const a1 int64[1] =1\nnode r MatMul x r -> l\nnode - TopK l two -> tv ti\n"
             "node - Unsqueeze x a1 -> x4\nnode w1 MatMul x4 w1 -> h\n"
             "node - ReduceSum tv a1 -> z keepdims=1\nout h\nout z\n",
         "r 16x8 columns; w1 16x24 columns 2 of 8 logits; experts 3072, chosen 768; "},
        {"experts are looked up",
         IDS "init r float[16,8]\ninit w1 float[8,16,24]\nconst two int64[1] =2\n"
             "const a2 int64[2] =2,3\nnode r MatMul x r -> l\nnode - TopK l two -> tv ti\n"
             "node - Gather w1 ti -> g\nnode - Unsqueeze x a2 -> x5\nconst p3 int64[1] =3\n"
             "const s5 int64[5] =1,10,1,1,16\nnode - Reshape x s5 -> xr\n"
             "node w1 MatMul xr g -> h\nout h\nout tv\n",
         "r 16x8 columns; w1 16x24 columns 2 of 8 logits; experts 3072, chosen 768; "},
        {"a loop over experts",
         IDS
         "init r float[16,2]\ninit w1 float[2,16,24]\nconst one int64[1] =1\n"
         "const i0 int64[] =0\nconst i1 int64[] =1\nnode r MatMul x r -> l\n"
         "node - TopK l one -> tv ti\nnode - Gather w1 i0 -> g0\nnode - Gather w1 i1 -> g1\n"
         "node e0 MatMul x g0 -> h0\nnode e1 MatMul x g1 -> h1\nnode - Add h0 h1 -> h\n"
         "out h\nout tv\n",
         "r 16x2; e0 16x24 columns 1 of 2 logits; experts 768, chosen 384; "},
    };
    (void)state;
    CHECK(rows);
}

static void divisions(void **state) {
    static const struct row rows[] = {
        {"layers by columns, then rows",
         IDS QUERIES KEYS("x") SCORES("k") RESULT("s", "v") "init up float[16,64]\n"
                                                            "init down float[64,16]\n"
                                                            "node up MatMul y up -> u\n"
                                                            "node - Relu u -> g\n"
                                                            "node down MatMul g down -> d\n"
                                                            "node - Add d y -> z\nout z\n",
         "attention 4/1 x 8+8 cached 16, no cache; q 16x48 columns; o 32x16 rows+; "
         "up 16x64 columns; down 64x16 rows+ logits; encoder; "},
        {"a norm reads all columns",
         IDS QUERIES KEYS("x") SCORES("k")
             RESULT("s", "v") "init up float[16,64]\ninit down float[64,16]\n"
                              "init one float[64]\nnode up MatMul y up -> u\n"
                              "node - LayerNormalization u one -> g\n"
                              "node down MatMul g down -> d\nout d\n",
         "attention 4/1 x 8+8 cached 16, no cache; q 16x48 columns; o 32x16 rows+; "
         "up 16x64; down 64x16 columns logits; encoder; "},
        {"partial results that are added share an all-reduce",
         IDS QUERIES KEYS("x") SCORES("k") RESULT(
             "s", "v") "init u1 float[16,64]\ninit d1 float[64,16]\n"
                       "init u2 float[16,32]\ninit d2 float[32,16]\ninit h float[16,99]\n"
                       "node - Relu y -> y1\nnode - Sigmoid y -> y2\n"
                       "node u1 MatMul y1 u1 -> a\nnode d1 MatMul a d1 -> b\n"
                       "node u2 MatMul y2 u2 -> c\nnode d2 MatMul c d2 -> d\n"
                       "node - Add b d -> e\nnode h MatMul e h -> f\nout f\n",
         "attention 4/1 x 8+8 cached 16, no cache; q 16x48 columns; o 32x16 rows+; "
         "u1 16x64 columns; d1 64x16 rows+; u2 16x32 columns; d2 32x16 rows; "
         "h 16x99 columns logits; encoder; "},
    };
    (void)state;
    CHECK(rows);
}

/* The roles of dims, as "b batch, s sequence". */
static void roles(void **state) {
    static const struct row rows[] = {
        {"past and total",
         IDS QUERIES KEYS("x") PAST "in am int64[?b,?t]\n" GROWN SCORES("K") RESULT("s", "V"),
         "b batch, s sequence, p past, t total, "},
        {"the decoder's ids come last",
         "opset 17\nin src int64[?b,?e]\nin ids int64[?b,?s]\ninit emb float[100,16]\n"
         "node - Gather emb src -> h\nnode - Gather emb ids -> x\n" QUERIES KEYS("h")
             SCORES("k") RESULT("s", "v"),
         "b batch, s sequence, e source, "},
        {"a smaller table is of token types",
         "in ids int64[?b,?s]\nin types int64[?b,?n]\ninit emb float[100,16]\n"
         "init two float[2,16]\nnode - Gather emb ids -> x\nnode - Gather two types -> y2\n"
         "out y2\nout x\n",
         "b batch, s sequence, n total, "},
        {"embeddings",
         "in x float[?b,?s,16]\ninit w float[16,16]\nnode - MatMul x w -> y\nout y\n",
         "b batch, s sequence, "},
    };
    static const char *const names[] = {"none", "batch", "sequence", "past", "total", "source"};
    int n_wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = open_model(&rows[i]);
        struct llm_roles found;
        struct text text;
        text_init(&text, bench->arena);
        assert_int_equal(llm_roles_find(&bench->analysis, &found), CM_OK);
        for (size_t k = 0; k < found.n_dims; k++)
            text_printf(&text, "%s %s, ", found.dims[k].symbol, names[found.dims[k].role]);
        n_wrong += !matches(&rows[i], &text);
        bench_close(bench);
    }
    assert_int_equal(n_wrong, 0);
}

/* Searches visit a limited number of operands: a chain of Concat of itself has 2^60 paths. */
static void hostile_graphs(void **state) {
    struct text lines;
    struct arena *arena = arena_new("test", 0);
    (void)state;
    text_init(&lines, arena);
    text_append(&lines,
                IDS QUERIES KEYS(
                    "x") "const a int64[1] =0\nconst e int64[1] =10\nconst ax int64[1] =2\n");
    text_append(&lines, "node - Identity k -> c0\n");
    for (int i = 0; i < 60; i++)
        text_printf(&lines,
                    "node - Concat c%d c%d -> d%d axis=2\nnode - Slice d%d a e ax -> c%d\n", i,
                    i, i, i, i + 1);
    text_append(&lines, SCORES("c60") RESULT("s", "c60"));
    text_append(&lines, "node - Identity y -> e0\n");
    for (int i = 0; i < 2000; i++)
        text_printf(&lines, "node - Add e%d e%d -> e%d\n", i, i, i + 1);
    text_append(&lines, "out e2000\n");
    const struct row row = {"chains", text_string(&lines),
                            "attention 4/1 x 8+8 cached 16, no cache; encoder; "};
    check(&row, 1);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches),         cmocka_unit_test(masks),
        cmocka_unit_test(latent_vectors), cmocka_unit_test(experts),
        cmocka_unit_test(divisions),      cmocka_unit_test(roles),
        cmocka_unit_test(hostile_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
