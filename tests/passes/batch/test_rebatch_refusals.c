/* SPDX-License-Identifier: Apache-2.0 */
/* Files with an ambiguous batch: the error names the node, and no batch is guessed. Also the
 * list of changes of files that can be re-batched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/batch/batch.h"
#include "support/arena.h"
#include "support/text.h"
#include "template.h"

struct refusal {
    const char *name;
    int64_t from;
    const char *node; /* named by the error */
    const char *why;
    const char *lines; /* template.h */
};

static const char *declared_shape(const struct bench *bench, const char *name) {
    struct text text;
    text_init(&text, bench->arena);
    shape_print(&bench->model.values[bench_value(bench, name)].type->shape, &text);
    return text_string(&text);
}

static void check_refusal(const struct refusal *row) {
    struct bench *bench = template_rebatch(row->lines, row->from, 8);
    if (bench->status != CM_REFUSED) fail_msg("%s: not refused", row->name);
    const char *want =
        arena_printf(bench->arena,
                     "error[batch] at %s: input 'x' %s cannot be re-batched (tried 10007): %s; "
                     "hint: export the model with a symbolic batch dim",
                     row->node, declared_shape(bench, "x"), row->why);
    if (strcmp(bench_messages(bench), want) != 0)
        fail_msg("%s: %s, not %s", row->name, bench_messages(bench), want);
    bench_close(bench);
}

