#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Exports small language models of Hugging Face's transformers without weights, at least one of each kind of
cache, and computes what each keeps for a token and for a sequence.

    make_language_models.py --folder FOLDER [NAME ...]

Writes FOLDER/*.onnx and FOLDER/language_models.json. Needs torch, transformers, onnx, onnxscript
and onnxruntime-genai; no test runs it. Made with torch 2.15.0, transformers 5.24.0, onnx 1.23.2, onnxscript
0.7.2, onnx-ir 1.1.0, onnxruntime-genai 0.18.0.

Parameters are counted on the module. The sizes of caches are computed twice, from the configuration and from
the cache object of forward passes on the meta device; a difference is an error. The exported file plays no
part in either. Before an export, a module with random weights must compute the same logits from its cache as
from all tokens.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import contextlib
import io
import json
import logging
import os
import tempfile
import time
import warnings
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import onnx
import onnx_ir
import onnx_ir.passes.common as common
import torch
import transformers
from onnxscript.optimizer import fold_constants
from torch._subclasses.fake_tensor import FakeTensorMode
from transformers import AutoConfig, DynamicCache, EncoderDecoderCache, StaticCache
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

# Sizes of the example inputs. The past is longer than any window, so that the graph is that of a full window.
BATCH, SEQ, STATIC = 3, 21, 96
SMALL_BYTES = 1024  # larger tensors are stored in a file that does not exist
STATE = ("conv", "recurrent")

# form: nocache (all logits, nothing kept), lastlogits (logits of the last token only), prefill (returns its
#   cache), dyn (every layer keeps the whole past), ring (layers with a window keep only that), static (a
#   cache of fixed length, with a position).
# exporter: dynamo and torchscript are those of PyTorch; genai is the model builder of ONNX Runtime GenAI, whose
#   form is the type of its weights.
Export = namedtuple("Export", "form opset attention experts exporter seq",
                    defaults=(20, "sdpa", "batched_mm", "dynamo", SEQ))


def text_config(config):
    return config.get_text_config(decoder=True)


def layer_kinds(c):
    """Returns the kind of each layer: full, window, linear, hybrid, shared (reads another's cache) or none."""
    count = c.num_hidden_layers
    if c.model_type in ("mamba", "mamba2", "rwkv"):
        return ["linear"] * count
    if c.model_type == "falcon_h1":
        return ["hybrid"] * count
    types = getattr(c, "layer_types", None)
    if types is None:
        return ["window" if getattr(c, "sliding_window", None) else "full"] * count
    names = {"full_attention": "full", "sliding_attention": "window", "chunked_attention": "window",
             "linear_attention": "linear", "conv": "linear", "hybrid": "hybrid"}
    own = count - (getattr(c, "num_kv_shared_layers", 0) or 0)
    return [names.get(t, "none") if i < own else "shared" for i, t in enumerate(types[:count])]


def window_of(c):
    if "window" not in layer_kinds(c):
        return 0
    return getattr(c, "sliding_window", None) or c.attention_chunk_size


def state_elements(c):
    """Returns the elements that a layer keeps for its convolution, and for its recurrence."""
    if c.model_type in ("qwen3_next", "qwen3_5_moe_text", "qwen3_5_text"):
        keys = c.linear_num_key_heads * c.linear_key_head_dim
        values = c.linear_num_value_heads * c.linear_value_head_dim
        return (2 * keys + values) * c.linear_conv_kernel_dim, values * c.linear_key_head_dim
    if c.model_type == "nemotron_h":
        inner = c.mamba_num_heads * c.mamba_head_dim
        return (inner + 2 * c.n_groups * c.ssm_state_size) * c.conv_kernel, inner * c.ssm_state_size
    if c.model_type == "mamba2":
        inner = c.num_heads * c.head_dim
        return (inner + 2 * c.n_groups * c.state_size) * c.conv_kernel, inner * c.state_size
    if c.model_type == "mamba":
        inner = c.expand * c.hidden_size
        return inner * c.conv_kernel, inner * c.state_size
    if c.model_type == "falcon_h1":
        return ((c.mamba_d_ssm + 2 * c.mamba_n_groups * c.mamba_d_state) * c.mamba_d_conv,
                c.mamba_d_ssm * c.mamba_d_state)
    if c.model_type == "lfm2":
        return c.hidden_size * c.conv_L_cache, 0
    if c.model_type == "rwkv":  # the last token of two blocks; numerator, denominator and maximum
        return 2 * c.hidden_size, 3 * c.hidden_size
    raise ValueError(c.model_type)


def kv_elements(c, kind):
    """Returns the elements that an attention layer keeps for each token."""
    if getattr(c, "kv_lora_rank", None):
        return c.kv_lora_rank + c.qk_rope_head_dim
    c = c.per_layer_config[layer_kinds(c).index(kind)]  # Gemma 4's layers differ
    heads = getattr(c, "num_key_value_heads", None) or c.num_attention_heads
    dim = getattr(c, "head_dim", None) or getattr(c, "d_kv", None) or c.hidden_size // c.num_attention_heads
    return 2 * heads * dim


def kept_by_config(c):
    """Returns the elements that are kept by the configuration."""
    kinds = layer_kinds(c)
    kept = {"kv_elements_per_token": sum(kv_elements(c, k) for k in kinds if k in ("full", "hybrid")),
            "kv_elements_per_token_window": sum(kv_elements(c, k) for k in kinds if k == "window"),
            "state_elements_per_sequence": sum(sum(state_elements(c)) for k in kinds if k in ("linear", "hybrid"))}
    if c.is_encoder_decoder:
        kept["cross_elements_per_encoder_token"] = kept["kv_elements_per_token"]
    return kept


def tensors_of(cache):
    """Returns (layer, name, tensor) of everything that a cache holds."""
    held = []
    for i, layer in enumerate(cache.layers):
        if getattr(layer, "keys", None) is not None:
            held += [(i, "key", layer.keys), (i, "value", layer.values)]
        if isinstance(layer, LinearAttentionCacheLayerMixin):
            held += [(i, name, tensor) for name, states in zip(STATE, (layer.conv_states, layer.recurrent_states))
                     for tensor in states.values() if tensor is not None]
    return held


def held_after(model, c, tokens, past):
    """Returns what the cache of a pass over this many tokens holds."""
    ids = torch.ones(1, tokens, dtype=torch.int64, device="meta")
    with torch.no_grad():
        if c.model_type == "rwkv":
            states = model(ids, use_cache=True).state
            return [(0, STATE[min(i // 2, 1)], s) for i, s in enumerate(states)], []
        if c.is_encoder_decoder:
            hidden = torch.empty(1, past, c.d_model, dtype=model.dtype, device="meta")
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
            model(decoder_input_ids=ids, encoder_outputs=(hidden,), use_cache=True, cache=cache)
            return tensors_of(cache.self_attention_cache), tensors_of(cache.cross_attention_cache)
        cache = DynamicCache(config=c)
        model(input_ids=ids, use_cache=True, cache=cache)
        return tensors_of(cache), []


def per_sequence(held, wanted):
    return sum(t.numel() // t.shape[0] for layer, name, t in held if wanted(layer, name))


def kept_by_cache(model, c):
    """Returns the elements that caches hold: the growth from one pass to a longer one is per token."""
    window, kinds = window_of(c), layer_kinds(c)
    short, long = (24, 40) if not window else (window + 8, window + 24)
    encoded = 30
    less, less_cross = held_after(model, c, short, encoded)
    more, more_cross = held_after(model, c, long, encoded + 1)
    slides = lambda layer, name: kinds[layer] == "window"
    grows = lambda layer, name: name not in STATE and not slides(layer, name)
    state = lambda layer, name: name in STATE
    kept = {"kv_elements_per_token": (per_sequence(more, grows) - per_sequence(less, grows)) // (long - short),
            "kv_elements_per_token_window": per_sequence(more, slides) // (window - 1) if window else 0,
            "state_elements_per_sequence": per_sequence(more, state)}
    # A cache that slides holds one token less than the window.
    for same in (slides, state):
        assert per_sequence(more, same) == per_sequence(less, same)
    if c.is_encoder_decoder:
        every = lambda layer, name: True
        kept["cross_elements_per_encoder_token"] = per_sequence(more_cross, every) - per_sequence(less_cross, every)
    return kept, sum(t.nbytes // t.shape[0] for layer, name, t in more if name in STATE)


def parameters(model, c, form):
    """Returns the counts of parameters of the exported part. A tied weight counts once; active are all but
    unrouted experts."""
    left_out = set()
    if c.is_encoder_decoder:
        left_out = set(model.get_encoder().parameters()) - set(model.get_decoder().parameters())
        if form == "dyn":  # the keys and values of the encoder's output are inputs
            crossed = [m for n, m in model.named_modules() if n.endswith(("encoder_attn", "EncDecAttention"))]
            projections = [getattr(m, n) for m in crossed for n in ("k_proj", "v_proj", "k", "v") if hasattr(m, n)]
            left_out |= {p for m in projections for p in m.parameters()}
    total = sum(p.numel() for p in model.parameters() if p not in left_out)
    experts = [m for m in model.modules() if type(m).__name__.endswith("Experts")]
    routed = sum(p.numel() for m in experts for p in m.parameters())
    count = next(experts[0].parameters()).shape[0] if experts else 0
    top_k = 0
    if experts:
        top_k = getattr(c, "top_k_experts", None) or c.num_experts_per_tok
    active = total - routed + (routed * top_k // count if experts else 0)
    embedding = model.get_input_embeddings().weight
    words = {c.vocab_size, getattr(c, "vocab_size_per_layer_input", None)}  # Gemma 4 has a table for the layers too
    looked_up = {m.weight for m in model.modules()
                 if isinstance(m, torch.nn.Embedding) and m.num_embeddings in words}
    output = model.get_output_embeddings()
    return {"total_params": total, "expert_params": routed, "experts": count, "top_k": top_k,
            "active_params": active, "active_without_input_embedding": active - sum(p.numel() for p in looked_up),
            "tied": output is not None and output.weight is embedding,
            "buffer_elements": sum(b.numel() for b in model.buffers())}


def expected(model, config, form):
    """Returns the figures of a model on the meta device."""
    c = text_config(config)
    kinds = layer_kinds(c)
    by_config = kept_by_config(c)
    by_cache, state_bytes = kept_by_cache(model, c)
    if by_config != by_cache:
        raise ValueError(f"{c.model_type}: configuration {by_config}, cache {by_cache}")
    latent = by_config["kv_elements_per_token"] if getattr(c, "kv_lora_rank", None) else 0
    expanded = 0
    if latent:
        expanded = len(kinds) * c.num_attention_heads * (c.qk_nope_head_dim + c.qk_rope_head_dim + c.v_head_dim)
    conv = sum(state_elements(c)[0] for k in kinds if k in ("linear", "hybrid"))
    return {**by_config, "window": window_of(c), "state_bytes_per_sequence": state_bytes,
            "state_elements_of_convolutions": conv, "kv_latent_elements_per_token": latent,
            "kv_expanded_elements_per_token": expanded,
            "layers": {k: kinds.count(k) for k in sorted(set(kinds))}, **parameters(model, c, form)}


def empty_cache(c, form):
    cache = DynamicCache(config=c)
    for i, kind in enumerate(layer_kinds(c)):
        if form == "dyn" and kind == "window":
            cache.layers[i] = DynamicLayer()
    return cache


def load_cache(c, form, tensors, past_length):
    """Returns a cache that holds the tensors, which are in the order of tensors_of."""
    cache, tensors = empty_cache(c, form), list(tensors)
    for i, kind in enumerate(layer_kinds(c)):
        layer = cache.layers[i]
        if kind in ("full", "window", "hybrid"):
            keys, values = tensors.pop(0), tensors.pop(0)
            layer.lazy_initialization(keys, values)
            layer.keys, layer.values = keys, values
            if hasattr(layer, "cumulative_length"):
                layer.cumulative_length = past_length
        if kind in ("linear", "hybrid"):
            states = [tensors.pop(0).clone() for elements in state_elements(c) if elements]
            layer.dtype, layer.device = states[0].dtype, states[0].device
            layer.conv_states[0], layer.conv_kernel_size[0] = states[0], states[0].shape[-1]
            layer.is_conv_states_initialized[0] = layer.has_previous_state[0] = True
            if len(states) > 1:
                layer.recurrent_states[0], layer.is_recurrent_states_initialized[0] = states[1], True
    return cache


class TextModel(torch.nn.Module):
    """The text part of a model that also takes images, with a head."""

    def __init__(self, cls, config, dtype):
        super().__init__()
        self.config, self.dtype = config, dtype
        self.model = cls._from_config(config, dtype=dtype)
        self.lm_head = torch.nn.Linear(config.hidden_size, config.vocab_size, bias=False, dtype=dtype)
        self.tie_weights()

    def tie_weights(self):
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.get_input_embeddings().weight

    def get_input_embeddings(self):
        return self.model.get_input_embeddings()

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids, logits_to_keep=0, **more):
        out = self.model(input_ids=input_ids, **more)
        hidden = out.last_hidden_state[:, -logits_to_keep:]
        return SimpleNamespace(logits=self.lm_head(hidden), cache=out.cache)


class Decoder(torch.nn.Module):
    """A language model whose cache is a list of tensors, as runtimes pass it."""

    def __init__(self, model, form):
        super().__init__()
        self.model, self.form = model, form

    def forward(self, input_ids, attention_mask=None, position_ids=None, past=None):
        c, form = text_config(self.model.config), self.form
        if form in ("nocache", "lastlogits"):
            more = {"logits_to_keep": 1} if form == "lastlogits" else {}
            if attention_mask is not None:
                more["attention_mask"] = attention_mask
            return self.model(input_ids=input_ids, use_cache=False, **more).logits
        if c.model_type == "rwkv":
            out = self.model(input_ids=input_ids, state=[s.clone() for s in past], use_cache=True)
            return [out.logits] + list(out.state)
        if form == "static":
            cache = StaticCache(config=c, max_cache_len=STATIC)
            for i, layer in enumerate(cache.layers):
                layer.lazy_initialization(past[2 * i], past[2 * i + 1])
                layer.keys, layer.values = past[2 * i].clone(), past[2 * i + 1].clone()
                layer.cumulative_length = position_ids[0, 0].clone()
            more = {"position_ids": position_ids}
        elif form == "prefill":
            cache, more = DynamicCache(config=c), {"attention_mask": attention_mask}
        else:
            cache = load_cache(c, form, past, attention_mask.shape[1] - input_ids.shape[1])
            more = {"attention_mask": attention_mask}
        out = self.model(input_ids=input_ids, use_cache=True, cache=cache, **more)
        return [out.logits] + [t for _, _, t in tensors_of(out.cache)]


class CrossDecoder(torch.nn.Module):
    """The decoder of an encoder-decoder model; the keys and values of the encoder's output are computed once."""

    def __init__(self, model, form):
        super().__init__()
        self.model, self.form = model, form

    def forward(self, input_ids, encoder_hidden_states, past=None):
        more = {"use_cache": False}
        if self.form == "dyn":
            count = len(past) // 2
            pairs = lambda ts: [(ts[i], ts[i + 1]) for i in range(0, len(ts), 2)]
            cache = EncoderDecoderCache(DynamicCache(pairs(past[:count])), DynamicCache(pairs(past[count:])))
            more = {"use_cache": True, "cache": cache}
        out = self.model(decoder_input_ids=input_ids, encoder_outputs=(encoder_hidden_states,), **more)
        kept = tensors_of(more["cache"].self_attention_cache) if self.form == "dyn" else []
        return [out.logits] + [t for _, _, t in kept]


def example(model, config, export):
    """Returns the inputs of an export: (argument, input name, tensor or list, dynamic dims)."""
    c = text_config(config)
    window, seq, dtype = window_of(c), export.seq, model.dtype
    past = 2 * window + 43 if window else 51
    fixed = seq != SEQ  # recurrences over a sequence have no symbolic length
    if c.model_type == "rwkv":  # its code fixes the batch
        states = [torch.empty(1, c.hidden_size, c.num_hidden_layers, dtype=dtype if i < 2 else torch.float32)
                  for i in range(5)]
        return [("input_ids", "input_ids", torch.ones(1, seq, dtype=torch.int64), {})] + \
            [("past", f"past_state.{i}", s, {}) for i, s in enumerate(states)]
    token = {0: "batch"} if fixed else {0: "batch", 1: "seq"}
    inputs = [("input_ids", "input_ids", torch.ones(BATCH, seq, dtype=torch.int64), token)]
    if c.is_encoder_decoder:
        hidden = torch.empty(BATCH, 30, c.d_model, dtype=dtype)
        inputs.append(("encoder_hidden_states", "encoder_hidden_states", hidden, {0: "batch", 1: "encoder_seq"}))
    if export.form in ("nocache", "lastlogits"):
        if export.exporter == "torchscript":  # without a mask, the model looks for packed sequences by aten::diff
            inputs.append(("attention_mask", "attention_mask", torch.ones(BATCH, seq, dtype=torch.int64), token))
        return inputs
    if c.is_encoder_decoder:
        columns = kv_elements(c, "full") // 2 // c.num_attention_heads
        shape = lambda n: torch.empty(BATCH, c.num_attention_heads, n, columns, dtype=dtype)
        for part, length, dim in (("decoder", past, "past"), ("encoder", 30, "encoder_seq")):
            inputs += [("past", f"past_key_values.{i}.{part}.{n}", shape(length), {0: "batch", 2: dim})
                       for i in range(len(layer_kinds(c))) for n in ("key", "value")]
        return inputs
    if export.form == "static":
        positions = torch.ones(1, seq, dtype=torch.int64)
        inputs.append(("position_ids", "position_ids", positions, {} if fixed else {1: "seq"}))
    else:
        total = seq if export.form == "prefill" else past + seq
        mask = torch.ones(BATCH, total, dtype=torch.int64)
        name = "seq" if export.form == "prefill" else "total"
        inputs.append(("attention_mask", "attention_mask", mask, {0: "batch", 1: name}))
    if export.form == "prefill":
        return inputs
    for layer, name, tensor in held_on_meta(config, export):
        dims = {0: "batch"}
        shape = [BATCH] + list(tensor.shape[1:])
        if name in ("key", "value"):
            sliding = layer_kinds(c)[layer] == "window" and export.form == "ring"
            shape[2] = STATIC if export.form == "static" else (window - 1 if sliding else past)
            dims = dims if sliding or export.form == "static" else {0: "batch", 2: "past"}
        label = f"past_key_values.{layer}.{name}" if name in ("key", "value") else f"past_{name}.{layer}"
        inputs.append(("past", label, torch.empty(shape, dtype=tensor.dtype), dims))
    return inputs


def on_meta(export):
    """The loop over the experts that were chosen requires values."""
    return export._replace(experts="batched_mm")


def held_on_meta(config, export):
    model = build(config, on_meta(export))
    held, _ = held_after(model, text_config(config), 2, 0)
    return held


def build(config, export, dtype=torch.bfloat16, device="meta"):
    """Returns the model; its parameters have no values on the meta device."""
    for c in {id(config): config, id(text_config(config)): text_config(config)}.values():
        c._attn_implementation = export.attention
        c._experts_implementation = export.experts
    auto = transformers.models.auto.modeling_auto
    with torch.device(device):
        for names in (auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
                      auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES):
            if config.model_type in names:
                return getattr(transformers, names[config.model_type])._from_config(config, dtype=dtype).eval()
        return TextModel(getattr(transformers, auto.MODEL_MAPPING_NAMES[config.model_type]), config, dtype).eval()


def make_fake(model):
    """Replaces the tensors of a model on the meta device by fake ones."""
    for module in model.modules():
        for name, p in list(module._parameters.items()):
            if p is not None:
                module._parameters[name] = torch.nn.Parameter(torch.empty(p.shape, dtype=p.dtype), requires_grad=False)
        for name, b in list(module._buffers.items()):
            if b is not None and b.device.type == "meta":
                module._buffers[name] = torch.empty(b.shape, dtype=b.dtype)
    model.tie_weights()


def drop_weights(program):
    """Moves the tensors over 1 KiB into a file that does not exist."""
    offset = 0
    for name, value in program.graph.initializers.items():
        tensor = value.const_value
        try:
            if tensor.nbytes <= SMALL_BYTES and tensor.numpy().dtype != object:
                value.const_value = onnx_ir.tensor(tensor.numpy(), name=name)
                continue
        except (RuntimeError, TypeError, AttributeError, NotImplementedError):
            pass  # a fake tensor has no values
        value.const_value = onnx_ir.ExternalTensor("weights.bin", offset, tensor.nbytes, tensor.dtype, name=name,
                                                   shape=tensor.shape)
        offset += tensor.nbytes


def simplify(program):
    common.InlinePass()(program)
    absent = {value: value.const_value for value in program.graph.initializers.values()
              if isinstance(value.const_value, onnx_ir.ExternalTensor)}
    for value in absent:
        value.const_value = None  # nothing is folded that has no values
    fold_constants(program, input_size_limit=SMALL_BYTES, output_size_limit=SMALL_BYTES)
    for value, tensor in absent.items():
        value.const_value = tensor
    for step in (common.RemoveUnusedNodesPass, common.CommonSubexpressionEliminationPass, common.RemoveUnusedNodesPass):
        step()(program)
    for node in program.graph:
        for key in list(node.metadata_props):
            if "name_scopes" not in key and "class_hierarchy" not in key:
                del node.metadata_props[key]


def wrap(model, export):
    return (CrossDecoder if model.config.is_encoder_decoder else Decoder)(model, export.form)


def arguments(inputs):
    """Returns the arguments of a module and their dynamic dims."""
    values, dims = {}, {}
    for argument, _, tensor, free in inputs:
        if argument == "past":
            values.setdefault(argument, []).append(tensor)
            dims.setdefault(argument, []).append(free)
        else:
            values[argument], dims[argument] = tensor, free
    return values, dims


def output_names(inputs):
    names = ["logits"]
    for argument, name, _, _ in inputs:
        if argument == "past" and ".encoder." not in name:
            names.append(name.replace("past_key_values", "present").replace("past_", "present_"))
    return names


def rotate_without_complex_numbers():
    """Llama 4 rotates by complex numbers, which the exporter does not know: the same with real ones."""
    llama4 = transformers.models.llama4.modeling_llama4

    def angles(self, x, position_ids):
        freqs = position_ids[..., None].float() * self.inv_freq
        return torch.stack((freqs.cos(), freqs.sin())) * self.attention_scaling

    def rotate(x, angles):
        even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
        cos, sin = angles[:, :, :, None, :]
        return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(3).type_as(x)

    llama4.Llama4TextRotaryEmbedding.forward = angles
    llama4.apply_rotary_emb = lambda q, k, angles: (rotate(q, angles), rotate(k, angles))


def export_dynamo(config, export, path):
    model = build(config, export)
    if config.model_type == "llama4_text":
        rotate_without_complex_numbers()
    with FakeTensorMode(allow_non_fake_inputs=True):
        make_fake(model)
        inputs = example(model, config, export)
        values, dims = arguments(inputs)
        module = wrap(model, export)
        names = {} if export.form == "prefill" else {"output_names": output_names(inputs)}
        program = torch.onnx.export(module, (), kwargs=values, dynamo=True, dynamic_shapes=dims, optimize=False,
                                    verbose=False, opset_version=export.opset,
                                    input_names=[name for _, name, _, _ in inputs], **names).model
    drop_weights(program)
    simplify(program)
    onnx.save(onnx_ir.to_proto(program), path)


def with_values(config, export, dtype, deviation=1):
    """Returns a model with random parameters: exporters merge equal tensors, and drop biases of zero."""
    torch.manual_seed(0)
    model = build(config, export, dtype, "cpu")
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(0, deviation)
    return model


def export_traced(config, export, path):
    """Exports by the older exporter, which runs the model in float32."""
    model = with_values(config, export, torch.float32)
    inputs = example(model, config, export)
    for i, (argument, name, tensor, dims) in enumerate(inputs):
        if tensor.is_floating_point():
            inputs[i] = (argument, name, torch.randn(tensor.shape), dims)
        elif name == "input_ids":
            inputs[i] = (argument, name, torch.randint(0, text_config(config).vocab_size, tensor.shape), dims)
    values, _ = arguments(inputs)
    module = wrap(model, export)
    with torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        torch.onnx.export(module, (), path, kwargs=values, dynamo=False, opset_version=export.opset,
                          input_names=[name for _, name, _, _ in inputs], output_names=output_names(inputs),
                          dynamic_axes={name: dims for _, name, _, dims in inputs if dims})
    program = onnx_ir.load(path)
    drop_weights(program)
    onnx.save(onnx_ir.to_proto(program), path)


def export_genai(config, export, path):
    """Runs the model builder, which reads weights from a folder."""
    from onnxruntime_genai.models import builder

    model = with_values(config, export, torch.bfloat16)
    transformers.AutoTokenizer.from_pretrained = lambda *args, **more: MagicMock()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        source, target, cache = (str(Path(folder) / name) for name in ("source", "target", "cache"))
        for made in (target, cache):
            os.mkdir(made)
        model.save_pretrained(source)
        options = builder.parse_extra_options(None, source, target, export.form, "cuda", cache, [])
        with contextlib.suppress(TypeError):  # after the model, it writes settings of the tokenizer
            builder.create_model(None, source, target, export.form, "cuda", cache, **options)
        program = onnx_ir.load(Path(target) / "model.onnx")
        drop_weights(program)
        onnx.save(onnx_ir.to_proto(program), path)


EXPORTERS = {"dynamo": export_dynamo, "torchscript": export_traced, "genai": export_genai}


def make(name, config, export, folder):
    """Exports a model; returns its file name and the expected figures."""
    variant = "_".join([export.form] + [v for v, usual in ((export.attention, "sdpa"), (export.experts, "batched_mm"))
                                        if v != usual])
    opset = "" if export.exporter == "genai" else f"__op{export.opset}"
    file = f"{name}__{variant}__{export.exporter}{opset}.onnx"
    start = time.time()
    figures = expected(build(config, on_meta(export)), config, export.form)
    EXPORTERS[export.exporter](config, export, folder / file)
    row = {"model": name, "form": export.form, "exporter": export.exporter, "attention": export.attention,
           "kv_dtype": {"torchscript": "float32", "int4": "float16"}.get(
               export.form if export.exporter == "genai" else export.exporter, "bfloat16"),
           "expected": figures}
    print(f"{file}: {os.path.getsize(folder / file)} bytes, {time.time() - start:.0f} s", flush=True)
    return file, row


def check_cached(config, export):
    """Compares the logits of tokens after a past that is taken from a cache with those of one pass over all."""
    c = text_config(config)
    if c.is_encoder_decoder or export.form not in ("dyn", "ring") or export.exporter != "dynamo":
        return
    model = with_values(config, export, torch.float32, 0.1)
    past, tokens = 2 * window_of(c) + 43, min(export.seq, 5)
    ids = torch.randint(3, c.vocab_size, (1, past + tokens))
    with torch.no_grad():
        wanted = model(input_ids=ids, use_cache=False).logits[:, past:]
        if c.model_type == "rwkv":
            held = model(input_ids=ids[:, :past], use_cache=True).state
        else:
            cache = empty_cache(c, export.form)
            model(input_ids=ids[:, :past], use_cache=True, cache=cache)
            held = [tensor for _, _, tensor in tensors_of(cache)]
        logits = Decoder(model, export.form)(ids[:, past:], torch.ones_like(ids), None, held)[0]
    if not torch.allclose(logits, wanted, rtol=1e-4, atol=1e-5 * wanted.abs().max()):
        raise ValueError(f"logits differ by {(logits - wanted).abs().max()}")


WORDS = {"vocab_size": 320, "hidden_size": 64, "num_hidden_layers": 2, "pad_token_id": 0, "bos_token_id": 1,
         "eos_token_id": 2}
HEADS = {**WORDS, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 160,
         "max_position_embeddings": 512}
PERIOD = ["linear_attention", "linear_attention", "linear_attention", "full_attention"]
DELTA = {**HEADS, "num_hidden_layers": 4, "layer_types": PERIOD, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
         "linear_key_head_dim": 8, "linear_value_head_dim": 16, "linear_conv_kernel_dim": 4}
ROUTED = {"num_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
LOCAL = {"num_local_experts": 6, "num_experts_per_tok": 2}
MLA = {**WORDS, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4, "intermediate_size": 160,
       "kv_lora_rank": 24, "q_lora_rank": 40, "qk_nope_head_dim": 16, "qk_rope_head_dim": 8, "v_head_dim": 12,
       "first_k_dense_replace": 1, "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
       "n_group": 2, "topk_group": 1, "n_shared_experts": 1, "max_position_embeddings": 512}
MAMBA = {**WORDS, "state_size": 8, "expand": 2}

STEP = {"seq": 1, "attention": "eager"}
TRACED = {"exporter": "torchscript", "opset": 17}
BUILT = {"exporter": "genai"}

# name: (model type, settings, exports)
MODELS = {
    "llama": ("llama", HEADS, [Export("nocache"), Export("lastlogits"), Export("prefill"), Export("dyn"),
                               Export("static"), Export("dyn", attention="eager"), Export("nocache", opset=23),
                               Export("dyn", opset=23),
                               Export("nocache", **TRACED), Export("dyn", **TRACED), Export("bf16", **BUILT),
                               Export("int4", **BUILT)]),
    "multi_query": ("llama", {**HEADS, "num_key_value_heads": 1, "tie_word_embeddings": True},
                    [Export("nocache"), Export("dyn")]),
    "gpt2": ("gpt2", {"vocab_size": 320, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 512, "bos_token_id": 1,
                      "eos_token_id": 2}, [Export("nocache"), Export("dyn"), Export("dyn", **TRACED)]),
    "qwen3": ("qwen3", HEADS, [Export("nocache"), Export("dyn"), Export("static", attention="eager")]),
    "phi3_window": ("phi3", {**HEADS, "sliding_window": 40}, [Export("nocache"), Export("dyn"), Export("ring")]),
    "gemma3": ("gemma3_text", {**HEADS, "num_hidden_layers": 3, "sliding_window": 40, "tie_word_embeddings": True,
                               "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]},
               [Export("nocache"), Export("dyn"), Export("ring")]),
    "gemma4": ("gemma4_text", {**HEADS, "num_hidden_layers": 3, "sliding_window": 40, "global_head_dim": 32,
                               "num_global_key_value_heads": 1, "attention_k_eq_v": True,
                               "hidden_size_per_layer_input": 0,
                               "enable_moe_block": True, "num_experts": 6, "top_k_experts": 2,
                               "moe_intermediate_size": 24, "vocab_size_per_layer_input": 320,
                               "layer_types": ["sliding_attention", "sliding_attention", "full_attention"]},
               [Export("nocache"), Export("dyn"), Export("ring")]),
    "gemma4_shared": ("gemma4_text", {**HEADS, "num_hidden_layers": 6, "sliding_window": 40, "global_head_dim": 32,
                                      "num_kv_shared_layers": 3, "hidden_size_per_layer_input": 8,
                                      "vocab_size_per_layer_input": 320,
                                      "layer_types": ["sliding_attention", "sliding_attention", "full_attention"] * 2},
                      [Export("nocache"), Export("dyn")]),
    "mixtral": ("mixtral", {**HEADS, **LOCAL},
                [Export("nocache"), Export("dyn"), Export("nocache", experts="eager", **TRACED)]),
    "qwen3_moe": ("qwen3_moe", {**HEADS, **ROUTED}, [Export("nocache"), Export("dyn")]),
    "gpt_oss": ("gpt_oss", {**HEADS, **LOCAL, "sliding_window": 40,
                            "layer_types": ["sliding_attention", "full_attention"]},
                [Export(form, attention="eager") for form in ("nocache", "dyn", "ring")] +
                [Export("bf16", attention="eager", **BUILT)]),
    "minimax_m2": ("minimax_m2", {**HEADS, **LOCAL, "rotary_dim": 8}, [Export("nocache"), Export("dyn")]),
    "llama4": ("llama4_text", {**HEADS, **LOCAL, "num_experts_per_tok": 1, "num_hidden_layers": 4,
                               "intermediate_size_mlp": 96, "interleave_moe_layer_step": 2, "attention_chunk_size": 40},
               [Export("nocache"), Export("dyn"), Export("ring")]),
    "deepseek_v3": ("deepseek_v3", MLA, [Export("nocache"), Export("dyn"), Export("dyn", attention="eager")]),
    "qwen3_next": ("qwen3_next", {**DELTA, **ROUTED, "shared_expert_intermediate_size": 24}, [Export("dyn", seq=1)]),
    "qwen3_5": ("qwen3_5_text", DELTA, [Export("dyn", seq=1)]),
    "nemotron_h": ("nemotron_h", {**HEADS, "num_hidden_layers": 5, "mamba_num_heads": 4, "mamba_head_dim": 16,
                                  "n_groups": 2, "ssm_state_size": 8, "conv_kernel": 4, "chunk_size": 16,
                                  "hybrid_override_pattern": "M-M*-"},
                   [Export("nocache"), Export("dyn", seq=1)]),
    "falcon_h1": ("falcon_h1", {**HEADS, "mamba_d_ssm": 64, "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_n_groups": 1,
                                "mamba_d_state": 8, "mamba_d_conv": 4, "mamba_chunk_size": 16}, [Export("dyn", seq=1)]),
    "lfm2": ("lfm2", {**HEADS, "num_hidden_layers": 3, "conv_L_cache": 3,
                      "layer_types": ["conv", "full_attention", "conv"]},
             [Export("nocache"), Export("dyn", seq=1)]),
    "mamba": ("mamba", MAMBA, [Export("dyn", **STEP)]),
    "mamba2": ("mamba2", {**MAMBA, "num_heads": 8, "head_dim": 16, "n_groups": 1, "chunk_size": 16},
               [Export("nocache", attention="eager"), Export("dyn", **STEP)]),
    "rwkv": ("rwkv", {**WORDS, "attention_hidden_size": 64, "context_length": 512}, [Export("dyn", **STEP)]),
    "whisper": ("whisper", {"vocab_size": 320, "d_model": 64, "encoder_layers": 2, "decoder_layers": 2,
                            "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 160,
                            "decoder_ffn_dim": 160, "num_mel_bins": 8, "pad_token_id": 0, "bos_token_id": 1,
                            "eos_token_id": 2, "decoder_start_token_id": 3}, [Export("nocache"), Export("dyn")]),
    "t5": ("t5", {"vocab_size": 320, "d_model": 64, "d_kv": 24, "d_ff": 160, "num_heads": 4, "num_layers": 2,
                  "num_decoder_layers": 2, "decoder_start_token_id": 0}, [Export("nocache"), Export("dyn")]),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    table = args.folder / "language_models.json"
    rows = json.loads(table.read_text()) if args.names and table.exists() else {}
    failed = 0
    for name in args.names or MODELS:
        model_type, settings, exports = MODELS[name]
        for export in exports:
            try:
                check_cached(AutoConfig.for_model(model_type, **settings), export)
                file, row = make(name, AutoConfig.for_model(model_type, **settings), export, args.folder)
            except Exception as error: # one model more or less does not stop the others
                print(f"{name} {export}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                failed += 1
                continue
            rows[file] = row
            table.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
