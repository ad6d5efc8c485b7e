# SPDX-License-Identifier: Apache-2.0
"""The models that training_truth.py trains and run_training.py compares."""

# case -> (file in models/, batch, patterns of parameters that do not learn)
CASES = {
    "pointnet": ("pointnet.onnx", 4, ()),
    "resnet50": ("resnet50.onnx", 2, ()),
    "resnet50-frozen": ("resnet50.onnx", 2, ("conv1.*", "bn1.*", "layer1.*", "layer2.*")),
    "resnet50-biases": ("resnet50.onnx", 2, ("*.weight",)),
    "encoder": ("train_encoder.onnx", 4, ()),
    "decoder": ("train_decoder.onnx", 4, ()),
    "mobilenet_v2": ("train_mobilenet_v2.onnx", 2, ()),
}
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw", "adagrad", "rmsprop", "adafactor", "muon")