static void refuses_fixed_sizes_along_the_batch(void **state) {
    static const struct refusal rows[] = {
        {"sizes of a Split along the batch", 1, "sp", "split adds up to 2, the axis has 20014",
         "in x float[{N},16,20]\ninit w float[20,20]\nconst s int64[2] ={N},{N}\n"
         "node c Concat x x -> a axis=0\nnode m MatMul a w -> b\n"
         "node sp Split b s -> u v axis=0\nnode d Sub u v -> y\nout y\n"},
        {"concatenated batches, then a target", 2, "r",
         "cannot reshape 6404480 elements [20014,16,20] into [2,2,16,20]",
         "in x float[{N},16,20]\nconst t int64[4] =2,{N},16,20\n"
         "node c Concat x x -> a axis=0\nnode m Relu a -> b\nnode r Reshape b t -> d\n"
         "node q ReduceMean d -> y axes=[0] keepdims=0\nout y\n"},
        {"a batch that is tiled, then a target", 1, "r",
         "cannot reshape 12008400 elements [20014,5,6,20] into [2,1,5,6,20]",
         "in x float[{N},5,6,20]\nconst rp int64[4] =2,1,1,1\nconst t int64[5] =2,{N},5,6,20\n"
         "node c Tile x rp -> a\nnode r Reshape a t -> y\nout y\n"},
        {"a Slice of the whole batch", 2, "sl", "its output would keep the batch of the file",
         "in x float[{N},5,6,20]\nconst st int64[1] =0\nconst en int64[1] ={N}\n"
         "const ax int64[1] =0\nnode sl Slice x st en ax -> a\nnode c Relu a -> y\nout y\n"},
        {"a Slice of the first sample of one", 1, "sl",
         "its output would keep the batch of the file",
         "in x float[{N},5,6,20]\nconst st int64[1] =0\nconst en int64[1] =1\n"
         "const ax int64[1] =0\nnode sl Slice x st en ax -> a\nnode c Relu a -> y\nout y\n"},
        {"a Gather of the first sample of one", 1, "g",
         "its index selects one sample, or each sample of a batch of 1",
         "in x float[{N},4]\nconst i int64[{N}] =0\nnode g Gather x i -> y\nout y\n"},
        {"a Squeeze without axes", 1, "s", "the rank of its output would change with the batch",
         "in x float[{N},5,1,20]\nnode s Squeeze x -> y\nout y\n"},
        {"a Squeeze of the batch", 1, "s", "axis 0 of [10007,5,20] is squeezed, but is not 1",
         "in x float[{N},5,20]\nconst ax int64[1] =0\nnode s Squeeze x ax -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

static void refuses_a_batch_axis_that_may_be_another(void **state) {
    static const struct refusal rows[] = {
        {"one time step or one sample", 1, "rs",
         "the batch may be axis 0 or axis 1 of the output [1,1,64]",
         "in x int64[{N}]\ninit emb float[100,64]\ninit w float[1,384,64]\n"
         "init r float[1,384,128]\ninit h float[1,{N},128]\nconst t int64[3] =1,{N},64\n"
         "node g Gather emb x -> e\nnode rs Reshape e t -> s\n"
         "node l GRU s w r - - h -> y yh hidden_size=128\nconst ax int64[1] =0\nout y\n"
         "out yh\n"},
        {"[128,256] as the output", 1, "rs",
         "the batch may be axis 0 or axis 1 of the output [128,256]",
         "in x float[{N},128,256]\nconst t int64[2] ={128N},256\n"
         "node tr Transpose x -> s perm=[1,0,2]\nnode rs Reshape s t -> y\nout y\n"},
        {"constants after the tokens of a batch, as many", 1, "c",
         "its output would not scale with the batch",
         "in x float[{N},16,8]\ninit p float[16,8]\ninit w float[8,5]\n"
         "const t int64[2] =-1,8\nnode r Reshape x t -> a\nnode c Concat a p -> b axis=0\n"
         "node m MatMul b w -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

static void refuses_indices_into_the_batch(void **state) {
    static const struct refusal rows[] = {
        {"fixed indices that gather from the batch", 1, "g",
         "its indices select from the batch of the file",
         "in x float[{N},16]\nconst t int64[1] ={16N}\nconst i int64[3,4] =5\n"
         "node f Reshape x t -> a\nnode g Gather a i -> y\nout y\n"},
        {"each sample by its index", 2, "g", "its index selects one of several samples",
         "in x float[{N},16]\ninit w float[16,4]\nconst i int64[1] =0\nconst k int64[1] =1\n"
         "node g Gather x i -> a\nnode h Gather x k -> b\nnode c Concat a b -> d axis=0\n"
         "node m MatMul d w -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

static void refuses_loops_that_do_not_scale(void **state) {
    static const struct refusal rows[] = {
        {"a Loop that reads fewer samples than there are", 4, "g",
         "its index selects samples, but not each of the batch once",
         "in x float[{N},8]\nconst n int64[] =3\nconst k bool[] =1\nbody body\nin i int64[]\n"
         "in kc bool[]\nnode g Gather x i -> a axis=0\nnode ki Identity kc -> ko\nout ko\n"
         "out a\nclose\nnode l Loop n k -> y\nout y\n"},
        {"a Loop over samples whose body takes the whole batch", 1, "m",
         "it would process the whole batch for each sample",
         "in x float[{N},8]\ninit w float[8,4]\nconst z int64[] =0\nconst k bool[] =1\n"
         "node sh Shape x -> sx\nnode gs Gather sx z -> n\nbody body\nin i int64[]\n"
         "in kc bool[]\nnode m MatMul x w -> a\nnode r ReduceMean a -> b axes=[0]\n"
         "node ki Identity kc -> ko\nout ko\nout b\nclose\nnode l Loop n k -> y\nout y\n"},
        {"a Loop whose trip count is not proportional to the batch", 1, "l",
         "its trip count would not scale with the batch",
         "in x float[{N},8]\nconst z int64[] =0\nconst o int64[] =2\nconst k bool[] =1\n"
         "node sh Shape x -> sx\nnode gs Gather sx z -> g\nnode ad Add g o -> n\nbody body\n"
         "in i int64[]\nin kc bool[]\nin s float[{N},8]\nnode r Relu s -> b\n"
         "node ki Identity kc -> ko\nout ko\nout b\nclose\nnode l Loop n k x -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

/* Products whose size does not scale, although their results have rows of the samples. */
static void refuses_products_that_may_run_for_each_sample(void **state) {
#define EACH "it may or may not run for each sample"
    static const struct refusal rows[] = {
        {"a product of the rows of all samples", 2, "m",
         EACH ": 'a' [6,8] may have been expanded to the batch",
         "in x float[{N},3,8]\ninit q float[6,8]\ninit w float[8,8]\nconst s int64[2] =-1,8\n"
         "node m MatMul q w -> a\nnode r Reshape x s -> f\nnode - Add f a -> y\nout y\n"},
        {"an output with as many rows as the batch", 2, "m",
         EACH ": 'u' [2,4] may have been expanded to the batch",
         "in x float[{N},4]\ninit w float[4,4]\nnode z RandomNormal -> r shape=[2,4]\n"
         "node m MatMul r w -> u\nnode - Relu x -> y\nout y\nout u\n"},
        {"an expanded row in a branch", 1, "m", EACH,
         "in x float[{N},8]\nin c bool[]\ninit t float[1,4]\ninit w float[4,8]\n"
         "init v float[1,8]\nconst s int64[2] =1,4\nbody then_branch\nnode e Expand t s -> a\n"
         "node m MatMul a w -> b\nout b\nclose\nbody else_branch\nnode k Relu v -> d\nout d\n"
         "close\nnode i If c -> g\nnode - Add x g -> y\nout y\n"},
        {"noise in a Loop", 1, "m", EACH,
         "in x float[{N},8]\ninit w float[8,8]\nconst n int64[] =3\nconst k bool[] =1\n"
         "body body\nin i int64[]\nin kc bool[]\nin h float[{N},8]\n"
         "node z RandomNormal -> r shape=[1,8]\nnode m MatMul r w -> b\nnode - Add h b -> o\n"
         "node ki Identity kc -> ko\nout ko\nout o\nclose\nnode l Loop n k x -> y\nout y\n"},
        {"a state of a Loop that does not meet the batch", 1, "m", EACH,
         "in x float[{N},8]\ninit w float[8,8]\nconst n int64[] =3\nconst k bool[] =1\n"
         "node z RandomNormal -> r shape=[1,8]\nbody body\nin i int64[]\nin kc bool[]\n"
         "in h float[1,8]\nnode m MatMul h w -> o\nnode ki Identity kc -> ko\nout ko\nout o\n"
         "close\nnode l Loop n k r -> g\nnode - Add x g -> y\nout y\n"},
    };
#undef EACH
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

static void refuses_constants_that_may_have_been_expanded(void **state) {
    static const struct refusal rows[] = {
        {"a product of a constant that may have been tiled", 1, "m",
         "it may or may not run for each sample: 'q' [1,6,8] may have been expanded to the "
         "batch",
         "in x float[{N},6,8]\ninit q float[1,6,8]\ninit w float[8,8]\n"
         "node m MatMul q w -> a\nnode - Add x a -> y\nout y\n"},
        {"a product of the second half of such a constant", 1, "m",
         "it may or may not run for each sample: 'q' [1,6,16] may have been expanded to the "
         "batch",
         "in x float[{N},6,8]\ninit q float[1,6,16]\ninit w float[8,8]\n"
         "node s Split q -> - h axis=2 num_outputs=2\nnode m MatMul h w -> a\n"
         "node - Add x a -> y\nout y\n"},
        {"a product of an input that may have been expanded", 1, "m",
         "it may or may not run for each sample: 'q' [1,7,8] may have been expanded to the "
         "batch",
         "in x float[{N},8,5]\nin k float[7,8]\ninit w float[8,8]\nconst u int64[1] =0\n"
         "node un Unsqueeze k u -> q\nnode m MatMul q w -> a\nnode p MatMul a x -> y\nout y\n"},
        {"a product of random numbers", 1, "m",
         "it may or may not run for each sample: 'r' [1,4] may have been expanded to the batch",
         "in x float[{N},4]\ninit w float[4,4]\nnode z RandomNormal -> r shape=[1,4]\n"
         "node m MatMul r w -> a\nnode - Add x a -> y\nout y\n"},
        {"a row that a Concat adds to the batch", 1, "c",
         "its output would not scale with the batch",
         "in x float[{N},8]\ninit r float[1,8]\ninit w float[8,4]\n"
         "node c Concat x r -> a axis=0\nnode m MatMul a w -> y\nout y\n"},
        {"the mean of the batch, which a Concat adds to it", 1, "c",
         "its output would not scale with the batch",
         "in x float[{N},8]\ninit w float[8,4]\nnode r ReduceMean x -> b axes=[0] keepdims=1\n"
         "node c Concat x b -> a axis=0\nnode m MatMul a w -> y\nout y\n"},
        {"a product whose first axis may be split into the batch", 1, "m",
         "it may or may not run for each sample: 'a' [5,8] may have been expanded to the batch",
         "in x float[{N},5,8]\ninit q float[5,4]\ninit w float[4,8]\nconst t int64[3] =1,5,8\n"
         "node m MatMul q w -> a\nnode r Reshape a t -> b\nnode - Add x b -> y\nout y\n"},
        {"the same, of joined constants", 1, "m",
         "it may or may not run for each sample: 'q' [5,4] may have been expanded to the batch",
         "in x float[{N},5,8]\ninit p float[5,2]\ninit w float[4,8]\nconst t int64[3] =1,5,8\n"
         "node c Concat p p -> q axis=1\nnode m MatMul q w -> a\nnode r Reshape a t -> b\n"
         "node - Add x b -> y\nout y\n"},
        {"a sampling grid from an input without a batch", 1, "m",
         "it may or may not run for each sample: 'a' [64,2] may have been expanded to the "
         "batch",
         "in x float[{N},3,8,8]\nin k float[3,2]\ninit g float[64,3]\n"
         "const t int64[4] =1,8,8,2\nnode m MatMul g k -> a\nnode r Reshape a t -> b\n"
         "node s GridSample x b -> y\nout y\n"},
        {"a recurrent layer on constants", 1, "g",
         "it may or may not run for each sample: 'a' [6,1,1,8] may have been expanded to the "
         "batch",
         "in x float[{N},6,8]\ninit q float[6,1,8]\ninit w float[1,24,8]\n"
         "init r float[1,24,8]\nconst h float[1,1,8] =0\nconst ax int64[1] =1\n"
         "node g GRU q w r - - h -> a b hidden_size=8\nnode s Squeeze a ax -> c\n"
         "node t Transpose c -> d perm=[1,0,2]\nnode - Add x d -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

static void refuses_results_that_do_not_scale(void **state) {
    static const struct refusal rows[] = {
        {"a convolution by kernels of each sample", 1, "c",
         "its output would scale with the square of the batch",
         "in x float[{N},2,8,8]\nin k float[{N},2,3,3]\nnode r Relu k -> w\n"
         "node c Conv x w -> y\nout y\n"},
        {"the square of the batch in a Reshape", 2, "m",
         "its output would scale with the square of the batch",
         "in x float[{N},20]\nin z float[{N},20]\nconst t int64[1] =4\n"
         "node t Transpose z -> zt perm=[1,0]\nnode m MatMul x zt -> a\n"
         "node r Reshape a t -> y\nout y\n"},
        {"a pool over the batch", 2, "p", "its output would not hold the batch",
         "in x float[{N},16,8]\nconst t int64[3] =1,16,{8N}\nnode tr Transpose x -> a "
         "perm=[1,0,2]\n"
         "node r Reshape a t -> b\nnode p GlobalAveragePool b -> y\nout y\n"},
        {"a target after an unknown operator", 2, "r",
         "the batch axis of its operand is unknown",
         "in x float[{N},16,20]\ninit w float[20,20]\nconst t int64[3] ={N},16,20\n"
         "node o com.me::Odd x -> a\nnode r Reshape a t -> b\nnode m MatMul b w -> y\nout y\n"},
        {"a convolution over batch and time", 2, "c",
         "its output would not scale with the batch",
         "in x float[{N},16,20]\ninit w float[16,16,3]\nconst t int64[3] =1,16,{20N}\n"
         "node tr Transpose x -> a perm=[1,0,2]\nnode r Reshape a t -> b\n"
         "node c Conv b w -> y\nout y\n"},
        {"the batch as groups of a convolution", 2, "c",
         "input has 160112 channels, weight expects 16 x 2 groups",
         "in x float[{N},16,8,8]\nin s float[{N},16]\ninit w float[1,32,16,3,3]\n"
         "const t int64[4] =1,{16N},8,8\nconst t1 int64[5] ={N},1,16,1,1\n"
         "const t2 int64[4] ={32N},16,3,3\nconst t3 int64[4] ={N},32,8,8\n"
         "node rs Reshape s t1 -> s1\nnode m Mul w s1 -> w1\nnode rw Reshape w1 t2 -> w2\n"
         "node r Reshape x t -> b\nnode c Conv b w2 -> y group={N} pads=[1,1,1,1]\n"
         "node r3 Reshape y t3 -> z\nout z\n"},
        {"a target in the body of an If", 2, "r", "the batch axis of its operand is unknown",
         "in x float[{N},16,2]\nin c bool[]\nbody then_branch\nconst t int64[2] ={N},-1\n"
         "node r Reshape x t -> a\nout a\nclose\nbody else_branch\nconst t2 int64[2] ={N},-1\n"
         "node e Reshape x t2 -> d\nout d\nclose\nnode i If c -> y\nout y\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_refusal(&rows[i]);
}

struct change_case {
    const char *lines;
    int64_t from, to;
    const char *rebatched;
};

static void lists_every_changed_operand(void **state) {
    static const struct change_case rows[] = {
        {"in x float[{N},128,64]\nconst t int64[3] =128,{8N},8\nconst u int64[3] ={8N},128,8\n"
         "node - Transpose x -> s perm=[1,0,2]\nnode r Reshape s t -> a\n"
         "node - Transpose a -> b perm=[1,0,2]\nnode q Reshape b u -> c\n"
         "node - Transpose c -> d perm=[0,2,1]\nnode - MatMul c d -> y\nout y\n",
         32, 8, "r target[1] of t: 256 -> 64\nq target[0] of u: 256 -> 64"},
        {"in x float[{N},4,8]\ninit cls float[{N},1,8]\nnode c Concat cls x -> y axis=1\n"
         "out y\n",
         1, 5, "c dims[0] of cls: 1 -> 5"},
        {"in x float[{N},1,1,16]\nconst t int64[4] ={N},1,16,16\nnode e Expand x t -> y\n"
         "out y\n",
         2, 1, "e target[0] of t: 2 -> 1"},
        {"in x float[{N},8,20,20]\nconst t int64[4] ={N},8,40,40\nnode r Resize x - - t -> y\n"
         "out y\n",
         1, 7, "r target[0] of t: 1 -> 7"},
        /* a shared operand changes at one of its nodes */
        {"in x float[{N},16]\ninit w float[1,16]\nconst t int64[2] =1,16\n"
         "node a Reshape w t -> v\nnode b Reshape x t -> y\nnode - Add y v -> z\nout z\n",
         1, 4, "b target[0] of t: 1 -> 4"},
        /* a change is listed once, also if it is found again with the first changes made */
        {"in x float[{N},4]\nnode z RandomNormal -> r shape=[2,4]\nnode a Add x r -> y\nout "
         "y\n",
         2, 8, "a dims[0] of r: 2 -> 8"},
        /* targets of -1 or 0 and targets computed by Shape need no change */
        {"in x float[{N},16]\nconst t int64[2] =-1,16\nnode - Reshape x t -> y\nout y\n", 1, 4,
         ""},
        {"in x float[{N},16]\nconst t int64[3] =0,4,4\nnode - Reshape x t -> y\nout y\n", 2, 4,
         ""},
        {"in x float[{N},16]\nnode - Shape x -> t\nnode - Reshape x t -> y\nout y\n", 1, 4, ""},
        /* the file's own batch needs no change */
        {"in x float[{N},16]\nconst t int64[2] ={N},16\nnode - Reshape x t -> y\nout y\n", 4, 4,
         ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bench *bench = template_rebatch(rows[i].lines, rows[i].from, rows[i].to);
        assert_string_equal(bench_messages(bench), "");
        assert_string_equal(bench_rebatched(bench), rows[i].rebatched);
        assert_int_equal(bench->analysis.batch->batch, rows[i].to);
        bench_close(bench);
    }
}

static void rebatches_all_inputs_that_lead_with_the_batch(void **state) {
    struct bench *bench = template_rebatch(
        "in x float[{N},3,16]\nin m float[{N},16]\nin w float[16,4]\nin s float[5,16]\n"
        "in b.weight float[16]\nnode - MatMul x w -> y\nnode - Relu m -> z\n"
        "node - Relu s -> u\nout y\nout z\nout u\n",
        2, 6);
    (void)state;
    assert_string_equal(bench_messages(bench),
                        "note[batch]: output 'u' [5,16] does not scale with the batch");
    assert_string_equal(bench_type(bench, "y"), "f32[6,3,4]");
    assert_string_equal(bench_type(bench, "z"), "f32[6,16]");
    assert_string_equal(bench_type(bench, "u"), "f32[5,16]");
    assert_string_equal(bench_type(bench, "w"), "f32[16,4]");
    bench_close(bench);
}

static void notes_constant_images_that_are_counted_for_each_sample(void **state) {
    struct bench *bench = template_rebatch(
        "in x float[{N},16,8,8]\ninit p float[1,4,8,8]\ninit w float[16,4,1,1]\n"
        "node c Conv p w -> a\nnode s Add x a -> y\nout y\n",
        1, 8);
    (void)state;
    assert_string_equal(bench_messages(bench),
                        "note[batch]: the convolution of constant 'p' is counted for each "
                        "sample, as if it had been expanded to the batch before the export");
    bench_close(bench);
}

static void weight_inputs_have_no_batch(void **state) {
    struct bench *bench = template_rebatch("in x float[{N},3,8,8]\nin w float[{N},3,3,3]\n"
                                           "node c Conv x w -> y\nout y\n",
                                           4, 6);
    (void)state;
    assert_string_equal(bench_messages(bench), "");
    assert_string_equal(bench_type(bench, "y"), "f32[6,4,6,6]");
    bench_close(bench);
}

/* `angles` has one row per position, not per image; the model gathers rows from it. */
static void table_inputs_have_no_batch(void **state) {
    struct bench *bench = template_rebatch(
        "in x float[{N},6,8]\nin angles float[1,100,8]\nin places int64[6]\n"
        "node - Gather angles places -> a axis=1\nnode - Mul x a -> y\nout y\n",
        1, 4);
    (void)state;
    assert_string_equal(bench_messages(bench), "");
    assert_string_equal(bench_type(bench, "angles"), "f32[1,100,8]");
    assert_string_equal(bench_type(bench, "y"), "f32[4,6,8]");
    bench_close(bench);
}

/* The reference is an export of the same model with a symbolic batch. */
static void fixed_batch_matches_a_symbolic_export(void **state) {
    static const char fixed[] =
        "in x float[1,128,64]\nconst t int64[3] =128,8,8\nconst u int64[2] =128,64\n"
        "const v int64[3] =128,1,64\ninit w float[64,64]\n"
        "node - Transpose x -> s perm=[1,0,2]\nnode - Reshape s t -> a\n"
        "node - Transpose a -> q perm=[1,0,2]\nnode - Transpose a -> k perm=[1,2,0]\n"
        "node - MatMul q k -> p\nnode - MatMul p q -> o\n"
        "node - Transpose o -> o1 perm=[1,0,2]\nnode - Reshape o1 u -> o2\n"
        "node - Gemm o2 w -> g\nnode - Reshape g v -> h\nnode - Add h s -> y\nout y\n";
    static const char free_batch[] =
        "in x float[?batch,128,64]\nconst t int64[3] =128,-1,8\nconst u int64[2] =-1,64\n"
        "const v int64[3] =128,-1,64\ninit w float[64,64]\n"
        "node - Transpose x -> s perm=[1,0,2]\nnode - Reshape s t -> a\n"
        "node - Transpose a -> q perm=[1,0,2]\nnode - Transpose a -> k perm=[1,2,0]\n"
        "node - MatMul q k -> p\nnode - MatMul p q -> o\n"
        "node - Transpose o -> o1 perm=[1,0,2]\nnode - Reshape o1 u -> o2\n"
        "node - Gemm o2 w -> g\nnode - Reshape g v -> h\nnode - Add h s -> y\nout y\n";
    const struct cm_options options = {.batch = 32};
    struct bench *have = bench_open_with(fixed, &options);
    struct bench *want = bench_open_with(free_batch, &options);
    (void)state;
    assert_string_equal(bench_messages(have), "");
    assert_int_equal(want->status, CM_OK);
    assert_null(template_difference(have, want, true));
    assert_string_equal(bench_type(have, "a"), "f32[128,256,8]");
    bench_close(have);
    bench_close(want);
}

static void notes_an_assumption_once(void **state) {
    struct bench *bench = template_rebatch(
        "in x float[{N},16]\nin c bool[]\nbody then_branch\nnode - Relu x -> a\nout a\nclose\n"
        "body else_branch\nnode - Sigmoid x -> b\nout b\nclose\nnode i If c -> y\nout y\n",
        1, 8);
    (void)state;
    assert_string_equal(bench_messages(bench),
                        "note[assumption] at i: the condition is data-dependent: "
                        "counting the more expensive branch");
    bench_close(bench);
}

static void refuses_a_batch_of_zero(void **state) {
    struct bench *bench =
        template_rebatch("in x float[{N},16]\nnode - Relu x -> y\nout y\n", 0, 8);
    (void)state;
    assert_string_equal(bench_messages(bench),
                        "error[batch]: input 'x' must have a batch >= 1, got 0");
    bench_close(bench);
}

static void reports_errors_of_the_file_itself(void **state) {
    struct bench *bench = template_rebatch(
        "in x float[{N},16]\ninit w float[15,4]\nnode m MatMul x w -> y\nout y\n", 1, 8);
    (void)state;
    assert_int_equal(bench->status, CM_REFUSED);
    assert_string_equal(
        bench_messages(bench),
        "error[shape] at m: the inner axes of [1,16] and [15,4] differ: 16 and 15");
    bench_close(bench);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_fixed_sizes_along_the_batch),
        cmocka_unit_test(refuses_a_batch_axis_that_may_be_another),
        cmocka_unit_test(refuses_indices_into_the_batch),
        cmocka_unit_test(refuses_loops_that_do_not_scale),
        cmocka_unit_test(refuses_products_that_may_run_for_each_sample),
        cmocka_unit_test(refuses_constants_that_may_have_been_expanded),
        cmocka_unit_test(refuses_results_that_do_not_scale),
        cmocka_unit_test(lists_every_changed_operand),
        cmocka_unit_test(rebatches_all_inputs_that_lead_with_the_batch),
        cmocka_unit_test(notes_constant_images_that_are_counted_for_each_sample),
        cmocka_unit_test(weight_inputs_have_no_batch),
        cmocka_unit_test(table_inputs_have_no_batch),
        cmocka_unit_test(fixed_batch_matches_a_symbolic_export),
        cmocka_unit_test(notes_an_assumption_once),
        cmocka_unit_test(refuses_a_batch_of_zero),
        cmocka_unit_test(reports_errors_of_the_file_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
