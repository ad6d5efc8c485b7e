/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading time files of other tools: their layers, and errors in malformed files. */
#include "backends/times/times.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"

static long nanoseconds(double seconds) {
    return lround(seconds * 1e9);
}

static struct cm_times read_times(const char *text, struct cm_diagnostics *diag,
                                  int *ret_status) {
    struct cm_times times = {.arena = arena_new("times", 0), .path = "times"};
    assert_non_null(times.arena);
    *ret_status = times_read(text, strlen(text), diag, &times);
    return times;
}

static struct cm_times read_good(const char *text) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    int status = CM_OK;
    struct cm_times times = read_times(text, diag, &status);
    if (status != CM_OK) fail_msg("%s: %s", text, cm_diagnostics_get(diag, 0)->message);
    cm_diagnostics_free(diag);
    return times;
}

#define UNKNOWN                                                                                \
    "times must be a profile of ONNX Runtime, a trace of PyTorch, a profile or layer "         \
    "information of trtexec, counters of OpenVINO, or CSV with the columns node,time_us"
#define TRACE(members) "{\"traceEvents\": [{\"ph\": \"X\", " members "}]}"
#define COUNTERS       "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)\n"
#define NODE(members)  "[{\"cat\": \"Session\"}, {\"cat\": \"Node\", " members "}]"

