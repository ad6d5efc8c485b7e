# SPDX-License-Identifier: Apache-2.0
"""
Random models with Loops whose iterations have different shapes: sequences of tensors, growing states,
nested Loops, branches. run() interprets a model and records what every run of every node computes.
"""
import numpy
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WIDTH = 6  # row length of all tensors


class Builder:
    """A graph that is being built. Values of enclosing graphs may be used by name."""

    def __init__(self, chance, outer=None):
        self.chance, self.nodes, self.outer = chance, [], outer
        self.count = outer.count if outer else [0]

    def name(self):
        self.count[0] += 1
        return f"v{self.count[0]}"

    def add(self, kind, *inputs, **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(kind, inputs, [name], name=f"{kind}_{name}", **attributes))
        return name

    def constant(self, value, dtype=numpy.int64):
        return self.add("Constant", value=numpy_helper.from_array(numpy.array(value, dtype)))

    def graph(self, name, inputs, outputs):
        return helper.make_graph(self.nodes, name, inputs, outputs)


def scalar(name, kind):
    return helper.make_tensor_value_info(name, kind, [])


def rows(name):
    return helper.make_tensor_value_info(name, FLOAT, [None, WIDTH])


def sequence(name):
    return helper.make_tensor_sequence_value_info(name, FLOAT, None)


def take_rows(build, source, number):
    """Returns rows of `source`; the scalar `number` decides how many, and which."""
    kind = build.chance.choice(["split", "table", "prefix", "constant"])
    one = build.constant([0])
    if kind == "constant":
        return build.add("Slice", source, one, build.constant([build.chance.randint(1, 3)]), build.constant([0]))
    at = build.add("Unsqueeze", number, one)
    if kind == "split":
        step = build.chance.randint(1, 3)
        start = build.add("Mul", at, build.constant([step]))
        end = build.add("Add", start, build.constant([step]))
    elif kind == "table":
        table = sorted(build.chance.randint(0, 12) for _ in range(9))
        start = build.add("Gather", build.constant(table), at, axis=0)
        end = build.add("Gather", build.constant(table), build.add("Add", at, build.constant([1])), axis=0)
    else:
        start, end = one, build.add("Add", at, build.constant([1]))
    return build.add("Slice", source, start, end, build.constant([0]))


def project(build, value):
    weight = build.add("Constant", value=numpy_helper.from_array(
        numpy.ones((WIDTH, WIDTH), numpy.float32) / WIDTH))
    return build.add("MatMul", value, weight)


def branch(build, condition, value):
    """Adds an If whose branches do different work."""
    sides = {}
    for side in ("then_branch", "else_branch"):
        inner = Builder(build.chance, build)
        result = project(inner, value) if side == "then_branch" else inner.add("Relu", value)
        if build.chance.random() < 0.5:
            result = inner.add("Concat", result, value, axis=0)
        sides[side] = inner.graph(side, [], [rows(result)])
    return build.add("If", condition, **sides)


