#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares modelled times with published measurements, and writes the error card of docs/times.md
and docs/times.svg.

usage: times.py --costmodel PROG --measured FOLDER --rows FOLDER [--report] [--calibrate]
                [--only DEVICE]

--measured holds gemm.csv, gemm_deepbench.csv, conv_deepbench.csv, timm.csv and
timm_models.tar.xz; --rows the models/ and rows_*.csv that times_models.py, ncnn_models.py and
ncnn_rows.py write (docs/times.md, Sources). The parameters of each device and runtime are fitted
to one half of its models or shapes, and compared with both halves, beside two rivals: the lower
bound, and the lower bound divided by one share. --report writes the documents; --calibrate fits
to all rows and writes the calibrations into devices/.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import collections
import csv
import json
import math
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
SHORTEST = 50e-6  # of a kernel, seconds: shorter ones were timed with the host that launches them
ORDER = ("torch-compile", "torch-eager", "tensorrt", "ort-cuda", "ort-cpu", "openvino", "ncnn")
WIDTHS = {"fp32": "fp32", "tf32": "tf32", "fp16": "fp16", "bf16": "fp16", "amp": "fp16",
          "fp8": "fp8", "int8": "int8"}

Row = collections.namedtuple("Row", "source device runtime model node batch precision layout "
                             "seconds optimizer", defaults=("",))


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
GEMM_DEVICES = {"a100_sxm": "a100-80gb", "h100_sxm": "h100-sxm", "h200_sxm": "h200", "b200_sxm": "b200",
                "l40s": "l40s"}
GEMM_DTYPES = {"bfloat16": "bf16", "fp8": "fp8"}
OLD_PRECISIONS = {"fp32": "fp32", "fp16": "fp16", "fp16-storage": "fp16"}
PROCESSORS = {"cpu-i7-12700h": "core-i7-12700h", "cpu-i9-10940x": "core-i9-10940x"}
MODES = {"compiled": "torch-compile", "eager": "torch-eager", "train": "torch-eager"}


def gemm_shape(row):
    return tuple(int(row[key]) for key in "mnk")


def conv_shape(row):
    return tuple(int(row[key]) for key in CONV)


def gemm_rows(row):
    if row["device"] in GEMM_DEVICES and row["dtype"] in GEMM_DTYPES:
        yield Row("aiconfigurator", GEMM_DEVICES[row["device"]], "torch-compile", "gemm.onnx",
                  gemm_node(gemm_shape(row))[0], "", GEMM_DTYPES[row["dtype"]], "",
                  float(row["latency_us"]) * 1e-6)


def old_gemm_rows(row):
    yield Row("DeepBench", row["device"], "torch-compile", "gemm.onnx", gemm_node(gemm_shape(row))[0],
              "", OLD_PRECISIONS[row["precision"]], "", float(row["ms"]) * 1e-3)


def conv_rows(row):
    yield Row("DeepBench", row["device"], "torch-compile", "conv.onnx", conv_node(conv_shape(row))[0],
              "", OLD_PRECISIONS[row["precision"]], "", float(row["forward_ms"] or 0) * 1e-3)


def timm_rows(row):
    layout = row["layout"] if row["mode"] != "compiled" else ""
    yield Row("timm", PROCESSORS.get(row["device"], row["device"]), MODES[row["mode"]],
              row["model"] + ".onnx", "", row["batch"],
              "amp" if row["dtype"] == "amp" else "fp32", layout, float(row["step_ms"]) * 1e-3,
              "momentum" if row["mode"] == "train" else "")


def common_rows(row):
    """A row of times_models.py or ncnn_rows.py."""
    node = row["dims"].removeprefix("node=") if row["dims"].startswith("node=") else ""
    source = row["table"].split()[0].replace("Hugging", "Hugging Face")
    yield Row(source, row["device"], row["runtime"], "models/" + row["model"], node,
              "" if node else row["batch"], row["precision"], "", float(row["ms"]) * 1e-3,
              "sgd" if row["mode"] in ("training", "backward") else "")


SOURCES = {"timm.csv": timm_rows, "gemm.csv": gemm_rows, "gemm_deepbench.csv": old_gemm_rows,
           "conv_deepbench.csv": conv_rows}


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def prepare(measured, folder, work):
    """Writes the models into `work`; returns the rows by device and runtime."""
    files = {name: read(measured / name) for name in SOURCES}
    shapes = {gemm_shape(row) for name in ("gemm.csv", "gemm_deepbench.csv") for row in files[name]}
    write_model(work / "gemm.onnx", map(gemm_node, sorted(shapes)))
    write_model(work / "conv.onnx",
                map(conv_node, sorted({conv_shape(row) for row in files["conv_deepbench.csv"]})))
    with tarfile.open(measured / "timm_models.tar.xz") as archive:
        for member in archive.getmembers():
            if member.isfile() and member.name.endswith(".onnx"):
                (work / Path(member.name).name).write_bytes(archive.extractfile(member).read())
    (work / "models").symlink_to((folder / "models").resolve())
    found = {row for name, rows_of in SOURCES.items() for row in files[name] for row in rows_of(row)}
    for path in sorted(folder.glob("rows_*.csv")):
        found |= {row for line in read(path) for row in common_rows(line)}
    groups = collections.defaultdict(list)
    for row in sorted(found, key=str):
        known = (work / row.model).exists() and (ROOT / "devices" / f"{row.device}.json").exists()
        if known and row.seconds > (SHORTEST if row.source == "NeuSight" and row.node else 0):
            groups[row.device, row.runtime].append(row)
    return groups


