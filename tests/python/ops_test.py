"""tenon.ops and tenon.Tensor."""

from __future__ import annotations

import inspect
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import support
import tenon
from tenon import ops

TYPED = """
import numpy as np
import tenon
from tenon import ops

y: tenon.Tensor = ops.Softmax([[1.0, 2.0]])
y = ops.Conv2D(np.ones((1, 4, 4, 1), np.float32), y, strides=[1, 1, 1, 1], padding="SAME")
y = ops.ConcatV2([[1], y], 0)
y = ops.Cast(1, DstT=np.int64)
y = ops.TopKV2(y, 2).indices
values, y = ops.TopKV2(y, 2, T="float64")
parts: list[tenon.Tensor] = ops.Split(0, [1, 2, 3, 4], num_split=2)
"""
MISTYPED = {
    "ops.Softmax()": 'Missing positional argument "logits"',
    "ops.Softmax(y, axis=1)": 'Unexpected keyword argument "axis"',
    "ops.Sofmax(y)": "Module has no attribute",
    "ops.Conv2D(y, y, strides=1, padding='SAME')": 'Argument "strides" to "Conv2D" has incompatible type',
    "ops.TopKV2(y, 2).counts": 'has no attribute "counts"',
}


class OpsTest(unittest.TestCase):

    def test_every_op_has_a_docstring_and_a_signature(self) -> None:
        names = dir(ops)
        self.assertGreater(len(names), 600)
        for name in names:
            op = getattr(ops, name)
            self.assertIn(f"TensorFlow's op {name}.", op.__doc__)
            inspect.signature(op)

    def test_dtypes_follow_from_the_inputs(self) -> None:
        x = np.array([1, 2], np.float64)
        self.assertEqual(ops.Add(x, [1, 2]).dtype, "float64")
        self.assertEqual(ops.Add(1, 2).dtype, "int32")
        self.assertEqual(ops.Softmax([[1, 2]]).dtype, "float32")
        self.assertEqual(ops.Cast(x, DstT=np.int64).dtype, "int64")
        self.assertEqual(ops.Sum(x, 0).numpy(), 3)
        with self.assertRaises(TypeError):
            ops.Add(x, np.ones(2, np.float32))

    def test_seeded_numbers_continue(self) -> None:
        def draw(count: int) -> np.ndarray:
            shape = np.array([count], np.int32)
            return np.asarray(ops.RandomUniform(shape, dtype=np.float32, seed=12, seed2=5))

        # TensorFlow's values, of one sequence for all shapes.
        first, second = [0.62031353, 0.63205659, 0.13649487], [0.11999893, 0.56517494]
        np.testing.assert_allclose(draw(3), first, rtol=1e-7)
        np.testing.assert_allclose(draw(2), second, rtol=1e-7)

    def test_lists(self) -> None:
        np.testing.assert_array_equal(ops.ConcatV2([[1], [2, 3]], 0), [1, 2, 3])
        parts = ops.Split(0, [1, 2, 3, 4], num_split=2)
        np.testing.assert_array_equal(parts[1], [3, 4])
        stitched = ops.DynamicStitch([[2, 0], [1]], [[1.0, 2.0], [3.0]])  # two lists of one length
        np.testing.assert_array_equal(stitched, [2, 3, 1])
        with self.assertRaisesRegex(ValueError, "'data' has 1 elements, but N is 2"):
            ops.DynamicStitch([[2, 0], [1]], [[1.0, 2.0]])
        columns = [[["a"], ["b"]], np.array([[5], [6]])]
        crossed = ops.SparseCrossHashed([], [], [], columns, 10, False, [1, 2])  # lists of different lengths
        self.assertEqual(crossed.output_values.shape, (2,))

    def test_lists_of_shapes(self) -> None:
        parsed = ops.ParseSingleExample(b"", [np.float32([0, 2])], num_sparse=0, sparse_keys=[], sparse_types=[],
                                        dense_keys=["f"], Tdense=["float32"], dense_shapes=[[2]])
        np.testing.assert_array_equal(parsed.dense_values[0], [0, 2])

    def test_several_outputs_have_names(self) -> None:
        top = ops.TopKV2([3.0, 1.0, 2.0], 2)
        np.testing.assert_array_equal(top.values, [3, 2])
        values, indices = top
        np.testing.assert_array_equal(indices, [0, 2])

    def test_attributes(self) -> None:
        x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 2), np.float32)
        y = ops.Conv2D(x, w, strides=[1, 1, 1, 1], padding="VALID")
        np.testing.assert_array_equal(y, np.full((1, 2, 2, 2), 9))
        with self.assertRaisesRegex(TypeError, "no input or attribute 'stride'"):
            ops.Conv2D(x, w, stride=1)
        with self.assertRaisesRegex(TypeError, "'filter' is missing"):
            ops.Conv2D(x)
        with self.assertRaises(AttributeError):
            ops.Convolution  # pylint: disable=pointless-statement

    def test_strings(self) -> None:
        self.assertEqual(ops.StringUpper(["ab"]).numpy().tolist(), [b"AB"])


