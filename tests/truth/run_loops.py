#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks the trip counts of Loops that compare a counter with a limit: the reference evaluator of the installed
Python package onnx runs the loops. The loops are random combinations of counters, limits and comparisons
from a fixed seed; each iteration stacks an element.

Also compares shapes and MACs of random Loops whose iterations have different shapes (loop_models.py):
sequences, growing states, nested Loops and branches.

    run_loops.py --costmodel PROGRAM [--loops N] [--models N] [--seed N] [--runtime]

--runtime uses ONNX Runtime instead of the reference evaluator; models are run by both. Prints how many trip
counts, shapes and MACs are right, open (unknown or an upper bound) or wrong, and exits with 1 if one is wrong
or too many are open.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import random
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

SKIPPED = 77
MAX_OPEN = 0.1  # fraction of the shapes in models of loop_models.py
MAX_ROUNDS = 300  # of a loop; longer loops are skipped
try:
    import numpy
    import onnx
    import onnx.reference
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: the Python package onnx is not installed")
    sys.exit(SKIPPED)

import loop_models

INTS = {TensorProto.INT64: numpy.int64, TensorProto.INT32: numpy.int32}
COMPARISONS = {"Less": numpy.less, "LessOrEqual": numpy.less_equal, "Greater": numpy.greater,
               "GreaterOrEqual": numpy.greater_equal}


class Body:
    """A loop body under construction; the names of values are numbered."""

    def __init__(self, chance):
        self.chance, self.nodes, self.constants = chance, [], []

    def add(self, kind, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def constant(self, number, dtype):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(numpy.array(number, INTS[dtype]), name))
        return name

    def linear(self, value, dtype):
        """Returns a linear function of `value`, in one of the forms that exporters write."""
        kind = self.chance.choice(["plain", "plus", "minus", "times", "around", "cast"])
        number = self.constant(self.chance.choice([-3, -1, 1, 2, 5]), dtype)
        if kind == "plus":
            return self.add("Add", number, value)
        if kind == "minus":
            return self.add("Sub", number, value)
        if kind == "times":
            return self.add("Mul", value, number)
        if kind == "around":
            return self.add("Identity", value)
        if kind == "cast":
            return self.add("Cast", self.add("Cast", value, to=TensorProto.FLOAT), to=dtype)
        return value

    def condition(self, values, dtype, depth=0):
        kind = self.chance.choice(["compare"] * 4 + ["Not", "And", "Or"]) if depth < 3 else "compare"
        if kind == "Not":
            return self.add("Not", self.condition(values, dtype, depth + 1))
        if kind in ("And", "Or"):
            return self.add(kind, self.condition(values, dtype, depth + 1),
                            self.condition(values, dtype, depth + 1))
        sides = [self.linear(self.chance.choice(values), dtype),
                 self.constant(self.chance.randint(-40, 200), dtype)]
        self.chance.shuffle(sides)
        return self.add(self.chance.choice(list(COMPARISONS)), *sides)


