# SPDX-License-Identifier: Apache-2.0
"""Numbers of the page equal those of the profile."""
import json
import re

from page import Page


class Numbers(Page):
    def test_shared_parameters_are_at_most_the_parameters_of_the_model(self):
        profile = self.data(self.pointnet()).profile()
        shared = profile["totals"]["params"] // 2
        root, template = profile["modules"][0], profile["modules"][1]
        layers = [dict(template, path=f"layers.{i}", name=str(i), parent=1, depth=2, children=[], params=shared,
                       latency_ps=root["latency_ps"] // 25) for i in range(20)]
        profile["modules"] = [
            dict(root, children=[1, 22]),
            dict(root, path="layers", name="layers", parent=0, depth=1, children=list(range(2, 22)), params=shared,
                 latency_ps=20 * layers[0]["latency_ps"]), *layers,
            dict(template, path="head", name="head", parent=0, depth=1, children=[], params=shared)]
        for row in profile["nodes"] + profile["memory"]["live_at_peak"] + profile.get("fused_patterns", []):
            row["module"] = "layers.0"
        path = self.write_profile("shared", profile)
        for fragment in ("view=overview", "view=modules&metric=params&depth=2"):
            self.open(path, fragment)
            shares = [int(share) for share in re.findall(r"(\d+)(?:\.\d+)?%", self.find("#view").text)]
            self.assertIn(50, shares)
            self.assertLessEqual(max(shares), 100)

    def test_siblings_are_compared_whole(self):
        """On each level the dominant part is the largest of all siblings."""
        self.open(self.pointnet())
        text = self.js("""
            const modules = [];
            const put = (path, parent, value) => {
              const module = {index: modules.length, path, name: path.split('.').pop(), children: [], latency_ps: value,
                parent: parent ? parent.index : null, first: modules.length};
              modules.push(module);
              if (parent) parent.children.push(module.index);
              return module;
            };
            const layers = put('layers', put('', null, 400), 396);
            for (let i = 0; i < 4; i++) {
              const layer = put(`layers.${i}`, layers, 99);
              put(`layers.${i}.attention`, layer, 35);
              const mlp = put(`layers.${i}.mlp`, layer, 64);
              for (const each of [[0, 31], [1, 2], [2, 31]]) put(`layers.${i}.mlp.${each[0]}`, mlp, each[1]);
            }
            return dominant({modules, root: modules[0], totals: {latency_ps: 400}}, 'latency_ps').text;""")
        self.assertEqual(text, "the 4 modules layers.*.mlp take 64%")
        for name, key in (("pointnet", "latency_ps"), ("resnet50", "latency_ps"), ("resnet50", "params")):
            path = self.write(name, f"models/{name}.onnx", "--batch", "32", "--device", "h200")
            rows = self.data(path).profile()["modules"]
            self.open(path)
            inside = self.js("const report = loadReport();"
                             "return dominant(report.profile, arguments[0]).part.modules.map(each => each.index)", key)
            while len(inside) == 1 and rows[inside[0]]["parent"] is not None:
                parent = rows[inside[0]]["parent"]
                siblings = [row[key] for row in rows if row["parent"] == parent]
                self.assertEqual(rows[inside[0]][key], max(siblings), (name, rows[inside[0]]["path"]))
                inside = [parent]

    def test_times_that_omit_nodes_are_marked(self):
        times = self.folder / "times.csv"
        times.write_text("node,time_us\n/transform/input_transform/conv1/Conv,9\n")
        path = self.write("partial", "models/pointnet.onnx", "--times", str(times))
        self.open(path, "view=overview")
        self.assertIn("\u2265 9.00 us", self.texts(".tile dd"))
        self.open(path, "view=operators")
        shown = dict(zip(self.texts("#view tbody th"), self.texts("#view tbody td:nth-of-type(2)")))
        self.assertEqual((shown["Conv"], shown["Gemm"], shown["Constant"]), ("\u2265 9.00 us", "\u2013", "\u2013"))

    def test_numbers_equal_the_json(self):
        path = self.pointnet()
        profile = self.data(path).profile()
        totals = profile["totals"]
        self.open(path, "view=overview")
        shown = set(self.js("return [...document.querySelectorAll('.tile [data-value]')].map(e => e.dataset.value)"))
        self.assertEqual(shown, {str(totals[key]) for key in (
            "params", "macs", "latency_ps", "peak_activation_bytes")})
        self.open(path, "view=operators")
        by_op = {row["op"]: row for row in profile["operators"]}
        for heading, key in (("Expected time", "latency_ps"), ("MACs", "macs"), ("FLOPs", "flops"), ("Nodes", "nodes")):
            self.assertEqual(dict(zip(self.column("Operator"), map(int, self.column(heading)))),
                             {op: row[key] for op, row in by_op.items()}, key)
        self.open(path, "view=modules&metric=macs")
        tree = dict(zip(self.texts("#view .scroll tbody th button.link"), self.column("MACs")))
        for row in profile["modules"]:
            if row["depth"] == 1:
                self.assertEqual(tree[row["name"]], str(row["macs"]), row["path"])
        self.open(path, "view=kernels")
        waiting = profile["time_error"]["host_ps"]  # no kernel runs meanwhile
        self.assertEqual(sum(map(int, self.column("Total"))), totals["latency_ps"] - waiting)
        self.open(path, "view=memory")
        live = self.js("return [...document.querySelectorAll('.tensors [data-value]')].map(e => e.dataset.value)")
        self.assertEqual(live, [str(row["bytes"]) for row in profile["memory"]["live_at_peak"]][:len(live)])

    def test_kernels_and_roofline_have_the_kernels_of_the_profile(self):
        for precision in ("fp32", "fp16"):
            for runtime in ("torch-compile", "tensorrt", "eager"):
                with self.subTest(precision=precision, runtime=runtime):
                    self.check_kernels(self.write(
                        f"resnet50-{precision}-{runtime}", "models/resnet50.onnx", "--batch", "32", "--device",
                        "h100-sxm", "--precision", precision, "--runtime", runtime))

    def check_kernels(self, path):
        profile = self.data(path).profile()
        nodes, primitives = profile["nodes"], profile["measure"]["primitives"]
        launched = {i for row in primitives for i in row["nodes"] if "kernel" not in nodes[i]}
        fused = {node["index"] for node in nodes if "kernel" in node}
        self.assertTrue(all(nodes[i]["kernel"] in launched for i in fused))
        self.open(path, "view=kernels")
        names, totals = self.column("Work"), [int(value) for value in self.column("Total")]
        self.assertEqual(sum(totals), profile["totals"]["latency_ps"] - profile["time_error"]["host_ps"])
        self.assertEqual(sum(map(int, self.column("Calls"))), len(launched))
        pool = next(node for node in nodes if node["op"] == "MaxPool")
        first = nodes[pool.get("kernel", pool["index"])]
        parts = [node for node in nodes if node is first or node.get("kernel") == first["index"]]
        work = next(row["primitive"] for row in primitives if first["index"] in row["nodes"])
        row = names.index(" + ".join([work] + [node["op"] for node in parts if node is not first]))
        self.assertEqual(totals[row], sum(node["latency_ps"] for node in parts))
        self.open(path, "view=overview")
        for bar in (".stack .piece", ".whole i"):  # by operator type, by loss
            self.assertEqual(sum(map(int, self.js("return [...document.querySelectorAll(arguments[0])]"
                                                  ".map(e => e.dataset.value)", bar))), profile["totals"]["latency_ps"])
        self.open(path, "view=roofline")
        hidden = re.search(r"Not shown: (\d+) kernel", self.find("#view").text)
        first = max(profile["measure"]["limiters"], key=lambda row: row["latency_ps"])
        share = round(100 * first["latency_ps"] / profile["totals"]["latency_ps"])
        self.assertIn(f"{first['limited_by']} limits {share}%", self.find("#view h2").text)
        self.assertEqual(len(self.find_all("#view circle")) + int(hidden[1] if hidden else 0), len(names))

    def test_numbers_read_as_the_program_prints_them(self):
        """The same three digits as `--units si`, also if rounding reaches the next prefix."""
        self.open(self.pointnet())
        for value, unit, text in ((14068146176, "macs", "14.1 GMACs"), (999499, "bytes", "999 kB"),
                                  (999500, "bytes", "1.00 MB"), (2005, "elements", "2.00 k"),
                                  (2015, "elements", "2.02 k"), (10250, "elements", "10.2 k"),
                                  (867600000, "ps", "868 us"), (0, "ps", "0 s"), (0, "bytes", "0 B"), (5, "flops", "5")):
            self.assertEqual(self.js("return short(arguments[0], arguments[1])", value, unit), text)
        self.assertEqual(self.js("return percent(4, 100000)"), "<0.01%")
        self.assertEqual(self.js("return exact(14068146176, 'macs')"), "14,068,146,176 MACs")

    def test_integers_above_2_53_keep_their_digits(self):
        profile = self.data(self.pointnet()).profile()
        big = 2 ** 60 + 1
        profile["totals"]["macs"] = profile["modules"][0]["macs"] = big
        path = self.write_profile("big", profile)
        self.open(path)
        self.assertIn(str(big), self.js("return [...document.querySelectorAll('[data-value]')].map(e => e.dataset.value)"))
        self.assertIn("1.15 EMACs", self.find(".tiles").text)

    def test_only_integers_above_2_53_take_the_slow_path(self):
        """Other numbers of as many digits are parsed as they are; a reviver is never called."""
        self.open(self.pointnet())
        texts = ['[1979000000000000]', '[0.1234567890123456789]', '[12345678901234567.5]', '[1e22]', '{"a": [12345678901234567e3]}']
        large = [2 ** 53 + 1, -2 ** 53 - 1, 1979000000000000]
        big = json.dumps({"p": large, "n": f',{large[0]},\\" :{large[0]}', "d": {"digits": 5, "x": None}})
        done = self.js("""
            const find = document.getElementById;
            const replace = String.prototype.replace;
            const parse = JSON.parse;
            let slow = 0;
            JSON.parse = (text, reviver) => parse(text, reviver, slow += reviver ? 100 : 0);
            String.prototype.replace = function count(...rest) { slow++; return replace.apply(this, rest); };
            const read = text => { document.getElementById = () => ({textContent: text}); return readJson('x'); };
            try {
              const values = arguments[0].map(read);
              const before = slow;
              const value = read(arguments[1]);
              return [values, before, slow, value.p.map(String), value.p.map(each => each instanceof BigNumber), value.n, value.d];
            } finally {
              String.prototype.replace = replace;
              JSON.parse = parse;
              document.getElementById = find;
            }""", texts, big)
        self.assertEqual(done, [[json.loads(text) for text in texts], 0, 1, list(map(str, large)),
                                [True, True, False], json.loads(big)["n"], {"digits": 5, "x": None}])