static void refuses_malformed_files(void **state) {
    static const char *const cases[][2] = {
        {"", "times must be JSON of ONNX Runtime, PyTorch, OpenVINO or trtexec, counters of "
             "OpenVINO, or CSV whose first line is 'node,time_us'"},
        {"name,time\n",
         "times must be JSON of ONNX Runtime, PyTorch, OpenVINO or trtexec, counters of "
         "OpenVINO, or CSV whose first line is 'node,time_us'"},
        {"\x1f\x8b\x08", "the file is compressed by gzip"},
        {"node,time_us,more\n", "line 1 must be 'node,time_us'"},
        {"node,time_us\nconv\n", "line 2 must have two fields, node and time_us"},
        {"node,time_us\na,1\nconv,2,3\n", "line 3 must have two fields, node and time_us"},
        {"node,time_us\n\"conv,2\n", "line 2 must have two fields, node and time_us"},
        {"node,time_us\n,2\n", "line 2 must name a node"},
        {"node,time_us\nconv,fast\n",
         "line 2: time_us must be a time in microseconds, got 'fast'"},
        {"node,time_us\n\nconv,-1\n",
         "line 3: time_us must be a time in microseconds, got '-1'"},
        {"node,time_us\nconv,nan\n",
         "line 2: time_us must be a time in microseconds, got 'nan'"},
        {"node,time_us\nconv,inf\n",
         "line 2: time_us must be a time in microseconds, got 'inf'"},
        {"node,time_us\nconv\xff,1\n", "not UTF-8 text"},
        {"{}", UNKNOWN},
        {"[]", UNKNOWN},
        {"[1, 2]", UNKNOWN},
        {"{\"Layers\": 3}", UNKNOWN},
        {"{\"traceEvents\": 1}", UNKNOWN},
        {"[{\"count\": 1},\n{\"name\": }]", "not JSON: syntax error in line 2"},
        /* ONNX Runtime */
        {NODE("\"ts\": 1, \"dur\": 2"), "event 1 must have a name"},
        {NODE("\"name\": \"a\", \"ts\": 1"),
         "ts and dur of event 1 must be times in microseconds, got 1 and null"},
        {NODE("\"name\": \"a\", \"ts\": 1, \"dur\": -2"),
         "ts and dur of event 1 must be times in microseconds, got 1 and -2"},
        {NODE("\"name\": \"a\", \"ts\": 9223372036854775807, \"dur\": 2"),
         "ts and dur of event 1 must be times in microseconds, got 9223372036854775807 and 2"},
        /* PyTorch */
        {"{\"traceEvents\": [{\"ph\": \"M\"}]}",
         "the trace must have operators (events of the category cpu_op)"},
        {TRACE("\"cat\": \"cpu_op\""), "event 0 must have a name"},
        {TRACE("\"cat\": \"cpu_op\", \"name\": \"a\", \"ts\": 1"),
         "ts and dur of event 0 must be times in microseconds, got 1 and null"},
        {TRACE("\"cat\": \"kernel\", \"name\": \"a\", \"ts\": 4e15, \"dur\": 1"),
         "ts and dur of event 0 must be times in microseconds, got 4e15 and 1"},
        /* OpenVINO */
        {COUNTERS "conv;Status.EXECUTED;Convolution\n",
         "line 2 must have six fields separated by semicolons"},
        {COUNTERS ";Status.EXECUTED;Convolution;ref;1;1\n",
         "line 2 must have a name, a status and a type"},
        {COUNTERS "Total;;;;0;0\n\nconv;Status.EXECUTED;Convolution;ref;-1;1\n",
         "line 4: the real time must be a time in milliseconds, got '-1'"},
        {"{\"avg_performance\": {\"nodes\": [{\"name\": \"a\"}]}}",
         "layer 0 must have a name, a status and a type"},
        {COUNTERS "\xff", "not UTF-8 text"},
        /* trtexec */
        {"[{\"count\": 0}]", "count must be an integer >= 1, got 0"},
        {"[{\"count\": 9}, {\"averageMs\": 1}]", "layer 1 must have a name"},
        {"[{\"count\": 9}, {\"name\": \"a\", \"averageMs\": \"1\"}]",
         "averageMs of layer 1 must be a time, got a string"},
        {"[{\"count\": 9}, {\"name\": \"a\", \"averageMs\": -1}]",
         "averageMs of layer 1 must be a time, got -1"},
        {"{\"Layers\": [\"a\", {\"LayerType\": \"gemm\"}]}", "layer 1 must have a Name"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_diagnostics *diag = cm_diagnostics_new();
        int status = CM_OK;
        struct cm_times times = read_times(cases[i][0], diag, &status);
        if (status != CM_REFUSED) fail_msg("%s: is read", cases[i][0]);
        if (strcmp(cm_diagnostics_get(diag, 0)->message, cases[i][1]) != 0)
            fail_msg("%s: %s", cases[i][0], cm_diagnostics_get(diag, 0)->message);
        arena_free(times.arena);
        cm_diagnostics_free(diag);
    }
}

/* Prints the refs of a layer as "conv1 | relu1", with "~" before a copied node and "*" before a
 * node of a block. */
static void print_refs(const struct times_layer *layer, char *ret, size_t size) {
    static const char *const marks[] = {
        [TIMES_RUNS] = "", [TIMES_COPIES] = "~", [TIMES_CONTAINS] = "*"};
    size_t n = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < layer->n_refs && n < size; i++)
        n += (size_t)snprintf(ret + n, size - n, "%s%s%s", i > 0 ? " | " : "",
                              marks[layer->refs[i].role], layer->refs[i].name);
}

