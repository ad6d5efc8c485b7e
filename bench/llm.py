#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `costmodel llm` with measured servers, attention kernels and capacities.

usage: llm.py --costmodel PROGRAM --rows FOLDER --models FOLDER [--list]

FOLDER of rows has attention_kernels.csv, serving_measured.csv, trtllm_offline.csv, prefill_decode_local.csv,
quantized_weights.csv and capacity.csv; FOLDER of models has weightless exports, named as in MODELS (docs/llm.md states how to make
them). Rows of other models are skipped. Attention kernels are graphs with one Attention node, made with the onnx
package. Fails if a lower bound exceeds a measured time, or if the size of
quantized weights is wrong by more than 0.5 %, or if the tokens
that fit differ by more than a block of each layer. --list prints every row.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import csv
import json
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

# Part of the model's name in the rows: file in FOLDER of models.
MODELS = {"Llama-3.1-8B": "llama-3.1-8b.onnx", "Llama-3-8B": "llama-3.1-8b.onnx",
          "Llama-3.1-70B": "llama-3.1-70b.onnx", "Llama-3.1-405B": "llama-3.1-405b.onnx",
          "Qwen3-32B": "qwen3-32b.onnx", "gpt-oss-120b": "gpt-oss-120b.onnx", "gpt-oss-20b": "gpt-oss-20b.onnx",
          "Qwen3-235B-A22B": "qwen3-235b-a22b.onnx", "DeepSeek-V3": "deepseek-v3.onnx",
          "DeepSeek-R1": "deepseek-v3.onnx"}
DEVICES = {"h100_sxm": "h100-sxm", "h200_sxm": "h200", "b200_sxm": "b200", "gb200": "gb200", "b300_sxm": "b300",
           "a100_sxm": "a100-80gb", "l40s": "l40s", "H100": "h100-sxm", "H200": "h200", "B200": "b200",
           "GB200": "gb200", "L40S": "l40s", "RTX 3090": "rtx-3090", "RTX 4090": "rtx-4090"}
NODE = 8  # GPUs; the attention of servers on several nodes is divided by sequences, which the rows do not state
FORMATS = {"fp8": ["fp8"], "fp4": ["nvfp4"], "nvfp4": ["nvfp4"], "Q4_0": ["q4_0"], "F16": []}


