"""svod.compile without an output: what it takes, and the plans that it keeps."""
import copy
import gc
import importlib.util
import io
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import unittest
import warnings
from unittest import mock

from package import BIN, FOLDER, Case, svod  # first: it skips where numpy is not there
import numpy

from svod import _cache

CACHE, CALLS, SVODC = FOLDER / "cache", FOLDER / "calls", FOLDER / "bin/svodc"
SVODC.parent.mkdir(exist_ok=True)
SVODC.write_text(f'#!/bin/sh\necho "$1" >> "{CALLS}"\nexec "{BIN}/svodc" "$@"\n')
SVODC.chmod(0o755)
os.environ.pop("SVOD_NO_CACHE", None)  # what runs the tests sets it, and the cache is what is tested here
os.environ.update(SVOD_CACHE_DIR=str(CACHE), PATH=f"{SVODC.parent}:{os.environ['PATH']}")
GRAPH = "svod 1\ninput x: f32[3]\noutput y = x * {}\n"


def compiles():
    """How often a plan was compiled."""
    return CALLS.read_text().split().count("compile") if CALLS.exists() else 0


def times(factor, **flags):
    return svod.compile(GRAPH.format(factor), **flags)


def in_a_process(factor, queue):
    queue.put(times(factor)([1, 2, 3])["y"].tolist())


class Compiles(Case):
    def compiled_in(self, count, call):
        before = compiles()
        result = call()
        self.assertEqual(compiles() - before, count)
        return result


class Identity(unittest.TestCase):
    def test_a_program_is_known_by_its_build_id_and_a_script_by_its_text(self):
        copy, head = FOLDER / "copy", bytearray((BIN / "svodc").read_bytes()[:8192])
        place = head.index(_cache._BUILD_ID) + len(_cache._BUILD_ID)

        def identity(data):
            copy.write_bytes(data)
            return _cache._identity(str(copy))

        self.assertEqual(identity(head), head[place:place + 20].hex())
        self.assertEqual(identity(head + b"debug"), identity(head))
        head[place] ^= 1
        self.assertEqual(identity(head), head[place:place + 20].hex())
        scripts = {identity(b"#!/bin/sh\n" + head), identity(b"#!/bin/sh\n\n" + head)}
        self.assertEqual((len(scripts), len(scripts.pop())), (2, 40))


