/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-written results, and helpers of the report tests: see fixture.h. */
#include "fixture.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define DIMS(...)                                                                              \
    .rank = N(((const int64_t[]){__VA_ARGS__})), .dims = (const int64_t[]) {                   \
        __VA_ARGS__                                                                            \
    }
#define FLOAT(...)                                                                             \
    { .kind = CM_TYPE_TENSOR, .dtype = "float", DIMS(__VA_ARGS__) }

static const struct cm_named_size opsets[] = {{"", 13}, {"ai.onnx.ml", 2}};
static const struct cm_value inputs[] = {{"input", FLOAT(32, 3, 1024), 393216}};
static const struct cm_value outputs[] = {{"output", FLOAT(32, 10), 1280}};
static const struct cm_named_size dims[] = {{"batch_size", 32}};

static const size_t root_children[] = {1, 4, 5};
static const size_t transform_children[] = {2, 3};

static const struct cm_module modules[] = {
    {
        .path = "",
        .name = "main_graph",
        .type = "PointNet",
        .arguments = "",
        .type_known = true,
        .depth = 0,
        .parent = CM_NO_INDEX,
        .n_children = N(root_children),
        .children = root_children,
        .calls = 1,
        .costs = {.params = 3463763,
                  .buffers = 5376,
                  .macs = 14068146176,
                  .flops = 29040607232,
                  .bytes_read = 900000000,
                  .bytes_written = 800000000,
                  .weight_bytes = 13877000,
                  .activation_bytes = 700000000,
                  .latency_ps = CM_UNKNOWN},
        .n_outputs = N(outputs),
        .outputs = outputs,
    },
    {
        .path = "transform",
        .name = "transform",
        .type = "Transform",
        .arguments = "",
        .type_known = true,
        .depth = 1,
        .parent = 0,
        .n_children = N(transform_children),
        .children = transform_children,
        .calls = 1,
        .costs = {.params = 2803529,
                  .buffers = 3840,
                  .macs = 14047092736,
                  .flops = 28998352896,
                  .bytes_read = 890000000,
                  .bytes_written = 790000000,
                  .weight_bytes = 11229476,
                  .activation_bytes = 690000000,
                  .latency_ps = CM_UNKNOWN},
    },
    {
        .path = "transform.conv3",
        .name = "conv3",
        .type = "Conv1d",
        .arguments = "128, 1024, kernel_size=(1,), stride=(1,)",
        .type_known = true,
        .depth = 2,
        .parent = 1,
        .calls = 2,
        .costs = {.params = 132096,
                  .buffers = 0,
                  .macs = 4294967296,
                  .flops = 8623489024,
                  .bytes_read = 17305600,
                  .bytes_written = 134217728,
                  .weight_bytes = 528384,
                  .activation_bytes = 134217728,
                  .latency_ps = CM_UNKNOWN},
    },
    {
        .path = "transform.bn1",
        .name = "bn1",
        .type = "BatchNorm1d",
        .arguments = "64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True",
        .type_known = true,
        .depth = 2,
        .parent = 1,
        .calls = 1,
        .costs = {.params = 128,
                  .buffers = 128,
                  .macs = 0,
                  .flops = 10485760,
                  .bytes_read = 8389632,
                  .bytes_written = 8388608,
                  .weight_bytes = 1024,
                  .activation_bytes = 8388608,
                  .latency_ps = CM_UNKNOWN},
    },
    {
        .path = "fc1",
        .name = "fc1",
        .type = "Linear",
        .arguments = "in_features=1024, out_features=512, bias=True",
        .type_known = true,
        .depth = 1,
        .parent = 0,
        .calls = 1,
        .costs = {.params = 524800,
                  .buffers = 0,
                  .macs = 16777216,
                  .flops = 33554432,
                  .bytes_read = 2230272,
                  .bytes_written = 65536,
                  .weight_bytes = 2099200,
                  .activation_bytes = 65536,
                  .latency_ps = CM_UNKNOWN},
    },
    {
        .path = "relu",
        .name = "relu",
        .type = "relu",
        .arguments = "",
        .type_known = false,
        .depth = 1,
        .parent = 0,
        .calls = 1,
        .costs = {.params = 0,
                  .buffers = 0,
                  .macs = 0,
                  .flops = 16384,
                  .bytes_read = 65536,
                  .bytes_written = 65536,
                  .weight_bytes = 0,
                  .activation_bytes = 65536,
                  .latency_ps = CM_UNKNOWN},
    },
};

