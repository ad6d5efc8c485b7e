/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Re-batches models that were exported with a fixed batch: each value must have the shape, and
 * each node the costs, of the export at the new batch.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "template.h"

/* Costs to compare. ALL_BUT_READS: not bytes_read, since a constant that broadcasts over a
 * batch of 1 stays small. FROM_ONE: all costs, but only for an export at batch 1. */
enum compared { ALL, ALL_BUT_READS, FROM_ONE };

struct pattern {
    const char *name;
    enum compared compared;
    const char *lines; /* template.h */
};

static void check_pattern(const struct pattern *pattern, int64_t from, int64_t to) {
    char *lines = template_at(pattern->lines, to);
    struct bench *want = bench_open(lines);
    struct bench *have = template_rebatch(pattern->lines, from, to);
    free(lines);
    assert_int_equal(want->status, CM_OK);
    if (have->status != CM_OK)
        fail_msg("%s, %d to %d: %s", pattern->name, (int)from, (int)to, bench_messages(have));
    const char *difference =
        template_difference(have, want, pattern->compared != ALL_BUT_READS);
    if (difference) fail_msg("%s, %d to %d: %s", pattern->name, (int)from, (int)to, difference);
    bench_close(have);
    bench_close(want);
}

/* Returns the lines with lists of integers as initializers, as in PyTorch's dynamo exports. */
static char *with_stored_lists(const char *lines) {
    char *stored = strdup(lines);
    assert_non_null(stored);
    for (char *at = strstr(stored, "const "); at; at = strstr(at + 1, "const ")) {
        const char *type = strchr(at + strlen("const "), ' ');
        if (type && strncmp(type, " int64[", 7) == 0) memcpy(at, " init", 5);
    }
    return stored;
}

static void check_patterns(const struct pattern *rows, size_t n) {
    static const int64_t batches[][2] = {{1, 3}, {1, 64}, {2, 3}, {32, 8}, {32, 1}};
    for (size_t i = 0; i < n; i++) {
        char *stored = with_stored_lists(rows[i].lines);
        const struct pattern other = {rows[i].name, rows[i].compared, stored};
        for (size_t k = 0; k < sizeof batches / sizeof *batches; k++) {
            if (rows[i].compared == FROM_ONE && batches[k][0] != 1) continue;
            check_pattern(&rows[i], batches[k][0], batches[k][1]);
            check_pattern(&other, batches[k][0], batches[k][1]);
        }
        free(stored);
    }
}

