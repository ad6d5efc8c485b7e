# SPDX-License-Identifier: Apache-2.0
"""Pages of diff and check."""
import json

from page import run, VIEWS, Page


class Diff(Page):
    def test_a_diff_shows_the_cause_of_the_change(self):
        path = self.diff()
        diff = json.loads(self.data(path).texts["costmodel-diff"])
        self.open(path, "view=diff&metric=macs")
        self.assertEqual(self.find("#view h2").text, "MACs grow by 13.63% (+557 MMACs); layer3 accounts for 100%")
        self.assertEqual([int(value) for value in self.column("Change")],
                         [row["change"] for row in diff["totals"].values()])
        self.assertEqual(len(self.find_all("#view svg")), 3)
        self.click("metric-params")
        self.assertIn("Parameters grow by 10.74%", self.find("#view h2").text)
        for view in VIEWS:
            self.open(path, f"view={view}")
            self.assertTrue(self.find("#view h2").text)
        self.assert_quiet(path)

    def test_a_check_shows_verdicts_and_modules(self):
        baseline = str(self.folder / "baseline.json")
        done = run("check", "models/resnet50.onnx", "--baseline", baseline, "--update-baseline")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.write("check", "check", "models/diff/resnet50_wide.onnx", "--baseline", baseline, status=1)
        check = json.loads(self.data(path).texts["costmodel-check"])
        self.open(path, "view=diff")
        self.assertEqual(self.texts("#view tbody th"),
                         [{"pass": "passes", "regression": "REGRESSION"}[case["state"]] for case in check["cases"]])
        self.assertIn("layer3 +557 MMACs", self.find("#view table").text)
        self.assertIn("--update-baseline", self.find("#view code").text)
        self.assert_quiet(path)
