/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of serving a language model: prefill, decode, KV cache, capacity, quantization and
 * parallel inference, from one ONNX file (docs/llm.md).
 *
 *     struct cm_llm_options options;
 *     struct cm_llm *llm = NULL;
 *     cm_llm_options_init(&options);
 *     options.prompt = 8192;
 *     if (cm_model_llm(model, &profile_options, &options, diagnostics, &llm) == CM_OK)
 *         printf("%lld bytes per token\n", (long long)llm->kv_bytes_per_token);
 *     cm_llm_free(llm);
 *
 * Figures are those of one GPU if the model is divided. Times are CM_UNKNOWN without a device
 * (cm_options.backend).
 */
#ifndef COSTMODEL_LLM_H
#define COSTMODEL_LLM_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* cm_llm_options_init sets the defaults. All pointers are borrowed for the duration of the
 * call.
 */
struct cm_llm_options {
    size_t size;        /* sizeof(struct cm_llm_options) */
    int64_t prompt;     /* tokens of the prompt of each sequence; 2048 */
    int64_t new_tokens; /* tokens to generate; 256 */
    int64_t chunk;      /* tokens of a chunk of prefill; 0: the whole prompt at once */
    int64_t source;     /* tokens of the source of an encoder-decoder; 0: `prompt` */
    size_t n_batches;   /* sequences decoded together; 0: 1 and 32 */
    const int64_t *batches;
    size_t n_contexts; /* of the table of capacity; 0: that of the request and longer ones */
    const int64_t *contexts;
    int64_t memory_limit; /* bytes of one GPU; 0: those of the device */
    double reserve;       /* share of this memory that is not used; 0.1 */
    int64_t arena;        /* bytes for activations; CM_UNKNOWN: computed */
    const char *kv_dtype; /* "fp8": format of keys and values; NULL: as in the file */
    /* Tokens of a block of the cache; layers with a window then take as many blocks as others,
     * as in vLLM. 0: exactly the tokens, and no more than the window. 16 */
    int64_t page;
    size_t n_quantize;
    const char *const
        *quantize;      /* "PATTERN=FORMAT": weights whose names match; the last wins */
    bool last_logits;   /* compute only the logits of the last token of each sequence */
    int64_t tp, pp, ep; /* GPUs that divide each layer, the layers, the experts; 1 */
    double price;       /* of one GPU, per hour; 0: unknown */
    double watts;       /* of one GPU; 0: unknown */
    bool weights_only;  /* of any model: only the weights, and what their formats save */
    bool ignore_dims;   /* dims of the profile options that follow from these options are
                           ignored; false: refused */
};

CM_API void cm_llm_options_init_sized(struct cm_llm_options *options, size_t size);
static inline void cm_llm_options_init(struct cm_llm_options *options) {
    cm_llm_options_init_sized(options, sizeof(*options));
}

/* Layers of attention with equal sizes. */
struct cm_llm_layers {
    int64_t n;
    const char *kind;  /* "full", "window", "cross", "bidirectional" */
    const char *cache; /* "grows", "buffer", "none": the file has no cache; "shared": of an
                          earlier layer */
    int64_t heads, kv_heads;
    int64_t key_columns, value_columns; /* of a head */
    int64_t window;                     /* tokens; 0: all */
    int64_t bytes_per_token;            /* of one layer; cross: per token of the source */
    int64_t latent_bytes;   /* per token, of the vector from which keys and values can be
                               computed; 0: there is none */
    int64_t expanded_bytes; /* per token, of these keys and values; 0: no latent vector */
};

/* One step or a sum of steps. */
struct cm_llm_phase {
    const char *name; /* "prefill", "decode", "generate": a whole generation */
    int64_t batch;
    int64_t tokens; /* new ones of each sequence */
    int64_t past;   /* of each sequence, before the step */
    int64_t macs;
    int64_t bytes; /* weights, keys and values, and states, each moved once */
    int64_t weight_bytes, kv_bytes, state_bytes;
    int64_t lower_bound_ps, latency_ps;
    int64_t latency_low_ps, latency_high_ps; /* eight of ten times are between */
    int64_t communication_ps;                /* part of latency_ps */
    const char *limited_by; /* "compute", "memory", "collectives"; "" without a device */
};