static const char *const conv_inputs[] = {"input", "transform.conv3.weight",
                                          "transform.conv3.bias"};
static const struct cm_value conv_outputs[] = {{"h", FLOAT(32, 1024, 1024), 134217728}};
static const char *const gemm_inputs[] = {"h", "fc1.weight", ""};

static const struct cm_node nodes[] = {
    {
        .index = 0,
        .name = "/transform/conv3/Conv",
        .op = "Conv",
        .domain = "",
        .module = 2,
        .n_inputs = N(conv_inputs),
        .inputs = conv_inputs,
        .n_outputs = N(conv_outputs),
        .outputs = conv_outputs,
        .costs = {.params = 132096,
                  .buffers = 0,
                  .macs = 4294967296,
                  .flops = 8623489024,
                  .bytes_read = 17305600,
                  .bytes_written = 134217728,
                  .weight_bytes = 528384,
                  .activation_bytes = 134217728,
                  .latency_ps = CM_UNKNOWN},
        .kernel = CM_NO_INDEX,
    },
    {
        .index = 1,
        .name = "",
        .op = "Gemm",
        .domain = "",
        .module = 4,
        .n_inputs = N(gemm_inputs),
        .inputs = gemm_inputs,
        .n_outputs = N(outputs),
        .outputs = outputs,
        .costs = {.params = 524288,
                  .buffers = 0,
                  .macs = 16777216,
                  .flops = 33554432,
                  .bytes_read = 2230272,
                  .bytes_written = 65536,
                  .weight_bytes = 2097152,
                  .activation_bytes = 65536,
                  .latency_ps = CM_UNKNOWN},
    },
};

static const struct cm_name_count planners[] = {{"greedy_by_size", 520000000},
                                                {"best_fit", 510000000}};
static const struct cm_live live[] = {{"h", 134217728, 2}, {"input", 393216, 0}};
static const struct cm_placed placed[] = {{"input", 134217728, 393216, CM_NO_INDEX, 0},
                                          {"h", 0, 134217728, 0, 1}};

static const struct cm_name_count sources[] = {{"metadata", 2}, {"joined", 1}};
static const struct cm_weights weights[] = {{"float", "external", 47, 3462000, 13848000},
                                            {"int4", "raw", 1, 3571, 1786}};
static const struct cm_fit fit = {
    17179869184, true, 1079, 17178200000, 17194100000, CM_UNKNOWN, "exact", "",
};
static const size_t schedule[] = {1, 0};
/* A slope, a peak at one node, a plateau. */
static const struct cm_curve_point curve[] = {
    {0, 100000000}, {0, 200000000}, {0, 300000000}, {1, 500000000},  {0, 30000000},
    {0, 30000000},  {0, 30000000},  {0, 30000000},  {0, CM_UNKNOWN}, {1, 1},
};

