#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the package onnx_costmodel, as installed or from python/.

    test_package.py [--costmodel PROGRAM]    PROGRAM: instead of the one in the package

Tests that require onnx, pandas, torch or nbclient are skipped if they are not installed.
"""
import argparse
import concurrent.futures
import contextlib
import importlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import typing
import unittest
import warnings

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
MODELS = SOURCE / "models"
RESNET_MACS = 4089184256  # torchvision's resnet50 at 224x224 by FlopCounterMode, halved
RESNET_PARAMS = 25557032


def required(name):
    try:
        return importlib.import_module(name)
    except ImportError as fault:
        raise unittest.SkipTest(f"requires {name}: {fault}") from fault


class Package(unittest.TestCase):
    def setUp(self):
        self.resnet = str(MODELS / "resnet50.onnx")
        self.wide = str(MODELS / "diff" / "resnet50_wide.onnx")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, *arguments, **options):
        with self.assertRaises(cm.CostmodelError) as caught:
            cm.profile(*arguments, **options)
        return caught.exception

    def test_totals_and_modules_are_attributes(self):
        profile = cm.profile(self.resnet, batch=2)
        self.assertEqual(profile.totals.params, RESNET_PARAMS)
        self.assertEqual(profile.totals.macs, 2 * RESNET_MACS)
        self.assertEqual(profile.options.batch, 2)
        self.assertEqual(profile.modules["layer1.0"].macs, 462422016)
        self.assertEqual(profile.modules["layer1"].class_, "Sequential")
        self.assertEqual(profile.modules[0].path, "")
        self.assertIn("layer4.2.conv3", profile.modules)
        self.assertEqual(sum(profile.modules[i].macs for i in profile.modules[0].children),
                         profile.totals.macs)
        self.assertEqual(profile.nodes[0].outputs[0].shape, [2, 64, 112, 112])
        self.assertEqual(profile.operators["Conv"].nodes, 53)
        self.assertIsInstance(profile.model.inputs[0], cm.Value)

    def test_times_of_a_device_are_attributes_in_picoseconds(self):
        profile = cm.profile(self.resnet, device="h200", precision="fp16")
        self.assertGreater(profile.totals.latency_ps, profile.totals.lower_bound_ps)
        self.assertEqual(profile.measure.device, "NVIDIA H200 SXM")

    def test_the_device_memory_of_training_has_named_parts(self):
        memory = cm.profile(self.resnet, optimizer="adam").device_memory
        self.assertIsInstance(memory, cm.DeviceMemory)
        self.assertEqual(sum(part.bytes for part in memory.parts), memory.bytes)
        self.assertIn("caching allocator", memory.parts["allocator"].source)

    def test_keys_of_newer_programs_are_attributes(self):
        profile = cm.Profile({"totals": {"energy_pj": 7, "parts": [{"name": "a", "pj": 3}]}})
        self.assertEqual(profile.totals.energy_pj, 7)
        self.assertEqual(profile.totals.parts["a"].pj, 3)
        with self.assertRaisesRegex(AttributeError, "Totals has no 'macs'; it has energy_pj"):
            _ = profile.totals.macs

    def test_unknown_figures_are_none(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            profile = cm.profile(SOURCE / "tests" / "cli" / "models" / "unknown_op.onnx")
        self.assertEqual([str(warning.category.__name__) for warning in caught], ["CostmodelWarning"])
        self.assertIn("unknown operator com.acme::Foo", str(caught[0].message))
        self.assertIsNone(profile.nodes[0].macs if profile.nodes[0].op == "Foo"
                          else profile.nodes[1].macs)

    def test_several_batches_are_a_sweep(self):
        sweep = cm.profile(self.resnet, batch=[1, 8])
        self.assertEqual([row.batch for row in sweep.sweep], [1, 8])
        self.assertEqual(sweep.sweep[1].macs, 8 * RESNET_MACS)
        self.assertIn("32.7 GMACs", sweep._repr_html_())

    def test_symbolic_dims_and_shapes_are_mappings(self):
        bert = MODELS / "bert_mini.onnx"
        self.assertEqual(self.refused(bert).code, "unbound")
        short, full = cm.profile(bert, dims={"seq": 16}), cm.profile(bert, batch=2, dims={"seq": 64})
        self.assertGreater(full.totals.macs, 8 * short.totals.macs)
        names = [value.name for value in full.model.inputs]
        shaped = cm.profile(bert, inputs={name: (2, 64) for name in names})
        self.assertEqual(shaped.totals.macs, full.totals.macs)

    def test_errors_carry_the_code_and_the_hint_of_the_diagnostic(self):
        fault = self.refused(self.folder / "none.onnx")
        self.assertEqual((fault.code, fault.status), ("io", 1))
        self.assertIn("No such file", str(fault))
        fault = self.refused(MODELS / "bert_mini.onnx")
        self.assertIn("--dim seq=", fault.messages[0].hint)
        fault = self.refused(self.resnet, nonsense=1)
        self.assertEqual((fault.code, fault.status), ("usage", 2))
        (self.folder / "bad.onnx").write_bytes(b"not a model")
        self.assertEqual(self.refused(self.folder / "bad.onnx").code, "format")
        with self.assertRaisesRegex(TypeError, "got int"):
            cm.profile(3)
        with self.assertRaisesRegex(TypeError, "option format is not supported"):
            cm.profile(self.resnet, format="csv")

    def test_a_model_that_does_not_fit_is_reported_and_warned_of(self):
        with self.assertWarnsRegex(cm.CostmodelWarning, "fit"):
            profile = cm.profile(self.resnet, batch=64, memory_limit="200MiB")
        self.assertFalse(profile.memory.fit.fits)
        self.assertLess(profile.memory.fit.largest_batch, 64)

    def test_names_of_files_are_not_options(self):
        (self.folder / "--batch").symlink_to(self.resnet)
        (self.folder / "diff").symlink_to(self.resnet)
        with contextlib.chdir(self.folder) if hasattr(contextlib, "chdir") else self.skip_chdir():
            for name in ("--batch", "diff"):
                self.assertEqual(cm.profile(name).totals.macs, RESNET_MACS)

    def skip_chdir(self):
        self.skipTest("requires Python 3.11")

    def test_profiles_are_saved_read_and_rendered(self):
        profile = cm.profile(self.resnet, batch=4)
        profile.save(self.folder / "p.json")
        self.assertEqual(cm.profile(self.folder / "p.json"), profile)
        table = profile.render("csv", columns="path,macs", sort="macs", top=2)
        self.assertEqual(table.splitlines()[1], f",{4 * RESNET_MACS}")
        self.assertIn("(16,356,737,024)", profile.to_text())

    def test_the_html_report_is_written_if_the_program_has_it(self):
        profile = cm.profile(self.resnet)
        try:
            text = profile.to_html(self.folder / "p.html")
        except cm.CostmodelError as fault:
            self.assertIn("'html'", str(fault))
            raise unittest.SkipTest("the program has no format html") from fault
        self.assertIn("<html", text[:200])
        self.assertEqual((self.folder / "p.html").read_text(encoding="utf-8"), text)

    def test_notebooks_show_a_compact_table_of_escaped_names(self):
        document = cm.profile(self.resnet, device="h200").to_dict()
        document["modules"][1]["path"] = "<script>"
        page = cm.Profile(document)._repr_html_()
        self.assertNotIn("<script>", page)
        self.assertLessEqual(page.count("<tr>"), 14)
        for text in ("25.6 M", "4.09 GMACs", "layer3", "9.63 MB"):
            self.assertIn(text, page)

    def test_figures_have_three_digits(self):
        from onnx_costmodel import _reports
        rows = [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999499, "999 kB"), (999500, "1.00 MB"),
                (2 ** 62, "4.61 EB"), (None, "?")]
        for value, text in rows:
            self.assertEqual(_reports._si(value, "B"), text, value)
        self.assertEqual(_reports._seconds(5030192730), "5.03 ms")
        self.assertEqual(_reports._seconds(12), "12 ps")

    def test_models_are_compared_with_the_same_options(self):
        comparison = cm.compare({"narrow": self.resnet, "wide": self.wide}, batch=2, device="h200", optimizer="sgd")
        self.assertEqual(comparison["narrow"].totals.macs, 2 * RESNET_MACS)
        self.assertEqual([row["model"] for row in comparison.rows()], ["narrow", "wide"])
        self.assertEqual(comparison.rows()[1]["device_memory_bytes"], comparison[1].device_memory.bytes)
        self.assertIn("<td style='text-align:left'>wide</td>", comparison._repr_html_())
        self.assertEqual(cm.device_memory(self.resnet, optimizer="sgd", batch=2).bytes,
                         comparison["narrow"].device_memory.bytes)

    def test_conventions_count_one_model_differently(self):
        flops = cm.conventions(self.resnet)
        self.assertEqual(flops["torch"], 2 * RESNET_MACS)
        self.assertEqual(flops["macs"], RESNET_MACS)

    def test_a_sweep_has_all_combinations_and_continues(self):
        options = {"batch": [1, 4], "device": ["h200", "t4"], "precision": ["fp32", "fp16"], "folder": self.folder / "results"}
        rows = cm.sweep([self.resnet, self.wide], **options).sweep
        self.assertEqual(len(rows), 16)
        self.assertEqual({row.device for row in rows}, {"h200", "t4"})
        one = cm.profile(self.resnet, batch=4, device="t4", precision="fp16").totals
        self.assertIn(one.latency_ps, [row.latency_ps for row in rows])
        files = {path: path.stat().st_mtime_ns for path in (self.folder / "results").rglob("*") if path.is_file()}
        self.assertEqual(len(cm.sweep([self.resnet, self.wide], **options).sweep), 16)
        self.assertTrue(set(files) <= {path for path in (self.folder / "results").rglob("*")})

    def test_quantize_and_fit_return_what_the_program_prints(self):
        for row in cm.quantize(self.resnet, device="h200").llm.quantization:
            self.assertLess(row.quantized_bytes, row.bytes)
        times = self.folder / "times.csv"
        times.write_text("model,node,batch,precision,layout,seconds\n" + "".join(
            f"resnet50.onnx,,{batch},fp32,,{0.001 * batch}\n" for batch in (1, 2, 4, 8, 16, 32)))
        fitted = cm.fit("h200", times, models=MODELS, basis="a test")
        self.assertEqual(fitted["torch-compile fp32"]["times"], 6)

    def test_diff_compares_files_and_profiles(self):
        diff = cm.diff(cm.profile(self.resnet), self.wide)
        self.assertTrue(diff.comparable)
        self.assertEqual(diff.totals.macs.old, RESNET_MACS)
        self.assertEqual(diff.totals.macs.change, diff.totals.macs.new - RESNET_MACS)
        self.assertIn("layer3", diff.to_markdown())
        self.assertIn("layer3", diff.render("text", depth=1))
        with self.assertRaises(cm.CostmodelError) as caught:
            cm.diff(cm.profile(self.resnet, batch=2), cm.profile(self.wide))
        self.assertEqual((caught.exception.code, caught.exception.status), ("compare", 3))

    def test_check_gives_a_verdict(self):
        before = cm.profile(self.resnet)
        verdict = cm.check(self.wide, baseline=before, limits=["macs <= +1%", "params <= 30M"])
        self.assertFalse(verdict.ok)
        self.assertEqual((verdict.status, verdict.state, verdict.regressions),
                         (1, "regression", 1))
        self.assertIn("macs", verdict.to_markdown())
        with self.assertRaises(cm.CostmodelError) as caught:
            verdict.raise_for_status()
        self.assertEqual(caught.exception.code, "regression")
        self.assertTrue(cm.check(self.resnet, baseline=before).ok)
        with self.assertRaisesRegex(cm.CostmodelError, "baseline file '.*none.json' not found"):
            cm.check(self.resnet, baseline=self.folder / "none.json")
        with self.assertRaises(cm.CostmodelError) as caught:
            cm.check(self.resnet, limits=["macs < many"])
        self.assertEqual(caught.exception.code, "usage")

    def test_the_costs_of_a_language_model(self):
        model = str(SOURCE / "tests" / "cli" / "models" / "cache.onnx")
        one = cm.llm(model, device="h100-sxm", prompt=8, new=4, batch=[1, 2], parallel={"tp": 2, "pp": 1},
                     memory_limit="1MB")
        self.assertIsInstance(one, cm.Llm)
        # 2 layers, a head of keys and one of values on each GPU, 8 columns of 2 bytes
        self.assertEqual(one.llm.kv_bytes_per_token, 2 * 2 * 8 * 2)
        self.assertEqual((one.device, one.kv_dtype, one.llm.tp), ("NVIDIA H100 SXM 80 GB", "f16", 2))
        self.assertEqual([phase.batch for phase in one.llm.phases if phase.name == "decode"], [1, 2])
        self.assertGreater(one.llm.phases["prefill"].latency_ps, one.llm.phases["prefill"].lower_bound_ps)
        self.assertEqual(one.llm.capacity[0].sequences, one.llm.request_sequences)
        self.assertIsNone(cm.llm(model, quantize={"*.up.*": "int8", "*.q.*": "fp8"}).llm.phases[0].latency_ps)
        self.assertEqual(cm.llm(model, kv_dtype="fp8").llm.kv_bytes_per_token, 64)
        many = cm.llm(model, device=("h100-sxm", "l40s"), prompt=[8, 16], batch=4, parallel=["tp=1", {"tp": 2}])
        self.assertIsInstance(many, cm.LlmSweep)
        self.assertEqual([(row.tp, row.prompt, row.batch) for row in many.rows[:4]],
                         [(1, 8, 4), (1, 16, 4), (2, 8, 4), (2, 16, 4)])
        self.assertEqual(len(many.rows), 8)
        self.assertEqual(many.rows[0].model, model)
        with self.assertRaises(cm.CostmodelError) as caught:
            cm.llm(self.resnet)
        self.assertEqual(caught.exception.code, "graph")
        with self.assertRaises(TypeError):
            cm.llm(model, format="text")

    def test_the_module_runs_the_program(self):
        words = [sys.executable, "-m", "onnx_costmodel", "--version"]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, rf"^costmodel {re.escape(cm.__version__)} \(counting version \d+\)\n$")
        bad = subprocess.run([*words[:3], "none.onnx"], capture_output=True, text=True, check=False)
        self.assertEqual(bad.returncode, 1)

    def test_threads_profile_at_the_same_time(self):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            macs = list(pool.map(lambda n: cm.profile(self.resnet, batch=n).totals.macs, range(1, 9)))
        self.assertEqual(macs, [n * RESNET_MACS for n in range(1, 9)])

    def test_a_missing_program_is_an_error(self):
        from onnx_costmodel import _program
        with unittest.mock.patch.dict(os.environ, {"COSTMODEL_PROGRAM": "/nowhere/costmodel"}):
            with self.assertRaisesRegex(cm.CostmodelError, "/nowhere/costmodel not found"):
                _program.program()


TYPES = {"integer": int, "number": float, "string": str, "array": list, "boolean": bool,
         "null": type(None)}


class Models(unittest.TestCase):
    def test_a_proto_is_profiled_without_its_weights(self):
        onnx = required("onnx")
        numpy = required("numpy")
        from onnx_costmodel import _sources
        weight = onnx.numpy_helper.from_array(numpy.ones((512, 256), numpy.float32), "fc.weight")
        shape = onnx.numpy_helper.from_array(numpy.array([-1, 256], numpy.int64), "shape")
        nodes = [onnx.helper.make_node("Reshape", ["x", "shape"], ["flat"]),
                 onnx.helper.make_node("Gemm", ["flat", "fc.weight"], ["y"], transB=1)]
        value = onnx.helper.make_tensor_value_info
        graph = onnx.helper.make_graph(nodes, "mlp", [value("x", 1, ["n", 16, 16])],
                                       [value("y", 1, ["n", 512])], [weight, shape])
        model = onnx.helper.make_model(graph)
        profile = cm.profile(model, batch=4)
        self.assertEqual(profile.totals.macs, 4 * 256 * 512)
        self.assertEqual(profile.totals.params, 256 * 512)
        self.assertEqual(profile.model.path, "mlp")
        self.assertEqual(len(profile.diagnostics), 0)
        self.assertLess(len(_sources.strip(model).SerializeToString()), 1000)
        self.assertEqual(len(weight.raw_data), 4 * 256 * 512)

    def test_a_data_frame_has_a_row_per_module(self):
        pandas = required("pandas")
        profile = cm.profile(MODELS / "resnet50.onnx", device="h200")
        frame = profile.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(len(frame), len(profile.modules))
        self.assertEqual(frame.set_index("path").loc["layer1.0", "macs"], 231211008)
        self.assertEqual(str(frame["macs"].dtype), "Int64")
        self.assertIn("achieved.limited_by", frame.columns)
        with self.assertRaisesRegex(ValueError, "no table 'foo': the tables are modules, nodes, operators"):
            profile.to_pandas("foo")
        self.assertEqual(profile.to_pandas("operators").set_index("op").loc["Conv", "nodes"], 53)
        sweep = cm.profile(MODELS / "resnet50.onnx", batch=[1, 2]).to_pandas()
        self.assertEqual(list(sweep["macs"]), [RESNET_MACS, 2 * RESNET_MACS])

    def test_a_torchvision_model_has_the_flops_of_the_flop_counter(self):
        torch = required("torch")
        required("onnxscript")
        torchvision = required("torchvision")
        counter = importlib.import_module("torch.utils.flop_counter").FlopCounterMode(display=False)
        model = torchvision.models.resnet18()
        images = torch.randn(2, 3, 64, 64)
        model.eval()
        with counter, torch.no_grad():
            model(images)
        model.train()
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            profile = cm.profile(model, example_inputs=images)
            double = cm.profile(model, batch=8, example_inputs=(images,))
        self.assertTrue(model.training)
        self.assertEqual(2 * profile.totals.macs, counter.get_total_flops())
        self.assertEqual(double.totals.macs, 4 * profile.totals.macs)
        self.assertEqual(profile.totals.framework_params,
                         sum(one.numel() for one in model.parameters()))
        self.assertEqual(profile.model.path, "ResNet")
        by_module = counter.get_flop_counts()
        for name in ("layer1", "layer4.1", "fc"):
            self.assertEqual(2 * profile.modules[name].macs, sum(by_module[f"ResNet.{name}"].values()))
        with self.assertRaisesRegex(TypeError, "requires example_inputs"):
            cm.profile(model)

    def test_the_notebooks_run(self):
        nbclient, nbformat = required("nbclient"), required("nbformat")
        required("ipykernel")
        required("pandas")
        paths = sorted((SOURCE / "examples").rglob("*.ipynb")) + sorted((SOURCE / "docs").rglob("*.ipynb"))
        self.assertTrue(paths)
        for path in paths:
            notebook = nbformat.read(path, as_version=4)
            nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                                    resources={"metadata": {"path": SOURCE}}).execute()
            pages = [output["data"].get("text/html", "") for cell in notebook.cells
                     for output in cell.get("outputs", ()) if "data" in output]
            self.assertTrue(any("layer3" in page for page in pages), path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--costmodel", type=lambda path: pathlib.Path(path).resolve())
    OPTIONS, rest = parser.parse_known_args()
    if OPTIONS.costmodel:
        os.environ["COSTMODEL_PROGRAM"] = str(OPTIONS.costmodel)
        os.environ["PYTHONPATH"] = str(SOURCE / "python")
        sys.path.insert(0, str(SOURCE / "python"))
    import unittest.mock

    import onnx_costmodel as cm

    unittest.main(argv=[sys.argv[0], *rest])
