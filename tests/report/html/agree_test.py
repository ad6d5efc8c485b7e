# SPDX-License-Identifier: Apache-2.0
"""Views state the same shares, names and units of one page."""
import re

from page import Page


class Agree(Page):
    def half(self):
        return self.write("agree-half", "models/resnet50.onnx", "--batch", "32", "--device", "h200", "--precision", "fp16")

    def heading(self):
        return self.find("#view h2").text

    def test_the_roofline_labels_the_disc_of_its_heading(self):
        for width in (400, 900, 1440):
            self.resize(width)
            self.open(self.half(), "view=roofline")
            name = re.match(r"(\S+ ×\d+) reaches", self.heading())[1]
            self.assertTrue(self.find(".disc.worst").get_attribute("aria-label").startswith(f"{name}: "), width)
            if width > 400:
                self.assertIn(name, self.texts("#view svg text"), width)
            self.assert_no_overlap("#view svg")

    def test_without_a_device_no_roof_is_stated(self):
        path = self.write("agree-alone", "models/siamese.onnx", "--times", "tests/cli/imports/siamese.cuda.torch.json")
        self.open(path, "view=roofline")
        self.assertEqual(self.heading(), "Roofline: no rates of a device are known")
        self.assertEqual(self.find_all(".disc.worst"), [])

    def test_parts_of_the_device_memory_have_colours_of_their_own(self):
        path = self.write("agree-adam", "models/resnet50.onnx", "--batch", "32", "--device", "h200", "--precision", "fp16",
                          "--optimizer", "adam")
        self.open(path, "view=memory")
        colours = self.js("""return [...document.querySelectorAll('.bounded .piece')]
            .map(e => getComputedStyle(e).backgroundColor)""")
        self.assertEqual(len(set(colours)), len(colours))
        self.resize(400)
        self.open(path, "view=step")
        self.assertIn("process: context", " ".join(self.texts(".legend li")))

    def test_wide_boxes_of_the_timeline_have_their_names(self):
        path = self.write("agree-bert", "models/bert_mini.onnx", "--batch", "8", "--dim", "seq=128", "--device", "h200")
        self.open(path, "view=timeline")
        self.assertEqual(self.js("""return [...document.querySelectorAll('#view .cell')].filter(e =>
            e.querySelector('.module') && e.getBoundingClientRect().width > 31 && !e.querySelector('text'))
            .map(e => e.getAttribute('aria-label'))"""), [])