const struct cm_result fixture_pointnet = {
    .model = {"models/pointnet.onnx", "pytorch 1.13.0", 7, N(opsets), opsets, N(inputs), inputs,
              N(outputs), outputs},
    .options = {32, N(dims), dims, "deepspeed", "training", "", "", "min-memory", NULL, 0, NULL,
                "fp16", "fp32", CM_COUNTING_VERSION},
    .totals = {.params = 3463763,
               .buffers = 5376,
               .macs = 14068146176,
               .flops = 29040607232,
               .bytes_read = 900000000,
               .bytes_written = 800000000,
               .weight_bytes = 13877000,
               .activation_bytes = 700000000,
               .latency_ps = CM_UNKNOWN},
    .framework = {CM_UNKNOWN, 0, 0, NULL, "", 0},
    .n_modules = N(modules),
    .modules = modules,
    .n_module_sources = N(sources),
    .module_sources = sources,
    .n_nodes = N(nodes),
    .nodes = nodes,
    .memory = {.peak_activation_bytes = 500000000,
               .peak_in_place_bytes = 400000000,
               .arena_bytes = 510000000,
               .arena_in_place_bytes = 420000000,
               .alignment = 64,
               .required_bytes = 523849786,
               .fit = &fit,
               .n_weights = N(weights),
               .weights = weights,
               .file_order_peak_bytes = 625000000,
               .schedule_optimal = true,
               .n_schedule = N(schedule),
               .schedule = schedule,
               .n_curve = N(curve),
               .curve = curve,
               .n_planners = N(planners),
               .planners = planners,
               .peak_node = 1,
               .n_live = N(live),
               .live = live,
               .n_placed = N(placed),
               .placed = placed},
    .coverage = {.nodes = N(nodes)},
};

#define ESCAPE  "\033[31mred"
#define NO_UTF8 "caf\xe9"
#define FORGERY "line\nfc9: 1 G"

static const int64_t most_dims[] = {2, 9007199254740993};
static const struct cm_type unknown_dims = {.kind = CM_TYPE_TENSOR,
                                            .dtype = "float",
                                            DIMS(2, CM_UNKNOWN),
                                            .dims_upper_bound = most_dims};
static const struct cm_type sequence = {
    .kind = CM_TYPE_SEQUENCE, .rank = -1, .element = &unknown_dims};
static const struct cm_type nothing = {.kind = CM_TYPE_UNKNOWN, .rank = -1};

static const struct cm_named_size odd_opsets[] = {{"com.example", CM_UNKNOWN}, {"", 17}};
static const struct cm_named_size odd_dims[] = {{"batch", 4}, {ESCAPE, INT64_MAX}, {"", 0}};
static const struct cm_value odd_inputs[] = {
    {"x", FLOAT(CM_UNKNOWN, 3), CM_UNKNOWN},
    {ESCAPE, {.kind = CM_TYPE_TENSOR, .dtype = "float16", .rank = -1}, CM_UNKNOWN},
    {"scalar", {.kind = CM_TYPE_TENSOR, .dtype = "int64", .rank = 0}, 8},
    {"list", {.kind = CM_TYPE_SEQUENCE, .rank = -1, .element = &unknown_dims}, CM_UNKNOWN},
    {"maybe", {.kind = CM_TYPE_OPTIONAL, .rank = -1, .element = &sequence}, CM_UNKNOWN},
    {"table",
     {.kind = CM_TYPE_MAP, .dtype = "int64", .rank = -1, .element = &unknown_dims},
     CM_UNKNOWN},
    {"sparse", {.kind = CM_TYPE_SPARSE_TENSOR, .dtype = "double", DIMS(9, 9)}, CM_UNKNOWN},
    {"untyped", {.kind = CM_TYPE_TENSOR, DIMS(7)}, CM_UNKNOWN},
    {"unknown", {.kind = CM_TYPE_UNKNOWN, .rank = -1}, CM_UNKNOWN},
    {"optional of unknown", {.kind = CM_TYPE_OPTIONAL, .rank = -1, .element = &nothing}, 0},
};