def types_python() -> str:
    """The Python that has the type checkers."""
    made = subprocess.run([sys.executable, "-c", "import environments; print(environments.ensure('types'))"],
                          cwd=support.ROOT / "tools", stdout=subprocess.PIPE, text=True, check=True)
    return made.stdout.strip()


class StubTest(unittest.TestCase):
    """ops.pyi, by which type checkers and editors know the ops."""

    def test_it_agrees_with_the_op_table(self) -> None:
        done = subprocess.run([sys.executable, str(support.ROOT / "tools/ops_stub.py"), "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless((support.ROOT / "tools/environments.py").exists(), "it needs the repository")
    def test_pyright_finds_no_error_in_the_package(self) -> None:
        package = pathlib.Path(tenon.__file__).parent
        with tempfile.TemporaryDirectory() as folder:
            config = pathlib.Path(folder) / "pyrightconfig.json"
            config.write_text(json.dumps({"include": [str(package)], "typeCheckingMode": "standard",
                                          "reportMissingImports": False}))  # of packages that a user may not have
            done = subprocess.run([types_python(), "-m", "basedpyright", "-p", config, "--pythonpath", sys.executable,
                                   "--outputjson"], capture_output=True, text=True, check=False)
        report = json.loads(done.stdout)
        self.assertEqual(report["generalDiagnostics"], [])
        self.assertGreater(report["summary"]["filesAnalyzed"], 20)

    @unittest.skipUnless((support.ROOT / "tools/environments.py").exists(), "it needs the repository")
    def test_mypy_knows_inputs_and_attributes(self) -> None:
        package = pathlib.Path(tenon.__file__).parent  # itself without an error
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program.py"
            program.write_text(TYPED + "\n".join(MISTYPED) + "\n")
            done = subprocess.run([types_python(), "-m", "mypy", "--strict", "--python-executable", sys.executable,
                                   "--no-error-summary", "--hide-error-context", "--cache-dir", folder, str(package),
                                   str(program)], capture_output=True, text=True, check=False,
                                  env={**os.environ, "MYPYPATH": str(package.parent)})
        errors = [line for line in done.stdout.splitlines() if " error: " in line]
        self.assertEqual(len(errors), len(MISTYPED), done.stdout + done.stderr)
        for error, (line, expected) in zip(errors, MISTYPED.items()):
            self.assertIn(expected, error, line)


class TensorTest(unittest.TestCase):

    def test_dlpack_both_ways_without_a_copy(self) -> None:
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        tensor = tenon.Tensor.from_dlpack(x)
        self.assertEqual((tensor.dtype, tensor.shape, len(tensor)), ("float32", (2, 3), 2))
        x[0, 0] = 9
        self.assertEqual(np.from_dlpack(tensor)[0, 0], 9)
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        with self.assertRaises(TypeError):
            tenon.Tensor.from_dlpack(x.T)

    def test_chains(self) -> None:
        np.testing.assert_array_equal(ops.Relu(ops.Neg([[-1.0, 1.0]])), [[1, 0]])

    def test_buffer(self) -> None:
        tensor = ops.Add([[1, 2]], 1)
        view = memoryview(tensor)
        self.assertEqual((view.format, view.shape, view.tolist()), ("i", (1, 2), [[2, 3]]))
        self.assertIn("dtype=int32", repr(tensor))
        with self.assertRaises(BufferError):
            memoryview(ops.StringUpper(["a"]))

    def test_memory_outlives_its_tensor(self) -> None:
        array = ops.Add(np.ones(1000, np.float32), np.float32(1)).numpy()
        np.testing.assert_array_equal(array, 2)


if __name__ == "__main__":
    unittest.main()