static void finds_the_nodes_in_names_of_tensorrt_layers(void **state) {
    static const struct {
        const char *name;
        const char *refs;
        enum times_role role;
    } cases[] = {
        {"/conv1/Conv", "/conv1/Conv", TIMES_RUNS},
        {"conv1.weight + Conv_9 + Relu_10", "conv1.weight | Conv_9 | Relu_10", TIMES_RUNS},
        {"Conv_1 || Conv_2", "Conv_1 | Conv_2", TIMES_RUNS},
        {"Conv_41 + PWN(PWN(Sigmoid_42), Mul_43)", "Conv_41 | Sigmoid_42 | Mul_43", TIMES_RUNS},
        {"PWN(Clip_589 + (Unnamed Layer* 16) [Shuffle], PWN(Add_43))",
         "Clip_589 | (Unnamed Layer* 16) [Shuffle] | Add_43", TIMES_RUNS},
        {"a/QuantizeLinear_clone_1", "a/QuantizeLinear_clone_1 | a/QuantizeLinear", TIMES_RUNS},
        {"Reformatting CopyNode for Input Tensor 0 to Conv_9 + Relu_10", "~Conv_9 | ~Relu_10",
         TIMES_COPIES},
        {"Reformatting CopyNode for Output Tensor 1 to {ForeignNode[a[Constant].../x/b]}",
         "~a | ~/x/b", TIMES_COPIES},
        {"Conv_9 + Relu_10 input reformatter 0", "~Conv_9 | ~Relu_10", TIMES_COPIES},
        {"Resize_12 copy", "~Resize_12", TIMES_COPIES},
        {"{ForeignNode[/a/MatMul.../b/Add]}", "*/a/MatMul | */b/Add", TIMES_CONTAINS},
        {"{ForeignNode[only]}", "*only", TIMES_CONTAINS},
        {"{ForeignNode[", "", TIMES_CONTAINS},
        {"[trainStation1]", "", TIMES_COPIES},
        {"(Unnamed Layer* 718) [NMS]_1_output[DevicetoShapeHostCopy]", "", TIMES_COPIES},
        {" + ", "", TIMES_RUNS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        char refs[1024];
        (void)snprintf(text, sizeof(text),
                       "[{\"count\": 2}, {\"name\": \"%s\", \"averageMs\": 0.5}]",
                       cases[i].name);
        struct cm_times times = read_good(text);
        print_refs(&times.layers[0], refs, sizeof(refs));
        if (strcmp(refs, cases[i].refs) != 0 || times.layers[0].role != cases[i].role)
            fail_msg("%s: %s, role %d", cases[i].name, refs, (int)times.layers[0].role);
        assert_int_equal(nanoseconds(times.layers[0].timing.median), 500000);
        arena_free(times.arena);
    }
}

static void reads_nodes_from_the_metadata_of_layer_information(void **state) {
    static const char text[] =
        "{\"Layers\": [\"conv1 + relu1\", {\"Name\": \"__myl_0\", \"Metadata\": "
        "\"[ONNX Layer: /a[0]/Conv]\\u001f[ONNX Layer: /b | loop]\\u001f[ONNX Layer: c]\"}, "
        "{\"Name\": \"{ForeignNode[a...c]}\", \"Metadata\": \"[ONNX Layer: b]\"}, "
        "{\"Name\": \"x\", \"Metadata\": \"[ONNX Layer: \"}]}";
    static const char *const expected[] = {"conv1 | relu1", "/a[0]/Conv | /b | c", "*a | *c",
                                           "x"};
    struct cm_times times = read_good(text);
    (void)state;
    assert_false(times.has_times);
    assert_int_equal(times.n, 4);
    for (size_t i = 0; i < times.n; i++) {
        char refs[256];
        print_refs(&times.layers[i], refs, sizeof(refs));
        assert_string_equal(refs, expected[i]);
    }
    arena_free(times.arena);
}

#define EVENT(name, op, ts, dur)                                                               \
    "{\"cat\": \"Node\", \"tid\": 1, \"name\": \"" name "_kernel_time\", \"ts\": " #ts         \
    ", \"dur\": " #dur ", \"args\": {\"op_name\": \"" op                                       \
    "\", \"provider\": \"CPUExecutionProvider\", "                                             \
    "\"output_type_shape\": [{\"float\": [1, 8]}]}},"
#define RUN(dur)                                                                               \
    "{\"cat\": \"Session\", \"name\": \"model_run\", \"ts\": 0, \"dur\": " #dur "},"
#define LAST "{\"cat\": \"Session\", \"name\": \"end\"}]"

static void finds_the_nodes_in_names_of_onnxruntime_layers(void **state) {
    static const struct {
        const char *text;
        const char *refs;
        enum times_role role;
    } cases[] = {
        {"[" EVENT("/fc", "Gemm", 1, 2) LAST, "", TIMES_RUNS},
        {"[" EVENT("fused /fc", "FusedGemm", 1, 2) LAST, "/fc", TIMES_RUNS},
        {"[" EVENT("/y_nchwc", "Conv", 1, 2) LAST, "/y", TIMES_RUNS},
        {"[" EVENT("a/MatMulScaleFusion//MatmulTransposeFusion/", "FusedMatMul", 1, 2) LAST,
         "a/MatMulScaleFusion/ | a", TIMES_RUNS},
        {"[" EVENT("a/GatherSliceToSplitFusion", "Split", 1, 2) LAST, "a", TIMES_RUNS},
        {"[" EVENT("x_DequantizeLinear/duplicated_token_12", "DequantizeLinear", 1, 2) LAST,
         "x_DequantizeLinear/duplicated | x_DequantizeLinear", TIMES_RUNS},
        {"[" EVENT("x_q", "QuantizeLinear", 1, 2) LAST, "~x", TIMES_RUNS},
        {"[" EVENT("/Conv_bias_dq", "DequantizeLinear", 1, 2) LAST, "~/Conv", TIMES_RUNS},
        {"[" EVENT("BiasGelu_token_3", "BiasGelu", 1, 2) LAST, "", TIMES_RUNS},
        {"[" EVENT("ReorderOutput", "ReorderOutput", 1, 2) LAST, "", TIMES_COPIES},
        {"[" EVENT("Memcpy_token_1", "MemcpyFromHost", 1, 2) LAST, "Memcpy", TIMES_COPIES},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_times times = read_good(cases[i].text);
        char refs[256];
        print_refs(&times.layers[0], refs, sizeof(refs));
        assert_string_equal(refs, cases[i].refs);
        if (times.layers[0].role != cases[i].role) fail_msg("%s", times.layers[0].name);
        arena_free(times.arena);
    }
}

static void takes_the_median_of_the_runs_after_the_first(void **state) {
    static const char text[] =
        "[" EVENT("a", "Conv", 10, 900) EVENT("b", "Relu", 940, 1) RUN(999) /* warms up */
        EVENT("a", "Conv", 1010, 7) EVENT("a", "Conv", 1020, 5) RUN(20)     /* twice */
        EVENT("a", "Conv", 1110, 13) EVENT("b", "Relu", 1130, 3) RUN(22)
            EVENT("a", "Conv", 2110, 12169) EVENT("b", "Relu", 15000, 6) RUN(12203)
                EVENT("a", "Conv", 20000, 10) EVENT("b", "Relu", 20010, 9) RUN(30)
                    EVENT("a", "Conv", 30000, 90000) /* no end of the run */
        "{\"cat\": \"Node\", \"name\": \"a_fence_before\", \"ts\": 1, \"dur\": 7}," LAST;
    struct cm_times times = read_good(text);
    (void)state;
    assert_int_equal(times.runs, 5);
    assert_int_equal(times.n, 2);
    assert_string_equal(times.tool, "onnxruntime");
    assert_string_equal(times.provider, "CPUExecutionProvider");
    assert_string_equal(times.layers[0].name, "a");
    assert_string_equal(times.layers[0].op, "Conv");
    assert_int_equal(times.layers[0].rank, 2);
    assert_int_equal(times.layers[0].dims[1], 8);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 12500);
    assert_int_equal(nanoseconds(times.layers[0].mean), 3051000);
    assert_int_equal(nanoseconds(times.layers[0].timing.min), 10000);
    assert_int_equal(nanoseconds(times.layers[0].timing.max), 12169000);
    assert_int_equal(times.layers[0].timing.n_samples, 4);
    assert_int_equal(nanoseconds(times.layers[1].timing.median), 4500); /* 0 3 6 9 */
    assert_int_equal(nanoseconds(times.run), 26000);
    arena_free(times.arena);
}