static const size_t odd_children[] = {1, 2};
static const struct cm_module odd_modules[] = {
    {
        .path = "",
        .name = "",
        .type = "graph",
        .arguments = "",
        .depth = 0,
        .parent = CM_NO_INDEX,
        .n_children = N(odd_children),
        .children = odd_children,
        .calls = 1,
        .costs = {.params = INT64_MAX,
                  .buffers = 0,
                  .macs = INT64_MAX,
                  .flops = INT64_MAX,
                  .bytes_read = INT64_MAX,
                  .bytes_written = INT64_MAX,
                  .weight_bytes = INT64_MAX,
                  .activation_bytes = CM_UNKNOWN,
                  .latency_ps = 9007199254740993},
    },
    {
        .path = ESCAPE,
        .name = ESCAPE,
        .type = NO_UTF8,
        .arguments = FORGERY,
        .depth = 1,
        .parent = 0,
        .calls = 0,
        .costs = {.params = CM_UNKNOWN,
                  .buffers = 0,
                  .macs = CM_UNKNOWN,
                  .flops = CM_UNKNOWN,
                  .bytes_read = 0,
                  .bytes_written = 0,
                  .weight_bytes = 0,
                  .activation_bytes = CM_UNKNOWN,
                  .latency_ps = CM_UNKNOWN},
        .training = &(const struct cm_step){INT64_MAX, 0},
        .achieved = &(const struct cm_achieved){CM_UNKNOWN, INT64_MAX, CM_UNKNOWN, ESCAPE},
    },
    {
        .path = "quote\"back\\slash",
        .name = "quote\"back\\slash",
        .type = "graph",
        .arguments = "",
        .depth = 1,
        .parent = 0,
        .calls = INT64_MAX,
        .costs = {.params = INT64_MAX,
                  .buffers = 0,
                  .macs = 9007199254740993,
                  .flops = 1,
                  .bytes_read = 2,
                  .bytes_written = 3,
                  .weight_bytes = 4,
                  .activation_bytes = 5,
                  .latency_ps = 76670000,
                  .upper_bound = CM_COST_BIT(macs) | CM_COST_BIT(activation_bytes)},
    },
};

static const struct cm_node odd_nodes[] = {
    {
        .index = 0,
        .name = NO_UTF8,
        .op = "Magic",
        .domain = "com.example",
        .module = 1,
        .n_outputs = N(odd_inputs),
        .outputs = odd_inputs,
        .costs = {.params = 0,
                  .buffers = 0,
                  .macs = CM_UNKNOWN,
                  .flops = CM_UNKNOWN,
                  .bytes_read = CM_UNKNOWN,
                  .bytes_written = CM_UNKNOWN,
                  .weight_bytes = 0,
                  .activation_bytes = CM_UNKNOWN,
                  .latency_ps = CM_UNKNOWN},
        .training = &(const struct cm_step){CM_UNKNOWN, INT64_MAX},
        .kernel = CM_NO_INDEX,
    },
};

static const size_t odd_parts[] = {0, 4294967295};
static const struct cm_fused_pattern odd_fused_patterns[] = {
    {"LayerNorm", "LayerNormalization", 1, 0, N(odd_parts), odd_parts, false},
    {ESCAPE, ESCAPE, 0, 0, 0, NULL, false},
    {"LayerNorm", "LayerNormalization", 1, 0, 1, odd_parts, false},
    {"Conv+BN", "Conv", 0, 0, 1, odd_parts, true},
};

static const struct cm_name_count odd_ops[] = {{"com.example::Magic", 1},
                                               {"ai.onnx::" ESCAPE, 2}};

static const struct cm_description odd_descriptions[] = {
    {"com.example::Magic", "0123456789abcdef", true}, {"ai.onnx::" ESCAPE, FORGERY, false}};

#define PLACE(axis_, from_)                                                                    \
    {                                                                                          \
        .node = 0, .node_name = "layers.0/Reshape", .op = "Reshape", .input = "shape",         \
        .what = "target", .axis = axis_, .from = from_, .to = 32 * from_                       \
    }
static const struct cm_rebatched odd_places[] = {
    PLACE(0, 1), PLACE(1, 8), PLACE(2, 1), PLACE(3, 1), PLACE(4, 1),
    PLACE(5, 1), PLACE(6, 1), PLACE(7, 1), PLACE(8, 1), PLACE(9, 1),
};

