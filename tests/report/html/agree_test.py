# SPDX-License-Identifier: Apache-2.0
"""Views state the same shares, names and units of one page."""
import re

from page import Page


class Agree(Page):
    def half(self):
        return self.write("agree-half", "models/resnet50.onnx", "--batch", "32", "--device", "h200", "--precision", "fp16")

    def heading(self):
        return self.find("#view h2").text

    def test_the_share_of_an_operator_is_that_of_the_overview(self):
        profile = self.data(self.half()).profile()
        conv = next(row["latency_ps"] for row in profile["operators"] if row["op"] == "Conv")
        share = f"{round(100 * conv / profile['totals']['latency_ps'])}%"
        self.open(self.half(), "view=overview")
        self.assertIn(f"({share})", next(text for text in self.texts(".legend li") if text.startswith("Conv ")))
        for fragment in ("view=operators", "view=operators&search=conv"):
            self.open(self.half(), fragment)
            self.assertEqual(self.heading(), f"Conv takes {share} of the expected time in 53 nodes")
            self.assertEqual(self.texts(".percent")[0], share)
        self.open(self.half(), "view=operators&module=layer3")
        inside = [node for node in profile["nodes"] if node["module"].startswith("layer3.")]
        share = sum(node["latency_ps"] for node in inside if node["op"] == "Conv") / sum(node["latency_ps"] for node in inside)
        self.assertEqual(self.heading(), f"Conv takes {round(100 * share)}% of the expected time of the module in 19 nodes")

    def test_bytes_of_the_drawer_are_those_of_the_precision(self):
        path = self.half()
        node = next(each for each in self.data(path).profile()["nodes"] if each["module"] == "layer3.1.conv2")
        self.assertEqual(node["bytes_written"], 2 * 32 * 256 * 14 * 14)
        self.open(path, f"open=node:{node['index']}")
        facts = self.texts("#drawer dt")
        self.assertIn("Bytes written in fp16", facts)
        self.assertEqual([fact for fact in facts if "fp32" in fact], [])

    def test_the_recommendation_has_the_name_of_the_product(self):
        self.open(self.half())
        self.assertIn("What to change first: TensorRT", self.texts("#view h3"))
        self.assertNotIn("Tensorrt", self.find("#app").text)

    def test_waits_for_the_host_have_their_own_name(self):
        path = self.write("agree-one", "models/resnet50.onnx", "--device", "h200")
        profile = self.data(path).profile()
        host = profile["time_error"]["host_ps"]
        self.open(path)
        self.assertEqual(self.js("""return +[...document.querySelectorAll('.comparison tr')]
            .find(row => row.textContent.startsWith('waits for the host')).children[1].dataset.value"""), host)
        self.open(path, "view=overview&loss=host")
        self.assertIn("Kernel launches", self.texts("thead th"))
        self.assertNotIn("Waiting for the host", self.texts("thead th"))
        self.open(path, "view=dataflow")
        self.assertIn(f"waits for the host, {round(100 * host / profile['totals']['latency_ps'])}% of the time", self.find("#view").text)

    def test_an_overview_without_a_limit_states_whether_the_device_has_enough_memory(self):
        self.open(self.half())
        self.assertTrue(self.tiles()["Peak activation memory"][1].endswith("; fits the 141 GB of the device"))
        path = self.write("agree-large", "models/resnet50.onnx", "--batch", "1024", "--device", "t4", "--optimizer", "adam")
        self.assertGreater(self.data(path).profile()["device_memory"]["bytes"], 16e9)
        self.open(path)
        self.assertTrue(self.tiles()["Device memory to train"][1].endswith("; does not fit the 16.0 GB of the device"))

    def test_the_bar_by_operator_adds_up_to_the_time_of_a_trace(self):
        path = self.write("agree-trace", "models/siamese.onnx", "--times", "tests/cli/imports/siamese.cuda.torch.json",
                          "--device", "h200")
        profile = self.data(path).profile()
        self.open(path)
        pieces = self.js("return [...document.querySelectorAll('.stack .piece')].map(e => +e.dataset.value)")
        self.assertEqual(sum(pieces), profile["totals"]["latency_ps"])
        bounds = {row["nodes"][0]: row["import"]["lower_bound_ps"] for row in profile["measure"]["primitives"]
                  if row["import"]["lower_bound_ps"]}
        self.assertEqual(sorted(map(int, self.column("Lower bound"))), sorted(bounds.values()))

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

    def test_exact_numbers_of_the_ladder_do_not_cover_its_links(self):
        for width in (400, 900, 1440):
            self.resize(width)
            self.open(self.half(), "digits=all")
            self.assertEqual(self.js("""return [...document.querySelectorAll('.rung')].filter(rung => {
                const value = rung.querySelector('.value');
                const links = rung.querySelector('.links');
                const [a, b] = [value.getBoundingClientRect(), links ? links.getBoundingClientRect() : null];
                return b && a.right > b.left && a.bottom > b.top && b.bottom > a.top || a.right > innerWidth;
              }).length"""), 0, width)
            self.assertIn("1,254,714,819 ps", self.texts(".rung .value"))
