#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Times costmodel and Python tools, and writes the tables of docs/performance.md.

usage: run.py --build BUILD [--python PYTHON] [--runs N] [--limit SECONDS] [--work FOLDER] [--write]

BUILD is a release build of the project. PYTHON is an interpreter with the packages onnx,
onnx-tool, onnxruntime and sympy; missing packages are left out. Default: a virtual
environment in BUILD/bench-venv. --write updates the tables in docs/performance.md instead of
printing them. The exit status is 0 if everything ran, even if a target is missed.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import math
import os
import platform
import re
import statistics
import subprocess
import time
import venv
from collections import namedtuple
from pathlib import Path

import chain
import inflate
import models

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "performance.md"
CHAINS = (1000, 10000, 100000, 1000000)
ROUNDS = {1000: 200, 10000: 30, 100000: 7, 1000000: 3}
PACKAGES = {"onnx": "1.23.2", "onnx-tool": "1.0.1", "onnxruntime": "1.31.1", "sympy": "1.14.0"}
TIMED_OUT = 124  # exit status of timeout(1)

# Python tools that infer shapes or costs, called without loading external weights.
LOAD = "import sys, onnx; model = onnx.load(sys.argv[1], load_external_data=False); "
PEERS = {
    "onnx": LOAD + "onnx.shape_inference.infer_shapes(model)",
    "onnx-tool": LOAD + "import onnx_tool; m = onnx_tool.Model(model, {'verbose': False}); "
                 "m.graph.shape_infer(); m.graph.profile()",
    "runtime": LOAD + "from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference "
               "as S; S.infer_shapes(model)",
}
IMPORTS = {"onnx": "import onnx", "onnx-tool": "import onnx_tool",
           "runtime": "import onnxruntime.tools.symbolic_shape_infer"}

Measured = namedtuple("Measured", "wall_ms resident_mib status stderr")
Model = namedtuple("Model", "name path structure")  # structure: bytes without tensor payloads


class Tools:
    """The programs of a build, and a Python interpreter with the tools to compare with (peers)."""

    def __init__(self, options):
        build = options.build.resolve()
        self.costmodel = build / "costmodel"
        self.measure = build / "bench" / "bench_measure"
        self.analysis = build / "bench" / "bench_analysis"
        self.limit = options.limit
        for program in (self.costmodel, self.measure, self.analysis):
            if not program.exists():
                sys.exit(f"{program}: not built")
        self.python = options.python or python_with_peers(build / "bench-venv")
        self.peers = [name for name, line in IMPORTS.items()
                      if subprocess.run([self.python, "-c", line], capture_output=True,
                                        check=False).returncode == 0]


def python_with_peers(folder):
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        for package, version in PACKAGES.items():  # if one fails, goes on with the others
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"{package}=={version}"],
                           check=False)
    return python


def measured(tools, command):
    done = subprocess.run([tools.measure, "timeout", str(tools.limit), *command],
                          capture_output=True, text=True, check=True)
    wall, resident, status = (int(word) for word in done.stdout.split())
    return Measured(wall / 1e3, resident / 1024, status, done.stderr.strip())


def command_of(tools, side, model):
    if side == "costmodel":
        return [tools.costmodel, model.path]
    return [tools.python, "-c", PEERS[side], model.path]


def interleaved(tools, model, runs):
    """Runs every tool once to fill the caches, then those that succeeded `runs` times in turn."""
    first = {side: measured(tools, command_of(tools, side, model))
             for side in ("costmodel", *tools.peers)}
    if first["costmodel"].status != 0:
        sys.exit(f"{model.name}: {first['costmodel'].stderr}")
    rounds = {side: [] for side, one in first.items() if one.status == 0}
    for _ in range(runs):
        for side, times in rounds.items():
            times.append(measured(tools, command_of(tools, side, model)))
    return first, rounds


def median_ms(rounds):
    return statistics.median(one.wall_ms for one in rounds)


def peak_mib(rounds):
    return max(one.resident_mib for one in rounds)


def cell(tools, first, rounds, value):
    if first.status == TIMED_OUT:
        return f"> {tools.limit} s"
    return value(rounds) if rounds else "fails"


def table(out, *cells):
    out.append("| " + " | ".join(str(each) for each in cells) + " |")


def header(out, *cells):
    table(out, *cells)
    table(out, *["---"] * len(cells))