#define GPU_NODE(name, start, duration)                                                        \
    "{\"cat\": \"Node\", \"name\": \"" name "_kernel_time\", \"ts\": " #start                  \
    ", \"dur\": " #duration ", \"args\": {\"op_name\": \"Conv\", \"provider\": "               \
    "\"CUDAExecutionProvider\"}},"
#define KERNEL(name, start, duration, args)                                                    \
    "{\"cat\": \"Kernel\", \"name\": \"" name "\", \"tid\": -1, \"ts\": " #start               \
    ", \"dur\": " #duration ", \"args\": {" args "}},"

/* Kernels follow the node that started them; old profiles do not name it. */
static void takes_the_times_of_gpu_kernels(void **state) {
    static const char text[] = "[" GPU_NODE("a", 10, 3)
        KERNEL("k1", 50, 30, "\"op_name\": \"Conv\", \"parent_name\": \"a_kernel_time\"")
            KERNEL("k2", 80, 10, "\"op_name\": \"Conv\"") GPU_NODE("b", 14, 2)
                EVENT("c", "Relu", 17, 5) KERNEL("lost", 90, 7, "\"stream\": \"7\"") RUN(9)
                    LAST;
    struct cm_times times = read_good(text);
    (void)state;
    assert_int_equal(times.n, 4);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 40000);
    assert_int_equal(nanoseconds(times.layers[1].timing.median), 0);
    assert_int_equal(nanoseconds(times.layers[2].timing.median), 5000);
    assert_string_equal(times.layers[3].name, "lost");
    assert_int_equal(nanoseconds(times.layers[3].timing.median), 7000);
    assert_false(times.without_kernels);
    arena_free(times.arena);
}