static const struct cm_diagnostic odd_diagnostics[] = {
    {CM_NOTE, "assumption", "the free dim \"N\" of input \"x\" was taken for 1", "", NULL,
     NULL},
    {CM_WARNING, "unknown-op",
     "no row for com.example::Magic: its outputs are unknown, and so is whatever is computed "
     "from them further down",
     "in model.onnx\nat node 0 \"Magic\"", "Magic",
     "give the shapes of its outputs in the file, or describe the operator"},
};

static const struct cm_name_count odd_sources[] = {{ESCAPE, 3}, {NO_UTF8, INT64_MAX}};

static const struct cm_term odd_terms[] = {
    {2, "MACs", INT64_MAX, false},
    {1, "at \033[31m 3 an element", CM_UNKNOWN, true},
};

static const struct cm_named_size odd_factors[] = {{"output elements", CM_UNKNOWN},
                                                   {"kernel", 9}};

static const struct cm_explained_node odd_explained[] = {
    {.node = 0,
     .runs = CM_UNKNOWN,
     .n_factors = 2,
     .factors = odd_factors,
     .n_terms = 2,
     .terms = odd_terms},
    {.node = 0, .runs = 0},
};

static const struct cm_explained_by odd_by[] = {
    {"deepspeed", "FLOPs", CM_UNKNOWN, CM_UNKNOWN, 2, odd_terms},
    {"exact", "FLOPs", INT64_MAX, 0, 0, NULL},
};

static const struct cm_explanation odd_explanations[] = {
    {"\033[2J", false, 0, N(odd_explained), odd_explained, 0, N(odd_by), odd_by},
    {"b", true, 0, 0, NULL, 3, 0, NULL},
};

static const char *const odd_patterns[] = {ESCAPE, "*", NO_UTF8};

static const size_t timed_nodes[] = {0, 1};
static const struct cm_state_share states[] = {{"measured", 1, CM_UNKNOWN},
                                               {"crashed\x07", INT64_MAX, 0}};
static const struct cm_kernel_run kernel_runs[] = {
    {.name = "a",
     .calls = 1,
     .grid = {1, 2, INT64_MAX},
     .block = {128, 1, 1},
     .registers = 255,
     .shared_bytes = 49152,
     .tensor_cores = "yes",
     .rule = "name",
     .blocks_per_unit = 500001,
     .occupancy = INT64_MAX,
     .theoretical_occupancy = CM_UNKNOWN,
     .unit_efficiency = CM_UNKNOWN,
     .time_ps = CM_UNKNOWN,
     .share = CM_UNKNOWN},
    {.name = "b \"c\"" ESCAPE,
     .tensor_cores = "unknown",
     .rule = ESCAPE,
     .theoretical_occupancy = CM_UNKNOWN,
     .unit_efficiency = CM_UNKNOWN,
     .time_ps = CM_UNKNOWN,
     .share = CM_UNKNOWN},
};
static const struct cm_untimed untimed[] = {{"NonZero", "the data decides its size", 3, 0},
                                            {ESCAPE, FORGERY, INT64_MAX, CM_UNKNOWN}};
