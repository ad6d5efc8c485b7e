/* SPDX-License-Identifier: Apache-2.0 */
/* --value: shapes that depend on input contents, and errors; see passes/batch/batch.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model_harness.h"
#include "support/arena.h"

/* A model with inputs x, v and w; contents of v and w, separated by '/'; results. */
struct values_case {
    const char *lines;
    const char *v;
    const char *w;
    int64_t batch;
    const char *messages;
    const char *y; /* type of value y */
};

static void read_option(struct arena *arena, const char *name, const char *list,
                        struct cm_value_option *ret) {
    const char **elements = arena_array(arena, strlen(list) + 1, sizeof *elements);
    *ret = (struct cm_value_option){.name = name, .elements = elements};
    while (*list) {
        const size_t length = strcspn(list, "/");
        elements[ret->n++] = arena_strndup(arena, list, length);
        list += length + (list[length] == '/');
    }
}

static void check_row(const struct values_case *row, size_t number) {
    struct arena *arena = arena_new("test", 0);
    struct cm_value_option values[2];
    struct cm_options options = {.values = values, .batch = row->batch};
    if (row->v) read_option(arena, "v", row->v, &values[options.n_values++]);
    if (row->w) read_option(arena, "w", row->w, &values[options.n_values++]);
    struct bench *bench = bench_open_with(row->lines, &options);
    if (strcmp(bench_messages(bench), row->messages) != 0)
        fail_msg("row %zu: %s", number, bench_messages(bench));
    if (row->y && strcmp(bench_type(bench, "y"), row->y) != 0)
        fail_msg("row %zu: y is %s, not %s", number, bench_type(bench, "y"), row->y);
    bench_close(bench);
    arena_free(arena);
}

#define CHECK(rows)                                                                            \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) check_row(&(rows)[i], i)

#define RESHAPE     "in x float[2,6]\nin v int64[3]\nnode - Reshape x v -> y\nout y\n"
#define HOLDS(list) "note[assumption]: assuming that input 'v' holds " list

static void resolves_shapes_from_input_contents(void **state) {
    static const struct values_case rows[] = {
        {RESHAPE, "2/3/-1", NULL, 0, HOLDS("2,3,-1"), "f32[2,3,2]"},
        {RESHAPE, NULL, NULL, 0, "", "f32[?,?,?]"},
        {"in x float[1,3,4,6]\nin v float[4]\nnode - Resize x - v -> y\nout y\n", "1/1/2/0.5",
         NULL, 0, HOLDS("1,1,2,0.5"), "f32[1,3,8,3]"},
        {"in x float[5,2]\nin v bool[5]\nnode - Compress x v -> y axis=0\nout y\n",
         "true/false/1/0/true", NULL, 0, HOLDS("true,false,1,0,true"), "f32[3,2]"},
        {"in x float[5]\nin v int64[]\nin w int64[]\nnode - Range v w v -> y\nout y\n", "1",
         "6", 0, HOLDS("1") "\nnote[assumption]: assuming that input 'w' holds 6", "i64[5]"},
        {"opset 20\nin v string[3]\nnode - StringSplit v -> y z delimiter=x\nout y\n",
         "a/bxcxd", NULL, 0, "error[usage]: --value for 'v' [3] must have 3 elements, got 2",
         NULL},
        {"opset 20\nin v string[2]\nnode - StringSplit v -> y z delimiter=x\nout y\n",
         "a/bxcxd", NULL, 0, HOLDS("a,bxcxd"), "str[2,3]"},
        {"opset 20\nin v string[2]\nnode - StringSplit v -> y z\nout y\n", " a  b /c", NULL, 0,
         HOLDS(" a  b ,c"), "str[2,2]"},
        {"opset 20\nin v string[]\nnode - StringSplit v -> y z\nout y\n", "", NULL, 0,
         HOLDS(""), "str[0]"},
        {"opset 20\nin v string[3]\nnode - StringSplit v -> y z delimiter=x maxsplit=1\nout "
         "y\n",
         "axbxc/d/e", NULL, 0, HOLDS("axbxc,d,e"), "str[3,2]"},
        {"in v string[3]\nnode - StringNormalizer v -> y stopwords=[Mon]\nout y\n",
         "mon/Tue/Mon", NULL, 0, HOLDS("mon,Tue,Mon"), "str[1]"},
        {"in v string[3]\nnode - StringNormalizer v -> y stopwords=[Mon] is_case_sensitive=1\n"
         "out y\n",
         "mon/Tue/Mon", NULL, 0, HOLDS("mon,Tue,Mon"), "str[2]"},
        {"in v string[1,2]\nnode - StringNormalizer v -> y stopwords=[a]\nout y\n", "a/A", NULL,
         0, HOLDS("a,A"), "str[1,1]"},
        {"in v float16[2]\nin x float[2]\nnode - NonZero v -> y\nout y\n", "0/0.5", NULL, 0,
         HOLDS("0,0.5"), "i64[1,1]"},
    };
    (void)state;
    CHECK(rows);
}

