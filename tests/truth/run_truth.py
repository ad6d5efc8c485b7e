#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares the program with the truth tables on every model of models.tar.xz.

usage: run_truth.py --costmodel PROGRAM [--source REPO] [--models DIR] [--only PATTERN] [--every N] [--verbose]

Prints `file, what, verdict` for every check (pass, fail, exempt with its reason), a summary, and
exits 1 when a check failed or an exemption was not needed.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import subprocess
import tarfile
import tempfile
from collections import Counter, defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import expected
import listing
import tables
from exemptions import EXEMPTIONS
from verdicts import Ledger

WORKERS = 2
TIMEOUT = 300  # seconds for one file; a sanitized build is slow
TRUTH_BATCHES = (1, 32)
SIBLING_BATCHES = (1, 8, 32)
LISTING_ROWS = {"train": 39, "unfolded": 38}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")

Node = namedtuple("Node", "name op module inputs outputs")
Job = namedtuple("Job", "model batch mode text")
Run = namedtuple("Run", "status message profile")


class Profile:
    """The parts of a JSON report that the checks need."""

    def __init__(self, report):
        self.totals = report["totals"]
        self.coverage = report["coverage"]
        self.trains = report["options"]["mode"] != "inference"
        self.modules = {module["path"]: module for module in report["modules"]}
        self.nodes = [Node(n["name"], n["op"], n["module"], n["inputs"],
                           [o["name"] for o in n["outputs"]]) for n in report["nodes"]]
        self.shapes = {o["name"]: o.get("shape") for n in report["nodes"] for o in n["outputs"]}
        self.shapes.update((i["name"], i.get("shape")) for i in report["model"]["inputs"])


