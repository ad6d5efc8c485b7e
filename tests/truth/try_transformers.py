#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Held-out models: small models of the architectures in Hugging Face's transformers, with random weights,
exported by both exporters of PyTorch. Compares the FLOPs of torch.utils.flop_counter with `--convention
torch`, the module's parameters with `params`, and a re-batched file with an export at that batch.

    try_transformers.py --costmodel PROGRAM [--folder FOLDER] [--csv FILE] [NAME ...]

Needs torch, transformers and onnxscript; no test runs it. transformers.csv is its output, and
README.md explains the differences. Exports that exist in the folder are reused.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import contextlib
import csv
import json
import logging
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)

import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

BATCH, OTHER_BATCH = 1, 3
EXPORTERS = {"dynamo": {"dynamo": True}, "torchscript": {"dynamo": False, "opset_version": 17}}
COLUMNS = ["model", "exporter", "flops", "params", "params_in_file", "verdict"]

SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
WIDE = {**SIZES, "intermediate_size": 128}
WORDS = {**WIDE, "vocab_size": 500}
CAUSAL = {**WORDS, "use_cache": False}
LLAMA = {**CAUSAL, "num_key_value_heads": 2, "max_position_embeddings": 128}
IMAGES = {**WIDE, "image_size": 64, "patch_size": 16}
STAGES = {"hidden_sizes": [16, 32, 64, 128], "depths": [1, 1, 1, 1]}
ENCODER_DECODER = {"d_model": 64, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                   "decoder_attention_heads": 4, "encoder_ffn_dim": 128, "decoder_ffn_dim": 128,
                   "vocab_size": 500, "use_cache": False}
T5 = {"d_model": 64, "num_layers": 2, "num_heads": 4, "d_ff": 128, "d_kv": 16, "vocab_size": 500}
SWIN = {"image_size": 64, "patch_size": 4, "embed_dim": 32, "depths": [1, 1], "num_heads": [2, 4],
        "window_size": 4}

