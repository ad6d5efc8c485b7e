#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares modelled times with published measurements, and writes docs/times.svg and the table of
docs/times.md.

usage: times.py --costmodel PROG --measured FOLDER [--report] [--calibrate] [--only DEVICE]

FOLDER holds gemm.csv, gemm_deepbench.csv, conv_deepbench.csv, timm.csv and timm_models.tar.xz
(docs/times.md, Sources). The parameters of each device are fitted to one half of its models or
shapes; its modelled times are compared with both halves. --report writes the documents;
--calibrate fits to all rows and writes the calibrations into devices/.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import collections
import csv
import json
import math
import os
import subprocess
import tarfile
import tempfile
from pathlib import Path

import wire

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FLOAT, EXTERNAL, INT, INTS = 1, 1, 2, 7
IR_VERSION, OPSET = 8, 17
HEADER = "model,node,batch,precision,layout,seconds,optimizer"
COLORS = {"0": "#9aa5b1", "1": "#1f6feb"}  # fitted, held out
SOURCES = {
    "timm.csv": "huggingface/pytorch-image-models (results/benchmark-*.csv)",
    "gemm.csv": "ai-dynamo/aiconfigurator 095f58a5 (vLLM tables)",
    "gemm_deepbench.csv": "baidu-research/DeepBench (results/train)",
    "conv_deepbench.csv": "baidu-research/DeepBench (results/train)",
}

Row = collections.namedtuple("Row", "model node batch precision layout seconds optimizer",
                             defaults=("",))
Table = collections.namedtuple("Table", "title device runtime panel file where row")


# --- models of single products ---------------------------------------------------------------

def info(field, name, dims):
    shape = wire.message(2, *(wire.message(1, wire.integer(1, d)) for d in dims))
    return wire.message(field, wire.text(1, name),
                        wire.message(2, wire.message(1, wire.integer(1, FLOAT), shape)))


def external(name, dims):
    """Returns a tensor with external data; the data file need not exist."""
    entry = wire.message(13, wire.text(1, "location"), wire.text(2, "weights.bin"))
    return wire.message(5, *(wire.integer(1, d) for d in dims), wire.integer(2, FLOAT),
                        wire.text(8, name), entry, wire.integer(14, EXTERNAL))


def ints(name, values):
    return wire.message(5, wire.text(1, name), *(wire.integer(8, v) for v in values),
                        wire.integer(20, INTS))


def node(name, kind, *attributes):
    return wire.message(1, wire.text(1, f"{name}.x"), wire.text(1, f"{name}.w"),
                        wire.text(2, f"{name}.y"), wire.text(3, name), wire.text(4, kind),
                        *attributes)


def gemm_node(shape):
    m, n, k = shape
    name = f"{m}x{n}x{k}"
    return name, node(name, "MatMul"), (m, k), (k, n), (m, n)