def write_times(path, rows):
    path.write_text("\n".join([HEADER, *(",".join(map(str, row[3:])) for row in rows)]) + "\n")


def fit(args, device, runtime, rows, work):
    """Returns the rows with modelled times, fitted to one half of them; None if fit fails."""
    write_times(work / "times.csv", rows)
    figures = json.loads((ROOT / "devices" / f"{device}.json").read_text())
    figures.pop("calibration", None)  # it was fitted to all rows
    (work / "device.json").write_text(json.dumps(figures))
    command = [args.costmodel, "fit", "device.json", "times.csv", "--runtime", runtime,
               "--hold-out", "--rows", "rows.csv"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            cwd=work, check=False)
    if args.verbose:
        print(device, runtime, result.stdout.replace("\n", ""), file=sys.stderr)
    if result.returncode != 0:
        print(f"{device} {runtime}: {result.stderr.strip()}", file=sys.stderr)
        return None
    return read(work / "rows.csv")


def basis_of(rows):
    counts = collections.Counter(row.source for row in rows)
    return ", ".join(f"{n} times of {source}" for source, n in sorted(counts.items()))


def calibrate(args, device, by_runtime, work):
    """Fits to all rows and writes the calibrations into the device's file."""
    command = [sys.executable, str(ROOT / "tools" / "fit_device"), "--costmodel", args.costmodel,
               str(ROOT / "devices" / f"{device}.json")]
    for runtime in sorted(by_runtime, key=ORDER.index):
        write_times(work / f"{runtime}.csv", by_runtime[runtime])
        command += ["--times", f"{runtime}={work / f'{runtime}.csv'}"]
    rows = [row for part in by_runtime.values() for row in part]
    subprocess.run([*command, "--basis", basis_of(rows)], cwd=work, check=True)


# --- the report --------------------------------------------------------------------------------

def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))] if values else math.nan


def errors(rows, key="expected", share=1):
    """Errors of the times rows[key] / share; 1 share: the error of the modelled times."""
    return [abs(float(row[key]) / share / float(row["seconds"]) - 1) for row in rows
            if float(row[key]) > 0]


def percent(value):
    return "–" if math.isnan(value) else f"{100 * value:.0f} %"


def line(device, runtime, width, what, rows):
    """Returns one line of the error card."""
    held = [row for row in rows if row["held_out"] == "1"]
    fitted = [row for row in rows if row["held_out"] == "0"]
    bounded = [row for row in rows if float(row["lower_bound"]) > 0]
    ratios = [float(row["seconds"]) / float(row["lower_bound"]) for row in bounded]
    share = 1 / quantile([float(row["seconds"]) / float(row["lower_bound"]) for row in fitted
                          if float(row["lower_bound"]) > 0], 0.5)
    inside = [float(row["low"]) <= float(row["seconds"]) <= float(row["high"]) for row in held
              if float(row["expected"]) > 0]
    covered = sum(inside) / len(inside) if inside else math.nan
    cells = (device, runtime, width, what, len(rows), percent(quantile(errors(fitted), 0.5)),
             percent(quantile(errors(held), 0.5)), percent(quantile(errors(held), 0.9)),
             percent(covered), percent(quantile(errors(held, "lower_bound"), 0.5)),
             percent(quantile(errors(held, "lower_bound", share), 0.5)),
             f"{quantile(ratios, 0.5):.2f}", sum(ratio < 1 for ratio in ratios))
    return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """| device | runtime | width | of | times | error, fitted half | held-out half | its 90th \
percentile | in interval | rival: bound | rival: one share | measured ÷ bound | bound above measured |
|---|---|---|---|---|---|---|---|---|---|---|---|---|"""


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


def panel_of(row, runtime):
    if row.optimizer:
        return "training steps"
    if not row.node:
        return f"networks, {runtime}"
    return "convolutions" if "conv" in row.model else "matrix products and other operators"


def run(args, work):
    groups = prepare(args.measured, args.rows, work)
    lines, panels, by_device = [], collections.defaultdict(list), collections.defaultdict(dict)
    for (device, runtime), rows in sorted(groups.items()):
        if args.only and args.only != device:
            continue
        by_device[device][runtime] = rows
        timed = fit(args, device, runtime, rows, work) if not args.skip else None
        parts = collections.defaultdict(list)
        for row, time in zip(rows, timed or ()):
            what = "kernels" if row.node else "steps" if row.optimizer else "networks"
            parts[WIDTHS[row.precision], what].append(time)
            if float(time["expected"]) > 0:
                panels[panel_of(row, runtime)].append((row.seconds, float(time["expected"]),
                                                       time["held_out"]))
        for (width, what), times in sorted(parts.items()):
            lines.append(line(device, runtime, width, what, times))
            print(lines[-1], flush=True)
    if args.report:
        write_report(lines, panels)
    if args.calibrate:
        for device, by_runtime in by_device.items():
            calibrate(args, device, by_runtime, work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--measured", required=True, type=Path, help="published measurements")
    parser.add_argument("--rows", required=True, type=Path, help="models/ and rows_*.csv")
    parser.add_argument("--only", help="a device")
    parser.add_argument("--calibrate", action="store_true", help="write devices/*.json")
    parser.add_argument("--report", action="store_true", help="write docs/times.md and times.svg")
    parser.add_argument("--skip", action="store_true", help="calibrate only: do not compare")
    parser.add_argument("--verbose", action="store_true", help="print the fitted parameters")
    args = parser.parse_args()
    args.costmodel = str(Path(args.costmodel).resolve())
    with tempfile.TemporaryDirectory() as temporary:
        run(args, Path(temporary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
