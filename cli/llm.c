/* SPDX-License-Identifier: Apache-2.0 */
/* `costmodel llm MODEL`: costs of serving a language model; `costmodel quantize MODEL`: its part
 * about weights, for any model. */
#include "costmodel/llm.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/binding.h"
#include "cli/command.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/streams.h"
#include "cli/timing.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

enum format { FORMAT_TEXT, FORMAT_JSON };
enum logits { LOGITS_FILE, LOGITS_LAST };

struct request {
    struct option_list dims;
    struct cm_llm_options llm; /* members that the command line sets directly */
    struct option_integers batches, contexts;
    struct option_list quantize;
    const char *reserve, *policy, *parallel, *price, *watts;
    const char *device;
    int runtime; /* enum cm_runtime */
    int logits;
    int format;
    const char *output;
    int color; /* enum color_choice */
    int width; /* -1: not given */
};

static const struct option_choice formats[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {NULL, 0}};
static const struct option_choice logits[] = {
    {"file", LOGITS_FILE}, {"last", LOGITS_LAST}, {NULL, 0}};

#define MAX_TOKENS ((int64_t)1 << 32)

#define AT(type, member)   OPTION_AT(struct request, type, member)
#define INTO(kind, member) OPTION_INTO(kind, struct request, member)

/* clang-format off */
const struct option llm_options[] = {
    {.heading = "Request", .name = "prompt", .common = true, INTO(INT64, llm.prompt), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "tokens of the prompt (default 2048)"},
    {.name = "new", .common = true, INTO(INT64, llm.new_tokens), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "tokens to generate (default 256)"},
    {.name = "batch", .common = true, .letter = 'b', INTO(INT64S, batches), .value = "N[,N...]", .min = 1, .max = 1 << 20,
     .help = "sequences that are decoded together (default 1,32)"},
    {.name = "chunk", INTO(INT64, llm.chunk), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "prefill in chunks of N tokens (default: the whole prompt at once)"},
    {.name = "source", INTO(INT64, llm.source), .value = "N", .min = 1, .max = MAX_TOKENS,
     .help = "tokens of the source of an encoder-decoder (default: those of the prompt)"},
    {.name = "logits", INTO(CHOICE, logits), .value = "WHICH", .choices = logits,
     .help = "of prefill: those that the file computes (file, default) or only those of\n"
             "the last token, as servers compute them (last)"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N",
     .help = "size of a symbolic dim that is neither batch nor tokens; repeatable"},
    {.heading = "Memory", .name = "memory-limit", .common = true, INTO(BYTES, llm.memory_limit), .value = "BYTES",
     .help = "memory of one GPU, as 80GB or 24GiB (default: that of the device)"},
    {.name = "reserve", INTO(TEXT, reserve), .value = "PERCENT",
     .help = "share of the memory that is not used (default 10)"},
    {.name = "arena", INTO(BYTES, llm.arena), .value = "BYTES",
     .help = "memory for activations (default: the largest operand, result and residual\n"
             "of a product in prefill)"},
    {.name = "context", INTO(INT64S, contexts), .value = "N[,N...]", .min = 1, .max = MAX_TOKENS,
     .help = "contexts of the table of capacity"},
    {.name = "kv-dtype", .common = true, INTO(TEXT, llm.kv_dtype), .value = "FORMAT",
     .help = "format of keys and values: fp8, int8, fp16, ... (default: as in the file)"},
    {.name = "kv-policy", INTO(TEXT, policy), .value = "POLICY",
     .help = "paged:N (blocks of N tokens, in all layers as many; default paged:16) or ring\n"
             "(exactly the tokens, and no more than its window in a layer)"},
    {.heading = "Changes", .name = "quantize", .common = true, INTO(LIST, quantize), .value = "[PATTERN=]FORMAT",
     .help = "format of the weights whose names match: int8, int4:g128, fp8, nvfp4, mxfp4,\n"
             "q4_k, ...; repeatable, the last match wins"},
    {.name = "parallel", .common = true, INTO(TEXT, parallel), .value = "tp=N,pp=N,ep=N",
     .help = "GPUs that divide each layer, the layers, and the experts"},
    {.name = "price", INTO(TEXT, price), .value = "DOLLARS", .help = "price of one GPU per hour"},
    {.name = "watts", INTO(TEXT, watts), .value = "WATTS", .help = "power of one GPU"},
    {.heading = "Device", .name = "device", .common = true, INTO(TEXT, device), .value = "NAME",
     .help = "model the times on a device (listed by `costmodel backends`), or on that of a\n"
             "device description (.json)"},
    {.name = "runtime", INTO(CHOICE, runtime), .value = "RUNTIME", .choices = timing_runtimes,
     .help = "runtime whose kernels are modelled (default: that of the device)"},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format), .value = "FORMAT", .choices = formats,
     .help = "text (default) or json"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns of the page (default: those of the terminal, else 100)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