# name -> class, class of its configuration, settings, kind of inputs
MODELS = {
    "albert": ("AlbertModel", "AlbertConfig", {**WORDS, "embedding_size": 32}, "text"),
    "ast": ("ASTModel", "ASTConfig", {**WIDE, "max_length": 64, "num_mel_bins": 32}, "spectrum"),
    "bart": ("BartModel", "BartConfig", ENCODER_DECODER, "text"),
    "beit": ("BeitModel", "BeitConfig", {**IMAGES, "use_relative_position_bias": True}, "image"),
    "bert": ("BertModel", "BertConfig", WORDS, "text"),
    "bloom": ("BloomForCausalLM", "BloomConfig",
              {"hidden_size": 64, "n_layer": 2, "n_head": 4, "vocab_size": 500, "use_cache": False}, "text"),
    "convnext": ("ConvNextModel", "ConvNextConfig", STAGES, "image"),
    "convnextv2": ("ConvNextV2Model", "ConvNextV2Config", STAGES, "image"),
    "deit": ("DeiTModel", "DeiTConfig", IMAGES, "image"),
    "dinov2": ("Dinov2Model", "Dinov2Config", {**SIZES, "image_size": 64, "patch_size": 16}, "image"),
    "distilbert": ("DistilBertModel", "DistilBertConfig",
                   {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 500}, "text"),
    "electra": ("ElectraModel", "ElectraConfig", {**WORDS, "embedding_size": 32}, "text"),
    "falcon": ("FalconForCausalLM", "FalconConfig", {**SIZES, "vocab_size": 500, "use_cache": False}, "text"),
    "fnet": ("FNetModel", "FNetConfig",
             {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "vocab_size": 500}, "text"),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**LLAMA, "head_dim": 16}, "text"),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config",
             {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 500, "use_cache": False}, "text"),
    "gpt_neox": ("GPTNeoXForCausalLM", "GPTNeoXConfig", CAUSAL, "text"),
    "hiera": ("HieraModel", "HieraConfig", {"embed_dim": 16, "image_size": [64, 64], "depths": [1, 1, 1, 1],
                                            "num_heads": [1, 2, 4, 8]}, "image"),
    "layoutlm": ("LayoutLMModel", "LayoutLMConfig", WORDS, "layout"),
    "levit": ("LevitModel", "LevitConfig",
              {"image_size": 64, "hidden_sizes": [32, 64, 96], "num_attention_heads": [2, 4, 6],
               "depths": [1, 1, 1], "key_dim": [16, 16, 16]}, "image"),
    "llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA, "text"),
    "mamba": ("MambaForCausalLM", "MambaConfig",
              {"hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 500, "use_cache": False}, "text"),
    "mistral": ("MistralForCausalLM", "MistralConfig", LLAMA, "text"),
    "mobilevit": ("MobileViTModel", "MobileViTConfig",
                  {"hidden_sizes": [32, 48, 64], "neck_hidden_sizes": [16, 16, 24, 32, 48, 64, 96],
                   "num_attention_heads": 4, "image_size": 64}, "image"),
    "modernbert": ("ModernBertModel", "ModernBertConfig",
                   {**WORDS, "pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "bos_token_id": 1,
                    "eos_token_id": 2}, "text"),
    "opt": ("OPTForCausalLM", "OPTConfig",
            {**SIZES, "ffn_dim": 128, "vocab_size": 500, "word_embed_proj_dim": 64, "use_cache": False}, "text"),
    "phi": ("PhiForCausalLM", "PhiConfig", CAUSAL, "text"),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", {**LLAMA, "pad_token_id": 0}, "text"),
    "poolformer": ("PoolFormerModel", "PoolFormerConfig",
                   {"hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1]}, "image"),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**LLAMA, "head_dim": 16}, "text"),
    "regnet": ("RegNetModel", "RegNetConfig", {**STAGES, "embedding_size": 16, "groups_width": 8}, "image"),
    "resnet": ("ResNetModel", "ResNetConfig", {**STAGES, "embedding_size": 16}, "image"),
    "roberta": ("RobertaModel", "RobertaConfig", WORDS, "text"),
    "sam": ("SamVisionModel", "SamVisionConfig",
            {**SIZES, "mlp_dim": 128, "image_size": 64, "patch_size": 16, "window_size": 2,
             "output_channels": 32, "global_attn_indexes": [1]}, "image"),
    "segformer": ("SegformerForSemanticSegmentation", "SegformerConfig",
                  {"depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 64, 64], "decoder_hidden_size": 32,
                   "num_labels": 5}, "image"),
    "siglip": ("SiglipVisionModel", "SiglipVisionConfig", IMAGES, "image"),
    "stablelm": ("StableLmForCausalLM", "StableLmConfig", LLAMA, "text"),
    "swin": ("SwinModel", "SwinConfig", SWIN, "image"),
    "swinv2": ("Swinv2Model", "Swinv2Config", SWIN, "image"),
    "t5": ("T5Model", "T5Config", {**T5, "use_cache": False}, "texts"),
    "t5_encoder": ("T5EncoderModel", "T5Config", T5, "text"),
    "timesformer": ("TimesformerModel", "TimesformerConfig", {**IMAGES, "num_frames": 4}, "video"),
    "videomae": ("VideoMAEModel", "VideoMAEConfig", {**IMAGES, "num_frames": 4}, "video"),
    "vit": ("ViTModel", "ViTConfig", IMAGES, "image"),
    "wav2vec2": ("Wav2Vec2Model", "Wav2Vec2Config",
                 {**WORDS, "conv_dim": (32, 32, 32), "conv_kernel": (10, 3, 2), "conv_stride": (5, 2, 2),
                  "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}, "sound"),
    "whisper": ("WhisperModel", "WhisperConfig",
                {**ENCODER_DECODER, "max_source_positions": 50, "pad_token_id": 0, "bos_token_id": 1,
                 "eos_token_id": 2, "decoder_start_token_id": 1}, "speech"),
    "xlnet": ("XLNetModel", "XLNetConfig",
              {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128, "vocab_size": 500}, "text"),
}


def inputs_of(kind, batch):
    words = torch.ones(batch, 16, dtype=torch.long)
    return {
        "text": lambda: {"input_ids": words},
        "texts": lambda: {"input_ids": words, "decoder_input_ids": words[:, :8]},
        "layout": lambda: {"input_ids": words, "bbox": torch.ones(batch, 16, 4, dtype=torch.long)},
        "image": lambda: {"pixel_values": torch.randn(batch, 3, 64, 64)},
        "video": lambda: {"pixel_values": torch.randn(batch, 4, 3, 64, 64)},
        "spectrum": lambda: {"input_values": torch.randn(batch, 64, 32)},
        "sound": lambda: {"input_values": torch.randn(batch, 3200)},
        "speech": lambda: {"input_features": torch.randn(batch, 80, 100), "decoder_input_ids": words[:, :8]},
    }[kind]()


class Called(torch.nn.Module):
    """Calls a model with positional inputs; returns all tensors that it returns."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        given = self.model(**dict(zip(self.names, values))).to_tuple()
        return tuple(value for value in given if isinstance(value, torch.Tensor))


def build(name):
    """Builds a model with different values in each tensor, since exporters merge equal ones."""
    cls, config, settings, kind = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, cls)(getattr(transformers, config)(**settings)).eval()
    for parameter in model.parameters():
        torch.nn.init.uniform_(parameter, 0.01, 0.02)
    return Called(model, list(inputs_of(kind, 1))), kind


@contextlib.contextmanager
def silence():
    """Silences both streams: exporters print whole graphs, from C++ too."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "wb") as nothing:
        for number in (1, 2):
            os.dup2(nothing.fileno(), number)
        try:
            yield
        finally:
            sys.stdout.flush()
            for number, file in zip((1, 2), kept):
                os.dup2(file, number)
                os.close(file)


def export(called, kind, exporter, batch, path):
    if path.exists():
        return
    with torch.no_grad(), silence():
        torch.onnx.export(called, tuple(inputs_of(kind, batch).values()), str(path),
                          input_names=called.names, verbose=False, **EXPORTERS[exporter])


def ask(costmodel, path, *options):
    done = subprocess.run([costmodel, path, "--convention", "torch", "--format", "json", *options],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        return None, done.stderr.split("tried): ")[-1].splitlines()[0]
    return json.loads(done.stdout)["totals"], None


def counted(called, kind, batch):
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        called(*inputs_of(kind, batch).values())
    return counter.get_total_flops()


def judge(costmodel, name, exporter, folder):
    called, kind = build(name)
    paths = {batch: folder / f"{name}-{exporter}-{batch}.onnx" for batch in (BATCH, OTHER_BATCH)}
    truth = counted(called, kind, BATCH)
    params = sum(parameter.numel() for parameter in called.parameters())
    try:
        for batch, path in paths.items():
            export(called, kind, exporter, batch, path)
    except Exception as error:  # any error of an exporter
        return [name, exporter, truth, params, "", f"no export: {type(error).__name__}"]
    have, refusal = ask(costmodel, paths[BATCH])
    if have is None:
        return [name, exporter, truth, params, "", f"refused: {refusal}"]
    verdict = [f"{have['flops'] - truth:+} FLOPs"] if have["flops"] != truth else []
    if have["params"] != params:
        verdict.append(f"{have['params'] - params:+} params")
    grown, refusal = ask(costmodel, paths[BATCH], "--batch", str(OTHER_BATCH))
    other, _ = ask(costmodel, paths[OTHER_BATCH])
    if grown is None:
        verdict.append(f"batch {OTHER_BATCH}: {refusal}")
    elif other and grown["flops"] != other["flops"]:
        verdict.append(f"batch {OTHER_BATCH}: {grown['flops'] - other['flops']:+} FLOPs")
    return [name, exporter, truth, params, have["params"], "; ".join(verdict) or "equal"]


def main():
    parser = argparse.ArgumentParser(description="models of transformers, against PyTorch")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MODELS))
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--folder", type=Path, help="where the exports stay")
    parser.add_argument("--csv", type=Path, help="where the rows go too")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        rows = []
        for name in args.names or MODELS:
            for exporter in EXPORTERS:
                rows.append(judge(args.costmodel, name, exporter, folder))
                print(", ".join(map(str, rows[-1])), flush=True)
    if args.csv:
        with args.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main()