/* How many sequences of a length fit. */
struct cm_llm_capacity {
    int64_t context;      /* tokens of each sequence */
    int64_t sequences;    /* on all GPUs together */
    int64_t tokens_per_s; /* of all sequences; no more are possible; this and the next: rounded
                             down, CM_UNKNOWN without a device */
    int64_t expected_tokens_per_s;
};

/* A change of the model or of its division, with all else equal. */
struct cm_llm_what_if {
    const char *name;
    int64_t weight_bytes;       /* of one GPU */
    int64_t kv_bytes_per_token; /* of one GPU */
    int64_t sequences;          /* of prompt + new tokens; CM_UNKNOWN without a memory limit */
    int64_t lower_bound_ps, latency_ps; /* of decode at batch 1 */
    const char *note;                   /* "64 all-reduces per token"; "" */
};

/* Weights, and the time that a smaller format of them saves in a step. */
struct cm_llm_gain {
    const char *weights; /* name, with "*" for numbers: "model.layers.*.mlp.down_proj.weight" */
    int64_t n;
    int64_t elements, bytes, quantized_bytes;
    int64_t gain_ps;    /* CM_UNKNOWN without a device */
    const char *format; /* as stored, or the format of the options */
};

/* Params that some tokens need together. Biases of experts are not included in the difference.
 */
struct cm_llm_active {
    int64_t tokens;
    int64_t params; /* expected, if each token chooses its experts uniformly */
    int64_t most;   /* if no two tokens choose the same expert */
};

struct cm_llm_collective {
    const char *kind; /* "all-reduce", "all-gather", "all-to-all", "send" */
    const char *phase;
    int64_t n;     /* per step */
    int64_t bytes; /* of one */
};

/* Costs at a context. Times are CM_UNKNOWN without a device, or if the batch does not fit. */
struct cm_llm_point {
    int64_t context;                    /* tokens of each sequence, the new one included */
    int64_t request_bytes;              /* caches and states of one sequence, one GPU */
    int64_t lower_bound_ps, latency_ps; /* of a step of decode at batch 1 */
    int64_t batch_lower_bound_ps, batch_latency_ps; /* at batch `curve_batch` */
};

struct cm_llm {
    const char *path;
    const char *device;       /* NULL: none */
    const char *device_basis; /* measurements behind the expected times; "" */
    const char *weight_dtype, *kv_dtype;
    int64_t n_layers;    /* of attention */
    int64_t max_context; /* of the caches or position tables of the file; CM_UNKNOWN */
    size_t n_layer_kinds;
    const struct cm_llm_layers *layer_kinds;
    int64_t params;
    int64_t active_params; /* with the experts that one token chooses */
    int64_t active_without_input_embedding;
    int64_t params_per_gpu;                            /* `params` of the GPU with the most */
    int64_t expert_params, experts, experts_per_token; /* 0: no experts */
    int64_t weight_bytes;                              /* learned tensors, of one GPU */
    int64_t stored_bytes; /* these and other stored tensors, of one GPU */
    bool has_cache;       /* the file has caches */
    bool last_logits;     /* prefill computes the logits of the last token only */
    /* Of one sequence, on one GPU: */
    int64_t kv_bytes_per_token;          /* of layers whose cache grows with the context */
    int64_t kv_bytes_per_token_window;   /* of layers with a window, up to `window` tokens */
    int64_t window;                      /* the largest; 0: none */
    int64_t kv_bytes_per_token_latent;   /* with latent vectors instead; 0: the file has none */
    int64_t kv_bytes_per_token_expanded; /* with the keys and values themselves; 0 likewise */
    int64_t cross_bytes_per_token;       /* per token of the source */
    int64_t state_bytes_per_sequence;    /* constant; CM_UNKNOWN: not in the file */
    int64_t prompt, new_tokens;
    int64_t request_bytes;     /* of caches and states of a sequence of prompt + new tokens */
    int64_t request_sequences; /* such sequences that fit, on all GPUs; CM_UNKNOWN: no limit */
    int64_t memory_limit, arena_bytes; /* memory_limit CM_UNKNOWN: not given */
    int64_t reserve;                   /* ratio, in millionths */
    int64_t page;
    int64_t longest_context;      /* of one sequence that fits; CM_UNKNOWN without a limit */
    int64_t memory_bound_context; /* above it, decode is limited by memory at every batch;
                                     CM_UNKNOWN: at none, or no device */
    int64_t tp, pp, ep;
    size_t n_phases;
    const struct cm_llm_phase *phases;
    size_t n_capacity;
    const struct cm_llm_capacity *capacity;
    int64_t curve_batch; /* the largest of the batches */
    size_t n_curve;
    const struct cm_llm_point *curve; /* contexts 1024, 2048, ... that fit; without a limit to
                                         131072 */
    size_t n_what_ifs;
    const struct cm_llm_what_if *what_ifs;
    size_t n_gains;
    const struct cm_llm_gain *gains; /* largest first */
    int64_t stored_elements;         /* of all stored tensors */
    int64_t quantized_bytes;         /* of all stored tensors in the formats of `gains` */
    bool weights_only;               /* as in the options: other figures are 0 */
    size_t n_active;                 /* 0: no experts */
    const struct cm_llm_active *active;
    size_t n_collectives;
    const struct cm_llm_collective *collectives;
    size_t n_replicated; /* weights that tensor parallelism does not divide */
    const char *const *replicated;
    /* At the capacity of the request; millionths, CM_UNKNOWN without the option: */
    int64_t price_per_million_tokens; /* at least: at tokens_per_s */
    int64_t joules_per_token;         /* at expected_tokens_per_s, if `watts` are drawn */
    void *arena;                      /* private */
};