class Bench:
    def __init__(self, args):
        self.args = args
        self.failed = 0

    def rows(self, name):
        with open(self.args.rows / name, newline="") as file:
            return list(csv.DictReader(file))

    def model(self, name):
        for part, file in MODELS.items():
            path = self.args.models / file
            if part in name and path.exists():
                return path
        return None

    def formats(self, model, precision):
        if "gpt-oss" in model.name:
            return ["--quantize=*experts*=mxfp4"]
        return [f"--quantize={name}" for name in FORMATS.get(precision, [])]

    def ask(self, model, device, *options):
        command = [self.args.costmodel, "llm", model, "--device", device, "--format", "json", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return json.loads(done.stdout)["llm"]

    def show(self, text):
        if self.args.list:
            print("   ", text)

    def bound(self, what, bound, measured):
        """Counts a bound in seconds above a measured time."""
        if bound > measured:
            self.failed += 1
            print(f"bound {bound:.3g} s above measured {measured:.3g} s: {what}")


def report(name, errors):
    if errors:
        ordered = sorted(abs(e) for e in errors)
        print(f"{name:44} {len(errors):4} rows, median {100 * statistics.median(ordered):3.0f} %, "
              f"90th percentile {100 * ordered[len(ordered) * 9 // 10]:3.0f} %")


def number(text, otherwise=1):
    return int(float(text)) if text else otherwise


def attention_graph(row, folder):
    """Writes a graph with one Attention node; decode has a cache of context - 1 tokens."""
    import onnx
    from onnx import helper
    kind = onnx.TensorProto.BFLOAT16
    batch, context, heads, kv_heads, columns = (
        int(row[k]) for k in ("batch_size", "context", "num_heads", "num_key_value_heads", "head_dim"))
    decode = row["phase"] == "decode"
    length = 1 if decode else context

    def value(name, *dims):
        return helper.make_tensor_value_info(name, kind, dims)

    inputs = [value("q", batch, length, heads * columns), value("k", batch, length, kv_heads * columns),
              value("v", batch, length, kv_heads * columns)]
    outputs = [value("y", batch, length, heads * columns)]
    names, results = ["q", "k", "v"], ["y"]
    if decode:
        inputs += [value(n, batch, kv_heads, context - 1, columns) for n in ("past_k", "past_v")]
        outputs += [value(n, batch, kv_heads, context, columns) for n in ("new_k", "new_v")]
        names += ["", "past_k", "past_v"]
        results += ["new_k", "new_v"]
    node = helper.make_node("Attention", names, results, q_num_heads=heads, kv_num_heads=kv_heads, is_causal=1)
    graph = helper.make_graph([node], "attention", inputs, outputs)
    path = Path(folder) / "attention.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]), path)
    return path


def attention(bench):
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        for row in bench.rows("attention_kernels.csv"):
            path = attention_graph(row, folder)
            command = [bench.args.costmodel, path, "--device", DEVICES[row["device"]], "--format", "json"]
            node = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["nodes"][0]
            measured = float(row["time_us"]) * 1e-6
            costs = node.get("costs", node)
            expected = costs["latency_ps"] * 1e-12
            bench.bound(str(row), costs["lower_bound_ps"] * 1e-12, measured)
            errors.setdefault((row["device"], row["phase"]), []).append(expected / measured - 1)
    for (device, phase), values in errors.items():
        report(f"attention, {device}, {phase}", values)
    report("attention, all", [e for values in errors.values() for e in values])


def serving(bench):
    """A server that decodes also prefills: a request of `osl` tokens sees the prefill of each of the others."""
    alone, loaded = [], []
    for row in bench.rows("serving_measured.csv"):
        model = bench.model(row["model_path"])
        if model is None:
            continue
        tp, ep, batch = (number(row[k]) for k in ("tp_size", "moe_ep_size", "batch_size"))
        for name, found in (("tp", re.search(r"_tp(\d+)", row["source"])),
                            ("ep", re.search(r"_ep(\d+)", row["source"]))):
            if found:
                tp, ep = (int(found[1]), ep) if name == "tp" else (tp, int(found[1]))
        if tp > NODE or (ep > tp and ep % tp != 0):
            continue
        isl, osl = number(row["isl"]), number(row["osl"])
        got = bench.ask(model, DEVICES[row["system"]], f"--prompt={isl}", f"--new={osl}", f"--batch={batch}",
                        "--logits=last", f"--parallel=tp={tp},ep={max(1, ep)}",
                        *bench.formats(model, row["precision"]))
        prefill, decode = got["phases"][0], got["phases"][1]
        if decode["latency_ps"] is None:
            continue
        ttft, tpot = float(row["silicon_ttft_ms"]) * 1e-3, float(row["silicon_tpot_ms"]) * 1e-3
        step, first = decode["latency_ps"] * 1e-12, prefill["latency_ps"] * 1e-12
        where = f"{row['model_path']} {row['system']} {row['backend']} {isl}/{osl} batch {batch} tp {tp} ep {ep}"
        if ttft > 100 * first:
            bench.show(f"{where}: queues {ttft:.1f} s, so fewer sequences run than it states")
            continue
        bench.bound(f"prefill of {where}", prefill["lower_bound_ps"] * 1e-12, ttft)
        bench.bound(f"decode of {where}", decode["lower_bound_ps"] * 1e-12, tpot)
        alone.append(step / tpot - 1)
        loaded.append((step + batch * first / osl) / tpot - 1)
        bench.show(f"{where}: measured {1e3 * tpot:.2f} ms, expected {1e3 * step:.2f}, with prefill "
                   f"{1e3 * (step + batch * first / osl):.2f}")
    report("servers, time per token: decode alone", alone)
    report("servers, decode and prefill of other requests", loaded)


def offline(bench):
    """The best rate over batches that fit must not be below a measured one."""
    n = 0
    ratios = []
    for row in bench.rows("trtllm_offline.csv"):
        model = bench.model(row["model"])
        if model is None or row["gpu"] not in DEVICES:
            continue
        isl, osl, tp = (number(row[k]) for k in ("isl", "osl", "tp"))
        got = bench.ask(model, DEVICES[row["gpu"]], f"--prompt={isl}", f"--new={osl}", "--logits=last",
                        f"--parallel=tp={tp}", "--reserve=0", "--kv-dtype=fp8", "--kv-policy=ring",
                        f"--context={isl + osl // 2 if isl + osl // 2 > 0 else 1}",
                        *bench.formats(model, row["precision"]))
        measured = float(row["output_tokens_per_s_total"])
        best = got["capacity"][0]["tokens_per_s"] or 0
        n += 1
        ratios.append(best / measured)
        if best < measured:
            bench.failed += 1
            print(f"ceiling {best} below measured {measured}: {row['model']} {row['precision']} {row['gpu']} "
                  f"tp {tp} {isl}/{osl}")
    if ratios:
        print(f"offline: {n} rows, ceiling / measured {min(ratios):.2f} to {max(ratios):.2f}, "
              f"median {statistics.median(ratios):.2f}")


def local(bench):
    errors = []
    for row in bench.rows("prefill_decode_local.csv"):
        model = bench.model(row["model"])
        rate = row["decode_tokens_per_s"] or ("decode step" in row["note"] and row["prefill_tokens_per_s"])
        if model is None or row["device"] not in DEVICES or not rate:
            continue
        got = bench.ask(model, DEVICES[row["device"]], f"--prompt={row['prompt']}", "--new=2",
                        f"--batch={row['batch']}", *bench.formats(model, row["quant"]))
        step = got["phases"][1]["latency_ps"] * 1e-12
        measured = int(row["batch"]) / float(rate)
        bench.bound(str(row), got["phases"][1]["lower_bound_ps"] * 1e-12, measured)
        errors.append(step / measured - 1)
    report("decode on local GPUs", errors)


def more_bits(layer, n):
    """llama.cpp's use_more_bits: layers whose weights get more bits."""
    return layer < n // 8 or layer >= 7 * n // 8 or (layer - n // 8) % 3 == 2


def mixture(scheme, n, heads_per_kv):
    """The options of llama.cpp's mixture of formats (llama-quant.cpp) for a model of n layers; None if not known."""
    several = heads_per_kv >= 4
    last, table = "q6_k", None
    wide = lambda layer: "q6_k" if more_bits(layer, n) else None
    first = lambda name: lambda layer: name if layer < n // 8 else None
    every = lambda name: lambda layer: name
    # scheme: format, and those of values, down projections, output projections by layer
    kinds = {"q8_0": ("q8_0",), "q5_0": ("q5_0",), "q4_0": ("q4_0",), "f16": ("fp16",), "bf16": ("bf16",),
             "f32": ("fp32",),
             "q4_k_m": ("q4_k", wide, wide), "q5_k_m": ("q5_k", wide, wide),
             "q3_k_l": ("q3_k", every("q5_k"), every("q5_k"), every("q5_k")),
             "q2_k": ("q2_k", every("q4_k" if several else "q3_k"), every("q3_k"), every("q3_k")),
             "iq4_nl": ("iq4_nl", every("q5_k" if several else None), first("q5_k")),
             "iq3_s": ("iq3_s", every("q4_k" if several else None)),
             "iq2_xs": ("iq2_xs", every("q4_k" if several else "q2_k"), first("q2_k")),
             "iq1_s": ("iq1_s", every("q4_k" if several else "q2_k"), first("q2_k"), every("iq2_xxs"))}
    if scheme not in kinds:
        return None
    kind, *parts = kinds[scheme]
    if kind in ("fp16", "bf16", "fp32", "q8_0"):
        last = kind
    if kind in ("iq1_s", "iq2_xs"):
        last, table = "q5_k", "q2_k"
    options = [f"*={kind}", f"*embed_tokens*={table or kind}", f"*lm_head*={last}"]
    for part, choose in zip(("v_proj", "down_proj", "o_proj"), parts):
        for layer in range(n):
            name = choose(layer)
            if part == "v_proj" and n == 80:  # of 70B
                name = {"q3_k": "q5_k", "q4_k": "q5_k"}.get(name or kind, name)
            if name:
                options.append(f"*layers.{layer}.*{part}*={name}")
    return options


def quantized(bench):
    """Sizes of published files; those of the formats of llama.cpp from its rules for mixtures."""
    errors = []
    units = {"B": 1, "GB": 1e9, "GiB": 2**30, "GB (GiB)": 2**30}
    for row in bench.rows("quantized_weights.csv"):
        name = row["model"].replace("Llama-3.3-70B", "Llama-3.1-70B")
        model = bench.model(name) if name != "DeepSeek-R1" else None
        if model is None:
            continue
        scheme = row["scheme"].lower()
        if "mxfp4" in scheme:
            options = ["*experts*=mxfp4"]
        elif "int8" in scheme:
            options = ["*_proj*=int8"]
        else:
            options = mixture(scheme.replace("gguf ", "").split()[0], *((80, 8) if "70B" in name else (32, 4)))
        if options is None:
            continue
        got = bench.ask(model, "h100-sxm", *(f"--quantize={option}" for option in options))
        published = float(row["published_size"]) * units[row["unit"]]
        errors.append(got["weight_bytes"] / published - 1)
        bench.show(f"{row['model']} {row['scheme']}: published {published / 1e9:.3f} GB, "
                   f"{100 * errors[-1]:+.2f} %, {got['weight_bytes']} B")
        if abs(errors[-1]) > 0.005:
            bench.failed += 1
            print(f"{row['model']} {row['scheme']}: {100 * errors[-1]:+.2f} %")
    if errors:
        print(f"quantized weights: {len(errors)} rows, largest error {100 * max(map(abs, errors)):.2f} %")


def capacity(bench):
    """Tokens that a server's log states for its memory of caches; those of a block of each layer may differ."""
    for row in bench.rows("capacity.csv"):
        model = bench.model(row["model"])
        if model is None or not row["kv_gib"]:
            continue
        stored = bench.ask(model, "h100-sxm")["stored_bytes"]
        got = bench.ask(model, "h100-sxm", f"--memory-limit={stored + int(float(row['kv_gib']) * 2**30)}",
                        "--reserve=0", "--arena=1", "--kv-policy=paged:16")
        layers = got["layers"]
        difference = got["longest_context"] - int(row["tokens"])
        print(f"capacity, {row['model']}: {got['longest_context']} tokens, {row['engine']} {row['tokens']}")
        if abs(difference) > 16 * layers:
            bench.failed += 1
            print("differs by more than a block of each layer")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--costmodel", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--list", action="store_true")
    bench = Bench(parser.parse_args())
    attention(bench)
    serving(bench)
    offline(bench)
    local(bench)
    quantized(bench)
    capacity(bench)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