class Models(Compiles):
    def test_a_path(self):
        path = FOLDER / "three.svod"
        path.write_text(GRAPH.format(3))
        for each in (path, str(path)):
            plan = svod.compile(each)
            self.assertEqual((plan.name, plan([1, 2, 3])["y"].tolist()), ("three", [3, 6, 9]))

    def test_sizes_in_tuples(self):
        text = "svod 1\nvar n in [1, 64]\ninput x: f32[n, 4]\noutput y = x + 1\n"
        self.assertEqual(svod.compile(text, shape={"x": (3, 4)}).inputs["x"].shape, (3, 4))
        self.assertEqual(svod.compile(text, var={"n": (2, 8)}).variables["n"].max, 8)
        self.assertEqual(svod.compile(text, var={"n": 5}).inputs["x"].shape, (5, 4))

    def test_text_bytes_and_files(self):
        text = GRAPH.format(4)
        tree = {"svod": 1, "statements": [{"input": "x", "dtype": "f32", "shape": [3]}, {"output": "y", "op": "mul", "args": ["x", 4]}]}
        for each in (text, "\n# words\n" + text, text.encode(), bytearray(text.encode()), io.BytesIO(text.encode()), json.dumps(tree).encode()):
            self.assertEqual(svod.compile(each)([1, 2, 3])["y"].tolist(), [4, 8, 12])

    @unittest.skipUnless(importlib.util.find_spec("onnx"), "onnx is not installed")
    def test_models_of_onnx(self):
        from onnx import TensorProto, helper, numpy_helper
        w = numpy_helper.from_array(numpy.full((4, 2), 2, numpy.float32), "w")
        graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "my net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
                                  [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3, 2])], [w])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        path = FOLDER / "net.onnx"
        path.write_bytes(model.SerializeToString())
        with open(path, "rb") as file:
            for each, name in ((model, "my_net"), (model.SerializeToString(), "model"), (path, "net"), (file, "model")):
                plan = svod.compile(each)
                self.assertEqual((plan.name, plan(numpy.ones((3, 4), numpy.float32))["y"].tolist()), (name, [[8, 8]] * 3))
        graph.node[0].op_type = "NoSuchOp"
        error = self.refused("NoSuchOp", svod.compile, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))
        self.assertTrue(str(error.file).startswith("my_net.onnx"), error.place)
        model.graph.initializer[0].data_location = TensorProto.EXTERNAL
        self.refused("lie in files", svod.compile, model)

    @unittest.skipUnless(importlib.util.find_spec("onnx"), "onnx is not installed")
    def test_models_of_onnx_that_are_too_large_for_one_message(self):
        from onnx import TensorProto, helper, numpy_helper
        for factor in (1, 2, 1):
            w = numpy_helper.from_array(numpy.full((40, 40), factor, numpy.float32), "w")
            ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 40]) for name in "xy"]
            model = helper.make_model(helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ports[:1], ports[1:], [w]),
                                      opset_imports=[helper.make_opsetid("", 17)])
            with mock.patch.object(svod._sources, "_LARGEST_MESSAGE", 0):
                self.assertEqual(svod.compile(model)(numpy.ones((1, 40), numpy.float32))["y"].tolist(), [[40 * factor] * 40])
            self.assertEqual(model.graph.initializer[0].data_location, TensorProto.DEFAULT)

    def test_mistakes(self):
        for model, says in (("input x: f32[3]\noutput y = x\n", "is no graph"), ("net.pth", "neither a graph file nor"), ("net.tflite", "tf2onnx"),
                            (b"", "empty"), (7, "cannot take a int"), (len, "is for svod.trace"), (numpy.ones(3), "cannot take a ndarray"), (None, "cannot take a NoneType"),
                            (io.BytesIO, "is a class"), ("nowhere.svod", "nowhere.svod")):
            with self.subTest(model=model):
                self.refused(says, svod.compile, model)
        self.refused("args= is for modules", svod.compile, GRAPH.format(1), args=(1,))
        self.refused("no output is given", times, 1, emit="pack=a.pack")
        self.refused("no output is given", times, 1, load=False)
        self.refused("no program", times, 1, svodc="no-such-svodc")
        error = self.refused("[shape-mismatch]", svod.compile, "svod 1\ninput x: f32[3]\noutput y = matmul(x, x + zeros(shape=[2]))\n")
        self.assertEqual((error.file, error.line, error.column), ("stdin", 3, 24))
        self.assertIn("output y = matmul(x, x + zeros(shape=[2]))\n", error.excerpt)
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))
        self.assertEqual((svod.SvodError("m", "io").file, svod.SvodError("m", "io", place="a b:3").line), (None, 3))

    def test_pickles_are_paths(self):
        plan = times(5)
        again = pickle.loads(pickle.dumps(plan))
        self.assertEqual((again.path, again([1, 2, 3])["y"].tolist()), (plan.path, [5, 10, 15]))
        self.assertIs(copy.deepcopy({"plan": plan})["plan"], plan)
        with self.assertRaisesRegex(TypeError, "send its plan"):
            pickle.dumps(plan.instance())