static void marks_gpu_profiles_without_kernels(void **state) {
    static const char text[] = "[" GPU_NODE("a", 10, 3) RUN(9) LAST;
    struct cm_times times = read_good(text);
    (void)state;
    assert_true(times.without_kernels);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 3000);
    arena_free(times.arena);
}

/* The event of the Loop is from 10 to 60; its body runs from 20 and from 40. */
static void subtracts_bodies_from_control_flow(void **state) {
    static const char text[] = "[" EVENT("body", "Add", 20, 10) EVENT("body", "Add", 40, 15)
        EVENT("loop", "Loop", 10, 50) EVENT("next", "Relu", 60, 4) RUN(9) LAST;
    struct cm_times times = read_good(text);
    (void)state;
    assert_int_equal(times.n, 3);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 25000);
    assert_int_equal(nanoseconds(times.layers[1].timing.median), 25000);
    assert_int_equal(nanoseconds(times.layers[2].timing.median), 4000);
    arena_free(times.arena);
}

#define OP(category, name, tid, ts, dur, args)                                                 \
    "{\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name "\", \"tid\": " #tid        \
    ", \"ts\": " #ts ", \"dur\": " #dur ", \"args\": {" args "}},"
#define CPU(name, ts, dur, dims) OP("cpu_op", name, 1, ts, dur, "\"Input Dims\": [" dims "]")
#define STEP(n, ts, dur)         OP("user_annotation", "ProfilerStep#" n, 1, ts, dur, "")
#define TRACE_OF(events)         "{\"traceEvents\": [" events "{\"ph\": \"i\"}]}"
#define IMAGE                    "[1, 3, 8, 8], [4, 3, 3, 3], [], []"

/* Durations of the outermost operators; the first of three steps warms up. */
static void reads_operators_of_a_pytorch_trace(void **state) {
    static const char text[] = TRACE_OF(
        CPU("aten::randn", 1, 2, "") STEP("1", 10, 900) CPU("aten::conv2d", 20, 500, IMAGE)
            STEP("2", 1000, 100) CPU("aten::convolution", 1011.5, 18, IMAGE)
                CPU("aten::conv2d", 1010.5, 20, IMAGE) CPU("aten::relu_", 1040, 3, "[256]")
                    CPU("aten::relu_", 1050, 4, "[256]") CPU("mine", 1060, 30, "")
                        CPU("aten::cat", 1070, 5, "[[2, 3], [2, 4]], []") STEP("3", 1200, 80)
                            CPU("aten::conv2d", 1210, 30, IMAGE)
                                CPU("aten::relu_", 1250, 5, "[256]"));
    struct cm_times times = read_good(text);
    (void)state;
    assert_string_equal(times.tool, "pytorch");
    assert_string_equal(times.provider, "CPU");
    assert_int_equal(times.runs, 3);
    assert_int_equal(times.n, 4);
    assert_string_equal(times.layers[0].name, "aten::conv2d [1, 3, 8, 8] [4, 3, 3, 3]");
    assert_string_equal(times.layers[0].types, "Conv");
    assert_true(times.layers[0].is_product);
    assert_int_equal(times.layers[0].sizes[0], 192);
    assert_int_equal(times.layers[0].sizes[1], 108);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 25000); /* 20, 30 */
    assert_string_equal(times.layers[1].name, "aten::relu_ [256]");
    assert_string_equal(times.layers[1].types, "Relu");
    assert_int_equal(nanoseconds(times.layers[1].timing.median), 4000); /* 3, 5 */
    assert_string_equal(times.layers[2].name, "aten::relu_ [256] #2");
    assert_int_equal(nanoseconds(times.layers[2].timing.median), 2000); /* 4, 0 */
    assert_string_equal(times.layers[3].name, "aten::cat [2, 3] [2, 4]");
    assert_int_equal(nanoseconds(times.run), 90000);
    assert_int_equal(nanoseconds(times.gap), 56500); /* 100 - 32, 80 - 35 */
    assert_int_equal(map_get(&times.reads, "[1, 3, 8, 8]"), 2);
    arena_free(times.arena);
}

