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

# The cases whose bytes are compared after each operator, and these operators: phase -> PyTorch's name -> ONNX's
CURVE_CASES = ("pointnet", "resnet50", "mobilenet_v2")
CURVES = {
    "forward": {"convolution": "Conv", "native_batch_norm": "BatchNormalization", "addmm": "Gemm",
                "relu_": "Relu", "relu": "Relu", "max_pool2d_with_indices": "MaxPool", "bmm": "MatMul",
                "_log_softmax": "LogSoftmax", "hardtanh_": "Clip"},
    "backward": {"convolution_backward": "Conv", "native_batch_norm_backward": "BatchNormalization",
                 "threshold_backward": "Relu", "max_pool2d_with_indices_backward": "MaxPool",
                 "_log_softmax_backward_data": "LogSoftmax", "hardtanh_backward": "Clip"},
}