def loop(build, source, states, depth=0, trips=None):
    """Appends a Loop over the states (tensor, sequence, counter); returns the states after it."""
    chance = build.chance
    body = Builder(chance, build)
    number, on = body.name(), body.name()
    tensor, items, counter = (body.name() for _ in states)
    inputs = [scalar(number, INT64), scalar(on, BOOL), rows(tensor), sequence(items), scalar(counter, INT64)]
    part = take_rows(body, source, chance.choice([number, number, counter]))
    after = [tensor, items, counter]
    for _ in range(chance.randint(1, 4)):
        kind = chance.choice(["insert", "insert", "grow", "count", "project", "branch", "replace", "nested"])
        if kind == "insert":
            place = [body.constant(chance.choice([0, -1]))] if chance.random() < 0.2 else []
            if place and depth == 0:
                place = [body.constant(0)]
            after[1] = body.add("SequenceInsert", after[1], part, *([body.constant(0)] if place else []))
        elif kind == "grow":
            after[0] = body.add("Concat", after[0], part, axis=0)
        elif kind == "count":
            length = body.add("Squeeze", body.add("Slice", body.add("Shape", part), *(
                body.constant([n]) for n in (0, 1))))
            after[2] = body.add("Min", body.add("Add", after[2], length), body.constant(8))
        elif kind == "project":
            part = project(body, part)
        elif kind == "branch":
            limit = body.constant(chance.randint(0, 4))
            condition = body.add("Less", chance.choice([number, after[2]]), limit)
            if chance.random() < 0.15:
                total = body.add("ReduceSum", part, keepdims=0)
                data = body.add("Less", total, body.constant(chance.choice([5, 10, 20]), numpy.float32))
                condition = chance.choice([data, body.add("And", condition, data)])
            part = branch(body, condition, part)
        elif kind == "replace":
            after[0] = part
        elif depth < 1:
            after = loop(body, source, after, depth + 1,
                         chance.choice([None, None, number, after[2]]))
    stacked = [body.add("ReduceSum", project(body, part), keepdims=0)] if chance.random() < 0.3 else []
    if chance.random() < 0.2:
        on_out = body.add("Less", body.add("Add", number, body.constant(1)), body.constant(chance.randint(1, 5)))
    else:
        on_out = body.add("Identity", on)
    after = [body.add("Identity", value) for value in after]
    outputs = [scalar(on_out, BOOL), rows(after[0]), sequence(after[1]), scalar(after[2], INT64)]
    graph = body.graph("body", inputs, outputs + [scalar(value, FLOAT) for value in stacked])
    if trips is None:
        trips = build.constant(chance.choice([0, 1, 2, 3, 3, 4, 5, 6, 9, 20]))
    results = [build.name() for _ in states] + [build.name() for _ in stacked]
    start = build.constant(True, bool)
    build.nodes.append(helper.make_node("Loop", [trips, start, *states], results, name=results[0], body=graph))
    return results[:3]


def use_sequence(build, items):
    """Uses of a sequence that depend on the number and the shapes of its elements."""
    for _ in range(build.chance.randint(1, 3)):
        kind = build.chance.choice(["at", "concat", "length", "all"])
        if kind == "at":
            place = build.constant(build.chance.choice([0, 0, 1, -1]))
            project(build, build.add("SequenceAt", items, place))
        elif kind == "concat":
            project(build, build.add("ConcatFromSequence", items, axis=0))
        elif kind == "length":
            build.add("ConstantOfShape", build.add("Unsqueeze", build.add("SequenceLength", items),
                                                   build.constant([0])))
        else:
            items = build.add("SequenceErase", items, build.constant(0))


def make(chance):
    """Returns a model with one input, or None if the result would not run."""
    build = Builder(chance)
    height = chance.choice([12, 12, 9])
    items = build.add("SequenceConstruct", "x") if chance.random() < 0.7 else \
        build.add("SplitToSequence", "x", build.constant(chance.randint(2, 5)), axis=0)
    states = ["x", items, build.constant(chance.randint(0, 2))]
    for _ in range(chance.randint(1, 2)):
        states = loop(build, "x", states)
    build.add("ConstantOfShape", build.add("Unsqueeze", states[2], build.constant([0])))
    project(build, states[0])
    use_sequence(build, states[1])
    graph = build.graph("loops", [helper.make_tensor_value_info("x", FLOAT, [height, WIDTH])], [])
    last = helper.make_tensor_value_info(build.nodes[-1].output[0], TensorProto.UNDEFINED, None)
    graph.output.append(last)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


# ---- An interpreter that records every run of every node. ----

class Log:
    def __init__(self):
        self.shapes = {}  # by value: the set of its shapes; sequences are left out
        self.macs = 0


def attribute(node, name, default=None):
    for attr in node.attribute:
        if attr.name == name:
            return helper.get_attribute_value(attr)
    return default


