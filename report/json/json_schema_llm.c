/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables and writer of `costmodel llm` (docs/llm.md). */
#include "costmodel/llm.h"

#include <inttypes.h>
#include <string.h>

#include "report/json/json_document.h"
#include "report/json/json_rows.h"
#include "report/table/csv.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/text.h"

/* clang-format off */
static const struct json_record layers_record = RECORD(struct cm_llm_layers, "llm_layers", "Layers of attention with equal sizes",
    VALUE("layers", JSON_COUNT, struct cm_llm_layers, n, "number of layers"),
    VALUE("kind", JSON_TEXT, struct cm_llm_layers, kind, "`full`, `window`, `cross`"),
    VALUE("cache", JSON_TEXT, struct cm_llm_layers, cache, "of the file: `grows`, `buffer`, `source`, `none`, or `shared` with an earlier layer"),
    VALUE("heads", JSON_COUNT, struct cm_llm_layers, heads, "heads of queries"),
    VALUE("kv_heads", JSON_COUNT, struct cm_llm_layers, kv_heads, "heads of keys and values"),
    VALUE("key_columns", JSON_COUNT, struct cm_llm_layers, key_columns, "of a head"),
    VALUE("value_columns", JSON_COUNT, struct cm_llm_layers, value_columns, "of a head"),
    VALUE("window", JSON_COUNT, struct cm_llm_layers, window, "tokens that a query sees; 0: all before it"),
    VALUE("bytes_per_token", JSON_COUNT, struct cm_llm_layers, bytes_per_token, "of keys and values of one layer"),
    VALUE("latent_bytes", JSON_COUNT, struct cm_llm_layers, latent_bytes, "per token, of the vector from which keys and values can be computed; 0: there is none"),
    VALUE("expanded_bytes", JSON_COUNT, struct cm_llm_layers, expanded_bytes, "per token, of these keys and values; 0: no latent vector"));

static const struct json_record phase_record = RECORD(struct cm_llm_phase, "llm_phase", "A step, or a whole generation",
    VALUE("name", JSON_TEXT, struct cm_llm_phase, name, "`prefill`, `decode`, or `generate`: prefill and all steps of decode"),
    VALUE("batch", JSON_COUNT, struct cm_llm_phase, batch, "sequences"),
    VALUE("tokens", JSON_COUNT, struct cm_llm_phase, tokens, "new tokens of each sequence"),
    VALUE("past", JSON_COUNT, struct cm_llm_phase, past, "tokens of each sequence before the step"),
    VALUE("macs", JSON_COUNT, struct cm_llm_phase, macs, "of one GPU; causal masks do not reduce them"),
    VALUE("bytes", JSON_COUNT, struct cm_llm_phase, bytes, "weights, keys and values, and states, each moved once"),
    VALUE("weight_bytes", JSON_COUNT, struct cm_llm_phase, weight_bytes, "part of `bytes`"),
    VALUE("kv_bytes", JSON_COUNT, struct cm_llm_phase, kv_bytes, "part of `bytes`"),
    VALUE("state_bytes", JSON_COUNT, struct cm_llm_phase, state_bytes, "part of `bytes`"),
    VALUE("lower_bound_ps", JSON_COUNT, struct cm_llm_phase, lower_bound_ps, "picoseconds; `null` without a device"),
    VALUE("latency_ps", JSON_COUNT, struct cm_llm_phase, latency_ps, "expected; `null` likewise, or if the device cannot compute with these numbers"),
    VALUE("latency_low_ps", JSON_COUNT, struct cm_llm_phase, latency_low_ps, "eight of ten times are above"),
    VALUE("latency_high_ps", JSON_COUNT, struct cm_llm_phase, latency_high_ps, "and below"),
    VALUE("communication_ps", JSON_COUNT, struct cm_llm_phase, communication_ps, "part of `latency_ps`: collectives"),
    VALUE("limited_by", JSON_TEXT, struct cm_llm_phase, limited_by, "`compute`, `memory`, `collectives`; empty without a device"));