def read_us(path, size):
    """Returns the shortest time, µs, to read `size` bytes of a file that is in the page cache."""
    best = math.inf
    buffer = bytearray(1 << 20)
    for _ in range(20):
        start, left = time.perf_counter(), size
        with open(path, "rb", buffering=0) as file:
            while left > 0:
                left -= file.readinto(memoryview(buffer)[:left]) or left
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def whole_process(tools, all_models, runs):
    out = []
    header(out, "model", "file", "structure", "costmodel", *tools.peers, "least ratio", "memory",
           *(f"of {peer}" for peer in tools.peers))
    for model in all_models:
        big = model.structure > 10 << 20 or model.path.stat().st_size > 1 << 28
        first, rounds = interleaved(tools, model, max(3, runs // 5) if big else runs)
        ours = median_ms(rounds["costmodel"])
        theirs = [median_ms(rounds[peer]) for peer in tools.peers if peer in rounds]
        late = any(first[peer].status == TIMED_OUT for peer in tools.peers)
        least = f"{min(theirs) / ours:.0f} x" if theirs else "> " * late + "-"
        table(out, model.name, size_text(model.path.stat().st_size), size_text(model.structure),
              f"{ours:.1f} ms",
              *(cell(tools, first[p], rounds.get(p), lambda r: f"{median_ms(r):.0f} ms")
                for p in tools.peers), least, f"{peak_mib(rounds['costmodel']):.1f} MiB",
              *(cell(tools, first[p], rounds.get(p), lambda r: f"{peak_mib(r):.0f} MiB")
                for p in tools.peers))
    return out


def analysis_us(tools, model, rounds):
    done = subprocess.run([tools.analysis, model.path, "1", str(rounds)], capture_output=True,
                          text=True, check=True)
    median, fastest, nodes = done.stdout.split()
    return float(median), float(fastest), int(nodes)


def analysis(tools, all_models):
    """Returns a table: time to load and profile, time of only reading the file, peak memory."""
    out, chains = [], []
    header(out, "model", "nodes", "bytes a node", "load → result", "fastest", "a node",
           "nodes a second", "reading the structure", "peak / structure")
    for model in all_models:
        size = int(model.name.split()[-1]) if model.name.startswith("chain") else 0
        rounds = ROUNDS.get(size, 30 if model.structure > 10 << 20 else 500)
        median, fastest, nodes = analysis_us(tools, model, rounds)
        peak = measured(tools, command_of(tools, "costmodel", model)).resident_mib
        table(out, model.name, f"{nodes:,}", f"{model.structure / nodes:.0f}",
              f"{median / 1e3:.2f} ms", f"{fastest / 1e3:.2f} ms", f"{median / nodes * 1e3:.0f} ns",
              f"{nodes / median * 1e6:,.0f}", f"{read_us(model.path, model.structure):.0f} us",
              f"{peak * (1 << 20) / model.structure:.1f}")
        if size:
            chains.append((nodes, fastest))
    slope = [math.log(b[1] / a[1]) / math.log(b[0] / a[0]) for a, b in zip(chains, chains[1:])]
    whole = math.log(chains[-1][1] / chains[0][1]) / math.log(chains[-1][0] / chains[0][0])
    out += ["", f"Growth exponent of the chains, fastest runs: {whole:.2f} over all, "
            + ", ".join(f"{each:.2f}" for each in slope) + " from each to the next."]
    return out


def size_text(size):
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


def make_models(work):
    work.mkdir(parents=True, exist_ok=True)
    made = []

    def add(name, path, write, structure=None):
        if not path.exists():
            write(path)
        made.append(Model(name, path, structure or path.stat().st_size))

    def add_full(name, bare):
        add(name, work / f"{bare.stem}_full.onnx", lambda to: inflate.inflate(bare, to),
            bare.stat().st_size)

    for name in ("vgg16", "vit"):
        models.write(name, work / f"{name}.onnx")
    add_full("ResNet-50", ROOT / "models" / "resnet50.onnx")
    add_full("VGG-16", work / "vgg16.onnx")
    add_full("ViT-B/16", work / "vit.onnx")
    add("Llama, 7 B", work / "llama7b.onnx", lambda to: models.write("llama7b", to))
    add("modules 20 deep", work / "deep.onnx", lambda to: models.write("deep", to))
    for length in CHAINS:
        add(f"chain of {length}", work / f"chain{length}.onnx",
            lambda to, length=length: chain.write(length, to))
    return made


def machine(tools):
    versions = subprocess.run(
        [tools.python, "-c", "import importlib.metadata as m\n"
         f"for p in {[*PACKAGES]!r}:\n"
         "    try: print(p, m.version(p))\n"
         "    except m.PackageNotFoundError: pass"], capture_output=True, text=True, check=True)
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        name = re.search(r"model name\s*: (.*)", file.read())
    return (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} CPUs, {name[1] if name else '?'}, "
            f"{platform.python_implementation()} {platform.python_version()}; "
            f"{', '.join(versions.stdout.split(chr(10))[:-1])}; load {os.getloadavg()[0]:.1f}.")


def write_page(tables):
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        text = "\n".join(lines)
        block = re.compile(rf"(<!-- bench: {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        page, n = block.subn(lambda found, text=text: f"{found[1]}{text}\n", page)
        if n != 1:
            sys.exit(f"{PAGE}: no place for the table '{name}'")
    PAGE.write_text(page, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description="time costmodel and its peers")
    parser.add_argument("--build", required=True, type=Path, help="a release build")
    parser.add_argument("--python", help="a Python that has the peers")
    parser.add_argument("--runs", type=int, default=15, help="measured runs of each side")
    parser.add_argument("--limit", type=int, default=120, help="seconds that one run may take")
    parser.add_argument("--work", type=Path, help="where the models go (default: BUILD/bench)")
    parser.add_argument("--write", action="store_true", help="into docs/performance.md")
    return parser.parse_args()


def main():
    options = arguments()
    tools = Tools(options)
    all_models = make_models(options.work or options.build / "bench")
    tables = {"machine": [machine(tools)], "analysis": analysis(tools, all_models),
              "peers": whole_process(tools, all_models, options.runs)}
    if options.write:
        write_page(tables)
        return
    for lines in tables.values():
        print("\n".join(lines), end="\n\n")


if __name__ == "__main__":
    main()
