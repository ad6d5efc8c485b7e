# SPDX-License-Identifier: Apache-2.0
"""Generators of small models with large costs, one for each way in which a small file can take much
memory or time. Only the required fields are written, by hand."""
import struct
import sys

FLOAT, INT64, BOOL = 1, 7, 9


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def data(field, contents):
    if isinstance(contents, str):
        contents = contents.encode()
    return varint(field << 3 | 2) + varint(len(contents)) + contents


def tensor(name, dims, values, dtype=INT64):
    contents = struct.pack(f"<{len(values)}{'q' if dtype == INT64 else 'f'}", *values)
    return (b"".join(number(1, dim) for dim in dims) + number(2, dtype) + data(8, name)
            + data(9, contents))


def flag(name):
    return number(2, BOOL) + data(8, name) + data(9, b"\1")


def integer(name, value):
    return data(5, data(1, name) + number(3, value) + number(20, 2))


def integers(name, values):
    return data(5, data(1, name) + b"".join(number(8, value) for value in values)
                + number(20, 7))


def body(name, contents):
    return data(5, data(1, name) + data(6, contents) + number(20, 5))


def contents_of(name, value):
    return data(5, data(1, name) + data(5, value) + number(20, 4))


def node(op, inputs, outputs, attributes=b"", name="", domain="", notes=()):
    out = b"".join(data(1, value) for value in inputs)
    out += b"".join(data(2, value) for value in outputs)
    if name:
        out += data(3, name)
    out += data(4, op) + attributes
    if domain:
        out += data(7, domain)
    for key, value in notes:
        out += data(9, data(1, key) + data(2, value))
    return out


def value_info(name, dims=None, dtype=FLOAT):
    shape = b""
    if dims is not None:
        shape = data(2, b"".join(
            data(1, data(2, dim) if isinstance(dim, str) else number(1, dim)) for dim in dims))
    return data(1, name) + data(2, data(1, number(1, dtype) + shape))


def graph(nodes, inputs=(), outputs=(), initializers=()):
    return (b"".join(data(1, one) for one in nodes) + data(2, "g")
            + b"".join(data(5, one) for one in initializers)
            + b"".join(data(11, one) for one in inputs)
            + b"".join(data(12, one) for one in outputs))


def model(main, functions=(), opset=17, domains=()):
    imports = data(8, data(1, "") + number(2, opset))
    imports += b"".join(data(8, data(1, domain) + number(2, 1)) for domain in domains)
    return (number(1, 8) + imports + data(7, main)
            + b"".join(data(25, function) for function in functions))


def function(name, nodes, domain="f"):
    return (data(1, name) + data(4, "x") + data(5, "y")
            + b"".join(data(7, one) for one in nodes)
            + data(9, data(1, "") + number(2, 17)) + data(9, data(1, domain) + number(2, 1))
            + data(10, domain))


X = value_info("x", [2, 3])
Y = value_info("y")


def deep_messages(n):
    """Nested types, written as bytes: each level is about four bytes and one parser call."""
    kind = data(1, number(1, FLOAT))
    for _ in range(n):
        kind = data(4, data(1, kind))
    return model(graph([node("Relu", ["x"], ["y"])], [data(1, "x") + data(2, kind)], [Y]))


def deep_bodies(n):
    """If inside If."""
    other = body("else_branch", graph([node("Relu", ["x"], ["z"])], [], [value_info("z")]))
    nodes = [node("Relu", ["x"], ["y0"])]
    for i in range(1, n + 1):
        inner = graph(nodes, [], [value_info(f"y{i - 1}")])
        nodes = [node("If", ["c"], [f"y{i}"], body("then_branch", inner) + other)]
    return model(graph(nodes, [X, value_info("c", [], BOOL)], [value_info(f"y{n}")]))


def chain(n, op="Relu", name=lambda i: ""):
    nodes = [node(op, [f"v{i}" if i else "x"], [f"v{i + 1}"], name=name(i)) for i in range(n)]
    return model(graph(nodes, [X], [value_info(f"v{n}")]))


def tower(n):
    """A function that calls the one below it twice: 2^n nodes."""
    functions = [function("f0", [node("Relu", ["x"], ["y"])])]
    for i in range(1, n + 1):
        functions.append(function(f"f{i}", [node(f"f{i - 1}", ["x"], ["t"], domain="f"),
                                            node(f"f{i - 1}", ["t"], ["y"], domain="f")]))
    return model(graph([node(f"f{n}", ["x"], ["y"], domain="f")], [X], [Y]), functions,
                 domains=["f"])