/* Without steps, a repeated sequence of operators is a run. */
static void finds_the_runs_of_a_pytorch_trace(void **state) {
    static const char text[] =
        TRACE_OF(CPU("aten::add", 10, 90, "[8]") CPU("aten::mul", 100, 1, "")
                     CPU("aten::add", 200, 4, "[8]") CPU("aten::mul", 210, 1, "")
                         CPU("aten::add", 300, 6, "[8]") CPU("aten::mul", 310, 1, ""));
    struct cm_times times = read_good(text);
    (void)state;
    assert_int_equal(times.runs, 3);
    assert_int_equal(times.n, 2);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 5000);
    assert_int_equal(nanoseconds(times.run), 11000);
    arena_free(times.arena);
}

#define LAUNCH(id, ts)                 OP("cuda_runtime", "cudaLaunchKernel", 1, ts, 3, "\"correlation\": " #id)
#define DEVICE(cat, name, id, ts, dur) OP(cat, name, 7, ts, dur, "\"correlation\": " #id)

/* The device runs from 50 to 180 and waits from 70 to 100, 150 to 160 and 170 to 175; the host
 * runs operators until 80. */
static void takes_the_times_of_kernels_in_a_pytorch_trace(void **state) {
    static const char text[] = TRACE_OF(
        LAUNCH(7, 2) DEVICE("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 7, 50, 20) CPU(
            "aten::conv2d", 10, 40, IMAGE) LAUNCH(5, 20) DEVICE("kernel", "fprop", 5, 100, 50)
            CPU("aten::view", 52, 1, "[8]") CPU("aten::relu", 60, 20, "[8]") LAUNCH(6, 65)
                DEVICE("kernel", "relu", 6, 160, 10) DEVICE("kernel", "lost", 9, 175, 5));
    struct cm_times times = read_good(text);
    static const char *const names[] = {"aten::conv2d [1, 3, 8, 8] [4, 3, 3, 3]",
                                        "Memcpy HtoD (Pageable -> Device)", "aten::relu [8]",
                                        "lost"};
    static const long us[] = {50, 20, 10, 5};
    (void)state;
    assert_int_equal(times.n, 4); /* not the view, which runs nothing on the device */
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(times.layers[i].name, names[i]);
        assert_int_equal(nanoseconds(times.layers[i].timing.median), us[i] * 1000);
    }
    assert_int_equal(times.layers[1].role, TIMES_COPIES);
    assert_null(times.layers[3].types);
    assert_int_equal(nanoseconds(times.run), 130000);
    assert_int_equal(nanoseconds(times.gap), 45000);
    assert_int_equal(nanoseconds(times.host), 10000);
    arena_free(times.arena);
}

/* The sum of the kernels of a layer exceeds the nanoseconds of int64_t. */
static void adds_up_kernels_of_many_years(void **state) {
    struct cm_times times = read_good(TRACE_OF(
        CPU("aten::conv2d", 10, 40, IMAGE) LAUNCH(5, 20) DEVICE("kernel", "a", 5, 1, 39e14)
            DEVICE("kernel", "b", 5, 2, 39e14) DEVICE("kernel", "c", 5, 3, 39e14)));
    (void)state;
    assert_int_equal(times.n, 1);
    assert_true(times.layers[0].timing.median > 11.6e9);
    arena_free(times.arena);
}

