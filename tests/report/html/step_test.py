# SPDX-License-Identifier: Apache-2.0
"""The picture of a training step: its numbers, cursor, labels."""
from page import MAX_ELEMENTS, Page

STEPS = {
    "pointnet": ["models/pointnet.onnx", "--batch", "32", "--optimizer", "adam", "--device", "h200"],
    "resnet50": ["models/resnet50.onnx", "--batch", "32", "--optimizer", "adam", "--device", "h200"],
    "sharded": ["models/resnet50.onnx", "--batch", "32", "--optimizer", "adam", "--precision", "bf16", "--shard",
                "zero=3,gpus=8", "--memory-limit", "4GiB"],
    "reduced": ["models/bert_mini.onnx", "--dim", "seq=64", "--optimizer", "adam", "--precision", "bf16", "--shard",
                "zero=1,gpus=8"],
    "amp": ["models/bert_mini.onnx", "--dim", "seq=64", "--batch", "8", "--optimizer", "sgd", "--precision", "amp",
            "--device", "t4"],
    "parts": ["models/pointnet.onnx", "--batch", "8", "--optimizer", "sgd", "--micro-batches", "4"],
    "repeated": ["models/bert_mini.onnx", "--dim", "seq=64", "--optimizer", "adam", "--checkpoint", "*", "--device",
                 "t4"],
    "waiting": ["models/pointnet.onnx", "--optimizer", "adam", "--device", "h200", "--runtime", "eager"],
}
CONSTANT = ("weight_bytes", "master_bytes", "gather_bytes", "optimizer_bytes")


def alive(profile, position):
    """Returns the bytes of each part at a position, from the JSON."""
    step, curve = profile["training"], profile["training"]["curve"]
    parts = {key: step[key] for key in CONSTANT}
    parts["gradients"] = curve["held_bytes"] - sum(parts.values())
    if position == len(curve["order"]):
        return {**parts, "gradients": step["gradient_bytes"]}
    for tensors in curve["tensors"]:
        rows = zip(tensors["from"], tensors["to"], tensors["bytes"])
        parts[tensors["kind"]] = parts.get(tensors["kind"], 0) + sum(
            size for start, end, size in rows if start <= position <= end)
    return parts