static void element_count_binds_a_symbolic_dim(void **state) {
    static const struct values_case rows[] = {
        {"in x float[2,6]\nin v int64[?n]\nnode - Reshape x v -> y\nout y\n", "3/4", NULL, 0,
         HOLDS("3,4"), "f32[3,4]"},
        {"in x float[2,6]\nin v int64[?]\nnode - Reshape x v -> y\nout y\n", "12", NULL, 0,
         HOLDS("12"), "f32[12]"},
        {"in x float[2,6]\nin v int64\nnode - Reshape x v -> y\nout y\n", "3/4", NULL, 0,
         HOLDS("3,4"), "f32[3,4]"},
        {"in x float[]\nin v int64[0]\nnode - Reshape x v -> y\nout y\n", "", NULL, 0,
         HOLDS("no elements"), "f32[]"},
        /* long lists are truncated */
        {"in x float[2]\nin v int64[?]\nnode - Identity v -> y\nout y\n",
         "1/2/3/4/5/6/7/8/9/10/11/12/13", NULL, 0, HOLDS("1,2,3,4,5,6,7,8,9,10,11,12,..."),
         "i64[13]"},
    };
    (void)state;
    CHECK(rows);
}

static void input_with_contents_is_not_the_batch_input(void **state) {
    static const struct values_case rows[] = {
        {"in v int64[2]\nin x float[?n,6]\nnode - Expand x v -> y\nout y\n", "1/6", NULL, 4,
         HOLDS("1,6"), "f32[4,6]"},
        {"in v int64[2]\nin x float[2,6]\nnode - Expand x v -> y\nout y\n", "1/6", NULL, 4,
         HOLDS("1,6"), "f32[4,6]"},
    };
    (void)state;
    CHECK(rows);
}

static void refuses_contents_of_wrong_type_or_size(void **state) {
    static const struct values_case rows[] = {
        {RESHAPE, "2/6", NULL, 0,
         "error[usage]: --value for 'v' [3] must have 3 elements, got 2", NULL},
        {"in v int64[4611686018427387904,4]\nnode - Identity v -> y\nout y\n", "2", NULL, 0,
         "error[usage]: --value for 'v' [4611686018427387904,4] must have >= 2^63 elements, "
         "got 1",
         NULL},
        {RESHAPE, "2/x/3", NULL, 0,
         "error[usage]: --value for 'v' must have elements of type int64, got 'x'", NULL},
        {RESHAPE, "2/1.5/3", NULL, 0,
         "error[usage]: --value for 'v' must have elements of type int64, got '1.5'", NULL},
        {"in x float[2]\nin v int8[1]\nnode - Identity v -> y\nout y\n", "300", NULL, 0,
         "error[usage]: --value for 'v' must have elements of type int8, got '300'", NULL},
        {"in x float[2]\nin v bool[1]\nnode - Identity v -> y\nout y\n", "yes", NULL, 0,
         "error[usage]: --value for 'v' must have elements of type bool, got 'yes'", NULL},
        {"in x float[2]\nin v complex64[1]\nnode - Identity v -> y\nout y\n", "1", NULL, 0,
         "error[usage]: --value for 'v' requires a tensor of a supported dtype", NULL},
        {"in x float[2]\nin v float[1] =7\nnode - Mul x v -> y\nout y\n", "1", NULL, 0,
         "error[usage]: --value names 'v', whose contents are stored in the file", NULL},
        {"in x float[2]\nnode - Identity x -> y\nout y\n", "1", NULL, 0,
         "error[usage]: the model has no input named 'v'; hint: its inputs are: x", NULL},
    };
    (void)state;
    CHECK(rows);
}