/* A layer without a kernel of its own is fused into the layer before it. */
static void reads_counters_of_openvino(void **state) {
    static const char csv[] = COUNTERS "x;Status.NOT_RUN;Parameter;unknown_f32;0.000;0.000\r\n"
                                       "Multiply_9;Status.EXECUTED;Convolution;jit;1.5;1.5\n"
                                       "/a;b/Relu;Status.NOT_RUN;Relu;undef;0.000;0.000\n"
                                       "Total;;;;1.5;1.5\n\n" COUNTERS
                                       "Multiply_9;Status.EXECUTED;Convolution;jit;2.5;2.5\n"
                                       "Total;;;;2.5;2.5\n\n";
    static const char json[] = "{\"avg_performance\": {\"nodes\": [{\"name\": \"Multiply_9\", "
                               "\"status\": \"Status.EXECUTED\", "
                               "\"node_type\": \"Convolution\", \"exec_type\": \"jit\", "
                               "\"real_time\": \"2.000\"}, {\"name\": "
                               "\"/a;b/Relu\", \"status\": \"Status.NOT_RUN\", \"node_type\": "
                               "\"Relu\", \"exec_type\": \"undef\", "
                               "\"real_time\": \"0.000\"}]}}";
    (void)state;
    for (int i = 0; i < 2; i++) {
        char refs[256];
        struct cm_times times = read_good(i == 0 ? csv : json);
        assert_int_equal(times.runs, 2 - i);
        assert_int_equal(times.n, 1);
        print_refs(&times.layers[0], refs, sizeof(refs));
        assert_string_equal(refs, "Multiply_9 | /a;b/Relu");
        assert_string_equal(times.layers[0].types, "Conv");
        assert_int_equal(nanoseconds(times.layers[0].timing.median), 2000000);
        arena_free(times.arena);
    }
}

static void reads_quoted_names_in_csv(void **state) {
    struct cm_times times =
        read_good("node,time_us\r\n\"a, \"\"b\"\"\",1.5\r\n\r\n/c/Conv,2e3");
    (void)state;
    assert_int_equal(times.n, 2);
    assert_string_equal(times.layers[0].name, "a, \"b\"");
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 1500);
    assert_int_equal(nanoseconds(times.layers[1].timing.median), 2000000);
    arena_free(times.arena);
}

/* Spreadsheets write the mark before the text. */
static void skips_a_byte_order_mark(void **state) {
    struct cm_times times = read_good("\xef\xbb\xbf"
                                      "node,time_us\n/c/Conv,2\n");
    (void)state;
    assert_int_equal(times.n, 1);
    assert_int_equal(nanoseconds(times.layers[0].timing.median), 2000);
    arena_free(times.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_malformed_files),
        cmocka_unit_test(finds_the_nodes_in_names_of_tensorrt_layers),
        cmocka_unit_test(reads_nodes_from_the_metadata_of_layer_information),
        cmocka_unit_test(finds_the_nodes_in_names_of_onnxruntime_layers),
        cmocka_unit_test(takes_the_median_of_the_runs_after_the_first),
        cmocka_unit_test(takes_the_times_of_gpu_kernels),
        cmocka_unit_test(marks_gpu_profiles_without_kernels),
        cmocka_unit_test(subtracts_bodies_from_control_flow),
        cmocka_unit_test(reads_operators_of_a_pytorch_trace),
        cmocka_unit_test(finds_the_runs_of_a_pytorch_trace),
        cmocka_unit_test(takes_the_times_of_kernels_in_a_pytorch_trace),
        cmocka_unit_test(adds_up_kernels_of_many_years),
        cmocka_unit_test(reads_counters_of_openvino),
        cmocka_unit_test(reads_quoted_names_in_csv),
        cmocka_unit_test(skips_a_byte_order_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
