/* SPDX-License-Identifier: Apache-2.0 */
/* Schema tables and writer of `costmodel llm` (docs/llm.md). */
#include "costmodel/llm.h"

#include "report/json/json_document.h"
#include "report/json/json_rows.h"

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
    VALUE("limited_by", JSON_TEXT, struct cm_llm_phase, limited_by, "`compute`, `memory`; empty without a device"));

static const struct json_record capacity_record = RECORD(struct cm_llm_capacity, "llm_capacity", "How many sequences of a length fit",
    VALUE("context", JSON_COUNT, struct cm_llm_capacity, context, "tokens of each sequence"),
    VALUE("sequences", JSON_COUNT, struct cm_llm_capacity, sequences, "that fit"),
    VALUE("tokens_per_s", JSON_COUNT, struct cm_llm_capacity, tokens_per_s, "ceiling: no server decodes more tokens per second with so many sequences"),
    VALUE("expected_tokens_per_s", JSON_COUNT, struct cm_llm_capacity, expected_tokens_per_s, "from the expected time of a step; without queueing and prefill"));

static const struct json_record what_if_record = RECORD(struct cm_llm_what_if, "llm_what_if", "A change, with all else equal",
    VALUE("name", JSON_TEXT, struct cm_llm_what_if, name, "`kv fp8`, `int4:g128`, `tp=2`"),
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
    VALUE("state_bytes_per_sequence", JSON_COUNT, struct cm_llm, state_bytes_per_sequence, "constant state of recurrences and convolutions"),
    VALUE("prompt", JSON_COUNT, struct cm_llm, prompt, "tokens"),
    VALUE("new_tokens", JSON_COUNT, struct cm_llm, new_tokens, "tokens"),
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
    LIST("what_ifs", struct cm_llm, what_ifs, n_what_ifs, what_if_record, "changes"),
    LIST("quantization", struct cm_llm, gains, n_gains, gain_record, "weights by what a smaller format saves, largest first"),
    VALUE("stored_elements", JSON_COUNT, struct cm_llm, stored_elements, "of all stored tensors"),
    VALUE("quantized_bytes", JSON_COUNT, struct cm_llm, quantized_bytes, "of all stored tensors, in the formats of `quantization`"),
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
/* clang-format on */

int cm_llm_write_json(const struct cm_llm *llm, FILE *out) {
    return llm && out ? json_document_write(&json_llm, llm, false, out) : CM_USAGE;
}