class Step(Page):
    def step(self, name):
        path = self.write(f"step-{name}", *STEPS[name])
        return path, self.data(path).profile()

    def listed(self):
        """Returns the parts beside the picture, and their sum."""
        parts = self.js("return Object.fromEntries([...document.querySelectorAll('.step-parts dd[data-part]')]"
                        ".map(cell => [cell.dataset.part, +cell.dataset.value]))")
        return parts, int(self.find(".step-parts .together").get_attribute("data-value"))

    def test_the_curve_peaks_at_the_peak_of_the_step(self):
        for name in STEPS:
            with self.subTest(page=name):
                path, profile = self.step(name)
                step, curve = profile["training"], profile["training"]["curve"]
                sums = [sum(alive(profile, i).values()) for i in range(len(curve["order"]) + 1)]
                self.assertEqual(max(sums), step["peak_bytes"])
                self.open(path, "view=step")
                self.assertEqual(self.js("return indexStep(loadReport().profile).total"), sums)
                parts, total = self.listed()
                self.assertEqual(total, step["peak_bytes"])
                self.assertEqual(sum(parts.values()), total)
                peak = sums.index(max(sums))
                expected = {key: size for key, size in alive(profile, peak).items() if key in parts}
                self.assertEqual(parts, expected)
                self.assertEqual(self.find("[data-key=step]").get_attribute("aria-valuenow"), str(peak + 1))
                node = profile["nodes"][step["peak_node"]]
                self.assertIn(node["module"] or node["name"], self.find("#view h2").text)
                self.assertIn(step["peak_phase"].replace("recompute", "recomputation"), self.find("#view h2").text)
                self.assert_quiet(path)

    def test_the_phases_have_the_expected_times(self):
        path, profile = self.step("waiting")
        step = profile["training"]
        self.open(path, "view=step")
        values = self.js("return [...document.querySelectorAll('.phase')].map(e => +e.dataset.value)")
        phases = [profile["totals"]["latency_ps"], step["backward_ps"], step["update_ps"]]
        self.assertEqual(values, phases + [step["iteration_ps"] - sum(phases)])
        self.assertIn("waits ", self.find(".step-chart").text)
        widths = self.js("return [...document.querySelectorAll('.phase rect')]"
                         ".map(e => e.getBoundingClientRect().width + 1)")
        for width, value in zip(widths, values):
            self.assertAlmostEqual(width / sum(widths), value / step["iteration_ps"], 2)
        self.click("across-order")
        self.assertIn("execution order", self.find(".step-chart").text)
        path, _ = self.step("sharded")
        self.open(path, "view=step")
        self.assertIn("--device", self.find("#view .subtitle").text)

    def test_the_cursor_lists_what_is_alive(self):
        path, profile = self.step("pointnet")
        n = len(profile["training"]["curve"]["order"])
        self.open(path, "view=step")
        chart = self.find("[data-key=step]")
        chart.click()  # focuses the picture
        for key, position in (("\ue011", 0), ("\ue014", 1), ("\ue00f", 11), ("\ue012", 10), ("\ue010", n)):
            self.press(key)
            expected = alive(profile, position)
            parts, total = self.listed()
            self.assertEqual(total, sum(expected.values()))
            self.assertEqual({key: size for key, size in parts.items() if size},
                             {key: size for key, size in expected.items() if size})
        self.assertIn("update", self.find(".side h3").text)
        self.assertEqual(len(self.find_all(".step-chart [tabindex]")), 0)
        self.open(path, "view=step&step=20")
        self.assertEqual(self.find("[data-key=step]").get_attribute("aria-valuenow"), "21")
        self.click("step-node")
        self.assertIn(f"open=node%3A{profile['training']['curve']['order'][20]}", self.fragment())
        self.assertIn("step=20", self.fragment())

    def test_the_picture_does_not_take_the_tensors_for_what_a_process_needs(self):
        path, profile = self.step("sharded")
        device, fit = profile["device_memory"], profile["memory"]["fit"]
        self.open(path, "view=step")
        bars = self.js("return [...document.querySelectorAll('.process')].map(e => +e.dataset.value)")
        self.assertEqual(sum(bars), device["bytes"])
        self.assertIn(self.js("return intervalText(arguments[0])", device), self.find("#view .subtitle").text)
        box = "document.querySelector(arguments[0]).getBoundingClientRect()"
        base, top = (self.js(f"return {box}.{side}", ".process") for side in ("bottom", "top"))
        scale = bars[0] / (base - top)
        bracket = [self.js(f"return {box}.{side}", ".bracket") for side in ("top", "bottom")]
        limit = self.js(f"return {box}.top", ".limit")
        for y, size in ((bracket[0], device["high_bytes"]), (bracket[1], device["low_bytes"]),
                        (limit, fit["limit_bytes"])):
            self.assertAlmostEqual((base - y) * scale / size, 1, 1)
        path, profile = self.step("amp")  # the context alone is 50 times the tensors
        self.open(path, "view=step")
        self.assertEqual(self.find_all(".process"), [])
        self.click("zoom-process")
        self.assertEqual(len(self.find_all(".bracket")), 1)

    def test_labels_name_the_precision_of_the_bytes(self):
        for name, labels in (("sharded", ["gradients (32 bits)", "fp32 optimizer state", "fp32 copies of the weights"]),
                             ("reduced", ["gradients (16 and 32 bits)", "fp32 optimizer state"]),
                             ("amp", ["weights (32 bits)", "gradients (32 bits)", "saved copies in 16 bits"]),
                             ("pointnet", ["weights", "gradients", "optimizer state"])):
            path, _ = self.step(name)
            self.open(path, "view=step")
            found = self.texts(".step-parts dt")
            for label in labels:
                self.assertIn(label, found)

    def test_overview_and_memory_lead_with_the_step(self):
        path, profile = self.step("resnet50")
        self.open(path, "view=overview")
        self.assertEqual(len(self.find_all(".step-chart")), 1)
        headings = self.texts("#view h3")
        self.assertTrue(any(text.startswith("A training step with adam peaks at 3.09 GB") for text in headings[:2]))
        self.click("open-step")
        self.assertIn("view=step", self.fragment())
        self.open(path, "view=memory")
        headings = self.texts("#view h2")
        self.assertTrue(headings[0].startswith("Device memory of a training process"))
        self.assertTrue(headings[1].startswith("A training step with adam"))
        self.assertTrue(headings[2].startswith("Memory of one inference pass peaks at"))
        self.open(self.pointnet(), "view=step")
        self.assertEqual(self.find_all("#tab-step"), [])
        del profile["training"]["curve"]
        self.open(self.write_profile("step-bare", profile), "view=step")
        self.assertIn("No curve of the step", self.find("#view h2").text)

    def test_labels_do_not_overlap_and_axe_finds_nothing_serious(self):
        for name in STEPS:
            path, _ = self.step(name)
            for width, scheme in ((400, "dark"), (900, "light"), (1440, "dark")):
                with self.subTest(page=name, width=width, scheme=scheme):
                    self.resize(width, scheme)
                    for fragment in ("view=step", "view=step&across=order&zoom=process", "view=memory"):
                        self.open(path, fragment)
                        self.assert_no_overlap(".step-chart")
                    self.assertLess(len(self.find_all("#view *")), MAX_ELEMENTS)
            self.open(path, "view=step")
            self.assertEqual(self.axe(), [])