static void refuses_more_elements_than_folds_accept(void **state) {
    enum { N = 65537 };
    struct arena *arena = arena_new("test", 0);
    const char **elements = arena_array(arena, N, sizeof *elements);
    (void)state;
    for (size_t i = 0; i < N; i++) elements[i] = "1";
    const struct cm_value_option value = {"v", N, elements};
    const struct cm_options options = {.values = &value, .n_values = 1};
    struct bench *bench =
        bench_open_with("in v int64[?]\nnode - Identity v -> y\nout y\n", &options);
    assert_string_equal(
        bench_messages(bench),
        "error[limit]: --value for 'v' must have at most 65536 elements, got 65537");
    bench_close(bench);
    arena_free(arena);
}

/* torch.split gives parts of different lengths. */
static void infers_each_element_of_a_sequence(void **state) {
    static const struct values_case rows[] = {
        {"in x float[6,4]\nconst p int64[3] =1,2,3\nconst i int64[] =2\n"
         "node - SplitToSequence x p -> s\nnode - SequenceAt s i -> y\nout y\n",
         NULL, NULL, 0, "", "f32[3,4]"},
        {"in x float[6,4]\nconst p int64[] =4\nconst i int64[] =-1\n"
         "node - SplitToSequence x p -> s\nnode - SequenceAt s i -> y\nout y\n",
         NULL, NULL, 0, "", "f32[2,4]"},
        {"in x float[6,4]\nconst p int64[] =4\nin v int64[]\n"
         "node - SplitToSequence x p -> s\nnode - SequenceAt s v -> y\nout y\n",
         NULL, NULL, 0, "", "f32[?,4]"},
        {"in x float[6,4]\nconst p int64[3] =1,2,3\n"
         "node - SplitToSequence x p -> s\nnode - ConcatFromSequence s -> y axis=0\nout y\n",
         NULL, NULL, 0, "", "f32[6,4]"},
        {"in x float[6,4]\nnode - SplitToSequence x -> s keepdims=0\n"
         "node - ConcatFromSequence s -> y axis=1 new_axis=1\nout y\n",
         NULL, NULL, 0, "", "f32[4,6]"},
        {"in x float[6,4]\nin z float[2,4]\nnode - SequenceConstruct x z -> s\n"
         "node - SequenceErase s -> t\nnode - ConcatFromSequence t -> y axis=0\nout y\n",
         NULL, NULL, 0, "", "f32[6,4]"},
        {"in x float[6,4]\nin z float[2,4]\nconst i int64[] =0\n"
         "node - SequenceEmpty -> e\nnode - SequenceInsert e x -> s\n"
         "node - SequenceInsert s z i -> t\nnode - SequenceAt t i -> y\nout y\n",
         NULL, NULL, 0, "", "f32[2,4]"},
        {"in x float[6,4]\nnode - SequenceConstruct x x x -> s\n"
         "node - SequenceLength s -> n\nconst z int64[] =0\nconst o int64[] =1\n"
         "node - Range z n o -> y\nout y\n",
         NULL, NULL, 0, "", "i64[3]"},
        {"in x float[6,4]\nconst i int64[] =3\nnode at SequenceConstruct x x x -> s\n"
         "node at SequenceAt s i -> y\nout y\n",
         NULL, NULL, 0, "error[value] at at: position 3 is out of range, there are 3", "?"},
    };
    (void)state;
    CHECK(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resolves_shapes_from_input_contents),
        cmocka_unit_test(element_count_binds_a_symbolic_dim),
        cmocka_unit_test(input_with_contents_is_not_the_batch_input),
        cmocka_unit_test(refuses_contents_of_wrong_type_or_size),
        cmocka_unit_test(refuses_more_elements_than_folds_accept),
        cmocka_unit_test(infers_each_element_of_a_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