const struct option quantize_options[] = {
    {.heading = "Formats", .name = "quantize", .common = true, INTO(LIST, quantize), .value = "[PATTERN=]FORMAT",
     .help = "format of the weights whose names match: int8, int4:g128, fp8, nvfp4, mxfp4,\n"
             "q4_k, ...; repeatable, the last match wins (default: int4:g128 for all)"},
    {.name = "batch", .common = true, .letter = 'b', INTO(INT64S, batches), .value = "N", .min = 1, .max = 1 << 20,
     .help = "samples or sequences of a run (default 1)"},
    {.name = "dim", INTO(LIST, dims), .value = "NAME=N", .help = "size of a symbolic dim; repeatable"},
    {.heading = "Device", .name = "device", .common = true, INTO(TEXT, device), .value = "NAME",
     .help = "model the times of products on a device (listed by `costmodel backends`)"},
    {.name = "runtime", INTO(CHOICE, runtime), .value = "RUNTIME", .choices = timing_runtimes,
     .help = "runtime whose kernels are modelled"},
    {.heading = "Report", .name = "format", .letter = 'f', INTO(CHOICE, format), .value = "FORMAT", .choices = formats,
     .help = "text (default) or json"},
    {.rows = option_output, .offset = AT(const char *, output)},
    {.name = "width", INTO(INT, width), .value = "N", .min = 0, .max = INT_MAX,
     .help = "text: columns of the page (default: those of the terminal, else 100)"},
    {.rows = option_color, .offset = AT(int, color)},
    {.name = NULL},
};
/* clang-format on */

/* Reads a number >= 0 and < `below`. */
static int read_real(const struct invocation *call, const char *option, const char *text,
                     double below, double *ret) {
    if (text == NULL) return CM_OK;
    if (text_to_real(text, ret) && isfinite(*ret) && *ret >= 0 && *ret < below) return CM_OK;
    return options_fault(call, "option --%s requires a number from 0 to below %g, got '%s'",
                         option, below, text);
}

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

/* Reads "tp=2,pp=1,ep=1"; each part may be missing. */
static int read_parallel(const struct invocation *call, const char *text,
                         struct cm_llm_options *ret) {
    const struct {
        const char *name;
        int64_t *value;
    } parts[] = {{"tp=", &ret->tp}, {"pp=", &ret->pp}, {"ep=", &ret->ep}};
    for (const char *at = text; at != NULL;) {
        const size_t length = strcspn(at, ",");
        size_t i = 0;
        while (i < 3 && !text_starts_with(at, parts[i].name)) i++;
        if (i == 3 || length <= 3 || !text_to_int64(at + 3, length - 3, parts[i].value) ||
            *parts[i].value < 1 || *parts[i].value > 4096)
            return options_fault(call, "option --parallel requires tp=N,pp=N,ep=N, got '%s'",
                                 text);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return CM_OK;
}

struct job {
    const struct request *request;
    const struct cm_llm *llm;
};

static int write_report(const void *context, FILE *out) {
    const struct job *job = context;
    struct cm_text_options text;
    if (job->request->format == FORMAT_JSON) return cm_llm_write_json(job->llm, out);
    cm_text_options_init(&text);
    text.color = streams_color(out, (enum color_choice)job->request->color);
    text.width = streams_columns(out, job->request->width, text.width);
    text.unicode = streams_utf8();
    return cm_llm_write_text(job->llm, &text, out);
}

static int read_request(const struct invocation *call, struct request *request,
                        struct cm_options *options, struct option_list *operands) {
    double reserve = 10;
    const bool weights_only = request->llm.weights_only;
    int status = options_parse(weights_only ? quantize_options : llm_options, call, request,
                               operands);
    if (status == CM_OK && operands->n != 1)
        status = options_fault(call, "%s requires one model, got %zu",
                               weights_only ? "quantize" : "llm", operands->n);
    if (status == CM_OK) status = read_real(call, "reserve", request->reserve, 100, &reserve);
    if (status == CM_OK) status = read_policy(call, request->policy, &request->llm.page);
    if (status == CM_OK) status = read_parallel(call, request->parallel, &request->llm);
    if (status == CM_OK)
        status = read_real(call, "price", request->price, 1e9, &request->llm.price);
    if (status == CM_OK)
        status = read_real(call, "watts", request->watts, 1e9, &request->llm.watts);
    if (status != CM_OK) return status;
    request->llm.reserve = reserve / 100;
    request->llm.last_logits = request->logits == LOGITS_LAST;
    request->llm.n_batches = request->batches.n;
    request->llm.batches = request->batches.values;
    request->llm.n_contexts = request->contexts.n;
    request->llm.contexts = request->contexts.values;
    request->llm.n_quantize = request->quantize.n;
    request->llm.quantize = request->quantize.values;
    options->n_dims = request->dims.n;
    options->runtime = (enum cm_runtime)request->runtime;
    status = binding_read_dims(call, "dim", &request->dims, &options->dims);
    if (status != CM_OK || request->device == NULL) return status;
    const char *device = NULL;
    status = cm_device_resolve(request->device, call->diag, &device);
    if (status == CM_USAGE) diag_hint(call->diag, "costmodel backends lists the devices");
    if (status != CM_OK) return status;
    options->backend = arena_printf(call->arena, "roofline:device=%s", device);
    return options->backend ? CM_OK : diag_no_memory(call->diag);
}

static int run(const struct invocation *call, bool weights_only) {
    struct request request = {.width = -1};
    struct cm_options options;
    struct option_list operands = {0, NULL};
    struct cm_model *model = NULL;
    struct cm_llm *llm = NULL;
    cm_llm_options_init(&request.llm);
    cm_options_init(&options);
    request.llm.weights_only = weights_only;
    int status = read_request(call, &request, &options, &operands);
    if (status != CM_OK) return command_exit(status);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (!diag) return command_exit(diag_no_memory(call->diag));
    status = cm_model_load_file(operands.values[0], diag, &model);
    if (status == CM_OK) status = outputs_keep_weights(model, request.output, diag);
    if (status == CM_OK) status = cm_model_llm(model, &options, &request.llm, diag, &llm);
    messages_print(diag, operands.values[0], (enum color_choice)request.color);
    cm_diagnostics_free(diag);
    const struct job job = {&request, llm};
    if (status == CM_OK) status = streams_write(request.output, write_report, &job, call->diag);
    cm_llm_free(llm);
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