/* One combination of prompt, batch, device and division. */
struct cm_llm_row {
    const char *model;
    const char *device; /* NULL: none */
    int64_t tp, pp, ep;
    int64_t prompt, batch;
    int64_t context;       /* tokens of a sequence in the end: prompt + new tokens */
    int64_t request_bytes; /* this and the next two: as in struct cm_llm */
    int64_t stored_bytes;
    int64_t request_sequences;
    int64_t prefill_lower_bound_ps, prefill_ps;  /* of one sequence */
    int64_t decode_lower_bound_ps, decode_ps;    /* of a step of the batch */
    int64_t tokens_per_s, expected_tokens_per_s; /* of the batch, while it decodes; rounded
                                                    down, as in struct cm_llm_capacity */
};

struct cm_llm_sweep {
    size_t n_rows;
    const struct cm_llm_row *rows;
    void *arena; /* private */
};

/*
 * Computes the costs of serving the model. `options` gives device, precision and other dims;
 * the dims of batch, sequence, past and total follow from `llm`. CM_OK, CM_USAGE, CM_REFUSED
 * (the model has no token input or no attention), CM_NO_MEMORY. Free with cm_llm_free.
 */
CM_API int cm_model_llm(struct cm_model *model, const struct cm_options *options,
                        const struct cm_llm_options *llm, struct cm_diagnostics *diagnostics,
                        struct cm_llm **ret) CM_MUST_CHECK;
CM_API void cm_llm_free(struct cm_llm *llm);

/* Returns the number of GPUs that run the model. */
static inline int64_t cm_llm_gpus(const struct cm_llm *llm) {
    return (llm->tp > llm->ep ? llm->tp : llm->ep) * llm->pp;
}

/* Lists the rows of some results, one for each of their batches, in this order. The rows borrow
 * from the results. CM_OK, CM_USAGE, CM_NO_MEMORY. Free with cm_llm_sweep_free. */
CM_API int cm_llm_sweep_make(const struct cm_llm *const *llms, size_t n,
                             struct cm_diagnostics *diagnostics,
                             struct cm_llm_sweep **ret) CM_MUST_CHECK;
CM_API void cm_llm_sweep_free(struct cm_llm_sweep *sweep);

/* Write a sweep as a table, as CSV, and as JSON. CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_llm_sweep_write_text(const struct cm_llm_sweep *sweep,
                                   const struct cm_text_options *options,
                                   FILE *out) CM_MUST_CHECK;
CM_API int cm_llm_sweep_write_csv(const struct cm_llm_sweep *sweep, FILE *out) CM_MUST_CHECK;
CM_API int cm_llm_sweep_write_json(const struct cm_llm_sweep *sweep, FILE *out) CM_MUST_CHECK;

/* Write the report as text and as JSON. The caller flushes the stream. CM_OK, CM_NO_MEMORY. */
CM_API int cm_llm_write_text(const struct cm_llm *llm, const struct cm_text_options *options,
                             FILE *out) CM_MUST_CHECK;
CM_API int cm_llm_write_json(const struct cm_llm *llm, FILE *out) CM_MUST_CHECK;
/* Writes a page of HTML without script: the text report, memory, and charts over the context.
 * CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_llm_write_html(const struct cm_llm *llm, FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