def run_loop(node, values, log):
    body = attribute(node, "body")
    trips, on, *states = [values[name] for name in node.input]
    stacked = [[] for _ in node.output[len(states):]]
    k = 0
    while on and k < trips:
        inside = dict(values)
        inside.update(zip((i.name for i in body.input), [numpy.int64(k), on, *states]))
        run_nodes(body.node, inside, log)
        on, *rest = [inside[o.name] for o in body.output]
        states = rest[:len(states)]
        for items, element in zip(stacked, rest[len(states):]):
            items.append(element)
        k += 1
    return states + [numpy.array(items, numpy.float32) for items in stacked]


def run_if(node, values, log):
    graph = attribute(node, "then_branch" if values[node.input[0]] else "else_branch")
    inside = dict(values)
    run_nodes(graph.node, inside, log)
    return [inside[o.name] for o in graph.output]


def insert(items, item, place=None):
    place = len(items) if place is None else int(place) + (len(items) if place < 0 else 0)
    return items[:place] + [item] + items[place:]


def erase(items, place):
    if not items:
        raise IndexError
    return [item for i, item in enumerate(items) if i != int(place) % len(items)]


def matmul(node, inputs, log):
    a, b = inputs
    log.macs += a.shape[0] * a.shape[1] * b.shape[1]
    return a @ b


def split(node, inputs, log):
    step = int(inputs[1])
    return [inputs[0][i:i + step] for i in range(0, len(inputs[0]), step)]


OPERATORS = {
    "Add": lambda n, i, log: i[0] + i[1],
    "And": lambda n, i, log: numpy.logical_and(i[0], i[1]),
    "Concat": lambda n, i, log: numpy.concatenate(i, 0),
    "ConcatFromSequence": lambda n, i, log: numpy.concatenate(i[0], 0),
    "Constant": lambda n, i, log: numpy_helper.to_array(attribute(n, "value")),
    "ConstantOfShape": lambda n, i, log: numpy.zeros(i[0], numpy.float32),
    "Gather": lambda n, i, log: i[0][i[1]],
    "Identity": lambda n, i, log: i[0],
    "Less": lambda n, i, log: numpy.less(i[0], i[1]),
    "MatMul": matmul,
    "Min": lambda n, i, log: numpy.minimum(i[0], i[1]),
    "Mul": lambda n, i, log: i[0] * i[1],
    "ReduceSum": lambda n, i, log: numpy.sum(i[0], dtype=numpy.float32),
    "Relu": lambda n, i, log: numpy.maximum(i[0], numpy.float32(0)),
    "SequenceAt": lambda n, i, log: i[0][int(i[1])],
    "SequenceConstruct": lambda n, i, log: list(i),
    "SequenceErase": lambda n, i, log: erase(*i),
    "SequenceInsert": lambda n, i, log: insert(*i),
    "SequenceLength": lambda n, i, log: numpy.int64(len(i[0])),
    "Shape": lambda n, i, log: numpy.array(i[0].shape, numpy.int64),
    "Slice": lambda n, i, log: i[0][int(i[1][0]):int(i[2][0])],
    "SplitToSequence": split,
    "Squeeze": lambda n, i, log: numpy.squeeze(i[0]),
    "Unsqueeze": lambda n, i, log: numpy.expand_dims(i[0], 0),
}


def run_nodes(nodes, values, log):
    for node in nodes:
        if node.op_type == "Loop":
            results = run_loop(node, values, log)
        elif node.op_type == "If":
            results = run_if(node, values, log)
        else:
            results = [OPERATORS[node.op_type](node, [values[name] for name in node.input], log)]
        for name, value in zip(node.output, results):
            values[name] = value
            if not isinstance(value, list):
                log.shapes.setdefault(name, set()).add(tuple(numpy.shape(value)))


def run(model):
    """Returns the log and all values of the main graph, or None if the model fails."""
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    values, log = {"x": numpy.ones(shape, numpy.float32)}, Log()
    try:
        run_nodes(model.graph.node, values, log)
    except (IndexError, ValueError):
        return None
    return log, values