static const struct json_record capacity_record = RECORD(struct cm_llm_capacity, "llm_capacity", "How many sequences of a length fit",
    VALUE("context", JSON_COUNT, struct cm_llm_capacity, context, "tokens of each sequence"),
    VALUE("sequences", JSON_COUNT, struct cm_llm_capacity, sequences, "that fit"),
    VALUE("tokens_per_s", JSON_COUNT, struct cm_llm_capacity, tokens_per_s, "ceiling: no server decodes more tokens per second with so many sequences"),
    VALUE("expected_tokens_per_s", JSON_COUNT, struct cm_llm_capacity, expected_tokens_per_s, "from the expected time of a step; without queueing and prefill"));

static const struct json_record point_record = RECORD(struct cm_llm_point, "llm_point", "Costs at a context",
    VALUE("context", JSON_COUNT, struct cm_llm_point, context, "tokens of each sequence, the new one included"),
    VALUE("request_bytes", JSON_COUNT, struct cm_llm_point, request_bytes, "of caches and states of one sequence, on one GPU"),
    VALUE("lower_bound_ps", JSON_COUNT, struct cm_llm_point, lower_bound_ps, "of a step of decode at batch 1; `null` without a device"),
    VALUE("latency_ps", JSON_COUNT, struct cm_llm_point, latency_ps, "expected"),
    VALUE("batch_lower_bound_ps", JSON_COUNT, struct cm_llm_point, batch_lower_bound_ps, "at batch `curve_batch`; `null` likewise, or if the batch does not fit"),
    VALUE("batch_latency_ps", JSON_COUNT, struct cm_llm_point, batch_latency_ps, "expected"));

static const struct json_record what_if_record = RECORD(struct cm_llm_what_if, "llm_what_if", "A change, with all else equal",
    VALUE("name", JSON_TEXT, struct cm_llm_what_if, name, "`as is`, `kv fp8`, `int4:g128`, `tp=2`"),
    VALUE("weight_bytes", JSON_COUNT, struct cm_llm_what_if, weight_bytes, "stored tensors of one GPU"),
    VALUE("kv_bytes_per_token", JSON_COUNT, struct cm_llm_what_if, kv_bytes_per_token, "of one GPU, layers with windows included"),
    VALUE("sequences", JSON_COUNT, struct cm_llm_what_if, sequences, "of the request that fit; `null` without a limit"),
    VALUE("lower_bound_ps", JSON_COUNT, struct cm_llm_what_if, lower_bound_ps, "of decode at batch 1"),
    VALUE("latency_ps", JSON_COUNT, struct cm_llm_what_if, latency_ps, "of decode at batch 1"),
    VALUE("note", JSON_TEXT, struct cm_llm_what_if, note, "collectives per token"));

static const struct json_record gain_record = RECORD(struct cm_llm_gain, "llm_gain", "Weights, and the bytes and time that a smaller format saves",
    VALUE("weights", JSON_TEXT, struct cm_llm_gain, weights, "name, with `*` for numbers"),
    VALUE("tensors", JSON_COUNT, struct cm_llm_gain, n, "number of weights"),
    VALUE("elements", JSON_COUNT, struct cm_llm_gain, elements, "of all of them"),
    VALUE("bytes", JSON_COUNT, struct cm_llm_gain, bytes, "as stored"),
    VALUE("quantized_bytes", JSON_COUNT, struct cm_llm_gain, quantized_bytes, "in the format, with scales and zero points"),
    VALUE("gain_ps", JSON_COUNT, struct cm_llm_gain, gain_ps, "less time to read them in one step"),
    VALUE("format", JSON_TEXT, struct cm_llm_gain, format, "of --quantize, or `int4:g128`; `as stored`: they stay"));

static const struct json_record active_record = RECORD(struct cm_llm_active, "llm_active", "Params that some tokens need together",
    VALUE("tokens", JSON_COUNT, struct cm_llm_active, tokens, "tokens of a step"),
    VALUE("params", JSON_COUNT, struct cm_llm_active, params, "expected, if each token chooses its experts uniformly"),
    VALUE("most", JSON_COUNT, struct cm_llm_active, most, "if no two tokens choose the same expert"));

