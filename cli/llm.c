/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel llm MODEL`: costs of serving a language model; `costmodel quantize MODEL`: its
 * part about weights, for any model. */
#include "costmodel/llm.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "cli/timing.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_HTML };
enum logits { LOGITS_FILE, LOGITS_LAST };

struct request {
    struct option_list dims;
    struct cm_llm_options llm; /* members that the command line sets directly */
    struct option_integers prompts, batches, contexts;
    struct option_list quantize, parallel;
    double reserve; /* percent */
    const char *policy;
    const char *devices;
    int runtime; /* enum cm_runtime */
    int logits;
    int format;
    const char *output;
    int color; /* enum color_choice */
    int width; /* -1: not given */
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT, "default"},
    {"json", FORMAT_JSON, NULL},
    {"csv", FORMAT_CSV, "a row for each combination"},
    {"html", FORMAT_HTML, "page without script, of one combination"},
    {.name = NULL}};
static const struct option_choice quantize_formats[] = {
    {"text", FORMAT_TEXT, "default"}, {"json", FORMAT_JSON, NULL}, {.name = NULL}};
static const struct option_choice logits[] = {
    {"file", LOGITS_FILE, "default: those that the file computes"},
    {"last", LOGITS_LAST, "only those of the last token, as servers compute them"},
    {.name = NULL}};
static const struct option_choice policies[] = {
    {"paged:", 0, "blocks of N tokens, in all layers as many"},
    {"ring", 0, "exactly the tokens, and no more than its window in a layer"},
    {.name = NULL}};
static const struct option_part parts_policy[] = {
    {"", .choices = policies}, {"paged:", .choices = choices_batches}, {.after = NULL}};

#define MAX_TOKENS ((int64_t)1 << 32)

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option llm_options[] = {
    {.heading = "Request", .name = "prompt", .common = true, INTO(INT64S, prompts), .value = "N[,N...]", .min = 1, .max = MAX_TOKENS,
     .help = "tokens of the prompt (default 2048). Several prompts, devices or divisions,\n"
             "or --format csv, give a table with a row for each combination and batch"},
    {.name = "new", .common = true, INTO(INT64, llm.new_tokens), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "tokens to generate (default 256)"},
    {.name = "batch", .common = true, .letter = 'b', INTO(INT64S, batches), .value = "N[,N...]", .min = 1, .max = 1 << 20,
     .choices = choices_batches,
     .help = "sequences that are decoded together (default 1,32)"},
    {.name = "chunk", INTO(INT64, llm.chunk), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "prefill in chunks of N tokens (default: the whole prompt at once)"},
    {.name = "source", INTO(INT64, llm.source), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "tokens of the source of an encoder-decoder (default: those of the prompt)"},
    {.name = "logits", INTO(CHOICE, logits), .value = "WHICH", .choices = logits,
     .help = "logits of prefill:"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N", .parts = parts_dim,
     .help = "size of a symbolic dim that is neither batch nor tokens; repeatable"},
    {.heading = "Memory", .name = "memory-limit", .common = true, INTO(BYTES, llm.memory_limit), .value = "BYTES",
     .help = "memory of one GPU, as 80GB or 24GiB (default: that of the device)"},
    {.name = "reserve", INTO(REAL, reserve), .value = "PERCENT", .max = 99,
     .help = "share of the memory that is not used (default 10)"},
    {.name = "arena", INTO(BYTES, llm.arena), .value = "BYTES",
     .help = "memory for activations (default: the largest operand, result and residual\n"
             "of a product in prefill)"},
    {.name = "context", INTO(INT64S, contexts), .value = "N[,N...]", .min = 1, .max = MAX_TOKENS,
     .help = "contexts of the table of capacity"},
    {.name = "kv-dtype", .common = true, INTO(TEXT, llm.kv_dtype), .value = "FORMAT",
     .parts = parts_quantized,
     .help = "format of keys and values: fp8, int8, fp16, ... (default: as in the file)"},
    {.name = "kv-policy", INTO(TEXT, policy), .value = "POLICY", .parts = parts_policy,
     .help = "paged:N (blocks of N tokens, in all layers as many; default paged:16) or ring\n"
             "(exactly the tokens, and no more than its window in a layer)"},
    {.heading = "Changes", .name = "quantize", .common = true, INTO(LIST, quantize), .value = "[PATTERN=]FORMAT",
     .parts = parts_quantized,
     .help = "format of the weights whose names match: int8, int4:g128, fp8, nvfp4, mxfp4,\n"
             "q4_k, ...; repeatable, the last match wins"},
    {.name = "parallel", .common = true, INTO(LIST, parallel), .value = "tp=N,pp=N,ep=N",
     .parts = parts_parallel_llm,
     .help = "GPUs that divide each layer, the layers, and the experts; repeatable"},
    {.name = "price", INTO(REAL, llm.price), .value = "DOLLARS", .max = 1000000, .help = "price of one GPU per hour"},
    {.name = "watts", INTO(REAL, llm.watts), .value = "WATTS", .max = 1000000, .help = "power of one GPU"},
    {.heading = "Device", .name = "device", .common = true, INTO(TEXT, devices), .value = "NAME[,NAME...]",
     .names = names_of_devices, .files = "json", .list = true,
     .help = "model the times on a device (listed by `costmodel backends`), or on that of a\n"
             "device description (.json)"},
    {.name = "runtime", INTO(CHOICE, runtime), .value = "RUNTIME", .choices = timing_runtimes,
     .help = "runtime whose kernels are modelled (default: that of the device):"},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format), .value = "FORMAT", .choices = formats,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns of the page (default: those of the terminal, else 100)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
const struct option quantize_options[] = {
    {.heading = "Formats", .name = "quantize", .common = true, INTO(LIST, quantize), .value = "[PATTERN=]FORMAT",
     .parts = parts_quantized,
     .help = "format of the weights whose names match: int8, int4:g128, fp8, nvfp4, mxfp4,\n"
             "q4_k, ...; repeatable, the last match wins (default: int4:g128 for all)"},
    {.name = "batch", .common = true, .letter = 'b', INTO(INT64S, batches), .value = "N", .min = 1, .max = 1 << 20,
     .choices = choices_batches,
     .help = "samples or sequences of a run (default 1)"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N", .parts = parts_dim, .help = "size of a symbolic dim; repeatable"},
    {.heading = "Device", .name = "device", .common = true, INTO(TEXT, devices), .value = "NAME",
     .names = names_of_devices, .files = "json",
     .help = "model the times of products on a device (listed by `costmodel backends`)"},
    {.name = "runtime", INTO(CHOICE, runtime), .value = "RUNTIME", .choices = timing_runtimes,
     .help = "runtime whose kernels are modelled:"},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format), .value = "FORMAT", .choices = quantize_formats,
     .help = "format of the report:"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns of the page (default: those of the terminal, else 100)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

static int read_policy(const struct invocation *call, const char *text, int64_t *ret) {
    if (text == NULL) return CM_OK;
    if (text_equal(text, "ring")) {
        *ret = 0;
        return CM_OK;
    }
    const char *number = text_starts_with(text, "paged:") ? text + strlen("paged:") : "";
    if (text_to_int64(number, strlen(number), ret) && *ret >= 1 && *ret <= MAX_TOKENS)
        return CM_OK;
    return options_fault(call, "option --kv-policy requires ring or paged:N, got '%s'", text);
}

struct job {
    const struct request *request;
    size_t n; /* combinations of prompt, device and division */
    struct cm_llm **llms;
    struct cm_llm_sweep *sweep; /* NULL: the report of the only combination */
};

static int write_report(const void *context, FILE *out) {
    const struct job *job = context;
    const struct cm_llm_sweep *sweep = job->sweep;
    struct cm_text_options text;
    if (job->request->format == FORMAT_CSV) return cm_llm_sweep_write_csv(sweep, out);
    if (job->request->format == FORMAT_HTML) return cm_llm_write_html(job->llms[0], out);
    if (job->request->format == FORMAT_JSON)
        return sweep ? cm_llm_sweep_write_json(sweep, out)
                     : cm_llm_write_json(job->llms[0], out);
    cm_text_options_init(&text);
    text.color = streams_color(out, (enum color_choice)job->request->color);
    text.width = streams_columns(out, job->request->width, text.width);
    text.table_width = streams_columns(out, job->request->width, 0);
    text.unicode = streams_utf8();
    return sweep ? cm_llm_sweep_write_text(sweep, &text, out)
                 : cm_llm_write_text(job->llms[0], &text, out);
}

static int read_request(const struct invocation *call, struct request *request,
                        struct cm_options *options, struct option_list *operands) {
    const bool weights_only = request->llm.weights_only;
    int status =
        options_parse(weights_only ? quantize_options : llm_options, call, request, operands);
    if (status == CM_OK && operands->n != 1)
        status = options_fault(call, "%s requires one model, got %zu",
                               weights_only ? "quantize" : "llm", operands->n);
    if (status == CM_OK) status = read_policy(call, request->policy, &request->llm.page);
    if (status != CM_OK) return status;
    if ((request->llm.price > 0 || request->llm.watts > 0) && request->devices == NULL)
        return options_fault(call, "option --%s requires --device",
                             request->llm.price > 0 ? "price" : "watts");
    request->llm.reserve = request->reserve / 100;
    request->llm.last_logits = request->logits == LOGITS_LAST;
    request->llm.n_batches = request->batches.n;
    request->llm.batches = request->batches.values;
    request->llm.n_contexts = request->contexts.n;
    request->llm.contexts = request->contexts.values;
    request->llm.n_quantize = request->quantize.n;
    request->llm.quantize = request->quantize.values;
    options->n_dims = request->dims.n;
    options->runtime = (enum cm_runtime)request->runtime;
    return binding_read_dims(call, "dim", &request->dims, &options->dims);
}

/* Splits the devices at commas; *ret_backends has a NULL if there are none. */
static int read_devices(const struct invocation *call, const char *devices, size_t *ret_n,
                        const char ***ret_backends) {
    size_t n = 1;
    for (const char *at = devices; at && *at; at++) n += *at == ',';
    const char **backends = arena_array(call->arena, n, sizeof *backends);
    if (!backends) return diag_no_memory(call->diag);
    *ret_n = n;
    *ret_backends = backends;
    for (size_t i = 0; devices && i < n; i++) {
        const size_t length = strcspn(devices, ",");
        const char *name = arena_strndup(call->arena, devices, length), *device = NULL;
        if (!name) return diag_no_memory(call->diag);
        const int status = cm_device_resolve(name, call->diag, &device);
        if (status == CM_USAGE) diag_hint(call->diag, "costmodel backends lists the devices");
        if (status != CM_OK) return status;
        backends[i] = arena_printf(call->arena, "roofline:device=%s", device);
        if (!backends[i]) return diag_no_memory(call->diag);
        devices += length + 1;
    }
    return CM_OK;
}

/* Analyses a combination. Messages that several combinations have are reported once. */
static int analyse_one(const struct cm_options *options, const struct cm_llm_options *llm,
                       struct cm_model *model, struct cm_diagnostics *diag,
                       struct cm_llm **ret) {
    struct cm_diagnostics *own = cm_diagnostics_new();
    if (!own) return diag_no_memory(diag);
    const int status = cm_model_llm(model, options, llm, own, ret);
    for (size_t i = 0; i < cm_diagnostics_count(own); i++)
        diag_repeat(diag, cm_diagnostics_get(own, i));
    cm_diagnostics_free(own);
    return status;
}

/* Analyses each combination. A table has no room for some figures: their options are refused.
 */
static int analyse(const struct invocation *call, struct request *request,
                   struct cm_options *options, struct cm_model *model,
                   struct cm_diagnostics *diag, struct job *job) {
    const char **backends = NULL;
    size_t n_devices = 0;
    const size_t n_prompts = request->prompts.n > 0 ? request->prompts.n : 1;
    const size_t n_divisions = request->parallel.n > 0 ? request->parallel.n : 1;
    int status = read_devices(call, request->devices, &n_devices, &backends);
    if (status != CM_OK) return status;
    const size_t n = n_devices * n_divisions * n_prompts;
    const bool is_sweep = n > 1 || request->format == FORMAT_CSV;
    const char *alone = request->contexts.n > 0  ? "context"
                        : request->llm.price > 0 ? "price"
                        : request->llm.watts > 0 ? "watts"
                                                 : NULL;
    if (n > 1 && request->llm.weights_only)
        return options_fault(call, "quantize requires one device, got '%s'", request->devices);
    if (is_sweep && alone)
        return options_fault(call, "option --%s has no effect on a table of combinations",
                             alone);
    if (is_sweep && request->format == FORMAT_HTML)
        return options_fault(call, "format html requires one prompt, device and division");
    job->llms = arena_array(call->arena, n, sizeof *job->llms);
    if (!job->llms) return diag_no_memory(call->diag);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        const size_t division = i / n_prompts % n_divisions;
        options->backend = backends[i / n_prompts / n_divisions];
        if (request->prompts.n > 0)
            request->llm.prompt = request->prompts.values[i % n_prompts];
        if (request->parallel.n > 0)
            status =
                binding_read_parallel(call, request->parallel.values[division],
                                      &request->llm.tp, &request->llm.pp, &request->llm.ep);
        if (status == CM_OK)
            status = analyse_one(options, &request->llm, model, diag, &job->llms[i]);
        job->n += status == CM_OK;
    }
    if (status != CM_OK || !is_sweep) return status;
    return cm_llm_sweep_make((const struct cm_llm *const *)job->llms, n, diag, &job->sweep);
}

static int run(const struct invocation *call, bool weights_only) {
    struct request request = {.width = -1, .reserve = 10};
    struct cm_options options;
    struct option_list operands = {0, NULL};
    struct cm_model *model = NULL;
    struct job job = {.request = &request};
    cm_llm_options_init(&request.llm);
    cm_options_init(&options);
    request.llm.weights_only = weights_only;
    int status = read_request(call, &request, &options, &operands);
    if (status != CM_OK) return command_exit(status);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (!diag) return command_exit(diag_no_memory(call->diag));
    status = cm_model_load_file(operands.values[0], diag, &model);
    if (status == CM_OK) status = outputs_keep_weights(model, request.output, diag);
    if (status == CM_OK) status = analyse(call, &request, &options, model, diag, &job);
    messages_print(diag, operands.values[0], (enum color_choice)request.color, call->diag);
    cm_diagnostics_free(diag);
    if (status == CM_OK) status = streams_write(request.output, write_report, &job, call->diag);
    cm_llm_sweep_free(job.sweep);
    for (size_t i = 0; i < job.n; i++) cm_llm_free(job.llms[i]);
    cm_model_free(model);
    if (status != CM_OK) return command_exit(status);
    return command_finish(call, EXIT_DONE);
}

int command_llm(const struct invocation *call) {
    return run(call, false);
}

int command_quantize(const struct invocation *call) {
    return run(call, true);
}