static const struct cm_limiter_share limiters[] = {{"memory", 1, INT64_MAX}, {ESCAPE, 0, 0}};
static const struct cm_kernel_row kernel_rows[] = {
    {"a", CM_NO_INDEX, "yes", "name", 1, INT64_MAX, 1, 2, 3, 250000, CM_UNKNOWN, CM_UNKNOWN,
     CM_UNKNOWN},
    {"gemm" ESCAPE, 1, "unknown", "", INT64_MAX, CM_UNKNOWN, CM_UNKNOWN, 0, 0, CM_UNKNOWN,
     CM_UNKNOWN, CM_UNKNOWN, CM_UNKNOWN},
    {"conv", 0, "no", FORGERY, 2, 1000, 500, 400, 600, CM_UNKNOWN, 1000000, CM_UNKNOWN,
     CM_UNKNOWN},
    {"past the end", 7, "no", "", 2, 1000, 500, 400, 600, CM_UNKNOWN, 1000000, CM_UNKNOWN,
     CM_UNKNOWN},
};
static const struct cm_timed timed[] = {
    {.primitive = "conv f32 1x1x1 -> 1x1x1",
     .state = "measured",
     .reason = "",
     .n_kernels = N(kernel_runs),
     .kernels = kernel_runs,
     .more_kernels = 3,
     .provider = "cublaslt" ESCAPE,
     .algorithm = "engine 62",
     .tensor_cores = "yes",
     .plans_tried = 2,
     .sets = 117,
     .workspace_bytes = INT64_MAX,
     .plan_ps = 1000000000000,
     .clocks = {true, 1980, 1980, 3201, 45, 350500, "power cap"},
     .achieved = &(const struct cm_achieved){INT64_MAX, 1, 1500000, "memory"},
     .flops = 2,
     .bytes = 12,
     .min_ps = 0,
     .max_ps = INT64_MAX,
     .warm_q1_ps = 1,
     .warm_q3_ps = CM_UNKNOWN,
     .drift = 31000,
     .throttled = true,
     .launches = true,
     .cached = true,
     .median_ps = INT64_MAX,
     .q1_ps = 0,
     .q3_ps = 1,
     .warm_ps = 999999999999,
     .samples = 11,
     .unstable = true,
     .not_cold = true,
     .n_nodes = N(timed_nodes),
     .nodes = timed_nodes},
    {.primitive = "gemm\x1b[31m",
     .state = "crashed",
     .reason = "the measuring process was ended by signal 11",
     .provider = "",
     .algorithm = "",
     .tensor_cores = "unknown",
     .median_ps = CM_UNKNOWN,
     .q1_ps = CM_UNKNOWN,
     .q3_ps = CM_UNKNOWN,
     .warm_ps = CM_UNKNOWN,
     .few_samples = true,
     .cached = true},
};
static const struct cm_named_size odd_rates[] = {{"f32", CM_UNKNOWN}, {"tf32", 1}};

static const struct cm_ceilings odd_ceilings = {.state = "invented",
                                                .copy_bytes_per_s = CM_UNKNOWN,
                                                .floor_ps = 7,
                                                .n_flops_per_s = N(odd_rates),
                                                .flops_per_s = odd_rates};

static const struct cm_end_to_end odd_network = {.state = "invented",
                                                 .reason = "\x07",
                                                 .median_ps = INT64_MAX,
                                                 .q1_ps = CM_UNKNOWN,
                                                 .q3_ps = 0,
                                                 .samples = 11,
                                                 .sum_cold_ps = 1,
                                                 .sum_warm_ps = CM_UNKNOWN,
                                                 .nodes = 2,
                                                 .macs = INT64_MAX};

static const struct cm_measure odd_measure = {
    .placed_share = CM_UNKNOWN,
    .run_ps = CM_UNKNOWN,
    .gap_ps = CM_UNKNOWN,
    .gap_host_ps = CM_UNKNOWN,
    .backend = "odd:key=\x07",
    .problem = "",
    .device = "a \"device\"",
    .version = "",
    .ceilings = &odd_ceilings,
    .end_to_end = &odd_network,
    .n_cached = INT64_MAX,
    .cached_since = "yesterday\x1b",
    .layout = "nhwc",
    .warning = "the machine is busy (load 13.1)",
    .architecture = "sm_90",
    .address = ESCAPE,
    .memory_bytes = INT64_MAX,
    .cache_bytes = CM_UNKNOWN,
    .units = 132,
    .threads_per_unit = 2048,
    .bandwidth = 4800000000000,
    .floor_ps = 1500000,
    .has_tensor_cores = true,
    .measured_macs_share = CM_UNKNOWN,
    .n_untimed = N(untimed),
    .untimed = untimed,
    .n_limiters = N(limiters),
    .limiters = limiters,
    .n_kernels = N(kernel_rows),
    .kernels = kernel_rows,
    .n_states = N(states),
    .states = states,
    .n_primitives = N(timed),
    .primitives = timed,
};