class Cache(Compiles):
    def test_the_same_model_is_compiled_once(self):
        self.compiled_in(1, lambda: times(11))
        plan = self.compiled_in(0, lambda: times(11))
        self.assertEqual(plan([1, 2, 3])["y"].tolist(), [11, 22, 33])
        self.assertTrue(plan.path.startswith(str(CACHE / "plans")))
        self.compiled_in(1, lambda: times(11, opt_level=0))
        self.compiled_in(0, lambda: times(11, opt_level=0))
        with mock.patch.dict(os.environ, SVOD_NUMERICS="strict"):
            self.assertEqual(self.compiled_in(1, lambda: times(11)).numerics, "strict")

    def test_files_that_a_graph_or_a_flag_names_are_part_of_it(self):
        weights, graph = FOLDER / "some weights.npy", FOLDER / "weighted.svod"
        graph.write_text('svod 1\ninput x: f32[3]\ninput z: f32[3]\nweight w: f32[3] = "some weights.npy"\noutput y = x * w + z\n')
        numpy.save(FOLDER / "z.npy", numpy.zeros(3, numpy.float32))

        def run():
            return svod.compile(graph, const={"z": FOLDER / "z.npy"})([1, 2, 3])["y"].tolist()

        for w, want in ((2, [2, 4, 6]), (3, [3, 6, 9])):
            numpy.save(weights, numpy.full(3, w, numpy.float32))
            time.sleep(0.02)  # svodc may not read what was written at the same time
            self.assertEqual(self.compiled_in(1, run), want)
            self.assertEqual(self.compiled_in(0, run), want)
        numpy.save(weights, numpy.full(3, 2, numpy.float32))
        self.assertEqual(self.compiled_in(0, run), [2, 4, 6])
        numpy.save(FOLDER / "z.npy", numpy.ones(3, numpy.float32))
        time.sleep(0.02)
        self.assertEqual(self.compiled_in(1, run), [3, 5, 7])

    def test_threads_and_processes_compile_once(self):
        results = []
        threads = [threading.Thread(target=lambda: results.append(times(12)([1, 1, 1])["y"].tolist())) for _ in range(8)]

        def together():
            for each in threads:
                each.start()
            for each in threads:
                each.join()

        self.compiled_in(1, together)
        self.assertEqual(results, [[12] * 3] * 8)
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        workers = [context.Process(target=in_a_process, args=(13, queue)) for _ in range(3)]

        def forked():
            for each in workers:
                each.start()
            self.assertEqual([queue.get(timeout=60) for _ in workers], [[13, 26, 39]] * 3)
            for each in workers:
                each.join()

        def spawned():
            words = [sys.executable, "-c", f"import svod; print(svod.compile({GRAPH.format(14)!r})([1, 2, 3])['y'].tolist())"]
            running = [subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(FOLDER)}, stdout=subprocess.PIPE, text=True) for _ in range(3)]
            self.assertEqual([each.communicate()[0] for each in running], ["[14.0, 28.0, 42.0]\n"] * 3)

        self.compiled_in(1, forked)
        self.compiled_in(1, spawned)

    def test_what_is_damaged_or_gone_is_made_again(self):
        plan = self.compiled_in(1, lambda: times(15))
        (FOLDER / plan.path / "plan.json").write_text("{")
        self.assertEqual(self.compiled_in(1, lambda: times(15))([1, 1, 1])["y"].tolist(), [15] * 3)
        svod._cache.discard((FOLDER / plan.path).parent)
        self.assertEqual(plan([1, 1, 1])["y"].tolist(), [15] * 3)  # what is loaded stays
        self.compiled_in(1, lambda: times(15))

    def test_what_fails_leaves_nothing(self):
        before = {each.name for each in (CACHE / "plans").glob("*") if each.suffix != ".lock"}
        self.refused("unknown-op", svod.compile, "svod 1\ninput x: f32[3]\noutput y = no(x)\n")
        self.assertEqual({each.name for each in (CACHE / "plans").glob("*") if each.suffix != ".lock"}, before)

    def test_the_least_used_makes_room(self):
        with mock.patch.dict(os.environ, SVOD_CACHE_DIR=str(FOLDER / "small")):
            plans = [times(factor) for factor in (16, 17)]
            os.utime(os.path.dirname(plans[0].path), (1, 1))
            size = sum(each.stat().st_size for each in (FOLDER / "small/plans").glob("*/**/*") if each.is_file())
            with mock.patch.dict(os.environ, SVOD_PLAN_CACHE_LIMIT=str((size + 100) / 2**20)):
                last = times(18)
            self.assertEqual([os.path.exists(each.path) for each in [*plans, last]], [False, True, True])
            self.assertEqual(plans[0]([1, 1, 1])["y"].tolist(), [16] * 3)

    def test_where_nothing_is_kept_the_plan_goes_with_its_user(self):
        for flags, environment in (({"no_cache": True}, {}), ({}, {"SVOD_NO_CACHE": "1"})):
            with mock.patch.dict(os.environ, environment):
                plan = self.compiled_in(1, lambda: times(19, **flags))
                self.compiled_in(1, lambda: times(19, **flags))
            self.assertEqual(plan([1, 1, 1])["y"].tolist(), [19] * 3)
            path = plan.path
            self.assertTrue(os.path.exists(path))
            del plan
            gc.collect()
            self.assertFalse(os.path.exists(os.path.dirname(path)))

    def test_a_folder_that_cannot_be_written_is_a_warning(self):
        (FOLDER / "file").write_text("")
        with mock.patch.dict(os.environ, SVOD_CACHE_DIR=str(FOLDER / "file"), SVOD_NO_CACHE=""):
            with self.assertWarnsRegex(svod.SvodWarning, "plans cannot be kept"):
                plan = svod.compile(GRAPH.format(20))
        self.assertEqual(plan([1, 1, 1])["y"].tolist(), [20] * 3)

    def test_notes_are_told_each_time(self):
        text = "svod 1\nvar n in [2, 512]\ninput x: f32[n, 512]\na = matmul(x, transpose(x))\noutput y = matmul(a, a)\n"
        said = []
        for _ in range(2):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                svod.compile(text, verify=True)
            said.append([(each.category, str(each.message), os.path.basename(each.filename)) for each in caught])
        self.assertEqual(said[0], said[1])
        self.assertEqual([(kind, file) for kind, _, file in said[0]], [(svod.SvodNote, os.path.basename(__file__))])


if __name__ == "__main__":
    unittest.main()