static void rebatches_attention_layouts(void **state) {
    static const struct pattern rows[] = {
        {"sequence first, heads share an axis with the batch", ALL,
         "in x float[{N},128,64]\ninit wq float[64,64]\nconst t1 int64[3] =128,{8N},8\n"
         "const t2 int64[2] ={128N},64\nconst t3 int64[3] =128,{N},64\n"
         "node tr Transpose x -> s perm=[1,0,2]\nnode mq MatMul s wq -> q\n"
         "node rq Reshape q t1 -> q1\nnode tq Transpose q1 -> q2 perm=[1,0,2]\n"
         "node tk Transpose q1 -> k2 perm=[1,2,0]\nnode qk MatMul q2 k2 -> a\n"
         "node sm Softmax a -> p axis=-1\nnode av MatMul p q2 -> o\n"
         "node to Transpose o -> o1 perm=[1,0,2]\nnode ro Reshape o1 t2 -> o2\n"
         "node gm Gemm o2 wq -> g transB=1\nnode rg Reshape g t3 -> g1\n"
         "node ad Add s g1 -> y\nnode ty Transpose y -> z perm=[1,0,2]\nout z\n"},
        /* one Reshape, whose place the product decides: docs/decisions/rebatching.md */
        {"rows and batch share an axis", ALL,
         "in x float[{N},20,8]\nconst t int64[3] ={20N},2,4\nnode s Transpose x -> s "
         "perm=[1,0,2]\n"
         "node r Reshape s t -> r\nnode k Transpose r -> k perm=[0,2,1]\n"
         "node m MatMul r k -> y\nout y\n"},
        {"heads and batch share an axis", ALL,
         "in x float[{N},20,8]\nconst t int64[3] =20,{2N},4\nnode s Transpose x -> s "
         "perm=[1,0,2]\n"
         "node r Reshape s t -> r\nnode q Transpose r -> q perm=[1,0,2]\n"
         "node k Transpose q -> k perm=[0,2,1]\nnode m MatMul q k -> y\nout y\n"},
        {"batch first", ALL,
         "in x float[{N},128,64]\ninit wq float[64,64]\nconst t1 int64[4] ={N},128,8,8\n"
         "const t2 int64[3] ={N},128,64\nnode mq MatMul x wq -> q\n"
         "node r1 Reshape q t1 -> q1\nnode tq Transpose q1 -> q2 perm=[0,2,1,3]\n"
         "node tk Transpose q1 -> k2 perm=[0,2,3,1]\nnode qk MatMul q2 k2 -> a\n"
         "node av MatMul a q2 -> o\nnode to Transpose o -> o1 perm=[0,2,1,3]\n"
         "node r2 Reshape o1 t2 -> o2\nnode ad Add x o2 -> y\nout y\n"},
        {"einops \"b n (h d) -> (b h) n d\" and back", ALL,
         "in x float[{N},16,64]\ninit w float[64,192]\nconst t int64[5] ={N},16,3,8,8\n"
         "const t2 int64[3] ={8N},16,8\nconst t3 int64[4] ={N},8,16,8\n"
         "const t4 int64[3] ={N},16,64\nnode m MatMul x w -> a\nnode r Reshape a t -> b\n"
         "node tr Transpose b -> c perm=[2,0,3,1,4]\nconst i0 int64[] =0\n"
         "const i1 int64[] =1\nnode g0 Gather c i0 -> q axis=0\n"
         "node g1 Gather c i1 -> k axis=0\nnode rq Reshape q t2 -> q1\n"
         "node rk Reshape k t2 -> k1\nnode kt Transpose k1 -> k2 perm=[0,2,1]\n"
         "node qk MatMul q1 k2 -> s\nnode sv MatMul s k1 -> o\nnode r3 Reshape o t3 -> o1\n"
         "node ot Transpose o1 -> o2 perm=[0,2,1,3]\nnode r4 Reshape o2 t4 -> y\nout y\n"},
        {"the sequence axis is -1", ALL,
         "in x float[{N},16,64]\nconst t int64[4] ={N},-1,8,8\nconst t2 int64[3] ={N},-1,64\n"
         "node r Reshape x t -> a\nnode tr Transpose a -> b perm=[0,2,1,3]\n"
         "node tk Transpose a -> k perm=[0,2,3,1]\nnode qk MatMul b k -> s\n"
         "node sv MatMul s b -> o\nnode to Transpose o -> o1 perm=[0,2,1,3]\n"
         "node r2 Reshape o1 t2 -> y\nout y\n"},
        {"one token and a key cache", ALL,
         "in x float[{N},1,64]\nin k float[{N},4,15,16]\ninit w float[64,64]\n"
         "const t int64[4] ={N},1,4,16\nconst t2 int64[3] ={N},1,64\nnode q MatMul x w -> a\n"
         "node r Reshape a t -> b\nnode tr Transpose b -> d perm=[0,2,1,3]\n"
         "node c Concat k d -> kk axis=2\nnode kt Transpose kk -> kt1 perm=[0,1,3,2]\n"
         "node qk MatMul d kt1 -> s\nnode sv MatMul s kk -> o\n"
         "node ot Transpose o -> o1 perm=[0,2,1,3]\nnode r2 Reshape o1 t2 -> y\nout y\n"
         "out kk\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_attention_masks(void **state) {
    static const struct pattern rows[] = {
        {"a mask becomes [N,1,1,S]", ALL,
         "in x float[{N},8,16,32]\nin m float[{N},16]\nconst t int64[4] ={N},1,1,16\n"
         "node rs Reshape m t -> s\nnode k Transpose x -> xt perm=[0,1,3,2]\n"
         "node qk MatMul x xt -> a\nnode ad Add a s -> b\nnode o MatMul b x -> y\nout y\n"},
        {"a mask is expanded to baked dims", ALL,
         "in x float[{N},8,16,32]\nin m float[{N},16]\nconst a int64[2] =1,2\n"
         "const t int64[4] ={N},1,16,16\nnode u Unsqueeze m a -> m1\nnode e Expand m1 t -> s\n"
         "node k Transpose x -> xt perm=[0,1,3,2]\nnode qk MatMul x xt -> q\n"
         "node ad Add q s -> b\nnode o MatMul b x -> y\nout y\n"},
        {"a mask without batch", ALL,
         "in x float[{N},8,16,32]\ninit m float[1,1,16,16]\n"
         "node k Transpose x -> xt perm=[0,1,3,2]\nnode qk MatMul x xt -> q\n"
         "node ad Add q m -> b\nnode o MatMul b x -> y\nout y\n"},
        {"heads are repeated by Expand", ALL,
         "in x float[{N},2,16,32]\nconst a int64[1] =2\nconst t int64[5] ={N},2,4,16,32\n"
         "const t2 int64[4] ={N},8,16,32\nnode u Unsqueeze x a -> m1\n"
         "node e Expand m1 t -> s\nnode r Reshape s t2 -> y\nnode k Relu y -> z\nout z\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_other_forms_of_attention(void **state) {
    static const struct pattern rows[] = {
        {"linear attention", ALL,
         "in x float[{N},8,16,4]\nnode t Transpose x -> k perm=[0,1,3,2]\n"
         "node kv MatMul k x -> c\nnode o MatMul x c -> y\nout y\n"},
        {"Einsum", ALL,
         "in x float[{N},16,8,4]\nnode t Einsum x x -> y equation=bihd,bjhd->bhij\nout y\n"},
        {"a learned query expanded to the batch", ALL_BUT_READS,
         "in x float[{N},16,64]\ninit q float[1,1,64]\nconst t int64[3] ={N},1,64\n"
         "node e Expand q t -> q1\nnode kt Transpose x -> k perm=[0,2,1]\n"
         "node qk MatMul q1 k -> s\nnode sv MatMul s x -> y\nout y\n"},
        {"image rows are part of the batch", ALL,
         "in x float[{N},64,8,12]\nconst t int64[3] ={12N},8,64\n"
         "const t2 int64[4] ={N},12,8,64\ninit w float[64,64]\n"
         "node tr Transpose x -> a perm=[0,3,2,1]\nnode r Reshape a t -> b\n"
         "node m MatMul b w -> c\nnode ct Transpose c -> c1 perm=[0,2,1]\n"
         "node qk MatMul c c1 -> s\nnode sv MatMul s c -> o\nnode r2 Reshape o t2 -> o1\n"
         "node ot Transpose o1 -> y perm=[0,3,2,1]\nout y\n"},
        {"image rows before the batch axis", ALL,
         "in x float[{N},64,8,12]\nconst t int64[3] ={12N},8,64\n"
         "const t2 int64[4] =12,{N},8,64\ninit w float[64,64]\n"
         "node tr Transpose x -> a perm=[3,0,2,1]\nnode r Reshape a t -> b\n"
         "node ct Transpose b -> c1 perm=[0,2,1]\nnode qk MatMul b c1 -> s\n"
         "node sv MatMul s b -> o\nnode r2 Reshape o t2 -> o1\n"
         "node ot Transpose o1 -> y perm=[1,3,2,0]\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_class_tokens(void **state) {
    static const struct pattern rows[] = {
        {"ViT: a class token of the batch", ALL,
         "in x float[{N},3,32,32]\ninit w float[64,3,16,16]\ninit cls float[{N},1,64]\n"
         "init pos float[1,5,64]\nconst t int64[3] ={N},64,4\n"
         "node c Conv x w -> c strides=[16,16]\nnode r Reshape c t -> r1\n"
         "node tt Transpose r1 -> r2 perm=[0,2,1]\nnode cc Concat cls r2 -> k axis=1\n"
         "node ad Add k pos -> y\nout y\n"},
        {"a class token by Expand", ALL,
         "in x float[{N},4,64]\ninit cls float[1,1,64]\nconst t int64[3] ={N},-1,-1\n"
         "const t0 int64[3] ={N},1,64\nnode e Expand cls t0 -> e1\n"
         "node cc Concat e1 x -> y axis=1\nout y\n"},
        {"Gather of the class token", ALL,
         "in x float[{N},5,64]\ninit w float[10,64]\nconst i int64[] =0\n"
         "node g Gather x i -> a axis=1\nnode h Gemm a w -> y transB=1\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_windows_of_images(void **state) {
    static const struct pattern rows[] = {
        {"Swin: windows, mask, and back", ALL,
         "in x float[{N},56,56,12]\ninit w float[12,12]\ninit m float[64,49,49]\n"
         "const t1 int64[6] ={N},8,7,8,7,12\nconst t2 int64[3] =-1,49,12\n"
         "const t3 int64[4] ={64N},49,3,4\nconst t4 int64[5] ={N},64,3,49,49\n"
         "const t5 int64[4] =-1,3,49,49\nconst t6 int64[3] ={64N},49,12\n"
         "const t7 int64[6] ={N},8,8,7,7,12\nconst t8 int64[4] ={N},56,56,12\n"
         "const ax int64[2] =0,2\nnode r1 Reshape x t1 -> a\n"
         "node tr Transpose a -> b perm=[0,1,3,2,4,5]\nnode r2 Reshape b t2 -> c\n"
         "node q MatMul c w -> d\nnode r3 Reshape d t3 -> e\n"
         "node t Transpose e -> f perm=[0,2,1,3]\nnode tk Transpose e -> g perm=[0,2,3,1]\n"
         "node qk MatMul f g -> h\nnode r4 Reshape h t4 -> i\nnode um Unsqueeze m ax -> m1\n"
         "const ax0 int64[1] =1\nnode uu Unsqueeze m ax0 -> m2\nnode am Add i m2 -> j\n"
         "node r5 Reshape j t5 -> k\nnode av MatMul k f -> l\n"
         "node tl Transpose l -> n perm=[0,2,1,3]\nnode r6 Reshape n t6 -> o\n"
         "node r7 Reshape o t7 -> p\nnode tp Transpose p -> s perm=[0,1,3,2,4,5]\n"
         "node r8 Reshape s t8 -> z\nout z\n"},
        {"Swin: a single window", ALL,
         "in x float[{N},7,7,12]\ninit w float[12,12]\nconst t1 int64[6] ={N},1,7,1,7,12\n"
         "const t2 int64[3] =-1,49,12\nconst t3 int64[4] ={N},49,3,4\n"
         "const t6 int64[3] ={N},49,12\nconst t7 int64[6] ={N},1,1,7,7,12\n"
         "const t8 int64[4] ={N},7,7,12\nnode r1 Reshape x t1 -> a\n"
         "node tr Transpose a -> b perm=[0,1,3,2,4,5]\nnode r2 Reshape b t2 -> c\n"
         "node q MatMul c w -> d\nnode r3 Reshape d t3 -> e\n"
         "node t Transpose e -> f perm=[0,2,1,3]\nnode tk Transpose e -> g perm=[0,2,3,1]\n"
         "node qk MatMul f g -> h\nnode av MatMul h f -> l\n"
         "node tl Transpose l -> n perm=[0,2,1,3]\nnode r6 Reshape n t6 -> o\n"
         "node r7 Reshape o t7 -> p\nnode tp Transpose p -> s perm=[0,1,3,2,4,5]\n"
         "node r8 Reshape s t8 -> z\nout z\n"},
        {"windows with -1", ALL,
         "in x float[{N},16,16,4]\nconst t int64[6] ={N},4,4,4,4,4\n"
         "const t1 int64[4] =-1,4,4,4\nconst t2 int64[6] ={N},4,4,4,4,-1\n"
         "const t3 int64[4] ={N},16,16,-1\nnode r Reshape x t -> a\n"
         "node tr Transpose a -> b perm=[0,1,3,2,4,5]\nnode r1 Reshape b t1 -> c\n"
         "node r2 Reshape c t2 -> d\nnode t2r Transpose d -> e perm=[0,1,3,2,4,5]\n"
         "node r3 Reshape e t3 -> y\nout y\n"},
        {"a cyclic shift", ALL,
         "in x float[{N},8,8,12]\nconst st int64[1] =4\n"
         "const en int64[1] =9223372036854775807\nconst s0 int64[1] =0\nconst e0 int64[1] =4\n"
         "const ax int64[1] =1\nnode a Slice x st en ax -> x1\nnode b Slice x s0 e0 ax -> x2\n"
         "node c Concat x1 x2 -> y axis=1\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_groups_of_channels(void **state) {
    static const struct pattern rows[] = {
        {"GroupNorm", ALL,
         "in x float[{N},64,8,8]\nconst t int64[3] ={N},32,-1\nconst t2 int64[4] ={N},64,8,8\n"
         "const o float[32] =1\nconst z float[32] =0\nnode r Reshape x t -> a\n"
         "node i InstanceNormalization a o z -> b\nnode r2 Reshape b t2 -> y\nout y\n"},
        {"GroupNorm of one group", ALL,
         "in x float[{N},64,8,8]\nconst t int64[3] ={N},1,-1\nconst t2 int64[4] ={N},64,8,8\n"
         "const o float[1] =1\nconst z float[1] =0\nnode r Reshape x t -> a\n"
         "node i InstanceNormalization a o z -> b\nnode r2 Reshape b t2 -> y\nout y\n"},
        {"ShuffleNet: target [1,-1,28,28]", ALL,
         "in x float[{N},116,28,28]\nconst t int64[5] ={N},2,58,28,28\n"
         "const t2 int64[4] ={N},-1,28,28\nnode r Reshape x t -> a\n"
         "node tr Transpose a -> b perm=[0,2,1,3,4]\nnode r2 Reshape b t2 -> y\nout y\n"},
        {"pixel shuffle over six axes", ALL,
         "in x float[{N},16,8,8]\nconst t int64[6] ={N},4,2,2,8,8\n"
         "const t2 int64[4] ={N},4,16,16\nnode r Reshape x t -> a\n"
         "node tr Transpose a -> b perm=[0,1,4,2,5,3]\nnode r2 Reshape b t2 -> y\nout y\n"},
        {"squeeze and excite", ALL,
         "in x float[{N},64,8,8]\ninit w float[64,64]\nconst t int64[2] ={N},64\n"
         "const t2 int64[4] ={N},64,1,1\nnode p GlobalAveragePool x -> a\n"
         "node r Reshape a t -> b\nnode g Gemm b w -> c transB=1\nnode r2 Reshape c t2 -> d\n"
         "node m Mul x d -> y\nout y\n"},
        {"groups are part of the batch", ALL,
         "in x float[{N},12,7,7]\nconst t int64[5] ={N},3,4,7,7\n"
         "const t2 int64[4] ={3N},4,7,7\nconst t3 int64[4] ={N},12,7,7\n"
         "init w float[4,4,1,1]\nnode r Reshape x t -> a\nnode r2 Reshape a t2 -> b\n"
         "node c Conv b w -> d\nnode r3 Reshape d t3 -> y\nout y\n"},
        {"einops patches", ALL,
         "in x float[{N},3,32,32]\ninit w float[192,64]\nconst t int64[6] ={N},3,4,8,4,8\n"
         "const t2 int64[3] ={N},16,192\nnode r Reshape x t -> a\n"
         "node tr Transpose a -> b perm=[0,2,4,3,5,1]\nnode r2 Reshape b t2 -> c\n"
         "node m MatMul c w -> y\nout y\n"},
        {"two views stacked behind the batch", ALL,
         "in x float[{N},5,6,20]\nin z float[{N},5,6,20]\nconst ax int64[1] =1\n"
         "const t int64[4] ={2N},5,6,20\nconst t2 int64[5] ={N},2,5,6,20\n"
         "node u Unsqueeze x ax -> x1\nnode v Unsqueeze z ax -> z1\n"
         "node c Concat x1 z1 -> a axis=1\nnode r Reshape a t -> b\nnode e Relu b -> d\n"
         "node r2 Reshape d t2 -> y\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_detectors_and_resizes(void **state) {
    static const struct pattern rows[] = {
        {"detection heads joined on axis 1", ALL,
         "in x float[{N},8,20,20]\ninit w float[255,8,1,1]\ninit w2 float[255,8,3,3]\n"
         "init anchor float[1,3,20,20,85]\nconst t int64[5] ={N},3,85,20,20\n"
         "const t2 int64[3] ={N},-1,85\nconst t3 int64[3] ={N},1200,85\nnode c Conv x w -> a\n"
         "node r Reshape a t -> b\nnode tr Transpose b -> d perm=[0,1,3,4,2]\n"
         "node m Mul d anchor -> e\nnode r2 Reshape e t2 -> f\nnode r3 Reshape e t3 -> g\n"
         "node cc Concat f g -> y axis=1\nout y\n"},
        {"a grid that has the batch", ALL_BUT_READS,
         "in x float[{N},255,20,20]\ninit grid float[{N},3,20,20,2]\n"
         "const t int64[5] ={N},3,85,20,20\nconst t2 int64[3] ={N},-1,85\n"
         "const s int64[2] =2,83\nnode r Reshape x t -> b\n"
         "node tr Transpose b -> d perm=[0,1,3,4,2]\nnode sp Split d s -> xy rest axis=4\n"
         "node m Add xy grid -> e\nnode cc Concat e rest -> f axis=4\n"
         "node r2 Reshape f t2 -> y\nout y\n"},
        {"SSD: [N,-1,4]", ALL,
         "in x float[{N},24,10,10]\nconst t int64[3] ={N},-1,4\n"
         "node tr Transpose x -> a perm=[0,2,3,1]\nnode r Reshape a t -> b\n"
         "const t2 int64[3] ={N},600,4\nnode r2 Reshape a t2 -> d\n"
         "node cc Concat b d -> y axis=1\nout y\n"},
        {"Resize to baked sizes, then Concat", ALL,
         "in x float[{N},8,20,20]\nin z float[{N},8,40,40]\nconst s int64[4] ={N},8,40,40\n"
         "node r Resize x - - s -> a mode=nearest\nnode c Concat a z -> y axis=1\nout y\n"},
        {"Resize to baked sizes as the output", ALL,
         "in x float[{N},8,20,20]\nconst s int64[4] ={N},8,40,40\n"
         "node r Resize x - - s -> a mode=linear\nout a\n"},
        {"an embedding of time steps", ALL,
         "in x float[{N},4,8,8]\nin t float[{N}]\ninit fr float[16]\ninit w float[4,32,1,1]\n"
         "init lw float[4,32]\nconst ax int64[1] =1\nnode u Unsqueeze t ax -> t1\n"
         "node m Mul t1 fr -> e\nnode s Sin e -> s1\nnode c Cos e -> c1\n"
         "node k Concat s1 c1 -> te axis=1\nnode g Gemm te lw -> g1 transB=1\n"
         "const ax2 int64[2] =2,3\nnode u2 Unsqueeze g1 ax2 -> g2\nnode ad Add x g2 -> y\n"
         "out y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_recurrent_layers(void **state) {
    static const struct pattern rows[] = {
        {"states by Expand, both directions", ALL_BUT_READS,
         "in x float[{N},40,64]\ninit w float[2,512,64]\ninit r float[2,512,128]\n"
         "init b float[2,1024]\nconst t int64[3] =2,{N},128\ninit zero float[1] =0\n"
         "node e Expand zero t -> h\nnode tr Transpose x -> s perm=[1,0,2]\n"
         "node l LSTM s w r b - h h -> y yh yc hidden_size=128 direction=bidirectional\n"
         "node ty Transpose y -> y1 perm=[0,2,1,3]\nconst t2 int64[3] =40,{N},256\n"
         "node rs Reshape y1 t2 -> y2\nnode tz Transpose y2 -> z perm=[1,0,2]\nout z\n"},
        {"states stored in the file", ALL_BUT_READS,
         "in x float[{N},40,64]\ninit w float[1,512,64]\ninit r float[1,512,128]\n"
         "init b float[1,1024]\ninit h float[1,{N},128]\n"
         "node tr Transpose x -> s perm=[1,0,2]\n"
         "node l LSTM s w r b - h h -> y yh yc hidden_size=128\nconst ax int64[1] =1\n"
         "node sq Squeeze y ax -> y1\nnode tz Transpose y1 -> z perm=[1,0,2]\nout z\nout yh\n"},
        {"frames as batch, then LSTM", ALL_BUT_READS,
         "in x float[{N},8,3,32,32]\ninit w float[16,3,32,32]\ninit lw float[1,256,16]\n"
         "init lr float[1,256,64]\ninit h float[1,{N},64]\nconst t int64[4] ={8N},3,32,32\n"
         "const t2 int64[3] ={N},8,16\nnode r Reshape x t -> a\nnode c Conv a w -> b\n"
         "node r2 Reshape b t2 -> d\nnode tr Transpose d -> e perm=[1,0,2]\n"
         "node l LSTM e lw lr - - h h -> y yh hidden_size=64\nout y\n"},
        {"frames as batch, then their mean", ALL,
         "in x float[{N},8,3,32,32]\ninit w float[16,3,32,32]\nconst t int64[4] =-1,3,32,32\n"
         "const t2 int64[3] ={N},8,-1\nnode r Reshape x t -> a\nnode c Conv a w -> b\n"
         "const f int64[2] ={8N},16\nnode fl Reshape b f -> b1\nnode r2 Reshape b1 t2 -> d\n"
         "node m ReduceMean d -> y axes=[1] keepdims=0\nout y\n"},
        {"LSTM, then [T*N,H] and back", ALL,
         "in x float[{N},20,64]\ninit w float[1,256,64]\ninit r float[1,256,64]\n"
         "init lw float[64,10]\nconst ax int64[1] =1\nconst t int64[2] ={20N},64\n"
         "const t2 int64[3] =20,{N},10\nnode tr Transpose x -> s perm=[1,0,2]\n"
         "node l LSTM s w r -> y0 hidden_size=64\nnode sq Squeeze y0 ax -> y1\n"
         "node rs Reshape y1 t -> y2\nnode m MatMul y2 lw -> y3\nnode rb Reshape y3 t2 -> y\n"
         "out y\n"},
        {"time first with -1", ALL,
         "in x float[{N},20,64]\ninit lw float[64,10]\nconst t int64[2] =-1,64\n"
         "const t2 int64[3] =20,{N},10\nnode tr Transpose x -> s perm=[1,0,2]\n"
         "node rs Reshape s t -> y2\nnode m MatMul y2 lw -> y3\nnode rb Reshape y3 t2 -> y\n"
         "out y\n"},
        {"columns of an image as time", ALL,
         "in x float[{N},512,1,26]\nconst ax int64[1] =2\ninit w float[1,256,512]\n"
         "init r float[1,256,64]\nnode sq Squeeze x ax -> a\n"
         "node tr Transpose a -> s perm=[2,0,1]\nnode l LSTM s w r -> y hidden_size=64\n"
         "out y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_tokens_as_rows(void **state) {
    static const struct pattern rows[] = {
        {"tokens as rows and back", ALL,
         "in x int64[{N},128]\ninit e float[100,64]\ninit w float[64,100]\n"
         "const t int64[2] ={128N},64\nconst t2 int64[3] ={N},128,100\n"
         "node g Gather e x -> a\nnode r Reshape a t -> b\nnode m MatMul b w -> c\n"
         "node r2 Reshape c t2 -> y\nout y\n"},
        {"beams", ALL,
         "in x float[{N},6,20]\nconst ax int64[1] =1\nconst t int64[4] ={N},5,6,20\n"
         "const t2 int64[3] ={5N},6,20\nconst t3 int64[4] ={N},5,6,20\n"
         "node u Unsqueeze x ax -> x1\nnode e Expand x1 t -> x2\nnode r Reshape x2 t2 -> b\n"
         "node q Relu b -> d\nnode r3 Reshape d t3 -> y\nout y\n"},
        {"position ids of the batch", ALL_BUT_READS,
         "in x int64[{N},16]\ninit emb float[100,20]\ninit pos float[32,20]\n"
         "const ids int64[{N},16] =0\nnode g Gather emb x -> a\nnode p Gather pos ids -> b\n"
         "node ad Add a b -> y\nout y\n"},
        {"zeros concatenated before the sequence", ALL,
         "in x float[{N},16,20]\nconst t int64[3] ={N},1,20\nnode z ConstantOfShape t -> s\n"
         "node c Concat s x -> y axis=1\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_selection_of_the_last_token(void **state) {
    static const struct pattern rows[] = {
        {"last token by arange and GatherND", ALL,
         "in x float[{N},16,20]\nin idx int64[{N}]\nconst ar int64[{N}] =0\n"
         "const ax int64[1] =1\nconst t int64[2] ={N},1\nnode u Unsqueeze ar ax -> a\n"
         "node v Unsqueeze idx ax -> b\nnode c Concat a b -> i axis=1\n"
         "node g GatherND x i -> y\nout y\n"},
        {"the same with Expand", ALL,
         "in x float[{N},16,20]\nin idx int64[{N}]\nconst ar int64[{N}] =0\n"
         "const ax int64[1] =1\nconst t int64[1] ={N}\nnode e1 Expand ar t -> ar1\n"
         "node e2 Expand idx t -> idx1\nnode u Unsqueeze ar1 ax -> a\n"
         "node v Unsqueeze idx1 ax -> b\nnode c Concat a b -> i axis=1\n"
         "node g GatherND x i -> y\nout y\n"},
        {"the same with Range", ALL,
         "in x float[{N},16,20]\nin idx int64[{N}]\nconst st int64[] =0\n"
         "const en int64[] ={N}\nconst de int64[] =1\nconst ax int64[1] =1\n"
         "node ra Range st en de -> ar\nnode u Unsqueeze ar ax -> a\n"
         "node v Unsqueeze idx ax -> b\nnode c Concat a b -> i axis=1\n"
         "node g GatherND x i -> y\nout y\n"},
        {"TopK and GatherElements", ALL,
         "in x float[{N},100,4]\nin s float[{N},100]\nconst k int64[1] =10\n"
         "const ax int64[1] =2\nconst t int64[3] ={N},10,4\nnode tk TopK s k -> v i axis=1\n"
         "node u Unsqueeze i ax -> u1\nnode e Expand u1 t -> e1\n"
         "node g GatherElements x e1 -> y axis=1\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_writes_into_constants(void **state) {
    static const struct pattern rows[] = {
        {"written into zeros by ScatterND", ALL_BUT_READS,
         "in x float[{N},4,8]\ninit z float[{N},16,8]\ninit ix int64[{N},4,2]\n"
         "node s ScatterND z ix x -> y\nout y\n"},
        {"written into zeros by ScatterElements", ALL,
         "in x float[{N},4]\nin ix int64[{N},4]\ninit z float[{N},16]\n"
         "node s ScatterElements z ix x -> y axis=1\nout y\n"},
        {"written into a transposed constant by ScatterND", ALL_BUT_READS,
         "in x int64[{N},16]\nconst z int64[17,{N}] =0\nconst i int64[16,1] =3\n"
         "init e float[9,4]\nnode t Transpose x -> u perm=[1,0]\nnode s ScatterND z i u -> a\n"
         "node b Transpose a -> c perm=[1,0]\nnode g Gather e c -> y\nout y\n"},
        {"the state of a Loop", ALL,
         "in x float[{N},16]\ninit w float[16,16]\nconst n int64[] =5\nconst k bool[] =1\n"
         "body body\nin i int64[]\nin kc bool[]\nin s float[{N},16]\nnode r MatMul s w -> a\n"
         "node ki Identity kc -> ko\nout ko\nout a\nclose\nnode l Loop n k x -> y\nout y\n"},
        {"through the branches of an If", ALL,
         "in x float[{N},16,2]\nin c bool[]\nbody then_branch\nnode r Relu x -> a\nout a\n"
         "close\nbody else_branch\nnode e Sigmoid x -> d\nout d\nclose\nnode i If c -> y\n"
         "const t3 int64[2] ={N},-1\nnode g Reshape y t3 -> z\nout z\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_targets_of_reshapes(void **state) {
    static const struct pattern rows[] = {
        {"[N,-1] before Gemm", ALL,
         "in x float[{N},64,2,2]\ninit w float[10,256]\nconst t int64[2] ={N},-1\n"
         "node r Reshape x t -> f\nnode g Gemm f w -> y transB=1\nout y\n"},
        {"[-1,C]", ALL,
         "in x float[{N},64,2,2]\ninit w float[10,256]\nconst t int64[2] =-1,256\n"
         "node r Reshape x t -> f\nnode g Gemm f w -> y transB=1\nout y\n"},
        {"[0,8,-1]", ALL,
         "in x float[{N},64,2,2]\nconst t int64[3] =0,8,-1\nnode r Reshape x t -> f\n"
         "node g Relu f -> y\nout y\n"},
        {"[-1,1,28,28] before Conv", ALL,
         "in x float[{N},784]\ninit w float[8,1,3,3]\nconst s int64[4] =-1,1,28,28\n"
         "node r Reshape x s -> a\nnode c Conv a w -> y\nout y\n"},
        {"[-1,1,784]", ALL,
         "in x float[{N},784]\nconst s int64[3] =-1,1,784\nnode r Reshape x s -> y\nout y\n"},
        {"[N,1,64,100] before Conv", ALL,
         "in x float[{N},64,100]\ninit w float[8,1,3,3]\nconst t int64[4] ={N},1,64,100\n"
         "node rs Reshape x t -> s\nnode c Conv s w -> y\nout y\n"},
        {"[N,1,64,100] as the output", ALL,
         "in x float[{N},64,100]\nconst t int64[4] ={N},1,64,100\nnode rs Reshape x t -> y\n"
         "out y\n"},
        {"Flatten of batch and sequence, and back", ALL,
         "in x float[{N},16,20]\ninit w float[20,20]\nconst t int64[3] ={N},16,20\n"
         "node f Flatten x -> a axis=2\nnode m MatMul a w -> b\nnode r Reshape b t -> y\n"
         "out y\n"},
        {"Flatten of everything", ALL,
         "in x float[{N},16,20]\nnode f Flatten x -> y axis=0\nout y\n"},
        {"a target of constants and a Shape", ALL,
         "in x float[{N},16,64]\nconst b int64[1] ={N}\nconst h int64[2] =8,8\n"
         "const i1 int64[] =1\nconst ax int64[1] =0\nnode s Shape x -> s1\n"
         "node g Gather s1 i1 -> s2\nnode u Unsqueeze s2 ax -> s3\n"
         "node c Concat b s3 h -> t axis=0\nnode r Reshape x t -> y\nnode re Relu y -> z\n"
         "out z\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_sums_over_the_batch(void **state) {
    static const struct pattern rows[] = {
        {"doubled along the batch and halved", ALL,
         "in x float[{N},16,20]\ninit w float[20,20]\nnode c Concat x x -> a axis=0\n"
         "node m MatMul a w -> b\nnode sp Split b -> u v axis=0\nnode d Sub u v -> y\nout y\n"},
        {"a mean over the batch that is kept", ALL,
         "in x float[{N},16,20,20]\nnode f ReduceMean x -> a axes=[0] keepdims=1\n"
         "node m Sub x a -> y\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_axes_shared_with_the_batch(void **state) {
    static const struct pattern rows[] = {
        {"constant queries whose heads share an axis with the batch", ALL_BUT_READS,
         "in x float[{N},49,64]\ninit q float[10,1,64]\nconst rp int64[3] =1,{N},1\n"
         "const t1 int64[3] =10,{8N},8\nconst t2 int64[3] =49,{8N},8\n"
         "const t3 int64[3] =10,{N},64\nnode xs Transpose x -> s perm=[1,0,2]\n"
         "node ti Tile q rp -> q1\nnode rq Reshape q1 t1 -> a\n"
         "node ta Transpose a -> a1 perm=[1,0,2]\nnode rk Reshape s t2 -> k\n"
         "node tk Transpose k -> k1 perm=[1,2,0]\nnode qk MatMul a1 k1 -> w\n"
         "node tv Transpose k -> v1 perm=[1,0,2]\nnode sv MatMul w v1 -> o\n"
         "node ot Transpose o -> o1 perm=[1,0,2]\nnode r3 Reshape o1 t3 -> o2\n"
         "node ad Add q1 o2 -> y\nout y\n"},
        {"a class token for each frame of a batch", ALL,
         "in x float[{N},4,16,64]\ninit cls float[1,1,64]\nconst t int64[3] ={4N},16,64\n"
         "const e int64[3] ={4N},1,64\nnode r Reshape x t -> a\nnode ex Expand cls e -> b\n"
         "node c Concat b a -> y axis=1\nout y\n"},
        {"columns of boxes, concatenated", ALL,
         "in x float[{N},16,8]\nin boxes int64[{N},16,4]\ninit places float[100,8]\n"
         "const left int64[] =0\nnode g Gather boxes left -> l axis=2\n"
         "node e Gather places l -> p\nnode a Add x p -> y\nout y\n"},
        {"sizes of a Resize", ALL,
         "in x float[{N},32,16,16]\ninit w float[8,32,1,1]\nconst s int64[4] ={N},32,32,32\n"
         "node r Resize x - - s -> a mode=linear\nnode c Conv a w -> y\nout y\n"},
        {"a mean over the batch as output", ALL,
         "in x float[{N},16]\nnode t ReduceMean x -> y axes=[0] keepdims=0\nout y\n"},
        {"a mean over the batch whose axes are an operand", ALL,
         "opset 18\nin x float[{N},16]\nconst ax int64[1] =0\n"
         "node t ReduceMean x ax -> a keepdims=1\nnode s Sub x a -> y\nout y\n"},
        {"products of the batch with itself", ALL,
         "in x float[{N},20]\nin z float[{N},20]\nnode t Transpose z -> zt perm=[1,0]\n"
         "node m MatMul x zt -> a\nnode s Softmax a -> y\nout y\n"},
        {"indices of each sample and head, stored in the file", ALL_BUT_READS,
         "in x float[{N},4,16,32]\nconst t int64[3] ={4N},16,32\n"
         "const i int64[{4N},16,8] =3\nnode r Reshape x t -> a\n"
         "node g GatherElements a i -> y axis=2\nout y\n"},
        {"a Transpose of the batch, written as a Reshape", FROM_ONE,
         "in x float[{N},20,8]\ninit w float[8,4]\nconst t int64[3] =20,{N},8\n"
         "const i int64[] =19\nnode r Reshape x t -> a\nnode g Gather a i -> b axis=0\n"
         "node m MatMul b w -> y\nout y\n"},
        {"a single token, whose heads share an axis with the batch", ALL,
         "in x float[{N},1,32]\nconst t int64[3] =1,{4N},8\nconst u int64[3] =1,{N},32\n"
         "node a Transpose x -> b perm=[1,0,2]\nnode r Reshape b t -> c\n"
         "node q Transpose c -> d perm=[1,0,2]\nnode k Transpose c -> e perm=[1,2,0]\n"
         "node m MatMul d e -> f\nnode v MatMul f d -> g\n"
         "node h Transpose g -> i perm=[1,0,2]\nnode s Reshape i u -> j\n"
         "node z Transpose j -> y perm=[1,0,2]\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void rebatches_products_of_constants(void **state) {
    static const struct pattern rows[] = {
        {"a query that is tiled, then projected", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[1,10,32]\ninit w float[32,32]\n"
         "const r int64[3] ={N},1,1\nnode t Tile q r -> a\nnode p MatMul a w -> b\n"
         "node k Transpose x -> c perm=[0,2,1]\nnode m MatMul b c -> y\nout y\n"},
        {"a node without operands or outputs next to it", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[1,10,32]\ninit w float[32,32]\n"
         "const r int64[3] ={N},1,1\nnode z RandomNormal -> - shape=[2]\nnode t Tile q r -> a\n"
         "node p MatMul a w -> b\nnode k Transpose x -> c perm=[0,2,1]\n"
         "node m MatMul b c -> y\nout y\n"},
        {"a query that is projected, then tiled", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[1,10,32]\ninit w float[32,32]\n"
         "const r int64[3] ={N},1,1\nnode p MatMul q w -> a\nnode t Tile a r -> b\n"
         "node k Transpose x -> c perm=[0,2,1]\nnode m MatMul b c -> y\nout y\n"},
        {"a query whose heads share an axis with the batch", ALL_BUT_READS,
         "in x float[{N},8,16,4]\nconst e int64[3] =10,{N},32\ninit q float[10,1,32]\n"
         "init w float[32,32]\nconst h int64[3] ={8N},16,4\nconst s int64[3] =10,{8N},4\nnode "
         "ex Expand q e -> a\n"
         "node p MatMul a w -> b\nnode r Reshape b s -> c\n"
         "node t Transpose c -> d perm=[1,0,2]\nnode rx Reshape x h -> g\n"
         "node k Transpose g -> f perm=[0,2,1]\nnode m MatMul d f -> y\nout y\n"},
        {"queries that attend to each other", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[10,32]\ninit w float[32,32]\n"
         "const e int64[3] ={N},10,32\nconst s int64[4] ={N},10,4,8\n"
         "const u int64[3] ={N},10,32\nnode ex Expand q e -> a\nnode p MatMul a w -> b\n"
         "node r Reshape b s -> c\nnode tq Transpose c -> d perm=[0,2,1,3]\n"
         "node tk Transpose c -> f perm=[0,2,3,1]\nnode m MatMul d f -> g\n"
         "node v MatMul g d -> h\nnode tv Transpose h -> i perm=[0,2,1,3]\n"
         "node o Reshape i u -> j\nnode ad Add a j -> n\n"
         "node k Transpose x -> l perm=[0,2,1]\nnode c2 MatMul n l -> y\nout y\n"},
        {"a query that the exporter recorded as repeated", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[{N},10,32]\nmark q repeated\ninit w "
         "float[32,32]\n"
         "node p MatMul q w -> b\nnode k Transpose x -> c perm=[0,2,1]\n"
         "node m MatMul b c -> y\nout y\n"},
        {"queries that attend to each other, heads next to the batch", ALL_BUT_READS,
         "in x float[{N},16,32]\ninit q float[10,1,32]\ninit w float[32,32]\n"
         "const rp int64[3] =1,{N},1\nconst s int64[3] =10,{4N},8\nconst u int64[2] ={10N},32\n"
         "const v int64[3] =10,{N},32\nnode t Tile q rp -> a\nnode p MatMul a w -> b\n"
         "node r Reshape b s -> c\nnode tq Transpose c -> d perm=[1,0,2]\n"
         "node tk Transpose c -> f perm=[1,2,0]\nnode m MatMul d f -> g\n"
         "node sv MatMul g d -> h\nnode tv Transpose h -> i perm=[1,0,2]\n"
         "node o Reshape i u -> j\nnode l Gemm j w -> l1\nnode vv Reshape l1 v -> l2\n"
         "node ad Add a l2 -> n\nnode tn Transpose n -> n1 perm=[1,0,2]\n"
         "node k Transpose x -> k1 perm=[0,2,1]\nnode c2 MatMul n1 k1 -> y\nout y\n"},
        {"a recurrent cell on a zero state", ALL_BUT_READS,
         "in x float[{N},8]\ninit w float[8,16]\ninit u float[16,16]\n"
         "const z float[{N},16] =0\nnode a MatMul x w -> b\nnode c MatMul z u -> d\n"
         "node e Add b d -> y\nout y\n"},
        {"a convolution over position codes", ALL_BUT_READS,
         "in x float[{N},16,8,8]\ninit p float[{N},4,8,8]\ninit w float[16,4,1,1]\n"
         "node c Conv p w -> a\nnode s Add x a -> y\nout y\n"},
        {"a table of relative positions, used once", ALL_BUT_READS,
         "in x float[{N},4,16,16]\ninit c float[1,49,2]\ninit w float[2,4]\n"
         "const t int64[2] =-1,4\nconst i int64[16,16] =3\nconst u int64[1] =0\n"
         "node m MatMul c w -> a\nnode r Reshape a t -> b\nnode g Gather b i -> d axis=0\n"
         "node p Transpose d -> e perm=[2,0,1]\nnode un Unsqueeze e u -> f\n"
         "node s Add x f -> y\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

/* Values that depend on an input but not on the batch, until they are expanded to it. */
static void rebatches_values_without_a_batch(void **state) {
    static const struct pattern rows[] = {
        {"a scalar that is expanded, then projected", ALL_BUT_READS,
         "in x float[{N},5,8]\nin t float[]\ninit w float[1,8]\nconst e int64[2] ={N},1\n"
         "const u int64[1] =1\nnode ex Expand t e -> a\nnode m MatMul a w -> b\n"
         "node un Unsqueeze b u -> c\nnode ad Add x c -> y\nout y\n"},
        {"an input that is expanded, then projected", ALL_BUT_READS,
         "in x float[{N},8,5]\nin k float[7,8]\ninit w float[8,8]\nconst e int64[3] ={N},7,8\n"
         "node ex Expand k e -> a\nnode p MatMul a w -> b\nnode m MatMul b x -> y\nout y\n"},
        {"an input that is projected, then expanded", ALL_BUT_READS,
         "in x float[{N},8,5]\nin k float[7,8]\ninit w float[8,8]\nconst e int64[3] ={N},7,8\n"
         "node p MatMul k w -> a\nnode ex Expand a e -> b\nnode m MatMul b x -> y\nout y\n"},
        {"a mean over the batch that is expanded again", ALL_BUT_READS,
         "in x float[{N},4,6]\ninit w float[6,3]\nconst e int64[3] ={N},1,6\n"
         "node r ReduceMean x -> a axes=[0,1] keepdims=1\nnode ex Expand a e -> b\n"
         "node c Concat x b -> d axis=1\nnode m MatMul d w -> y\nout y\n"},
        {"the targets of a contrastive loss", ALL_BUT_READS,
         "in x float[{N},8]\ninit w float[8,8]\nconst l int64[{N}] =0\n"
         "node p MatMul x w -> a\nnode t Transpose a -> b perm=[1,0]\nnode m MatMul a b -> c\n"
         "node s SoftmaxCrossEntropyLoss c l -> y\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

/* The loop alone fits at every batch, but its product does not hold the batch. */
static void rebatches_a_loop_whose_state_the_batch_joins_later(void **state) {
    static const struct pattern pattern = {
        "a zero state that the batch joins after the loop", ALL,
        "in x float[{N},16]\ninit w float[16,16]\ninit z float[{N},16]\nconst n int64[] =5\n"
        "const k bool[] =1\nbody body\nin i int64[]\nin kc bool[]\nin s float[{N},16]\n"
        "node r MatMul s w -> b\nnode ki Identity kc -> ko\nout ko\nout b\nclose\n"
        "node l Loop n k z -> a\nnode ad Add a x -> y\nout y\n"};
    (void)state;
    check_pattern(&pattern, 4, 8);
    check_pattern(&pattern, 32, 1);
}

static void rebatches_loops(void **state) {
    static const struct pattern rows[] = {
        {"over samples, as many as Shape reports", ALL,
         "in x float[{N},5,8]\ninit w float[8,16]\nconst z int64[] =0\nconst k bool[] =1\n"
         "node sh Shape x -> sx\nnode gs Gather sx z -> n\n"
         "body body\nin i int64[]\nin kc bool[]\nnode g Gather x i -> s axis=0\n"
         "node m MatMul s w -> a\nnode ki Identity kc -> ko\nout ko\nout a\nclose\n"
         "node l Loop n k -> y\nout y\n"},
        {"over time, from a zero state that meets the batch", ALL_BUT_READS,
         "in x float[{N},16]\ninit w float[16,16]\ninit z float[{N},16]\nconst n int64[] =5\n"
         "const k bool[] =1\nbody body\nin i int64[]\nin kc bool[]\nin s float[{N},16]\n"
         "node r MatMul s w -> a\nnode ad Add a x -> b\nnode ki Identity kc -> ko\nout ko\n"
         "out b\nclose\nnode l Loop n k z -> y\nout y\n"},
        {"over time, from a zero state, with all results stacked", FROM_ONE,
         "in x float[{N},20,8]\ninit w float[8,16]\ninit u float[16,16]\ninit z float[{N},16]\n"
         "const t int64[3] =20,{N},8\nconst n int64[] =20\nconst k bool[] =1\n"
         "node tr Reshape x t -> xt\nbody body\nin i int64[]\nin kc bool[]\n"
         "in s float[{N},16]\nnode g Gather xt i -> xi axis=0\nnode p MatMul xi w -> a\n"
         "node q MatMul s u -> c\nnode ad Add a c -> b\nnode ki Identity kc -> ko\nout ko\n"
         "out b\nout b\nclose\nnode l Loop n k z -> h y\nout y\n"},
        {"over time, with a product that takes the sequence first", FROM_ONE,
         "in x float[{N},20,8]\ninit w float[8,16]\ninit u float[16,16]\ninit z float[{N},16]\n"
         "const t int64[3] =20,{N},8\nconst n int64[] =20\nconst k bool[] =1\n"
         "node tr Reshape x t -> xt\nbody body\nin i int64[]\nin kc bool[]\n"
         "in s float[{N},16]\nnode g Gather xt i -> xi axis=0\nnode p MatMul xi w -> a\n"
         "node r Gemm s u a -> b\nnode ki Identity kc -> ko\nout ko\nout b\nclose\n"
         "node l Loop n k z -> y\nout y\n"},
    };
    (void)state;
    check_patterns(rows, sizeof rows / sizeof *rows);
}

static void scales_a_constant_trip_count(void **state) {
    static const char lines[] =
        "in x float[{N},5,8]\ninit w float[8,16]\nconst n int64[] ={N}\nconst k bool[] =1\n"
        "body body\nin i int64[]\nin kc bool[]\nnode g Gather x i -> s axis=0\n"
        "node m MatMul s w -> a\nnode ki Identity kc -> ko\nout ko\nout a\nclose\n"
        "node l Loop n k -> y\nout y\n";
    static const struct pattern pattern = {"over samples, a constant", ALL, lines};
    (void)state;
    check_pattern(&pattern, 4, 8);
    check_pattern(&pattern, 4, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rebatches_attention_layouts),
        cmocka_unit_test(rebatches_attention_masks),
        cmocka_unit_test(rebatches_other_forms_of_attention),
        cmocka_unit_test(rebatches_class_tokens),
        cmocka_unit_test(rebatches_windows_of_images),
        cmocka_unit_test(rebatches_groups_of_channels),
        cmocka_unit_test(rebatches_detectors_and_resizes),
        cmocka_unit_test(rebatches_recurrent_layers),
        cmocka_unit_test(rebatches_tokens_as_rows),
        cmocka_unit_test(rebatches_selection_of_the_last_token),
        cmocka_unit_test(rebatches_writes_into_constants),
        cmocka_unit_test(rebatches_targets_of_reshapes),
        cmocka_unit_test(rebatches_sums_over_the_batch),
        cmocka_unit_test(rebatches_axes_shared_with_the_batch),
        cmocka_unit_test(rebatches_products_of_constants),
        cmocka_unit_test(rebatches_values_without_a_batch),
        cmocka_unit_test(rebatches_a_loop_whose_state_the_batch_joins_later),
        cmocka_unit_test(rebatches_loops),
        cmocka_unit_test(scales_a_constant_trip_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