static const struct cm_operator odd_operators[] = {
    {.op = "com.example::Magic",
     .nodes = 1,
     .costs.macs = CM_UNKNOWN,
     .costs.int_macs = CM_UNKNOWN,
     .costs.flops = CM_UNKNOWN,
     .costs.int_ops = CM_UNKNOWN,
     .costs.bytes_read = CM_UNKNOWN,
     .costs.bytes_written = CM_UNKNOWN,
     .costs.latency_ps = 76670000,
     .costs.upper_bound = CM_COST_BIT(macs),
     .n_states = N(states),
     .states = states},
    {.op = ESCAPE,
     .nodes = INT64_MAX,
     .costs.macs = INT64_MAX,
     .costs.int_macs = INT64_MAX,
     .costs.flops = INT64_MAX,
     .costs.int_ops = INT64_MAX,
     .costs.bytes_read = INT64_MAX,
     .costs.bytes_written = INT64_MAX,
     .costs.latency_ps = CM_UNKNOWN,
     .costs.upper_bound = CM_COST_BIT(flops) | CM_COST_BIT(bytes_read)},
};

static const size_t advised[] = {0, 4294967295};
static const struct cm_advice odd_advice[] = {
    {"R3", "channels-last", "What was seen, 3.5 GB of it. What to do.", 1000000, N(advised),
     advised, N(advised), advised},
    {ESCAPE, FORGERY, NO_UTF8, CM_UNKNOWN, 0, NULL, 0, NULL},
};

const struct cm_result fixture_hostile = {
    .model = {ESCAPE ".onnx", "", 14, N(odd_opsets), odd_opsets, N(odd_inputs), odd_inputs, 0,
              NULL},
    .options = {CM_UNKNOWN, N(odd_dims), odd_dims, "another", "model", "scopes", FORGERY,
                "file", NULL, N(odd_dims), odd_dims, NULL, NULL, CM_UNKNOWN},
    .totals = {.params = INT64_MAX,
               .macs = INT64_MAX,
               .int_macs = 9007199254740993,
               .int_ops = INT64_MAX,
               .bytes_read = 1,
               .bytes_written = 999,
               .weight_bytes = 1000,
               .activation_bytes = CM_UNKNOWN,
               .latency_ps = 9007199254740993,
               .upper_bound = CM_COST_BIT(flops) | CM_COST_BIT(bytes_read)},
    .framework = {CM_UNKNOWN, INT64_MAX, 0, NULL, "", 0},
    .n_modules = N(odd_modules),
    .modules = odd_modules,
    .n_module_sources = N(odd_sources),
    .module_sources = odd_sources,
    .n_nodes = N(odd_nodes),
    .nodes = odd_nodes,
    .training = {.present = true,
                 .optimizer = ESCAPE,
                 .micro_batches = CM_UNKNOWN,
                 .host_bytes = CM_UNKNOWN,
                 .shard_gpus = CM_UNKNOWN,
                 .zero_stage = CM_UNKNOWN,
                 .offload = "",
                 .gather_bytes = CM_UNKNOWN,
                 .model_state_bytes = CM_UNKNOWN,
                 .weight_copy_bytes = CM_UNKNOWN,
                 .restored_norms = CM_UNKNOWN, /* recent */
                 .n_freeze = N(odd_patterns),
                 .freeze = odd_patterns,
                 .learned = INT64_MAX,
                 .frozen = 1,
                 .backward_macs = CM_UNKNOWN,
                 .backward_flops = INT64_MAX,
                 .recompute_macs = 9007199254740993,
                 .recompute_flops = CM_UNKNOWN,
                 .recompute_int_ops = 1,
                 .step_flops = 0,
                 .iteration_flops = CM_UNKNOWN,
                 .iteration_int_ops = INT64_MAX,
                 .backward_ps = CM_UNKNOWN,
                 .update_ps = CM_UNKNOWN,
                 .iteration_ps = CM_UNKNOWN,
                 .iteration_lower_bound_ps = CM_UNKNOWN,
                 .weight_bytes = 999,
                 .gradient_bytes = CM_UNKNOWN,
                 .saved_bytes = INT64_MAX,
                 .peak_bytes = CM_UNKNOWN,
                 .peak_phase = FORGERY,
                 .peak_node = 0},
    .n_fused_patterns = N(odd_fused_patterns),
    .fused_patterns = odd_fused_patterns,
    .coverage = {.nodes = 3,
                 .n_unknown_ops = N(odd_ops),
                 .unknown_ops = odd_ops,
                 .n_custom_ops = N(odd_ops),
                 .custom_ops = odd_ops,
                 .n_descriptions = N(odd_descriptions),
                 .descriptions = odd_descriptions,
                 .n_unknown_gradients = N(odd_ops),
                 .unknown_gradients = odd_ops,
                 .unknown_shapes = 9,
                 .bounded_shapes = 4},
    .memory = {.upper_bound = true, .peak_upper_bound = true},
    .n_explanations = N(odd_explanations),
    .explanations = odd_explanations,
    .n_rebatched = N(odd_places),
    .rebatched = odd_places,
    .n_diagnostics = N(odd_diagnostics),
    .diagnostics = odd_diagnostics,
    .n_operators = N(odd_operators),
    .operators = odd_operators,
    .measure = &odd_measure,
    .n_advice = N(odd_advice),
    .advice = odd_advice,
};

