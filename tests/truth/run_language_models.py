#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `costmodel llm` with what Hugging Face's classes keep for each token and sequence (language_models.json)
on the small models of language_models.tar.xz, and the forms of one model (without a cache, with one, of a
fixed size, from ONNX Runtime GenAI) with each other: KV bytes exactly, MACs, bytes and times of the phases
within 2 %.

    run_language_models.py --costmodel PROGRAM [PATTERN]

Prints each difference, and exits with 1 if there is one that UNKNOWN does not list.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import fnmatch
import json
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
BYTES = {"bfloat16": 2, "float16": 2, "float32": 4}
TOLERANCE = 0.02  # of phases
# Figures that the file does not determine, by pattern of the file. A file without a cache lacks the states
# of recurrences and convolutions; without attention, it is refused.
UNKNOWN = {
    "*__nocache*": {"state_bytes_per_sequence"},
    # the exporter stores the table of tokens again, transposed, for the logits
    "gpt2__dyn__torchscript*": {"params", "active_params", "active_without_input_embedding"},
}
REFUSED = ["mamba2__nocache*"]
# Forms that are not compared with the others: other bytes of weights, or other nodes than a server runs.
OTHER_FORMS = ["*__int4__*", "*__torchscript__*"]
STATES_UNROLLED = {"falcon_h1", "lfm2", "nemotron_h", "qwen3_next", "qwen3_5"}  # nocache: loops over chunks


def ask(program, path):
    call = [program, "llm", path, "--format", "json", "--device", "h100-sxm", "--logits", "last"]
    run = subprocess.run(call, capture_output=True, text=True)
    return json.loads(run.stdout)["llm"] if run.returncode == 0 else run.stderr.strip()


def expected_figures(truth):
    kept, size = truth["expected"], BYTES[truth["kv_dtype"]]
    return {"kv_bytes_per_token": kept["kv_elements_per_token"] * size,
            "kv_bytes_per_token_window": kept["kv_elements_per_token_window"] * size,
            "window": kept["window"],
            "state_bytes_per_sequence": kept["state_bytes_per_sequence"],
            "params": kept["total_params"],
            "active_params": kept["active_params"],
            "active_without_input_embedding": kept["active_without_input_embedding"],
            "experts": kept["experts"],
            "experts_per_token": kept["top_k"],
            "expert_params": kept["expert_params"]}


def phase_figures(got):
    figures = {key: got[key] for key in ("kv_bytes_per_token", "kv_bytes_per_token_window")}
    for phase in got["phases"]:
        for key in ("macs", "bytes", "latency_ps"):
            figures[f"{phase['name']} {phase['batch']} {key}"] = phase[key]
    return figures


def compare_forms(forms):
    """Yields what differs between the first form and the others."""
    reference, first = forms[0]
    for name, figures in forms[1:]:
        for key, value in figures.items():
            tolerance = 0 if key.startswith("kv") else TOLERANCE
            if abs(value - first[key]) > tolerance * first[key]:
                yield f"{name}: {key} is {value}, in {reference} {first[key]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("pattern", nargs="?", default="*")
    options = parser.parse_args()
    truths = json.loads((HERE / "language_models.json").read_text())
    models, wrong, n = defaultdict(list), [], 0
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(HERE / "language_models.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        for name, truth in truths.items():
            if not fnmatch.fnmatch(name, options.pattern):
                continue
            n += 1
            got = ask(options.costmodel, Path(folder) / name)
            is_refused = any(fnmatch.fnmatch(name, pattern) for pattern in REFUSED)
            if isinstance(got, str) or is_refused:
                if not isinstance(got, str) or not is_refused:
                    wrong.append(f"{name}: {got if isinstance(got, str) else 'not refused'}")
                continue
            skipped = set().union(*[keys for pattern, keys in UNKNOWN.items()
                                    if fnmatch.fnmatch(name, pattern)])
            wrong += [f"{name}: {key} is {got[key]}, expected {value}"
                      for key, value in expected_figures(truth).items()
                      if got[key] != value and key not in skipped]
            is_other = any(fnmatch.fnmatch(name, pattern) for pattern in OTHER_FORMS)
            is_unrolled = truth["form"] == "nocache" and truth["model"] in STATES_UNROLLED
            if not is_other and not is_unrolled:
                models[truth["model"]].append((name, phase_figures(got)))
    for forms in models.values():
        wrong += compare_forms(forms)
    for line in wrong:
        print(line)
    print(f"{n} models, {sum(len(forms) > 1 for forms in models.values())} in several forms, "
          f"{len(wrong)} differences")
    return 1 if wrong or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
