# SPDX-License-Identifier: Apache-2.0
"""The dataflow view: boxes, edges, opened modules, large graphs, keyboard."""
import re

from page import MAX_ELEMENTS, Page

OPENED = "0,33,34,69,70"  # layer2, layer2.0, layer3, layer3.0 of ResNet-50
GEOMETRY = """
    const rect = e => {
      const at = e.parentNode.getAttribute('transform').match(/[-\\d.]+/g).map(Number);
      return [at[0], at[1], at[0] + e.width.baseVal.value, at[1] + e.height.baseVal.value];
    };
    const boxes = [...document.querySelectorAll('.item')].map(e => ({key: e.dataset.key.replace('flow-', ''),
      isFrame: e.getAttribute('aria-expanded') === 'true', rect: rect(e.querySelector('.box'))}));
"""


class Dataflow(Page):
    def resnet(self):
        return self.write("resnet50", "models/resnet50.onnx", "--batch", "32", "--device", "h200")

    def costs(self):
        """Returns data-value by key of the boxes."""
        return self.js("return Object.fromEntries([...document.querySelectorAll('.item[data-value]')]"
                       ".map(e => [e.dataset.key.replace('flow-', ''), e.dataset.value]))")

    def drawn_edges(self):
        """Returns the bytes of each edge by the names of its boxes: (from, to)."""
        rows = self.js("return [...document.querySelectorAll('.edge')].map(e => [e.dataset.edge, e.dataset.value])")
        return {tuple(key.split(" ")): int(value) for key, value in rows}

    def opened_edges(self, profile, opened):
        """Returns what drawn_edges should return if the modules `opened` (indexes) are open and no others."""
        modules = profile["modules"]
        by_path = {module["path"]: i for i, module in enumerate(modules)}
        inputs, outputs = profile["model"]["inputs"], profile["model"]["outputs"]

        def box(node):
            chain, module = [], by_path[node["module"]]
            while module is not None:
                chain.append(module)
                module = modules[module]["parent"]
            chain.reverse()
            closed = next((i for i in chain if i not in opened), None)
            return f"node{node['index']}" if closed is None else str(closed)

        made = {value["name"]: (f"in{i}", value["bytes"]) for i, value in enumerate(inputs)}
        edges = {}

        def add(name, target):
            if name in made and made[name][0] != target:
                key = (made[name][0], target)
                edges[key] = max(edges.get(key, 0), made[name][1])
        for node in profile["nodes"]:
            if node["op"] == "Constant":
                continue
            for name in node["inputs"]:
                add(name, box(node))
            for value in node["outputs"]:
                made[value["name"]] = (box(node), value["bytes"])
        for i, value in enumerate(outputs):
            add(value["name"], f"out{i}")
        return edges

    def assert_drawn_well(self, step=6):
        """Asserts that boxes and texts do not overlap, and that no edge crosses a box; looks every `step` px."""
        self.assertEqual(self.js(GEOMETRY + """
            const found = [];
            const covers = (a, b, by) => Math.min(a[2], b[2]) - Math.max(a[0], b[0]) > by
              && Math.min(a[3], b[3]) - Math.max(a[1], b[1]) > by;
            boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
              if (covers(a.rect, b.rect, 0.5)) found.push(`${a.key} covers ${b.key}`);
            }));
            for (const edge of document.querySelectorAll('.edge')) {
              const ends = edge.dataset.edge.split(' ');
              const length = edge.getTotalLength();
              for (let at = 0; at <= length; at += arguments[0]) {
                const {x, y} = edge.getPointAtLength(at);
                for (const box of boxes)
                  if (!box.isFrame && !ends.includes(box.key) && covers(box.rect, [x - 1, y - 1, x + 1, y + 1], 1.5))
                    found.push(`${edge.dataset.edge} through ${box.key}`);
              }
            }
            const texts = [...document.querySelectorAll('.graph text')].filter(e => e.textContent)
              .map(e => ({text: e.textContent, box: e.getBoundingClientRect()}))
              .map(({text, box}) => ({text, rect: [box.left, box.top, box.right, box.bottom]}));
            texts.forEach((a, i) => texts.slice(i + 1).forEach(b => {
              if (covers(a.rect, b.rect, 1)) found.push(`${a.text} over ${b.text}`);
            }));
            for (const text of document.querySelectorAll('.graph .item text'))
              if (getComputedStyle(text).stroke !== 'none') found.push(`${text.textContent} has an outline`);
            if (document.documentElement.scrollWidth > innerWidth) found.push('the page is too wide');
            return found.slice(0, 5);""", step), [])

    def test_boxes_have_the_costs_of_the_json(self):
        path = self.resnet()
        modules = self.data(path).profile()["modules"]
        for metric in ("latency_ps", "macs", "params", "activation_bytes"):
            self.open(path, f"view=dataflow&metric={metric}&expand=0")
            costs = self.costs()
            self.assertEqual({key: value for key, value in costs.items() if key.isdigit()},
                             {str(i): str(modules[i][metric]) for i in modules[0]["children"]})
        self.assert_quiet(path)

    def test_every_edge_between_two_boxes_is_drawn_with_its_largest_tensor(self):
        for name, arguments, opened in (
                ("resnet50", ["models/resnet50.onnx", "--batch", "32", "--device", "h200"], ["", "layer1", "layer1.0"]),
                ("unet", ["models/unet.onnx", "--dim", "h=64", "--dim", "w=64", "--batch", "1"], ["", "d1", "b2"]),
                ("siamese", ["models/siamese.onnx"], [""]), ("mobilenet", ["models/train_mobilenet_v2.onnx"], [""])):
            with self.subTest(model=name):
                path = self.write(name, *arguments)
                profile = self.data(path).profile()
                paths = [module["path"] for module in profile["modules"]]
                indexes = [paths.index(each) for each in opened]
                self.open(path, f"view=dataflow&expand={','.join(map(str, indexes))}")
                drawn = {}
                # a module that is called several times has boxes "5.17", "5.29"
                for (a, b), size in self.drawn_edges().items():
                    key = (a.split(".")[0], b.split(".")[0])
                    if key[0] != key[1]:
                        drawn[key] = max(drawn.get(key, 0), size)
                self.assertEqual(drawn, self.opened_edges(profile, set(indexes)))

    def test_all_edges_of_a_residual_block_are_drawn(self):
        path = self.resnet()
        profile = self.data(path).profile()
        self.open(path, "view=dataflow&expand=0")
        self.assertEqual(self.drawn_edges(), self.opened_edges(profile, {0}))
        block = next(i for i, module in enumerate(profile["modules"]) if module["path"] == "layer1.1")
        layer = profile["modules"][block]["parent"]
        self.open(path, f"view=dataflow&expand=0,{layer},{block}")
        inside = [node["index"] for node in profile["nodes"] if node["module"].startswith("layer1.1")]
        added = next(i for i in inside if profile["nodes"][i]["op"] == "Add")
        # the Add reads bn3 and, around the three convolutions, the block before
        self.assertEqual(len([key for key in self.drawn_edges() if key[1] == f"node{added}"]), 2)
        before = next(i for i, module in enumerate(profile["modules"]) if module["path"] == "layer1.0")
        self.assertIn((str(before), f"node{added}"), self.drawn_edges())

    def test_a_click_opens_and_closes_a_module_and_the_url_has_it(self):
        path = self.resnet()
        layer = self.data(path).profile()["modules"][0]["children"][4]
        self.open(path, "view=dataflow&expand=0")
        n = len(self.find_all(".item"))
        self.click(f"flow-{layer}")
        self.assertIn(f"expand=0%2C{layer}", self.fragment())
        self.assertGreater(len(self.find_all(".item")), n)
        self.assertEqual(self.find(f"[data-key=flow-{layer}]").get_attribute("aria-expanded"), "true")
        self.assertEqual(len(self.find_all(".frame")), 1)
        self.click(f"flow-{layer}")
        self.assertEqual(len(self.find_all(".item")), n)
        self.browser.back()
        self.assertGreater(len(self.find_all(".item")), n)
        self.click("flow-close")
        self.assertEqual(len(self.find_all(".item")), n)

    def test_a_click_on_a_leaf_opens_its_details(self):
        self.open(self.resnet(), "view=dataflow&expand=0")
        self.click("flow-1")
        self.assertIn("open=module%3Aconv1", self.fragment())

    def test_the_heading_states_the_longest_chain(self):
        path = self.resnet()
        profile = self.data(path).profile()
        made, longest = {}, 0
        for node in profile["nodes"]:
            before = max((made.get(name, 0) for name in node["inputs"]), default=0)
            for value in node["outputs"]:
                made[value["name"]] = before + (node.get("latency_ps") or 0)
            longest = max(longest, before + (node.get("latency_ps") or 0))
        share = longest / profile["totals"]["latency_ps"]
        self.open(path, "view=dataflow")
        self.assertIn(f"The longest chain has {100 * share:.0f}% of the expected time", self.find("#view h2").text)
        self.assertGreater(len(self.find_all(".edge.chain")), 5)
        self.assertIn("The largest tensor has 103 MB, the output of conv1 (Conv)", self.find("#view .subtitle").text)

    def test_nothing_overlaps_at_any_width_and_the_page_is_accessible(self):
        for width in (400, 900, 1440):
            for scheme in ("light", "dark"):
                with self.subTest(width=width, scheme=scheme):
                    self.resize(width, scheme)
                    self.open(self.resnet(), f"view=dataflow&expand={OPENED}")
                    self.assertEqual(len(self.find_all(".frame")), 4)
                    self.assert_drawn_well()
                    self.assertEqual(self.axe(), [])
        for name, arguments in {"vit": ["models/torch/vit_b_16_torchscript.onnx"], "loop": ["models/loop_if.onnx"],
                                "pointnet32": ["models/pointnet_b32.onnx"], "siamese": ["models/siamese.onnx"],
                                "unet": ["models/unet.onnx", "--dim", "h=64", "--dim", "w=64", "--batch", "1"]}.items():
            with self.subTest(model=name):
                path = self.write(name, *arguments, status=3 if name == "loop" else 0)
                self.open(path, "view=dataflow")
                self.assert_drawn_well()
                self.assert_quiet(path)

    def test_the_picture_has_one_tab_stop_and_arrows_follow_the_edges(self):
        from selenium.webdriver.common.keys import Keys
        self.open(self.resnet(), "view=dataflow&expand=0")
        self.assertEqual(len(self.find_all(".item[tabindex='0']")), 1)
        self.js("document.querySelector('.item[tabindex=\"0\"]').focus()")
        focused = "return document.activeElement.getAttribute('aria-label')"
        self.assertIn("input, Input 32\u00d73\u00d7224\u00d7224", self.js(focused))
        self.press(Keys.ARROW_DOWN)
        self.assertIn("conv1, Conv2d; 186 us, 4% of the time; from input: 32\u00d73\u00d7224\u00d7224 float, 19.3 MB",
                      self.js(focused))
        for _ in range(4):
            self.press(Keys.ARROW_DOWN)
        self.assertIn("layer1", self.js(focused))
        self.press(Keys.ENTER)
        self.assertEqual(self.js("return document.activeElement.getAttribute('aria-expanded')"), "true")
        self.assertEqual(len(self.find_all(".item[tabindex='0']")), 1)

    def test_large_graphs_stay_small_on_the_page(self):
        import chain
        import wire
        flat, model = [], self.folder / "flow_chain.onnx"
        chain.write(20000, str(model))
        for i in range(1000):
            previous = "input"
            for j in range(20):
                flat.append(chain.node(f"n{i}_{j}", "Relu", (previous,), f"v{i}_{j}"))
                previous = f"v{i}_{j}"
        flat.append(chain.node("sum", "Sum", [f"v{i}_19" for i in range(1000)], "out"))
        wide = self.folder / "flow_wide.onnx"
        graph = wire.message(7, *flat, wire.text(2, "wide"), wire.message(11, chain.value_info("input")),
                             wire.message(12, chain.value_info("out")))
        wide.write_bytes(wire.integer(1, 8) + graph + wire.message(8, wire.integer(2, 17)))
        for path in (self.write("flow_chain", str(model)), self.write("flow_wide", str(wide))):
            with self.subTest(page=path.name):
                self.open(path, "view=dataflow")
                best = 1e9
                for i in range(60):  # opens whatever is closed
                    took = self.js("""
                        const closed = [...document.querySelectorAll('.item[aria-expanded=false]')];
                        if (closed.length === 0) return null;
                        const cell = closed[arguments[0] * 7 % closed.length];
                        const start = performance.now();
                        cell.dispatchEvent(new MouseEvent('click', {bubbles: true}));
                        return performance.now() - start;""", i)
                    best = min(best, took or 1e9)
                self.assertLessEqual(len(self.find_all(".item")) - len(self.find_all(".frame")), 400)
                self.assertLess(self.js("return document.querySelectorAll('#app *').length"), MAX_ELEMENTS)
                self.assertLessEqual(len(re.search("expand=([^&]*)", self.fragment())[1].split("%2C")), 30)
                self.assertLess(best, 100)  # ms of the fastest: others share the machine
                self.assert_drawn_well(step=200)