static FILE *open_memory(char **text, size_t *size) {
    FILE *out = open_memstream(text, size);
    assert_non_null(out);
    return out;
}

char *fixture_text(const struct cm_result *result, const struct cm_text_options *options) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memory(&text, &size);
    assert_int_equal(
        report_write_deepspeed(&(struct report){.result = result, .text = options, .out = out}),
        CM_OK);
    fclose(out);
    return text;
}

char *fixture_screen(const struct cm_result *result, const struct cm_text_options *options) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memory(&text, &size);
    assert_int_equal(
        report_write_text(&(struct report){.result = result, .text = options, .out = out}),
        CM_OK);
    fclose(out);
    return text;
}

char *fixture_explanations(const struct cm_result *result,
                           const struct cm_text_options *options) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memory(&text, &size);
    assert_int_equal(report_write_explanations(
                         &(struct report){.result = result, .text = options, .out = out}),
                     CM_OK);
    fclose(out);
    return text;
}

char *fixture_json(const struct cm_result *result) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memory(&text, &size);
    assert_int_equal(report_write_json(&(struct report){.result = result, .out = out}), CM_OK);
    fclose(out);
    return text;
}

static void rewrite(const char *name, const char *text) {
    char path[8192];
    snprintf(path, sizeof(path), "%s/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

char *fixture_file(const char *name) {
    char path[8192];
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memory(&text, &size);
    snprintf(path, sizeof(path), "%s/%s", TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    for (int c = 0; file != NULL && (c = fgetc(file)) != EOF;) fputc(c, out);
    if (file != NULL) fclose(file);
    fclose(out);
    return text;
}

void fixture_expect_golden(const char *name, const char *actual) {
    char path[1024];
    const char *update = getenv("UPDATE_GOLDEN");
    snprintf(path, sizeof(path), "tests/report/golden/%s", name);
    if (update != NULL && strcmp(update, "1") == 0) rewrite(path, actual);
    char *expected = fixture_file(path);
    assert_string_equal(actual, expected);
    free(expected);
}