def empty_functions(inputs, calls):
    """A function with only inputs, called often."""
    empty = (data(1, "f") + b"".join(data(4, f"{i:x}") for i in range(inputs))
             + data(9, data(1, "") + number(2, 17)) + data(10, "f"))
    nodes = [node("Relu", ["x"], ["y"]), *[node("f", [], [], domain="f")] * calls]
    return model(graph(nodes, [X], [Y]), [empty], domains=["f"])


def pairs(calls, inside):
    """A function with two results, called often by the main graph or by another function."""
    two = (data(1, "two") + data(4, "x") + data(5, "y") + data(5, "z")
           + data(7, node("Relu", ["x"], ["y"])) + data(7, node("Relu", ["x"], ["z"]))
           + data(9, data(1, "") + number(2, 17)) + data(10, "f"))
    nodes = [node("two", ["x"], [f"y{i}", f"z{i}"], domain="f") for i in range(calls)]
    nodes.append(node("Add", ["y0", f"z{calls - 1}"], ["y"]))
    if not inside:
        return model(graph(nodes, [X], [Y]), [two], domains=["f"])
    return model(graph([node("f", ["x"], ["y"], domain="f")], [X], [Y]),
                 [two, function("f", nodes)], domains=["f"])


def called(op, size, calls):
    """A large function with few nodes, called often. It is large by the name of its operator, a
    list of types in an attribute, or values that its body declares but does not use."""
    then = graph([node("Relu", ["x"], ["z"])], [], [value_info("z")])
    made = {
        "name": node("N" * size, ["x"], ["y"]),
        "types": node("Relu", ["x"], ["y"], data(5, data(1, "t") + data(15, b"") * size
                                                 + number(20, 14))),
        "body": node("If", ["x"], ["y"], body("then_branch",
                                              then + data(13, data(1, "q")) * size)),
    }[op]
    nodes = [node("Relu", ["x"], ["y"]), *[node("f", ["x"], [], domain="f")] * calls]
    return model(graph(nodes, [X], [Y]), [function("f", [made])], domains=["f"])


def preset(size, uses):
    """A function whose attribute has a long default, to which many nodes of its body refer."""
    refers = data(5, data(1, "q") + number(20, 7) + data(21, "p"))
    nodes = [node("Relu", ["x"], [f"v{i}"], refers) for i in range(uses)]
    body = function("f", [*nodes, node("Relu", ["x"], ["y"])])
    body += data(11, data(1, "p") + number(20, 7) + data(8, b"\1" * size))
    return model(graph([node("f", ["x"], ["y"], domain="f")], [X], [Y]), [body], domains=["f"])


def cycle(n):
    """Functions that call each other in a cycle."""
    functions = [function(f"f{i}", [node(f"f{(i + 1) % n}", ["x"], ["y"], domain="f")])
                 for i in range(n)]
    return model(graph([node("f0", ["x"], ["y"], domain="f")], [X], [Y]), functions,
                 domains=["f"])


def loops(depth, trips):
    """Nested Loops, each with `trips` iterations: trips^depth in total."""
    nodes = [node("Relu", ["x"], ["r0"])]
    for i in range(1, depth + 1):
        keep = node("Identity", [f"c{i}"], [f"k{i}"])
        step = graph([*nodes, keep],
                     [value_info(f"i{i}", [], INT64), value_info(f"c{i}", [], BOOL)],
                     [value_info(f"k{i}", [], BOOL), value_info(f"r{i - 1}")])
        nodes = [node("Loop", ["n", "yes"], [f"r{i}"], body("body", step))]
    return model(graph(nodes, [X], [value_info(f"r{depth}")],
                       [tensor("n", [], [trips]), flag("yes")]))


def huge_dims(n, size):
    """Products of dims past 2^63, at every node."""
    nodes = [node("Concat", [f"v{i}" if i else "x"] * 8, [f"v{i + 1}"], integer("axis", 0))
             for i in range(n)]
    nodes.append(node("MatMul", [f"v{n}", "w"], ["y"]))
    return model(graph(nodes, [value_info("x", [size, size]), value_info("w", [size, size])],
                       [Y]))


def many_outputs(n):
    """A Split into n parts, each an output of the model."""
    names = [f"o{i}" for i in range(n)]
    return model(graph([node("Split", ["x"], names, integer("num_outputs", n))],
                       [value_info("x", [n, 4])], [value_info(name) for name in names]), opset=18)