def conv_node(shape):
    width, height, c, batch, k, fw, fh, pw, ph, sw, sh = shape
    name = "x".join(map(str, shape))
    out = (batch, k, (height + 2 * ph - fh) // sh + 1, (width + 2 * pw - fw) // sw + 1)
    return (name, node(name, "Conv", ints("strides", (sh, sw)), ints("pads", (ph, pw, ph, pw))),
            (batch, c, height, width), (k, c, fh, fw), out)


def write_model(path, nodes):
    """Writes a model of independent products."""
    parts = []
    for name, body, x, w, y in nodes:
        parts += [body, external(f"{name}.w", w), info(11, f"{name}.x", x),
                  info(12, f"{name}.y", y)]
    path.write_bytes(wire.integer(1, IR_VERSION) + wire.message(7, wire.text(2, "g"), *parts) +
                     wire.message(8, wire.integer(2, OPSET)))


# --- rows of the published files ---------------------------------------------------------------

CONV = "w h c n k filter_w filter_h pad_w pad_h stride_w stride_h".split()


def gemm_shape(row):
    return tuple(int(row[key]) for key in "mnk")


def conv_shape(row):
    return tuple(int(row[key]) for key in CONV)


def gemm_rows(precision):
    return lambda row: Row("gemm.onnx", gemm_node(gemm_shape(row))[0], "", precision, "",
                           float(row["latency_us"]) * 1e-6 if "latency_us" in row else
                           float(row["ms"]) * 1e-3)


def conv_rows(precision):
    return lambda row: Row("conv.onnx", conv_node(conv_shape(row))[0], "", precision, "",
                           float(row["forward_ms"] or 0) * 1e-3)


def network_row(row):
    return Row(row["model"] + ".onnx", "", row["batch"],
               "amp" if row["dtype"] == "amp" else "fp32",
               row["layout"] if row["mode"] in ("eager", "train") else "",
               float(row["step_ms"]) * 1e-3, "momentum" if row["mode"] == "train" else "")


def networks(title, device, runtime, pytorch, name=None):
    return Table(f"networks, {title}", device, runtime, f"networks, {runtime}", "timm.csv",
                 {"device": name or device, "mode": runtime, "pytorch": pytorch}, network_row)


def training(title, device, pytorch):
    return Table(f"training steps, {title}", device, "eager", "training steps", "timm.csv",
                 {"device": device, "mode": "train", "pytorch": pytorch}, network_row)


def gemms(title, device, name, dtype, precision):
    return Table(f"GEMM, {title} {precision}", device, "compiled", "matrix products", "gemm.csv",
                 {"device": name, "dtype": dtype}, gemm_rows(precision))


def deepbench(title, device, precisions):
    for name, precision in precisions:
        where = {"device": device, "precision": name}
        yield Table(f"convolution, {title} {name}", device, "compiled", "convolutions",
                    "conv_deepbench.csv", where, conv_rows(precision))
        yield Table(f"GEMM, {title} {name}", device, "compiled", "matrix products",
                    "gemm_deepbench.csv", where, gemm_rows(precision))


TABLES = [
    networks("RTX 4090, PyTorch 2.4", "rtx-4090", "compiled", "240"),
    networks("RTX 4090, PyTorch 2.9.1", "rtx-4090", "compiled", "291"),
    networks("RTX 5090, PyTorch 2.9.1", "rtx-5090", "compiled", "291"),
    networks("RTX PRO 6000 Max-Q, PyTorch 2.9.1", "rtx-pro-6000-maxq", "compiled", "291"),
    networks("RTX 3090, PyTorch 2.4", "rtx-3090", "eager", "240"),
    training("RTX 3090, PyTorch 1.12", "rtx-3090", "112"),
    networks("RTX 4090, PyTorch 2.4", "rtx-4090", "eager", "240"),
    networks("RTX 5090, PyTorch 2.9.1", "rtx-5090", "eager", "291"),
    networks("batch 1, Core i7-12700H", "core-i7-12700h", "compiled", "240", "cpu-i7-12700h"),
    networks("batch 1, Core i9-10940X", "core-i9-10940x", "compiled", "240", "cpu-i9-10940x"),
    gemms("A100", "a100-80gb", "a100_sxm", "bfloat16", "bf16"),
    gemms("H100", "h100-sxm", "h100_sxm", "bfloat16", "bf16"),
    gemms("H200", "h200", "h200_sxm", "bfloat16", "bf16"),
    gemms("B200", "b200", "b200_sxm", "bfloat16", "bf16"),
    gemms("L40S", "l40s", "l40s", "bfloat16", "bf16"),
    gemms("H100", "h100-sxm", "h100_sxm", "fp8", "fp8"),
    gemms("H200", "h200", "h200_sxm", "fp8", "fp8"),
    gemms("B200", "b200", "b200_sxm", "fp8", "fp8"),
    gemms("L40S", "l40s", "l40s", "fp8", "fp8"),
    *deepbench("V100", "v100", (("fp32", "fp32"), ("fp16", "fp16"))),
    *deepbench("P100", "p100", (("fp32", "fp32"), ("fp16-storage", "fp16"))),
    *deepbench("GTX 1080 Ti", "gtx-1080-ti", (("fp32", "fp32"),)),
    *deepbench("T4", "t4", (("fp32", "fp32"), ("fp16", "fp16"))),
]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def rows_of(table, files):
    rows = [table.row(row) for row in files[table.file]
            if all(row[key] == value for key, value in table.where.items())]
    return sorted(row for row in rows if row.seconds > 0)


def write_rows(path, rows):
    path.write_text("\n".join([HEADER, *(",".join(map(str, row)) for row in rows)]) + "\n")


def is_refused(args, path):
    result = subprocess.run([args.costmodel, str(path), "--batch", "2", "-o", os.devnull],
                            stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode in (0, 3):
        return False
    print(f"skipped: {path.name}: {result.stderr.splitlines()[0]}", file=sys.stderr)
    return True


def prepare(args, measured, work):
    """Reads the published files and writes the models that they measured."""
    files = {name: read(measured / name) for name in SOURCES}
    shapes = {gemm_shape(row) for name in ("gemm.csv", "gemm_deepbench.csv") for row in files[name]}
    write_model(work / "gemm.onnx", map(gemm_node, sorted(shapes)))
    write_model(work / "conv.onnx",
                map(conv_node, sorted({conv_shape(row) for row in files["conv_deepbench.csv"]})))
    with tarfile.open(measured / "timm_models.tar.xz") as archive:
        for member in archive.getmembers():
            if member.isfile() and member.name.endswith(".onnx"):
                path = work / Path(member.name).name
                path.write_bytes(archive.extractfile(member).read())
                if is_refused(args, path):
                    files["timm.csv"] = [row for row in files["timm.csv"]
                                         if row["model"] != path.stem]
    return files


def fit(args, device, runtime, rows, work):
    """Returns the rows with modelled times, fitted to one half of them; None if fit fails."""
    write_rows(work / "times.csv", rows)
    file = work / "device.json"
    figures = json.loads((ROOT / "devices" / f"{device}.json").read_text())
    figures.pop("calibration", None)  # it was fitted to all rows
    file.write_text(json.dumps(figures))
    command = [args.costmodel, "fit", str(file), str(work / "times.csv"), "--runtime", runtime,
               "--models", str(work), "--hold-out", "--rows", str(work / "rows.csv")]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            check=False)
    if args.verbose:
        print(device, runtime, result.stdout.replace("\n", ""), file=sys.stderr)
    if result.returncode != 0:
        print(f"{device}: {result.stderr.strip()}", file=sys.stderr)
        return None
    return read(work / "rows.csv")


def calibrate(args, device, rows_by_runtime, work):
    """Fits to all rows and writes the calibration into the device's file."""
    command = [sys.executable, str(ROOT / "tools" / "fit_device"), "--costmodel", args.costmodel,
               "--models", str(work), str(ROOT / "devices" / f"{device}.json")]
    basis = []
    for runtime, (rows, what) in rows_by_runtime.items():
        write_rows(work / f"{runtime}.csv", rows)
        command += ["--times", f"{runtime}={work / f'{runtime}.csv'}"]
        basis.append(what)
    subprocess.run([*command, "--basis", "; ".join(dict.fromkeys(basis))], check=True)


# --- the report --------------------------------------------------------------------------------

def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.nan


def errors(rows):
    return [abs(float(row["expected"]) / float(row["seconds"]) - 1) for row in rows
            if float(row["expected"]) > 0]


def percent(value):
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def line(table, rows):
    """Returns one line of the table in docs/times.md."""
    held = errors([row for row in rows if row["held_out"] == "1"])
    fitted = errors([row for row in rows if row["held_out"] == "0"])
    ratios = [float(row["seconds"]) / float(row["lower_bound"]) for row in rows
              if float(row["lower_bound"]) > 0]
    above = sum(ratio < 1 for ratio in ratios)
    return (f"| {table.title} | {table.runtime} | {len(rows)} | {above} "
            f"| {quantile(ratios, 0.5):.2f} | {percent(quantile(fitted, 0.5))} "
            f"| {percent(quantile(held, 0.5))} | {percent(quantile(held, 0.9))} |")


HEAD = """| measured | runtime | rows | lower bound above measured | measured ÷ bound, median \
| error, fitted half | held-out half | its 90th percentile |
|---|---|---|---|---|---|---|---|"""


def ticks(low, high):
    return [10.0 ** e for e in range(math.ceil(low), math.floor(high) + 1)]


def time_label(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale * 0.999:
            return f"{seconds / scale:.0f} {unit}"
    return f"{seconds:g} s"


def panel(title, points, x0, y0, size):
    """Returns a plot of expected over measured times, with logarithmic axes."""
    values = [math.log10(v) for x, y, _ in points for v in (x, y)]
    low, high = math.floor(min(values) * 2) / 2, math.ceil(max(values) * 2) / 2

    def at(value):
        return (math.log10(value) - low) / (high - low) * size

    out = [f'<g transform="translate({x0},{y0})"><text x="0" y="-10" class="title">{title}</text>',
           f'<rect width="{size}" height="{size}" class="frame"/>',
           f'<path d="M0 {size}L{size} 0" class="equal"/>']
    for tick in ticks(low, high):
        out.append(f'<path d="M{at(tick):.0f} 0v{size}M0 {size - at(tick):.0f}h{size}" class="grid"/>'
                   f'<text x="{at(tick):.0f}" y="{size + 16}" text-anchor="middle">'
                   f'{time_label(tick)}</text><text x="-6" y="{size - at(tick) + 4:.0f}" '
                   f'text-anchor="end">{time_label(tick)}</text>')
    for held_out in "01":
        dots = "".join(f"M{at(x):.1f} {size - at(y):.1f}h0" for x, y, h in points if h == held_out)
        out.append(f'<path d="{dots}" stroke="{COLORS[held_out]}" class="dots"/>')
    out.append(f'<text x="{size / 2}" y="{size + 34}" text-anchor="middle">measured</text>'
               f'<text transform="translate(-52,{size / 2}) rotate(-90)" text-anchor="middle">'
               f'expected</text></g>')
    return out


def scatter(panels):
    size, step = 300, 390
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * step + 10} '
           f'{(len(panels) + 1) // 2 * step + 20}" font-family="sans-serif" font-size="11">',
           '<style>.frame,.grid,.equal{fill:none;stroke:#d0d7de}.equal{stroke:#57606a}'
           '.dots{fill:none;stroke-width:4;stroke-linecap:round;stroke-opacity:.6}'
           '.title{font-size:13px;font-weight:bold}text{fill:#57606a}</style>',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="70" y="18"><tspan fill="{COLORS["0"]}">● fitted</tspan>  '
           f'<tspan fill="{COLORS["1"]}">● held out</tspan></text>']
    for index, (title, points) in enumerate(sorted(panels.items())):
        out += panel(title, points, 70 + index % 2 * step, 55 + index // 2 * step, size)
    return "\n".join([*out, "</svg>"]) + "\n"


def write_report(lines, panels):
    """Replaces the table between the marks of docs/times.md, and the plot."""
    path = ROOT / "docs" / "times.md"
    begin, end = "<!-- begin generated tables: bench/times.py -->\n", \
        "<!-- end generated tables -->"
    text = path.read_text()
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    path.write_text(before + begin + "\n".join([HEAD, *lines]) + "\n" + end + after)
    (ROOT / "docs" / "times.svg").write_text(scatter(panels))


def run(args, work):
    files = prepare(args, Path(args.measured), work)
    groups = collections.defaultdict(list)
    for table in TABLES:
        if not args.only or args.only in (table.device, table.title):
            groups[table.device, table.runtime].append(table)
    lines, panels, bases = {}, collections.defaultdict(list), collections.defaultdict(dict)
    for (device, runtime), tables in groups.items():
        rows = [rows_of(table, files) for table in tables]
        together = [row for part in rows for row in part]
        counts = collections.Counter()
        for table, part in zip(tables, rows):
            counts[SOURCES[table.file]] += len(part)
        bases[device][runtime] = (together, " and ".join(f"{n} times of {source} ({runtime})"
                                                         for source, n in counts.items()))
        timed = fit(args, device, runtime, together, work)
        for table, part in zip(tables, rows):
            if timed is None:
                break
            mine, timed = timed[:len(part)], timed[len(part):]
            lines[table.title, runtime] = line(table, mine)
            panels[table.panel] += [(float(row["seconds"]), float(row["expected"]), row["held_out"])
                                    for row in mine if float(row["expected"]) > 0]
            print(lines[table.title, runtime], flush=True)
    if args.calibrate:
        for device, by_runtime in bases.items():
            calibrate(args, device, by_runtime, work)
    if args.report:
        write_report([lines[t.title, t.runtime] for t in TABLES if (t.title, t.runtime) in lines],
                     panels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--measured", required=True, help="folder of the published measurements")
    parser.add_argument("--work", help="folder for the models and rows; default: a temporary one")
    parser.add_argument("--only", help="a device or the title of a table")
    parser.add_argument("--calibrate", action="store_true", help="write devices/*.json")
    parser.add_argument("--report", action="store_true", help="write docs/times.md and times.svg")
    parser.add_argument("--verbose", action="store_true", help="print the fitted parameters")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run(args, Path(args.work or temporary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
