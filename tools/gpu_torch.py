#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures PyTorch on this GPU for comparison with costmodel by tools/gpu_check. Prints one JSON
object.

    gpu_torch.py network pointnet|resnet50 BATCH fp32|tf32|fp16   one replay of the network as a CUDA graph
    gpu_torch.py zeros                                            a product of zeros, and of random numbers
"""
import json
import pathlib
import statistics
import sys

import torch

WARM_UP = 20
SAMPLES = 51
SIDE = 8192


def network(name):
    if name == "resnet50":
        import torchvision
        return torchvision.models.resnet50(weights=None), (3, 224, 224)
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import make_models  # PointNet as models/pointnet_b32.onnx was exported
    return make_models.PointNet(), (3, make_models.POINTS)


def seconds_of(run):
    """Returns median and quartiles of one call, by the device's clock."""
    times = []
    for _ in range(WARM_UP):
        run()
    for _ in range(SAMPLES):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    quartiles = statistics.quantiles(times, n=4)
    return {"median_s": statistics.median(times), "q1_s": quartiles[0], "q3_s": quartiles[2]}


def time_network(name, batch, precision):
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    kind = torch.float16 if precision == "fp16" else torch.float32
    module, shape = network(name)
    module = module.eval().to("cuda", kind)
    inputs = torch.rand((int(batch), *shape), device="cuda", dtype=kind)
    with torch.inference_mode():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):  # capture requires all libraries to be loaded
            for _ in range(3):
                module(inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            module(inputs)
        return seconds_of(graph.replay)


def time_zeros():
    rates = {}
    for name, make in (("zeros", torch.zeros), ("random", torch.rand)):
        left = make((SIDE, SIDE), device="cuda", dtype=torch.bfloat16)
        right = make((SIDE, SIDE), device="cuda", dtype=torch.bfloat16)
        rates[f"{name}_flops_per_s"] = 2 * SIDE**3 / seconds_of(lambda: left @ right)["median_s"]
    return rates


def main():
    if not torch.cuda.is_available():
        sys.exit("PyTorch sees no CUDA device")
    figures = time_zeros() if sys.argv[1] == "zeros" else time_network(*sys.argv[2:])
    print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(),
                      "cudnn": torch.backends.cudnn.version(), **figures}))


if __name__ == "__main__":
    main()