class Program:
    """Runs the program on files of one folder, at most once with the same options."""

    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        self.pool = ThreadPoolExecutor(WORKERS)
        self.asked = {}

    def _ask(self, job):
        command = [self.path, str(self.folder / job.model.path)]
        if job.batch:
            command += ["--batch", str(job.batch)]
        for dim in job.model.dims:
            command += ["--dim", dim]
        if job.mode:
            command += ["--mode", job.mode]
        command += ["--format", "deepspeed", "--width", "0"] if job.text else ["--format", "json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return Run(-1, f"still running after {TIMEOUT} s", None)
        message = (done.stderr.strip().splitlines() or [""])[0]
        if done.returncode not in (0, 3):
            return Run(done.returncode, message, None)
        read = listing.tree if job.text else lambda text: Profile(json.loads(text))
        try:
            return Run(done.returncode, message, read(done.stdout))
        except (ValueError, KeyError, StopIteration) as error:
            return Run(0, f"report not understood: {error!r}", None)

    def start(self, model, batch, mode="", text=False):
        job = Job(model.path, batch, mode, text)
        if job not in self.asked:
            self.asked[job] = self.pool.submit(self._ask, job._replace(model=model))
        return self.asked[job]

    def ask(self, *question, **how):
        return self.start(*question, **how).result()


def batches(model):
    if model.name.startswith("ssdlite320"):
        return (None,)  # its input is one image
    return (1,) if model.folder == "light" else SIBLING_BATCHES


def listing_kind(model):
    """Returns the variant of a PointNet export that the reference listing describes, else None."""
    if model.folder != "pointnet":
        return None
    for kind in LISTING_ROWS:
        if kind in model.variant.split("_"):
            return kind
    return None


def listing_mode(model):
    return "training" if listing_kind(model) == "unfolded" else ""


def start_all(program, chosen):
    for model in chosen:
        for batch in batches(model):
            program.start(model, batch)
        if model.variant.startswith("train"):
            for batch in TRUTH_BATCHES:
                program.start(model, batch, mode="inference")
        if listing_kind(model):
            program.start(model, 32, mode=listing_mode(model))
            program.start(model, 32, mode=listing_mode(model), text=True)


def tag(batch, mode=""):
    return f"b{batch or 1}" + (f" --mode {mode}" if mode else "")


def check_run(ledger, model, run, what):
    state = run.status if run.profile else f"{run.status} {run.message}"
    # one iteration of a Loop whose trip count is an input: the totals are lower bounds
    ledger.check(model.path, f"status {what}", state, 3 if model.name == "loop_if" else 0)
    return run.profile


def check_coverage(ledger, model, profile, what):
    coverage = profile.coverage
    ledger.check(model.path, f"unknown ops {what}", coverage["unknown_ops"], {})
    ledger.check(model.path, f"unknown shapes {what}", coverage["unknown_shapes"], 0)


def output_shapes(module, row):
    """Returns the shapes of a module's outputs, without shape arithmetic of the export."""
    outputs = [o for o in module["outputs"] if "shape" in o]
    kept = [o["shape"] for o in outputs if o["dtype"] not in INTEGERS or len(o["shape"] or []) > 1]
    if row.cls == "LSTM":
        kept = kept[:1]  # its states are left out
    return sorted(str(shape) for shape in kept)


def wanted_shapes(row):
    outs = row.outs[:1] if row.cls == "LSTM" else row.outs
    return sorted(str(list(shape)) for shape in outs)


def check_module(ledger, model, row, module, fix, what):
    def check(kind, have, want):
        ledger.check(model.path, f"module {kind} {what}", have, want, row.path or "(root)")

    check("macs", module["macs"], row.macs)
    check("flops", module["flops"], row.flops + fix.flops[row.path])
    if row.calls:
        check("calls", module["calls"], row.calls)
    if not what.endswith("inference"):
        check("params", module["params"], row.params + fix.params[row.path])
        if row.outs:
            check("outputs", output_shapes(module, row), wanted_shapes(row))


def check_modules(ledger, model, profile, rows, nodes, fix, what):
    for path in profile.modules.keys() - rows.keys():
        ledger.check(model.path, f"modules {what}", "present", "absent", path)
    for row in rows.values():
        module = profile.modules.get(row.path)
        if module is not None:
            check_module(ledger, model, row, module, fix, what)
            continue
        reason = expected.absent_reason(row, rows, nodes)
        if reason:
            ledger.exempt(model.path, f"modules {what}", reason)
        else:
            ledger.check(model.path, f"modules {what}", "absent", "present", row.path)


def check_truth(ledger, model, profile, batch, what):
    """Compares totals and modules with the reference."""
    reason = tables.no_truth_reason(model, batch)
    if reason:
        ledger.exempt(model.path, f"truth {what}", reason)
        return
    name = tables.truth_name(model, batch)
    if what.endswith("inference"):
        name = name.replace("_train", "_eval")
    rows = tables.rows(name, batch)
    ledger.check(model.path, f"macs {what}", profile.totals["macs"], rows[""].macs)
    if model.variant == "no_names":
        ledger.exempt(model.path, f"modules {what}", "its nodes have no names to tell modules by")
        return
    nodes = expected.by_module(model, profile, rows)
    eval_truth = model.variant.startswith("train") and name != "pointnet_train"
    fix = expected.correction(model, profile, rows, nodes, batch, eval_truth)
    want_flops = rows[""].flops + fix.flops[""]
    ledger.check(model.path, f"flops {what}", profile.totals["flops"], want_flops)
    ledger.check(model.path, f"params {what}", profile.totals["params"],
                 rows[""].params + fix.params[""])
    check_modules(ledger, model, profile, rows, nodes, fix, what)


def check_light(ledger, model, profile):
    macs, params = tables.LIGHT[model.name]
    ledger.check(model.path, "macs b1", profile.totals["macs"], macs)
    ledger.check(model.path, "params b1", profile.totals["params"], params)


def check_model(ledger, program, model):
    for batch in batches(model):
        what = tag(batch)
        profile = check_run(ledger, model, program.ask(model, batch), what)
        if profile is None:
            continue
        check_coverage(ledger, model, profile, what)
        if model.folder == "light":
            check_light(ledger, model, profile)
        elif batch in (None,) + TRUTH_BATCHES:
            check_truth(ledger, model, profile, batch or 1, what)
    if model.variant.startswith("train"):
        for batch in TRUTH_BATCHES:
            what = tag(batch, "inference")
            run = program.ask(model, batch, mode="inference")
            profile = check_run(ledger, model, run, what)
            if profile is not None:
                check_truth(ledger, model, profile, batch, what)


def check_listing_integers(ledger, model, profile, rows):
    for row in rows:
        path = "" if row["path"] == "(root)" else row["path"]
        module = profile.modules.get(path, {})
        have = tuple(module.get(key) for key in ("params", "macs", "flops"))
        want = tuple(int(row[key]) for key in ("truth_params", "truth_macs", "truth_ds_flops"))
        ledger.check(model.path, "listing integers", have, want, row["path"])


def check_listing_strings(ledger, model, tree, rows):
    """Compares classes of leaf modules; exports do not contain those of containers."""
    for row in rows:
        path = "" if row["path"] == "(root)" else row["path"]
        want = listing.Entry(row["class"], row["params_printed"], row["params_pct"],
                             row["macs_printed"], row["macs_pct"], row["extra"])
        have = tree.get(path)
        if have is not None and not row["extra"]:
            have = have._replace(cls=want.cls)
        ledger.check(model.path, "listing strings", have and tuple(have), tuple(want),
                     row["path"])


def check_listing(ledger, program, model):
    kind, mode = listing_kind(model), listing_mode(model)
    rows = [row for row in tables.read_csv("pointnet_listing5.csv")
            if kind == "train" or row["class"] != "Dropout"]
    ledger.check(model.path, "listing rows", len(rows), LISTING_ROWS[kind])
    integers = program.ask(model, 32, mode=mode)
    strings = program.ask(model, 32, mode=mode, text=True)
    if check_run(ledger, model, integers, tag(32, mode)):
        check_listing_integers(ledger, model, integers.profile, rows)
    if check_run(ledger, model, strings, tag(32, mode) + " text"):
        check_listing_strings(ledger, model, strings.profile, rows)


def check_same_totals(ledger, program, group, what):
    """Files that hold the same model at the same opset must agree at every batch."""
    for batch in SIBLING_BATCHES:
        runs = [(model, program.ask(model, batch).profile) for model in group]
        runs = [(model, profile) for model, profile in runs if profile]
        for model, profile in runs[1:]:
            first, reference = runs[0]
            for key in ("macs", "flops", "params"):
                ledger.check(model.path, f"{what} {Path(first.path).name} {key} {tag(batch)}",
                             profile.totals[key], reference.totals[key])


def siblings(chosen):
    """Returns groups of b1, b32 and dyn exports of one model in one variant at one opset."""
    groups = defaultdict(list)
    for model in chosen:
        if model.folder in ("light", "variants", "detection", "segmentation"):
            continue
        parts = [part for part in model.variant.split("_")
                 if part not in ("b1", "b32", "dyn", "dynhw", "dynpts", "dedup")]
        groups[model.name, tuple(parts), model.opset].append(model)
    return [group for group in groups.values() if len(group) > 1]


def variant_group(chosen):
    """Returns pointnet__folded_b1__op13 and the files that were made from it."""
    made = [m for m in chosen if m.folder == "variants" and "functions" not in m.variant]
    base = [m for m in chosen if m.path == "pointnet/pointnet__folded_b1__op13.onnx"]
    return base + made if base and made else []


def run(program, chosen, verbose):
    ledger = Ledger(EXEMPTIONS)
    start_all(program, chosen)
    for model in chosen:
        check_model(ledger, program, model)
        if listing_kind(model):
            check_listing(ledger, program, model)
    for group in siblings(chosen):
        check_same_totals(ledger, program, group, "equals")
    check_same_totals(ledger, program, variant_group(chosen), "equals")
    return report(ledger, chosen, verbose)


def report(ledger, chosen, verbose):
    for line in ledger.lines(verbose):
        print(line)
    stale = ledger.stale([model.path for model in chosen])
    for rule in stale:
        print(f"{rule.file}, {rule.what}, fail: exemption for {rule.module or 'the file'} is not "
              f"needed any more ({rule.reason})")
    count = Counter("fail" if group.failures else "pass" if group.passed else "exempt"
                    for group in ledger.groups.values())
    single = sum(group.passed for group in ledger.groups.values())
    print(f"{len(chosen)} files, {len(ledger.groups)} checks: {count['pass']} pass ({single} "
          f"values), {count['fail'] + len(stale)} fail, {count['exempt']} exempt")
    return 1 if ledger.failed() or stale else 0


def arguments():
    parser = argparse.ArgumentParser(description="compare the program with the truth tables")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--source", help="the repository: its tests/truth/models.tar.xz is used")
    parser.add_argument("--models", help="a folder with the models, already unpacked")
    parser.add_argument("--only", default="*", help="files to check: folder/name pattern")
    parser.add_argument("--every", type=int, default=1, help="one of so many models")
    parser.add_argument("--verbose", action="store_true", help="name every failure")
    return parser.parse_args()


def unpack(archive, folder):
    with tarfile.open(archive) as members:
        for member in members:
            if member.isfile():
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(members.extractfile(member).read())


def main():
    options = arguments()
    chosen = [m for m in tables.models() if fnmatchcase(m.path, options.only)]
    names = sorted({m.name for m in chosen})[::options.every]  # whole models: their files are compared
    chosen = [m for m in chosen if m.name in names]
    if options.models:
        return run(Program(options.costmodel, Path(options.models)), chosen, options.verbose)
    truth = Path(options.source) / "tests" / "truth" if options.source else tables.HERE
    with tempfile.TemporaryDirectory(prefix="costmodel-truth-") as folder:
        unpack(truth / "models.tar.xz", Path(folder))
        return run(Program(options.costmodel, Path(folder)), chosen, options.verbose)


if __name__ == "__main__":
    sys.exit(main())
