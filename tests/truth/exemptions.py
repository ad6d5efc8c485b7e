# SPDX-License-Identifier: Apache-2.0
"""
Checks that are not applied to a file, each with its reason.

README.md in this folder describes the reference. An exemption that no check needs any more fails
the run: delete it.
"""
from verdicts import Exemption

SSDLITE = "detection/ssdlite320_mobilenet_v3_large__*"

SWIN_FOLDED = "classification/swin_t__folded_*"

EXEMPTIONS = [
    Exemption(SWIN_FOLDED, "module params *", "*.attn.qkv",
              "folding transposed the weight: it lost its name, and a node of the parent uses it"),
    Exemption(SWIN_FOLDED, "module params *", "*.attn.proj",
              "folding transposed the weight: it lost its name, and a node of the parent uses it"),
    Exemption(SSDLITE, "unknown shapes *", "",
              "how many boxes pass the score threshold depends on the data"),
    Exemption(SSDLITE, "module outputs *", "(root)",
              "how many boxes are kept depends on the data"),
    Exemption(SSDLITE, "module outputs *", "anchor_generator",
              "the anchors were folded into a constant"),
    Exemption("custom/transformer_encoder__dyn__op13.onnx", "equals * params *", "",
              "the b1 export cut the position table (512 rows) to its length of 128"),
]