static const struct json_record collective_record = RECORD(struct cm_llm_collective, "llm_collective", "Collectives of a step",
    VALUE("kind", JSON_TEXT, struct cm_llm_collective, kind, "`all-reduce`, `all-gather`, `all-to-all`, `send`"),
    VALUE("phase", JSON_TEXT, struct cm_llm_collective, phase, "`prefill` or `decode`"),
    VALUE("count", JSON_COUNT, struct cm_llm_collective, n, "per step"),
    VALUE("bytes", JSON_COUNT, struct cm_llm_collective, bytes, "of one, on one GPU"));

static const struct json_record figures_record = RECORD(struct cm_llm, "llm_figures", "Figures of one GPU, and of one sequence where stated",
    VALUE("layers", JSON_COUNT, struct cm_llm, n_layers, "layers of attention"),
    VALUE("max_context", JSON_COUNT, struct cm_llm, max_context, "tokens for which fixed caches or tables of positions have room; `null`: no limit in the file"),
    LIST("layer_kinds", struct cm_llm, layer_kinds, n_layer_kinds, layers_record, "layers by sizes"),
    VALUE("params", JSON_COUNT, struct cm_llm, params, "learned elements"),
    VALUE("params_per_gpu", JSON_COUNT, struct cm_llm, params_per_gpu, "of the GPU with the most"),
    VALUE("active_params", JSON_COUNT, struct cm_llm, active_params, "all but the experts that a token does not choose"),
    VALUE("active_without_input_embedding", JSON_COUNT, struct cm_llm, active_without_input_embedding, "`active_params` without the table of token embeddings"),
    VALUE("expert_params", JSON_COUNT, struct cm_llm, expert_params, "of all experts that are chosen from"),
    VALUE("experts", JSON_COUNT, struct cm_llm, experts, "per layer; 0: none"),
    VALUE("experts_per_token", JSON_COUNT, struct cm_llm, experts_per_token, "that a token chooses"),
    VALUE("weight_bytes", JSON_COUNT, struct cm_llm, weight_bytes, "of learned tensors"),
    VALUE("stored_bytes", JSON_COUNT, struct cm_llm, stored_bytes, "of these and other stored tensors"),
    VALUE("has_cache", JSON_FLAG, struct cm_llm, has_cache, "the file has caches"),
    VALUE("last_logits", JSON_FLAG, struct cm_llm, last_logits, "prefill computes the logits of the last token only"),
    VALUE("kv_bytes_per_token", JSON_COUNT, struct cm_llm, kv_bytes_per_token, "of one sequence, layers whose cache grows with the context"),
    VALUE("kv_bytes_per_token_window", JSON_COUNT, struct cm_llm, kv_bytes_per_token_window, "of one sequence, layers with a window"),
    VALUE("window", JSON_COUNT, struct cm_llm, window, "tokens, the largest; 0: none"),
    VALUE("kv_bytes_per_token_latent", JSON_COUNT, struct cm_llm, kv_bytes_per_token_latent, "`kv_bytes_per_token` if latent vectors are stored; 0: there are none"),
    VALUE("kv_bytes_per_token_expanded", JSON_COUNT, struct cm_llm, kv_bytes_per_token_expanded, "the same if keys and values are; 0: no latent vectors"),
    VALUE("cross_bytes_per_token", JSON_COUNT, struct cm_llm, cross_bytes_per_token, "per token of the source of an encoder-decoder"),
    VALUE("state_bytes_per_sequence", JSON_COUNT, struct cm_llm, state_bytes_per_sequence, "constant state of recurrences and convolutions; `null`: not in the file"),
    VALUE("prompt", JSON_COUNT, struct cm_llm, prompt, "tokens"),
    VALUE("new_tokens", JSON_COUNT, struct cm_llm, new_tokens, "tokens"),
    VALUE("request_bytes", JSON_COUNT, struct cm_llm, request_bytes, "of caches and states of a sequence of prompt + new tokens, on one GPU"),
    VALUE("request_sequences", JSON_COUNT, struct cm_llm, request_sequences, "such sequences that fit, on all GPUs; `null` without a limit"),
    VALUE("memory_limit", JSON_COUNT, struct cm_llm, memory_limit, "bytes of one GPU; `null`: unknown"),
    VALUE("reserve", JSON_RATIO, struct cm_llm, reserve, "share of the memory that is not used"),
    VALUE("arena_bytes", JSON_COUNT, struct cm_llm, arena_bytes, "for activations"),
    VALUE("page", JSON_COUNT, struct cm_llm, page, "tokens of a block of the cache; 0: none"),
    VALUE("longest_context", JSON_COUNT, struct cm_llm, longest_context, "of one sequence that fits; `null` without a limit"),
    VALUE("memory_bound_context", JSON_COUNT, struct cm_llm, memory_bound_context, "above it decode is limited by memory at every batch; `null`: never, or no device"),
    VALUE("tp", JSON_COUNT, struct cm_llm, tp, "GPUs that divide each layer"),
    VALUE("pp", JSON_COUNT, struct cm_llm, pp, "GPUs that divide the layers"),
    VALUE("ep", JSON_COUNT, struct cm_llm, ep, "GPUs that divide the experts"),
    LIST("phases", struct cm_llm, phases, n_phases, phase_record, "prefill, decode at each batch, and a whole generation"),
    LIST("capacity", struct cm_llm, capacity, n_capacity, capacity_record, "by context; empty without a memory limit"),
    VALUE("curve_batch", JSON_COUNT, struct cm_llm, curve_batch, "the largest of the batches"),
    LIST("curve", struct cm_llm, curve, n_curve, point_record, "by context: powers of two from 1024 to the longest that fits, 131072 without a limit, at most 1048576"),
    LIST("what_ifs", struct cm_llm, what_ifs, n_what_ifs, what_if_record, "changes, with the first batch and context"),
    LIST("quantization", struct cm_llm, gains, n_gains, gain_record, "weights by what a smaller format saves, largest first"),
    VALUE("stored_elements", JSON_COUNT, struct cm_llm, stored_elements, "of all stored tensors"),
    VALUE("quantized_bytes", JSON_COUNT, struct cm_llm, quantized_bytes, "of all stored tensors, in the formats of `quantization`"),
    LIST("active", struct cm_llm, active, n_active, active_record, "by number of tokens; empty without experts"),
    LIST("collectives", struct cm_llm, collectives, n_collectives, collective_record, "per step"),
    MANY("replicated", JSON_TEXTS, struct cm_llm, replicated, n_replicated, "weights that tensor parallelism does not divide"),
    VALUE("price_per_million_tokens", JSON_RATIO, struct cm_llm, price_per_million_tokens, "at least, at the ceiling of the request's capacity; `null`: no price"),
    VALUE("joules_per_token", JSON_RATIO, struct cm_llm, joules_per_token, "at the expected rate of the request's capacity; `null`: no watts"));

