# SPDX-License-Identifier: Apache-2.0
"""The loss ladder of the overview, and launches and waits of the other views."""
import json

from page import KERNELS, TABLE, Page, run

PARTS = ["launch_ps", "traffic_ps", "utilization_ps", "bound_ps"]
WIDTHS = (400, 900, 1440)
OVERLAPS = """
    const texts = [...document.querySelectorAll(arguments[0])].filter(e => e.textContent && e.getBoundingClientRect().width > 0);
    const boxes = texts.map(e => [e.textContent, e.getBoundingClientRect()]);
    const found = [];
    boxes.forEach(([name, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
      if (a.left + 1 < b.right && b.left + 1 < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom) found.push([name, other]);
    }));
    return found;"""


class Ladder(Page):
    def page(self, name, *options):
        return self.write(f"ladder-{name}", "models/resnet50.onnx", "--device", "h200", *options)

    def eager(self):
        return self.page("eager", "--runtime", "eager", "--batch", "1")

    def rungs(self):
        """Returns the value of each step by the name of its part."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('.rung > button')].map(rung =>
            [rung.dataset.key.slice(5), +rung.querySelector('i').dataset.value]))""")

    def test_losses_add_up_to_the_time_and_end_at_the_bound(self):
        for options in (["--runtime", "eager"], ["--runtime", "torch-compile", "--precision", "fp16", "--batch", "32"],
                        ["--runtime", "tensorrt"]):
            for model in (["models/resnet50.onnx"], ["models/bert_mini.onnx", "--dim", "seq=64"], ["models/loop_if.onnx"]):
                profile = json.loads(run(*model, "--device", "h200", *options, "--format", "json").stdout)
                totals, losses, nodes = profile["totals"], profile["losses"], profile["nodes"]
                with self.subTest(options=options, model=model):
                    host = profile["time_error"]["host_ps"]
                    self.assertEqual(host + sum(losses.values()), totals["latency_ps"])
                    self.assertEqual(losses["bound_ps"], totals["lower_bound_ps"])
                    sums = dict.fromkeys(PARTS, 0)
                    for row in profile["measure"]["primitives"]:
                        self.assertGreaterEqual(min(row["losses"].values()), 0)
                        self.assertEqual(sum(row["losses"].values()), row["median_ps"] or 0)
                        for i in row["nodes"]:
                            runs = nodes[i]["latency_ps"] // row["median_ps"] if row["median_ps"] else 0
                            self.assertEqual(runs * row["losses"]["bound_ps"], nodes[i]["lower_bound_ps"])
                            for key in PARTS:
                                sums[key] += runs * row["losses"][key]
                    self.assertEqual(sums, losses)

    def test_losses_of_a_node_follow_from_its_explanation(self):
        """Half of the traffic of a norm is its result, which the Relu of its compiled group reads."""
        name = "/layer1/layer1.0/bn1/BatchNormalization"
        profile = json.loads(run("models/resnet50.onnx", "--batch", "32", "--device", "h200", "--runtime", "eager",
                                 "--explain", name, "--format", "json").stdout)
        time = profile["explanations"][0]["nodes"][0]["time"]
        index = next(node["index"] for node in profile["nodes"] if node["name"] == name)
        losses = next(row["losses"] for row in profile["measure"]["primitives"] if index in row["nodes"])
        image = 32 * 64 * 56 * 56 * 4  # is read, which is compulsory, and written
        share = image / (time["memory_bytes"] + time["cache_bytes"])
        both = lambda part: ((time["memory_ps"] * part) ** 3 + time["compute_ps"] ** 3) ** (1 / 3)  # noqa: E731
        self.assertEqual(losses["launch_ps"], time["launch_ps"])
        self.assertAlmostEqual(losses["traffic_ps"], both(1) + time["extra_ps"] - both(share), delta=5)
        self.assertEqual(sum(losses.values()), time["latency_ps"])

    def test_fused_runtimes_lose_less_in_launches_and_waits(self):
        lost = []
        for runtime in ("eager", "torch-compile", "tensorrt"):
            profile = self.data(self.page(runtime, "--runtime", runtime, "--batch", "1")).profile()
            lost.append(profile["losses"]["launch_ps"] + profile["time_error"]["host_ps"])
        self.assertEqual(lost, sorted(lost, reverse=True))
        self.assertGreater(lost[0], 5 * lost[2])

    def test_the_ladder_has_the_losses_of_the_profile(self):
        path = self.eager()
        profile = self.data(path).profile()
        self.open(path, "view=overview")
        expected = {key[:-3]: value for key, value in profile["losses"].items()}
        expected["host"] = profile["time_error"]["host_ps"]
        self.assertEqual(self.rungs(), expected)
        whole = self.js("return [...document.querySelectorAll('.whole i')].map(e =>"
                        " [e.getBoundingClientRect().width, +e.dataset.value])")
        track = self.js("return document.querySelector('.whole .track').getBoundingClientRect().width")
        self.assertEqual(sum(value for _, value in whole), profile["totals"]["latency_ps"])
        for bar, value in whole:
            self.assertAlmostEqual(bar / track, value / profile["totals"]["latency_ps"], delta=0.01)
        heading = self.find("#view h2").text
        first = max(expected, key=expected.get)
        self.assertIn(f"{round(100 * expected[first] / profile['totals']['latency_ps'])}% of it is", heading)
        self.assertIn("is expected to take 1.40 ms at batch 1", heading)
        gain = profile["advice"][0]["gain_ps"]
        self.assertIn(self.js("return short(arguments[0], 'ps')", gain), heading)

    def test_a_step_lists_its_nodes_and_links_to_the_recommendation(self):
        path = self.eager()
        profile = self.data(path).profile()
        self.open(path, "view=overview")
        rows = [node["latency_ps"] - node["lower_bound_ps"] for node in profile["nodes"]]
        self.assertEqual([int(value) for value in self.column("Above the bound")], sorted(rows, reverse=True)[:10])
        self.click("loss-traffic")
        self.assertIn("loss=traffic", self.fragment())
        lost = {i: row["losses"]["traffic_ps"] for row in profile["measure"]["primitives"] for i in row["nodes"]}
        self.assertEqual([int(value) for value in self.column("Avoidable traffic")],
                         sorted(lost.values(), reverse=True)[:10])
        self.js("document.querySelector('tbody .link').click()")
        index = int(self.fragment().split("open=node%3A")[1].split("&")[0])
        self.assertEqual(lost[index], max(lost.values()))
        self.open(path, "view=overview&loss=traffic")
        first = profile["advice"][0]
        self.assertIn(self.js("return short(arguments[0], 'ps')", first["gain_ps"]),
                      self.find(f"[data-key=remedy-launch-{first['name']}]").text)
        self.assertEqual(self.find_all("[data-key^=remedy-traffic]"), [])  # 1 % of the gain
        for advice in profile["advice"]:
            self.assertTrue(self.find_all(f"[data-key$={advice['name']}].link"), advice["name"])
        self.click(f"remedy-launch-{first['name']}")
        self.assertEqual(self.js("return document.activeElement.dataset.key"), f"advice-{first['name']}")

    def test_the_ladder_of_a_training_page_is_that_of_the_step(self):
        path = self.page("step", "--optimizer", "adam", "--precision", "amp", "--batch", "8")
        step = self.data(path).profile()["training"]
        self.open(path, "view=overview")
        self.assertEqual(sum(self.rungs().values()), step["iteration_ps"])
        self.assertEqual(self.rungs()["bound"], step["iteration_lower_bound_ps"])
        self.assertTrue(self.find("#view h2").text.startswith("A training step of resnet50 is expected to take"))
        self.assertIn("fp32 weights", self.tiles()["Parameters"][1])
        self.assertIn("most in fp16", self.tiles()["Peak activation memory"][1])

    def test_a_step_without_a_time_has_the_ladder_of_its_forward_pass(self):
        path = self.page("shard", "--optimizer", "adam", "--shard", "zero=3,gpus=8", "--precision", "bf16")
        profile = self.data(path).profile()
        self.assertIsNone(profile["training"]["iteration_ps"])
        self.open(path, "view=overview")
        self.assertTrue(self.find("#view h2").text.startswith("The forward pass of resnet50 is expected to take"))
        self.assertEqual(sum(self.rungs().values()), profile["totals"]["latency_ps"])
        self.assertIn("of the forward pass is above", self.texts("#view h3")[0])

    def test_measured_times_have_no_part_of_launches(self):
        path = self.write("ladder-measured", "models/pointnet.onnx", "--backend", KERNELS)
        self.open(path, "view=overview")
        self.assertIn("pointnet has an invented time of", self.find("#view h2").text)
        profile = self.data(path).profile()
        profile["measure"]["invented"] = False
        for row in profile["measure"]["primitives"]:
            if row.get("achieved"):
                row["achieved"]["roofline"] = 0.25
        self.open(self.write_profile("ladder-roofs", profile), "view=overview")
        rungs = self.rungs()
        self.assertEqual(sum(rungs.values()), profile["totals"]["latency_ps"])
        self.assertAlmostEqual(rungs["above"] / rungs["bound"], 3, 3)
        self.assertEqual(set(rungs) - {"unknown"}, {"above", "bound"})
        self.assertIn("unknown for measured times", self.find("#view").text)
        self.assertIn("pointnet takes", self.find("#view h2").text)
        self.assertNotIn("expected", self.find("#view h2").text)

    def test_the_state_of_the_times_stands_beside_them(self):
        profile = self.data(self.write("ladder-table", "models/pointnet.onnx", "--backend", TABLE)).profile()
        profile["measure"]["warning"] = "The machine is busy: all times are too long"
        path = self.write_profile("ladder-busy", profile)
        for view in ("overview", "timeline"):
            self.open(path, f"view={view}")
            self.assertEqual(self.find("header .banner").text, profile["measure"]["warning"])
            self.assertEqual(self.find("#app").text.count("machine is busy"), 1)
        self.open(self.eager(), "view=overview")
        self.assertIn("modelled, nothing was run", self.find("header").text)
        self.assertIn("device not calibrated", self.tiles()["Expected time"][1])

    def test_the_heading_of_a_page_without_times_has_its_work(self):
        self.open(self.write("ladder-untimed", "models/resnet50.onnx", "--batch", "2"), "view=overview")
        self.assertIn("resnet50 needs 8.18 GMACs at batch 2 and has 25.6 M parameters; ", self.find("#view h2").text)
        self.assertEqual(self.find_all(".ladder"), [])

    def test_the_timeline_ends_at_the_time_of_the_model(self):
        path = self.eager()
        profile = self.data(path).profile()
        self.open(path, "view=timeline")
        self.assertIn(f"{self.js('return short(arguments[0], `ps`)', profile['totals']['latency_ps'])}, one node after",
                      self.find("#view .subtitle").text)
        parts = self.js("return [...document.querySelectorAll('rect.launch-part')].map(e => e.getBoundingClientRect().width)")
        boxes = self.js("return [...document.querySelectorAll('rect.box:not(.module)')].map(e => e.getBoundingClientRect())"
                        ".map(e => [e.left, e.right])")
        width = self.find(".chart").size["width"]
        self.assertAlmostEqual(sum(parts) / width, profile["losses"]["launch_ps"] / profile["totals"]["latency_ps"], 1)
        gaps = sum(max(0, b[0] - a[1]) for a, b in zip(boxes, boxes[1:]))
        self.assertGreater(gaps / width, 0.8 * profile["time_error"]["host_ps"] / profile["totals"]["latency_ps"])
        colours = self.js("return ['on-launch', 'on-unknown', 'on-host'].map(name => { const e = document.createElement('i');"
                          "e.className = name; document.body.append(e); return getComputedStyle(e).backgroundColor; })")
        self.assertEqual(len(set(colours)), 3)

    def test_the_roofline_draws_small_discs_on_top_and_labels_both_axes(self):
        self.open(self.page("tensorrt16", "--runtime", "tensorrt", "--precision", "fp16", "--batch", "32"), "view=roofline")
        radii = self.js("return [...document.querySelectorAll('circle.disc')].map(e => +e.getAttribute('r'))")
        self.assertEqual(radii, sorted(radii, reverse=True))
        titles = self.texts(".axis .title")
        self.assertTrue(any("FLOP/byte of the kernel" in title for title in titles), titles)
        self.assertTrue(any("FLOP/s" in title for title in titles), titles)
        self.assertIn("of the roof", self.find("#view h2").text)
        self.open(self.page("tensorrt16"), "view=operators")
        self.assertIn("FLOP/byte before fusion", self.texts("thead th"))
        self.assertIn("Bytes moved in fp16", self.texts("thead th"))

    def test_labels_do_not_overlap(self):
        pages = (self.eager(), self.page("tensorrt16", "--runtime", "tensorrt", "--precision", "fp16", "--batch", "32"))
        for theme in ("light", "dark"):
            for width in WIDTHS:
                self.resize(width, theme)
                for path in pages:
                    for view in ("overview", "roofline", "timeline"):
                        with self.subTest(theme=theme, width=width, view=view, path=path.name):
                            self.open(path, f"view={view}")
                            self.assert_no_overlap("#view svg")
                            self.assertEqual(self.js(OVERLAPS, ".ladder .name, .ladder .value, .ladder .link"), [])

    def test_axe_finds_nothing_serious(self):
        profile = self.data(self.eager()).profile()
        profile["measure"]["warning"] = "The machine is busy"
        path = self.write_profile("ladder-axe", profile)
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                "media": "", "features": [{"name": "prefers-color-scheme", "value": theme}]})
            for fragment in ("view=overview&loss=launch", "view=timeline&zoom=0,60000000", "view=roofline"):
                with self.subTest(theme=theme, fragment=fragment):
                    self.open(path, fragment)
                    self.assertEqual(self.axe(), [])

    def test_no_bound_is_claimed_for_imported_times_without_one(self):
        path = self.write("ladder-import", "models/resnet50.onnx", "--batch", "32", "--times",
                          "tests/cli/imports/resnet50_fp16.profile.json", "--device", "h200", "--precision", "fp16")
        total = self.data(path).profile()["totals"]["latency_ps"]
        self.open(path, "view=overview")
        rungs = self.rungs()
        self.assertEqual(sum(rungs.values()), total)
        headings = self.texts("#view h3")[0]
        self.assertIn(f"{round(100 * rungs['above'] / total)}% of the measured", headings)
        self.assertIn(f"no bound is known for {round(100 * rungs['unknown'] / total)}%", headings)
        self.assertNotIn("bound", self.find("#view h2").text)

    def test_no_roof_line_crosses_a_label(self):
        self.open(self.page("fp32-32", "--batch", "32"), "view=roofline")
        crossed = self.js("""
            const lines = [...document.querySelectorAll('.ceilings line')];
            return [...document.querySelectorAll('.halo, .ceilings text')].filter(text => lines.some(line => {
              const box = text.getBBox();
              const [x1, y1, x2, y2] = ['x1', 'y1', 'x2', 'y2'].map(name => +line.getAttribute(name));
              for (let i = 0; i < 501; i++) {
                const x = x1 + (x2 - x1) * i / 500, y = y1 + (y2 - y1) * i / 500;
                if (x > box.x && x < box.x + box.width && y > box.y + 1 && y < box.y + box.height - 1) return true;
              }
              return false;
            })).map(text => text.textContent)""")
        self.assertEqual(crossed, [])