def bomb(op, size):
    """A few bytes that define `size` elements, and a node that folds them."""
    lists = {"shape": [size], "one": [1], "repeats": [size]}
    made = {
        "ConstantOfShape": [node("ConstantOfShape", ["shape"], ["t"])],
        "Expand": [node("Expand", ["one", "shape"], ["t"])],
        "Tile": [node("Tile", ["one", "repeats"], ["t"])],
        "Range": [node("Range", ["zero", "end", "step"], ["t"])],
        "OneHot": [node("OneHot", ["one", "end", "pair"], ["t"])],
        "EyeLike": [node("ConstantOfShape", ["square"], ["s"]), node("EyeLike", ["s"], ["t"])],
    }[op]
    tensors = [tensor(name, [len(values)], values) for name, values in lists.items()]
    tensors += [tensor("zero", [], [0]), tensor("end", [], [size]), tensor("step", [], [1]),
                tensor("pair", [2], [0, 1]), tensor("square", [2], [1 << 20, 1 << 20])]
    after = [node("Add", ["t", "t"], ["u"]), node("NonZero", ["u"], ["v"]),
             node("Shape", ["v"], ["y"])]
    return model(graph(made + after, [], [value_info("y", None, INT64)], tensors))


def squares(n):
    """A constant that is doubled by Concat n times: 2^n elements."""
    nodes = [node("Concat", [f"c{i}", f"c{i}"], [f"c{i + 1}"], integer("axis", 0))
             for i in range(n)]
    nodes.append(node("Reshape", ["x", f"c{n}"], ["y"]))
    return model(graph(nodes, [X], [Y], [tensor("c0", [1], [1])]))


def texts(n, length):
    """Long names, each used often."""
    names = [f"{i}" + "n" * length for i in range(n)]
    nodes = [node("Add", [names[i], "x"], [names[i + 1]], name="/".join([names[i]] * 2))
             for i in range(n - 1)]
    return model(graph(nodes, [X, value_info(names[0], [2, 3])], [value_info(names[-1])]))


def scopes(n, depth):
    """Nodes in maximally deep scopes, each in its own."""
    nodes = []
    for i in range(n):
        path = [f"m{i}"] + [f"a{k}" for k in range(depth)]
        where = "[" + ", ".join(f"'{'.'.join(path[:k + 1])}'" for k in range(depth + 1)) + "]"
        kind = "[" + ", ".join("'C'" for _ in range(depth + 1)) + "]"
        nodes.append(node("Relu", ["x"], [f"v{i}"],
                          notes=[("pkg.torch.onnx.name_scopes", where),
                                 ("pkg.torch.onnx.class_hierarchy", kind)]))
    return model(graph(nodes, [X], [value_info("v0")]))


def slashes(n, depth):
    """Like scopes, with slashes in names."""
    tail = "/".join(f"a{k}" for k in range(depth))
    return chain(n, name=lambda i: f"/m{i}/{tail}/Relu")


def dense(n):
    """Every node reads the outputs of all before it."""
    nodes = [node("Sum", [f"v{k}" for k in range(i + 1)], [f"v{i + 1}"]) for i in range(n)]
    return model(graph(nodes, [value_info("v0", [2, 3])], [value_info(f"v{n}")]))


def einsum(n):
    """An Einsum with as many operands as letters, and no good contraction order."""
    letters = "abcdefghijklmnopqrstuvwxyz"[:n]
    terms = ",".join(letters[i] + letters[(i * 7 + 1) % n] for i in range(n))
    names = [f"x{i}" for i in range(n)]
    equation = data(5, data(1, "equation") + data(4, terms + "->") + number(20, 3))
    return model(graph([node("Einsum", names, ["y"], equation)],
                       [value_info(name, [100, 100]) for name in names], [Y]))


def long_field(size, *path):
    """Returns the first bytes and the size of a file that ends with a field of `size` zeros, which are
    a hole, inside messages with these numbers."""
    head = b""
    for number_ in reversed(path):
        head = varint(number_ << 3 | 2) + varint(size + len(head)) + head
    return head, size + len(head)


def main():
    """hostile.py CASE(arguments) FILE writes a model, in a process of its own: its memory is not counted."""
    made = eval(sys.argv[1])  # pylint: disable=eval-used; from our own table
    head, size = made if isinstance(made, tuple) else (made, len(made))
    with open(sys.argv[2], "wb") as file:
        file.write(head)
        file.truncate(size)


if __name__ == "__main__":
    main()