static const struct json_record llm_record = RECORD(struct cm_llm, "llm", "Costs of serving a language model (docs/llm.md)",
    VALUE("model", JSON_TEXT, struct cm_llm, path, "path"),
    VALUE("device", JSON_NULLABLE, struct cm_llm, device, "modelled device; `null`: none"),
    OPTIONAL("device_basis", JSON_NULLABLE, struct cm_llm, device_basis, "measurements behind the expected times"),
    VALUE("weight_dtype", JSON_TEXT, struct cm_llm, weight_dtype, "of the largest weight, as stored"),
    VALUE("kv_dtype", JSON_TEXT, struct cm_llm, kv_dtype, "of keys and values"),
    {"llm", JSON_OBJECT, false, 0, 0, &figures_record, NULL, "the figures"});

const struct json_document json_llm = {"costmodel/llm/1", NULL, "llm", &llm_record, offsetof(struct cm_llm, arena)};

static const struct json_record row_record = RECORD(struct cm_llm_row, "llm_row", "A combination of prompt, batch, device and division",
    VALUE("model", JSON_TEXT, struct cm_llm_row, model, "path"),
    VALUE("device", JSON_NULLABLE, struct cm_llm_row, device, "modelled device; `null`: none"),
    VALUE("tp", JSON_COUNT, struct cm_llm_row, tp, "GPUs that divide each layer"),
    VALUE("pp", JSON_COUNT, struct cm_llm_row, pp, "GPUs that divide the layers"),
    VALUE("ep", JSON_COUNT, struct cm_llm_row, ep, "GPUs that divide the experts"),
    VALUE("prompt", JSON_COUNT, struct cm_llm_row, prompt, "tokens"),
    VALUE("batch", JSON_COUNT, struct cm_llm_row, batch, "sequences that are decoded together"),
    VALUE("context", JSON_COUNT, struct cm_llm_row, context, "tokens of a sequence in the end: prompt + new tokens"),
    VALUE("request_bytes", JSON_COUNT, struct cm_llm_row, request_bytes, "of caches and states of one sequence, on one GPU"),
    VALUE("stored_bytes", JSON_COUNT, struct cm_llm_row, stored_bytes, "of weights and other stored tensors, on one GPU"),
    VALUE("request_sequences", JSON_COUNT, struct cm_llm_row, request_sequences, "that fit, on all GPUs; `null` without a memory limit"),
    VALUE("prefill_lower_bound_ps", JSON_COUNT, struct cm_llm_row, prefill_lower_bound_ps, "of one sequence, picoseconds; `null` without a device"),
    VALUE("prefill_ps", JSON_COUNT, struct cm_llm_row, prefill_ps, "expected; `null` likewise, or if the device cannot compute with these numbers"),
    VALUE("decode_lower_bound_ps", JSON_COUNT, struct cm_llm_row, decode_lower_bound_ps, "of a step of the batch"),
    VALUE("decode_ps", JSON_COUNT, struct cm_llm_row, decode_ps, "expected"),
    VALUE("tokens_per_s", JSON_COUNT, struct cm_llm_row, tokens_per_s, "of the batch, while it decodes: ceiling"),
    VALUE("expected_tokens_per_s", JSON_COUNT, struct cm_llm_row, expected_tokens_per_s, "from the expected time of a step; without queueing and prefill"));

