# SPDX-License-Identifier: Apache-2.0
"""The search box and the drawer of details."""
import json
import sys
from urllib.parse import unquote

from page import KERNELS, ROOT, run, VIEWS, Page

SEARCH = """const box = document.querySelector('[data-key=find]');
box.focus();
box.value = arguments[0];
const start = performance.now();
box.dispatchEvent(new Event('input'));
const options = [...document.querySelectorAll('#found [role=option]')];
return [performance.now() - start, options.map(e => [...e.children].map(part => part.textContent))];"""


class Drawer(Page):
    def resnet(self, *arguments):
        return self.write("resnet50" + "".join(arguments), "models/resnet50.onnx", "--batch", "32", "--device", "h200", *arguments)

    def facts(self):
        """Returns label and exact value of each figure of the drawer."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('#drawer .facts > div')].map(row =>
            [row.querySelector('dt').textContent, row.querySelector('dd').dataset.value || row.querySelector('dd').textContent]))""")

    def drawer(self):
        return self.find("#drawer").text

    def test_a_slash_finds_an_item_and_enter_opens_it(self):
        from selenium.webdriver.common.keys import Keys
        path = self.resnet()
        for view in VIEWS:
            self.open(path, f"view={view}")
            self.press("/")
            self.assertEqual(self.js("return document.activeElement.dataset.key"), "find")
            self.press("layer3.4.conv2")
            options = self.js(SEARCH, "layer3.4.conv2")[1]
            self.assertEqual([option[0] for option in options], ["module", "node"])
            self.press(Keys.ARROW_DOWN)
            self.assertEqual(self.find("#found [aria-selected=true]").get_attribute("id"), "found-1")
            self.assertEqual(self.find("[data-key=find]").get_attribute("aria-activedescendant"), "found-1")
            self.press(Keys.ENTER)
            self.assertIn("open=node:123", unquote(self.fragment()))
            self.assertIn("/layer3/layer3.4/conv2/Conv", self.drawer())
            self.press(Keys.ESCAPE)
            self.assertFalse(self.find("#drawer").is_displayed())
            self.assertEqual(self.js("return document.activeElement.dataset.key"), "find")
        self.assert_quiet(path)

    def test_the_best_names_come_first(self):
        self.open(self.resnet())
        options = self.js(SEARCH, "conv1")[1]
        self.assertEqual(len(options), 12)
        self.assertEqual([option[1] for option in options[:1]], ["conv1"])
        self.assertEqual({option[0] for option in options}, {"module", "node", "tensor"})
        self.assertEqual({option[0] for option in self.js(SEARCH, "kernel 7x7")[1]}, {"kernel"})
        self.assertEqual({option[0] for option in self.js(SEARCH, "GEMM fc")[1]}, {"node"})
        self.assertEqual(self.js(SEARCH, "no such thing")[1], [[]])
        self.assertEqual(self.find("[role=status].hidden-text").get_attribute("textContent"), "0 results")

    def test_a_large_model_is_searched_quickly(self):
        sys.path.insert(0, str(ROOT / "bench"))
        import chain
        model = self.folder / "chain20.onnx"
        chain.write(20000, str(model))
        path = self.write("chain20", str(model), "--device", "h200")
        self.open(path, "view=operators")
        self.js(SEARCH, "x")
        times = [min(self.js(SEARCH, text)[0] for _ in range(3)) for text in ("c", "co", "conv", "node 1", "199")]
        self.assertLess(sorted(times)[2], 100)
        took = self.js("""const start = performance.now();
            setState({open: 'node:9000'}, true);
            return performance.now() - start;""")
        self.assertLess(took, 1000)
        self.assertLess(self.js("return document.querySelectorAll('#drawer *').length"), 400)

    def test_a_node_shows_the_figures_of_the_json(self):
        path = self.resnet()
        profile = self.data(path).profile()
        for index in (0, 5, 7, 174):
            node = profile["nodes"][index]
            self.open(path, f"view=overview&open=node:{index}")
            facts = self.facts()
            for label, key in (("Expected time", "latency_ps"), ("MACs", "macs"), ("FLOPs", "flops"), ("Bytes read", "bytes_read"),
                               ("Bytes written", "bytes_written"), ("Parameters", "params")):
                self.assertEqual(facts.get(label, "0"), str(node[key]), (index, label))
            text = self.drawer()
            for name in [node["name"], node["module"], node["outputs"][0]["name"], *node["inputs"]]:
                self.assertIn(name, text)
            share = round(100 * node["latency_ps"] / profile["totals"]["latency_ps"])
            self.assertIn(f"({share}%)" if share else "(<1%)", self.find("#drawer h2").text)

    def test_the_formula_is_that_of_explain(self):
        path = self.resnet()
        for index in (0, 7, 5, 174):
            explained = json.loads(run("models/resnet50.onnx", "--batch", "32", "--explain", f"#{index}", "--format", "json").stdout)
            node = explained["explanations"][0]["nodes"][0]
            self.open(path, f"open=node:{index}")
            text = self.js("return [...document.querySelectorAll('#drawer .formula dd')].map(e => e.textContent).join(' ')")
            numbers = [int(word.replace(",", "")) for word in text.replace("\u00d7", " ").split() if word.replace(",", "").isdigit()]
            if index in (0, 7):
                for name, size in node["macs"].items():
                    self.assertIn(size, numbers, (index, name))
            for term in node["flops"]:
                self.assertIn(term["count"] if term["factor"] != 1 else sum(each["factor"] * each["count"] for each in node["flops"]),
                              numbers, (index, term))

    def test_producers_and_consumers_are_those_of_the_graph(self):
        path = self.resnet()
        nodes = self.data(path).profile()["nodes"]
        index = next(node["index"] for node in nodes if node["op"] == "Add")
        producers = [node["index"] for name in nodes[index]["inputs"] for node in nodes if name in [v["name"] for v in node["outputs"]]]
        consumers = [node["index"] for node in nodes if nodes[index]["outputs"][0]["name"] in node["inputs"]]
        self.open(path, f"open=node:{index}")
        for column, wanted in ((0, producers), (2, consumers)):
            self.assertEqual(sorted(self.js(f"""return [...document.querySelectorAll('#drawer [data-key^="near-{column}-"]')]
                .map(e => e.dataset.open)""")), sorted(f"node:{i}" for i in wanted))
        self.click("near-2-0")
        self.assertIn(f"open=node:{consumers[0]}", unquote(self.fragment()))
        self.browser.back()
        self.assertIn(f"open=node:{index}", unquote(self.fragment()))
        self.assertIn("Add", self.find("#drawer h2").text)

    def test_modules_tensors_and_kernels_have_their_figures(self):
        path = self.resnet()
        profile = self.data(path).profile()
        module = next(row for row in profile["modules"] if row["path"] == "layer3")
        self.open(path, "view=operators&open=module:layer3")
        self.assertEqual(self.facts()["Parameters"], str(module["params"]))
        self.assertEqual(self.facts()["MACs"], str(module["macs"]))
        self.assertIn(f"{len(module['children'])} child modules", self.drawer())
        self.click("only-module")
        self.assertIn("module=layer3", unquote(self.fragment()))
        self.assertIn("Only module layer3", self.find(".filter").text)
        value = profile["memory"]["plan"][1]
        self.open(path, f"open=tensor:{value['value']}")
        self.assertEqual(self.facts()["Bytes"], str(value["bytes"]))
        self.assertEqual(self.facts()["Offset in the arena"], str(value["offset"]))
        kernel = profile["measure"]["primitives"][0]
        self.open(path, "open=kernel:0")
        self.assertEqual(self.facts()["FLOPs of one run"], str(kernel["flops"]))
        self.assertEqual(self.facts()["Time of one run"], str(kernel["median_ps"]))
        self.assertIn(kernel["primitive"], self.drawer())

    def test_rows_and_shapes_of_every_view_open_the_drawer(self):
        path = self.resnet()
        for view, selector, kind in (("overview", ".comparison button.link", "module"), ("overview", ".live button.link", "tensor"),
                                     ("modules", ".scroll tbody th button.link", "module"), ("kernels", "tbody th button.link", "kernel"),
                                     ("timeline", "tbody th button.link", "node"), ("timeline", "svg [data-key^=time-]", "node"),
                                     ("memory", "svg [data-key^=arena-]", "tensor"), ("memory", ".tensors button.link", "tensor"),
                                     ("roofline", "svg circle", "kernel")):
            with self.subTest(view=view, selector=selector):
                self.open(path, f"view={view}")
                self.js("document.querySelector(`#view ${arguments[0]}`).dispatchEvent(new MouseEvent('click', {bubbles: true}))", selector)
                self.assertEqual(self.find("#drawer .chip").text, kind)
                self.assertTrue(self.find("#drawer h2").text)
                self.assertEqual(self.js("return document.activeElement.id"), "drawer")

    def test_the_drawer_opens_the_place_in_a_view(self):
        path = self.resnet()
        for view in ("timeline", "memory", "roofline"):
            self.open(path, "view=overview&open=node:7")
            self.click(f"place-{view}")
            self.assertIn(f"view={view}", unquote(self.fragment()))
            self.assertIn("open=node:7", unquote(self.fragment()))
            if view == "memory":
                self.assertEqual(self.find("[data-key=curve]").get_attribute("aria-valuenow"), "8")
            else:
                self.assertEqual(len(self.find_all("#view svg .marked")), 1)

    def test_the_drawer_works_on_other_pages(self):
        for path, fragment in ((self.diff(), "view=modules&open=module:layer3"), (self.write("untimed", "models/pointnet.onnx"), "open=node:5"),
                               (self.write("split", "models/pointnet.onnx", "--batch", "32", "--backend", KERNELS), "open=kernel:0"),
                               (self.write("half", "models/resnet50.onnx", "--batch", "32", "--device", "h200", "--precision", "fp16"), "open=node:7"),
                               (self.sweep(), "open=node:5")):
            self.open(path, fragment)
            self.assertTrue(self.find("#drawer h2").is_displayed())
            self.assert_quiet(path)
        self.open(self.merged())
        self.assertEqual(self.find_all("[data-key=find]"), [])

    def test_a_missing_item_is_reported(self):
        path = self.pointnet()
        for item in ("node:99999", "node:length", "module:none", "tensor:__proto__", "kernel:-1", "kernel:constructor"):
            self.open(path, f"open={item}")
            self.assertIn(f"The model has no {item.split(':')[0]} {item.split(':')[1]}", self.drawer())
        for item in ("toString:1", "x", ":", "node"):
            self.open(path, f"open={item}")
            self.assertFalse(self.find("#drawer").is_displayed())
        self.assert_quiet(path)

    def test_the_family_of_an_operator_has_the_same_colour_on_every_page(self):
        seen = {}
        for path in (self.pointnet(), self.resnet(), self.write("bert", "models/bert_mini.onnx", "--dim", "seq=64", "--device", "h200")):
            self.open(path)
            for kind, colour in self.js("return [...loadReport().profile.kindColour]"):
                self.assertEqual(seen.setdefault(kind, colour), colour)
        self.assertEqual([seen[kind] for kind in ("Conv", "MatMul", "BatchNormalization", "Relu", "MaxPool", "Reshape")],
                         ["kind-0", "kind-1", "kind-3", "kind-2", "kind-4", "kind-6"])
