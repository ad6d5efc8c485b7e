#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares the trip counts of Loops with counting conditions with the reference evaluator of the installed
Python package onnx, which runs the loops. The loops are random combinations of counters, limits and
comparisons from a fixed seed; each iteration stacks an element.

    run_loops.py --costmodel PROGRAM [--loops N] [--seed N] [--runtime]

--runtime uses ONNX Runtime instead. Prints how many trip counts are right, open (unknown) or wrong, and
exits with 1 if one is wrong or more than a fifth are open.
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
MOST_ROUNDS = 300  # of a loop that is run; those that run longer are not looked at
try:
    import numpy
    import onnx
    import onnx.reference
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("the Python package onnx is not installed")
    sys.exit(SKIPPED)

INTS = {TensorProto.INT64: numpy.int64, TensorProto.INT32: numpy.int32}
COMPARISONS = {"Less": numpy.less, "LessOrEqual": numpy.less_equal, "Greater": numpy.greater,
               "GreaterOrEqual": numpy.greater_equal}


class Body:
    """Nodes of a loop's body as they come about; names of values are numbered."""

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
        """Something that is made of a number, as exporters write it."""
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
    """Runs the body alone, so that a loop which does not end is left in time."""
    most = min(int(starts.get("n", MOST_ROUNDS + 1)), MOST_ROUNDS + 1)
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
                          timeout=60, check=True)
    nodes = json.loads(done.stdout)["nodes"]
    return next(o["shape"][0] for n in nodes for o in n["outputs"] if o["name"] == "all")


def main():
    parser = argparse.ArgumentParser(description="loops that count, against those who run them")
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--loops", type=int, default=300)
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
            if want > MOST_ROUNDS:
                continue
            if args.runtime:
                want = run_by_runtime(model)
            have = run_by_program(args.costmodel, path, model)
            seen["open" if have is None else "right" if have == want else "wrong"] += 1
            if have not in (None, want):
                print(f"wrong: {have} rounds, {want} are run\n{onnx.printer.to_text(model)}")
    print(f"loops: {seen['right']} right, {seen['open']} open, {seen['wrong']} wrong")
    return seen["wrong"] > 0 or seen["open"] * 5 > args.loops


if __name__ == "__main__":
    sys.exit(main())