static const struct json_record sweep_record = RECORD(struct cm_llm_sweep, "llm_sweep", "Costs of serving a language model by prompt, batch, device and division (docs/llm.md)",
    LIST("rows", struct cm_llm_sweep, rows, n_rows, row_record, "combinations"));

const struct json_document json_llm_sweep = {"costmodel/llm-sweep/1", NULL, "llm-sweep", &sweep_record, offsetof(struct cm_llm_sweep, arena)};
/* clang-format on */

int cm_llm_sweep_write_json(const struct cm_llm_sweep *sweep, FILE *out) {
    return sweep && out ? json_document_write(&json_llm_sweep, sweep, false, out) : CM_USAGE;
}

/* The columns are the keys of the JSON; unknown figures are empty cells. */
int cm_llm_sweep_write_csv(const struct cm_llm_sweep *sweep, FILE *out) {
    if (!sweep || !out) return CM_USAGE;
    struct arena *arena = arena_new("csv", 0);
    if (!arena) return CM_NO_MEMORY;
    struct text safe = {.arena = arena};
    for (size_t i = 0; i < row_record.n_fields; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ",", row_record.fields[i].key);
    fputs("\r\n", out);
    for (size_t row = 0; row < sweep->n_rows; row++) {
        for (size_t i = 0; i < row_record.n_fields; i++) {
            const struct json_field *field = &row_record.fields[i];
            const char *at = (const char *)&sweep->rows[row] + field->offset;
            const char *words = NULL;
            int64_t value = CM_UNKNOWN;
            if (i > 0) fputc(',', out);
            if (field->kind == JSON_COUNT)
                memcpy(&value, at, sizeof value);
            else
                memcpy(&words, at, sizeof words);
            if (words) csv_put_text(words, &safe, out);
            if (is_known(value)) fprintf(out, "%" PRId64, value);
        }
        fputs("\r\n", out);
    }
    return arena_end(arena, output_flush(out));
}

int cm_llm_write_json(const struct cm_llm *llm, FILE *out) {
    return llm && out ? json_document_write(&json_llm, llm, false, out) : CM_USAGE;
}