def make(chance):
    dtype = chance.choice(list(INTS))
    body = Body(chance)
    scalar = lambda name, kind: helper.make_tensor_value_info(name, kind, [])
    number = body.add("Cast", "i", to=dtype)
    step = body.constant(chance.choice([-7, -2, -1, 0, 1, 1, 1, 3]), dtype)
    following = body.add(chance.choice(["Add", "Sub"]), "s", step)
    goes_on = body.add("Identity", body.condition([number, "s", following], dtype))
    inner = helper.make_graph(
        body.nodes + [helper.make_node("Identity", ["s"], ["r"])], "body",
        [scalar("i", TensorProto.INT64), scalar("on", TensorProto.BOOL), scalar("s", dtype)],
        [scalar(goes_on, TensorProto.BOOL), scalar(following, dtype), scalar("r", dtype)],
        body.constants)
    starts = {"c": numpy.array(True), "s0": numpy.array(chance.randint(-20, 60), INTS[dtype])}
    trips = chance.choice([None, None, 2 ** 63 - 1, chance.randint(0, 60)])
    if trips is not None:
        starts["n"] = numpy.array(trips, numpy.int64)
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n" if trips is not None else "", "c", "s0"], ["last", "all"], body=inner)],
        "loops", [], [helper.make_tensor_value_info("all", dtype, [None])],
        [numpy_helper.from_array(value, name) for name, value in starts.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model, body, goes_on, following, starts


def rounds_of(body, goes_on, following, starts):
    """Returns the trip count, at most MAX_ROUNDS + 1; runs the body alone to stop an endless loop."""
    most = min(int(starts.get("n", MAX_ROUNDS + 1)), MAX_ROUNDS + 1)
    dtype = helper.np_dtype_to_tensor_dtype(starts["s0"].dtype)
    scalar = lambda name, kind: helper.make_tensor_value_info(name, kind, [])
    graph = helper.make_graph(body.nodes, "round",
                              [scalar("i", TensorProto.INT64), scalar("s", dtype)],
                              [scalar(goes_on, TensorProto.BOOL), scalar(following, dtype)], body.constants)
    run = onnx.reference.ReferenceEvaluator(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    state, on, done = starts["s0"], True, 0
    while on and done < most:
        on, state = run.run(None, {"i": numpy.array(done, numpy.int64), "s": state})
        done += 1
    return done


def run_by_runtime(model):
    import onnxruntime
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return len(session.run(None, {})[0])


def run_by_program(costmodel, path, model):
    onnx.save(model, path)
    done = subprocess.run([costmodel, path, "--format", "json"], capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode not in (0, 3):  # 3: the totals leave something out
        done.check_returncode()
    nodes = json.loads(done.stdout)["nodes"]
    return next(o["shape"][0] for n in nodes for o in n["outputs"] if o["name"] == "all")


def judge(output, shapes):
    """Compares the reported shape of a value with those that its runs had."""
    have = output["shape"]
    if have is None:
        return "open"
    for want in shapes:
        if len(want) != len(have) or any(h is not None and h != w for h, w in zip(have, want)):
            return "wrong"
    return "open" if len(shapes) == 1 and None in have else "right"


def judge_macs(document, macs):
    have = document["totals"]["macs"]
    bounded = "upper_bound" in document["totals"] or \
        any(message["code"] == "assumption" for message in document["diagnostics"])
    if have is None or any(node["macs"] is None for node in document["nodes"]):
        return "open"
    if bounded:
        return "open" if have >= macs else "wrong"
    return "right" if have == macs else "wrong"


def runtime_differs(model, values):
    """Runs the model with every tensor of the main graph as an output."""
    import onnxruntime
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    names = [name for node in copy.graph.node for name in node.output if not isinstance(values[name], list)]
    for name in names:
        kind = helper.np_dtype_to_tensor_dtype(numpy.asarray(values[name]).dtype)
        copy.graph.output.append(helper.make_tensor_value_info(name, kind, None))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
    results = session.run(names, {"x": values["x"]})
    return [name for name, result in zip(names, results) if result.shape != numpy.shape(values[name])]


def compare_model(costmodel, path, chance, runtime, seen):
    model = loop_models.make(chance)
    done = loop_models.run(model)
    if done is None:
        return
    log, values = done
    last = model.graph.output[0]
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info(
        last.name, helper.np_dtype_to_tensor_dtype(numpy.asarray(values[last.name]).dtype), None)
        if not isinstance(values[last.name], list) else
        helper.make_tensor_sequence_value_info(last.name, TensorProto.FLOAT, None))
    if runtime and runtime_differs(model, values):
        print("the interpreter differs from ONNX Runtime")
        seen["wrong shapes"] += 1
    onnx.save(model, path)
    result = subprocess.run([costmodel, path, "--format", "json"], capture_output=True, text=True, timeout=60)
    if result.returncode not in (0, 3):
        print(f"wrong: {result.stderr}\n{onnx.printer.to_text(model)}")
        seen["wrong shapes"] += 1
        return
    document = json.loads(result.stdout)
    verdicts = Counter()
    for node in document["nodes"]:
        for output in node["outputs"]:
            if output["name"] in log.shapes and output.get("dtype") != "sequence":
                verdict = judge(output, log.shapes[output["name"]])
                verdicts[verdict + " shapes"] += 1
                if verdict == "wrong":
                    print(f"wrong: {output} of {node['op']}, runs have {log.shapes[output['name']]}")
    verdict = judge_macs(document, log.macs)
    verdicts[verdict + " MACs"] += 1
    if verdict == "wrong":
        print(f"wrong: {document['totals']['macs']} MACs, runs have {log.macs}")
    if verdicts["wrong shapes"] or verdicts["wrong MACs"]:
        print(onnx.printer.to_text(model))
    seen.update(verdicts)


def compare_models(args, path):
    chance = random.Random(args.seed)
    seen = Counter()
    while seen["right MACs"] + seen["open MACs"] + seen["wrong MACs"] < args.models:
        compare_model(args.costmodel, path, chance, args.runtime, seen)
    for what in "shapes", "MACs":
        print(f"{what}: " + ", ".join(f"{seen[f'{verdict} {what}']} {verdict}"
                                      for verdict in ("right", "open", "wrong")))
    return seen["wrong shapes"] + seen["wrong MACs"] > 0 or \
        seen["open shapes"] > MAX_OPEN * (seen["right shapes"] + 1)


def main():
    parser = argparse.ArgumentParser(description="loops that count, against those who run them")
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--loops", type=int, default=300)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runtime", action="store_true")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    seen = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loop.onnx"
        while seen.total() < args.loops:
            model, *parts = make(chance)
            want = rounds_of(*parts)
            if want > MAX_ROUNDS:
                continue
            if args.runtime:
                want = run_by_runtime(model)
            have = run_by_program(args.costmodel, path, model)
            seen["open" if have is None else "right" if have == want else "wrong"] += 1
            if have not in (None, want):
                print(f"wrong: {have} rounds, {want} are run\n{onnx.printer.to_text(model)}")
        fails = compare_models(args, path)
    print(f"loops: {seen['right']} right, {seen['open']} open, {seen['wrong']} wrong")
    return fails or seen["wrong"] > 0 or seen["open"] * 5 > args.loops


if __name__ == "__main__":
    sys.exit(main())
