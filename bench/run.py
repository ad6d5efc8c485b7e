#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Times costmodel beside onnx.load + onnx.shape_inference in one run, and prints a table.

usage: run.py --build BUILD [--python PYTHON] [--runs N] [--work FOLDER]

BUILD is a release build of the project. PYTHON is an interpreter that has the `onnx` package;
without it a virtual environment is made in BUILD/bench-venv. The exit status says whether
everything ran, not how fast: a missed target is printed as such.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import math
import statistics
import subprocess
import venv
from collections import namedtuple
from pathlib import Path

import chain
import inflate

HERE = Path(__file__).resolve().parent
RESNET50 = HERE.parent / "models" / "resnet50.onnx"
CHAINS = (1000, 10000, 100000)
ROUNDS = {1000: 200, 10000: 30, 100000: 5}
RESNET_ROUNDS = 2000
LIMITS = {"ratio": 100, "resident_mb": 10, "analysis_us": 1000, "exponent": 1.2}

# What a user of the onnx package runs; it also says what load + inference took without start-up.
BASELINE = """
import sys, time
import onnx
start = time.perf_counter()
model = onnx.load(sys.argv[1])
onnx.shape_inference.infer_shapes(model)
print((time.perf_counter() - start) * 1e3, file=sys.stderr)
"""

Measured = namedtuple("Measured", "wall_ms resident_mb stderr")


class Tools:
    """The programs of a build, and a Python with onnx."""

    def __init__(self, build, python):
        self.costmodel = build / "costmodel"
        self.measure = build / "bench" / "bench_measure"
        self.analysis = build / "bench" / "bench_analysis"
        for program in (self.costmodel, self.measure, self.analysis):
            if not program.exists():
                sys.exit(f"{program}: not built")
        self.python = python or python_with_onnx(build / "bench-venv")


def python_with_onnx(folder):
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "onnx"], check=True)
    return python


def measured(tools, command):
    done = subprocess.run([tools.measure, *command], capture_output=True, text=True, check=True)
    wall, resident, status = (int(word) for word in done.stdout.split())
    if status != 0:
        sys.exit(f"{command[0]}: exit status {status}: {done.stderr.strip()}")
    return Measured(wall / 1e3, resident / 1024, done.stderr.strip())


def interleaved(tools, commands, runs):
    """Every command once unmeasured (cold caches), then all of them in turn."""
    for command in commands:
        measured(tools, command)
    rounds = [[measured(tools, command) for command in commands] for _ in range(runs)]
    return list(zip(*rounds))


def analysis_us(tools, model, rounds):
    done = subprocess.run([tools.analysis, model, "1", str(rounds)], capture_output=True,
                          text=True, check=True)
    median, fastest, nodes = done.stdout.split()
    return float(median), float(fastest), int(nodes)


def row(*cells):
    print("  {:<34}{:>14}{:>14}{:>12}".format(*cells))


def target(what, have, limit, unit, at_least=False):
    met = have >= limit if at_least else have <= limit
    sign = ">=" if at_least else "<="
    print(f"  {'pass' if met else 'MISS'}  {what}: {have:.3g} {unit} (target {sign} {limit:g})")


def whole_process(tools, model, runs):
    """The same question to both, from process start to exit."""
    ours, theirs = interleaved(tools, ([tools.costmodel, model, "--batch", "32"],
                                       [tools.python, "-c", BASELINE, model]), runs)
    wall = [statistics.median(m.wall_ms for m in side) for side in (ours, theirs)]
    peak = [max(m.resident_mb for m in side) for side in (ours, theirs)]
    inner = statistics.median(float(m.stderr.splitlines()[-1]) for m in theirs)
    size = model.stat().st_size / 1e6
    print(f"whole process, ResNet-50 of {size:.0f} MB, medians of {runs} interleaved runs")
    row("", "costmodel", "onnx", "ratio")
    row("wall time", f"{wall[0]:.2f} ms", f"{wall[1]:.1f} ms", f"{wall[1] / wall[0]:.0f} x")
    row("without Python's start and import", f"{wall[0]:.2f} ms", f"{inner:.1f} ms",
        f"{inner / wall[0]:.0f} x")
    row("peak resident", f"{peak[0]:.1f} MB", f"{peak[1]:.1f} MB", f"{peak[1] / peak[0]:.0f} x")
    target("whole process", wall[1] / wall[0], LIMITS["ratio"], "x", at_least=True)
    target("peak resident", peak[0], LIMITS["resident_mb"], "MB")


def analysis(tools, model):
    median, fastest, nodes = analysis_us(tools, model, RESNET_ROUNDS)
    print(f"analysis alone, load to result in one process, the same file ({nodes} nodes)")
    row("", "median", "fastest", "")
    row("ResNet-50", f"{median:.0f} us", f"{fastest:.0f} us", "")
    target("analysis", median, LIMITS["analysis_us"], "us")


def scaling(tools, work):
    print("growth, chains of nodes, load to result")
    row("nodes", "median", "per node", "growth")
    times = []
    for length in CHAINS:
        model = work / f"chain{length}.onnx"
        chain.write(length, model)
        median, _, _ = analysis_us(tools, model, ROUNDS[length])
        growth = f"{median / times[-1]:.1f} x" if times else ""
        times.append(median)
        row(str(length), f"{median / 1e3:.2f} ms", f"{median / length * 1e3:.0f} ns", growth)
    exponent = math.log(times[-1] / times[0]) / math.log(CHAINS[-1] / CHAINS[0])
    target("growth exponent", exponent, LIMITS["exponent"], "")


def arguments():
    parser = argparse.ArgumentParser(description="time costmodel beside onnx")
    parser.add_argument("--build", required=True, type=Path, help="a release build")
    parser.add_argument("--python", help="a Python that has the onnx package")
    parser.add_argument("--runs", type=int, default=15, help="measured runs of each side")
    parser.add_argument("--work", type=Path, help="where the models go (default: BUILD/bench)")
    return parser.parse_args()


def main():
    options = arguments()
    tools = Tools(options.build.resolve(), options.python)
    work = options.work or options.build / "bench"
    work.mkdir(parents=True, exist_ok=True)
    full = work / "resnet50_full.onnx"
    if not full.exists():
        inflate.inflate(RESNET50, full)
    whole_process(tools, full, options.runs)
    analysis(tools, full)
    scaling(tools, work)


if __name__ == "__main__":
    main()
