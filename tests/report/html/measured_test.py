# SPDX-License-Identifier: Apache-2.0
"""The view of imported times: measured beside modelled beside bound, and what only the trace has."""
from page import Page

CUDA = ("models/siamese.onnx", "--times", "tests/cli/imports/siamese.cuda.torch.json")
OPENVINO = ("models/resnet50.onnx", "--times", "tests/cli/imports/resnet50.openvino.csv")
WIDTHS = (400, 900, 1440)


class Measured(Page):
    def cuda(self):
        return self.write("measured-cuda", *CUDA, "--device", "h200")

    def openvino(self):
        return self.write("measured-openvino", *OPENVINO, "--device", "core-i7-13700k")

    def pieces(self):
        """Returns the parts of a run by their label."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('.stack .piece')]
            .map(e => [e.title.split(': ').slice(0, -1).join(': '), +e.dataset.value]))""")

    def cells(self, heading):
        """Returns the numbers of a column of the last table."""
        return self.js("""
            const table = [...document.querySelectorAll('table')].pop();
            const at = [...table.querySelectorAll('thead th')].findIndex(e => e.textContent.startsWith(arguments[0]));
            return [...table.querySelectorAll('tbody tr')].map(row => row.children[at].dataset.value);""", heading)

    def test_parts_of_a_run_are_those_of_the_trace(self):
        measure = self.data(self.cuda()).profile()["measure"]
        self.open(self.cuda(), "view=measured")
        pieces = self.pieces()
        layers = sum(row["median_ps"] for row in measure["primitives"])
        faster = sum(max(0, row["import"]["expected_ps"] - row["median_ps"])
                     for row in measure["primitives"] if row["import"]["expected_ps"])
        expected = sum(row["import"]["expected_ps"] or 0 for row in measure["primitives"])
        self.assertEqual(sum(pieces.values()), layers + measure["gap_ps"])
        self.assertEqual(pieces["gaps: the device waits for the host"], measure["gap_host_ps"])
        self.assertEqual(pieces["gaps: nothing recorded"], measure["gap_ps"] - measure["gap_host_ps"])
        self.assertEqual(pieces["copies and folded work"],
                         sum(row["median_ps"] for row in measure["primitives"] if row["state"] == "copy"))
        self.assertEqual(pieces["least time of the layers"] + pieces["modelled above it"], expected - faster)
        self.assert_quiet(self.cuda())

    def test_lists_every_layer_with_its_times(self):
        rows = self.data(self.openvino()).profile()["measure"]["primitives"]
        self.open(self.openvino(), "view=measured")
        for heading, key in (("Measured", "median_ps"), ("Modelled", "expected_ps"), ("Lower bound", "lower_bound_ps")):
            want = [row.get(key, row["import"].get(key)) for row in rows]
            self.assertCountEqual([int(cell) for cell in self.cells(heading) if cell], [value for value in want if value])
        lost = [int(cell) for cell in self.cells("Lost") if cell]
        self.assertEqual(lost, sorted(lost, reverse=True))
        total = sum(row["median_ps"] for row in rows if row["import"]["expected_ps"])
        ratio = total / sum(row["import"]["expected_ps"] or 0 for row in rows)
        self.assertIn(f"Measured {ratio:.1f} times the expected time", self.find("#view h2").text)

    def test_dumbbells_have_the_order_of_the_times(self):
        self.open(self.openvino(), "view=measured")
        for x in self.js("""return [...document.querySelectorAll('.dumbbell')].map(e => ({
                bound: e.querySelector('.bound') && +e.querySelector('.bound').getAttribute('x1'), side: e.classList[1],
                modelled: +e.querySelector('.modelled').getAttribute('cx'), measured: +e.querySelector('.measured').getAttribute('cx')}))"""):
            self.assertEqual(x["side"], "slower" if x["measured"] > x["modelled"] else "faster")
            self.assertTrue(x["bound"] is None or x["bound"] <= x["modelled"])
        self.assertEqual(self.js("return document.querySelectorAll('.dumbbell').length"), 16)

    def test_a_dumbbell_opens_the_details_of_its_node(self):
        self.open(self.cuda(), "view=measured")
        label = self.js("""const first = document.querySelector('.dumbbell');
            first.dispatchEvent(new MouseEvent('click', {bubbles: true}));
            return first.getAttribute('aria-label');""")
        self.assertTrue(label.startswith("net.0 (Conv): measured 12.3 us, modelled "), label)
        self.assertIn("open=node%3A0", self.js("return location.hash"))

    def test_without_a_device_only_measured_times_are_shown(self):
        path = self.write("measured-alone", *CUDA)
        self.open(path, "view=measured")
        self.assertEqual(self.js("return document.querySelectorAll('.dumbbell').length"), 0)
        self.assertIn("--device NAME adds", self.find("#view .subtitle").text)
        self.assertNotIn("times the expected", self.find("#view h2").text)
        self.assert_quiet(path)

    def test_times_of_another_batch_are_not_compared(self):
        path = self.write("measured-other", *CUDA, "--device", "h200", "--batch", "2")
        self.open(path, "view=measured")
        self.assertEqual(self.js("return document.querySelectorAll('.dumbbell').length"), 0)
        self.assertIn("No comparison", self.find("#view .subtitle").text)

    def test_modelled_pages_do_not_have_the_view(self):
        self.open(self.pointnet())
        self.assertEqual(self.js("return document.querySelectorAll('#tab-measured').length"), 0)

    def test_labels_are_apart_and_accessible_at_all_widths(self):
        for scheme in ("light", "dark"):
            for path in (self.cuda(), self.openvino()):
                for width in WIDTHS:
                    with self.subTest(path=path.name, width=width, scheme=scheme):
                        self.resize(width, scheme)
                        self.open(path, "view=measured")
                        self.assert_no_overlap(".dumbbells")
                self.assertEqual(self.axe(), [])
