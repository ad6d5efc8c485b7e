# SPDX-License-Identifier: Apache-2.0
"""The reference tables, and the table of each model file."""
import csv
import re
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent

Model = namedtuple("Model", "path folder name variant opset dims")

# One module of the reference. `outs`: shapes of what its first call returned.
Row = namedtuple("Row", "path cls leaf params own_params calls macs flops outs")

# Counted from the nodes' own shapes: MACs at batch 1, parameters. DenseNet comes from Caffe, which
# splits a batch normalization: its scale and shift are a Mul and an Add after it, and count once
# (docs/counting.md).
LIGHT = {
    "light_bvlc_alexnet": (654560384, 60965224),
    "light_densenet121": (2834161664, 7978856),
    "light_inception_v1": (1431556352, 6998552),
    "light_resnet50": (4089184256, 25557032),
    "light_squeezenet": (349151936, 1235496),
    "light_vgg19": (19632062464, 143667240),
}


def read_csv(name):
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def models():
    """Returns every model file of bindings.csv, in its order."""
    found = []
    for row in read_csv("bindings.csv"):
        path = row["file"]
        parts = Path(path).stem.split("__")
        name, variant, opset = (parts + ["", "op0"])[:3] if len(parts) == 1 else parts
        found.append(Model(path, path.split("/")[0], name, variant, int(opset[2:]),
                           row["dims"].split()))
    return found


def truth_name(model, batch):
    """Returns the name of a file's reference; PointNet has one for each mode."""
    if model.name != "pointnet":
        return model.name
    trained = model.variant.startswith("train") and batch == 32  # batch 1 cannot train
    return "pointnet_train" if trained else "pointnet_eval"


def shapes_of(text):
    """Parses `out=1x21x520x520;NoneType` into a list of dims; skips entries that are not tensors."""
    values = [value.split("=")[-1] for value in text.split(";")]
    return [tuple(int(d) for d in v.split("x")) for v in values
            if re.fullmatch(r"\d+(x\d+)*", v)]


def rows(name, batch):
    """Returns the rows of a reference at batch 1 or 32, by path ("" is the root)."""
    suffix = f"_b{batch}"
    table = {}
    for row in read_csv(f"per_module/{name}.csv"):
        path = "" if row["path"] == "(root)" else row["path"]
        table[path] = Row(path, row["class"], row["leaf"] == "1", int(row["params"]),
                          int(row["own_params"]), int(row["calls"]),
                          int(row["macs" + suffix]), int(row["ds_flops" + suffix]),
                          shapes_of(row["out" + suffix]))
    return table


def has_truth(model, batch):
    return no_truth_reason(model, batch) is None


def no_truth_reason(model, batch):
    """Returns why a file cannot be compared with a table at this batch, or None."""
    if model.name == "loop_if":
        return "its trip count is an input: there is no reference"
    if model.folder == "light":
        return "no table: its two totals were counted from its node shapes"
    if model.variant == "folded_dyn256":
        return "exported at 256x256, the reference was taken at 520x520"
    if model.name.startswith("ssdlite320") and batch == 32:
        return "a detection net takes a list of images, never a batch"
    return None


def dotted(path, part):
    return f"{path}.{part}" if path else part


def scope_path(node_name, known):
    """Returns the module in a node's name: `/layer1/layer1.0/conv1_1/Conv` -> layer1.0.conv1."""
    path = ""
    scopes = node_name.split("/")[1:-1]
    for i, scope in enumerate(scopes):
        if i > 0 and scope.startswith(scopes[i - 1] + "."):
            scope = scope[len(scopes[i - 1]) + 1:]
        if dotted(path, scope) not in known:
            scope = re.sub(r"_\d+$", "", scope)  # a later call of the same module
        path = dotted(path, scope)
    return path
