"""Models: loading, feeding, results, errors, variables."""

from __future__ import annotations

import array
import pickle
import sys
import unittest
from unittest import mock

import numpy as np
import support
import tenon
from support import ModelCase, node


class RunTest(ModelCase):

    def test_results_are_those_of_tensorflow(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        x = support.mlp_inputs()
        for result in (model(x), model(features=x), model({"features": x}), model.run({"features": x})):
            self.assertEqual(list(result), ["output_0"])
            np.testing.assert_allclose(result["output_0"], support.mlp_outputs(), rtol=1e-5, atol=1e-6)

    def test_describes_itself(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        self.assertEqual(model.inputs, [tenon.TensorSpec("features", "float32", (None, 16))])
        self.assertEqual(model.outputs, [tenon.TensorSpec("output_0", "float32", (None, 1))])
        signature = model.signatures["serving_default"]
        self.assertEqual((signature.inputs, signature.outputs), (model.inputs, model.outputs))
        self.assertEqual(model.inputs[0].numpy_dtype, np.float32)
        self.assertIn("features: float32[?, 16]", repr(model))

    def test_every_dtype_passes_unchanged(self) -> None:
        for name, code in [("float32", "FLOAT"), ("float64", "DOUBLE"), ("float16", "HALF"),
                           ("int8", "INT8"), ("int16", "INT16"), ("int32", "INT32"),
                           ("int64", "INT64"), ("uint8", "UINT8"), ("uint16", "UINT16"),
                           ("uint32", "UINT32"), ("uint64", "UINT64"), ("bool", "BOOL"),
                           ("complex64", "COMPLEX64"), ("complex128", "COMPLEX128")]:
            with self.subTest(name):
                model = self.identity(f"DT_{code}")
                x = np.arange(6).reshape(2, 3).astype(name)
                y = model(x)["y:0"]
                self.assertEqual(y.dtype, x.dtype)
                np.testing.assert_array_equal(y, x)
                self.assertEqual(model(np.zeros((0, 2), name))["y:0"].shape, (0, 2))
                self.assertEqual(model(np.ones((), name))["y:0"].shape, ())

    def test_inputs_are_not_copied(self) -> None:
        x = np.zeros(4, np.float32)
        tensor = tenon.Tensor.from_buffer(x)
        x[0] = 5
        self.assertEqual(tensor.numpy()[0], 5)

    def test_results_own_writable_memory(self) -> None:
        model = self.identity("DT_FLOAT")
        x = np.ones(3, np.float32)
        y = model(x)["y:0"]
        y[:] = 2
        np.testing.assert_array_equal(x, 1)
        later = model(x)["y:0"]
        np.testing.assert_array_equal(y, 2)  # no run writes to an earlier result
        del model
        np.testing.assert_array_equal(later, 1)

    def test_read_only_and_other_buffers(self) -> None:
        model = self.identity("DT_FLOAT")
        x = np.ones(3, np.float32)
        x.flags.writeable = False
        for value in (x, memoryview(x), array.array("f", [1, 1, 1]), [1, 1, 1], [1.0, 1.0, 1.0]):
            np.testing.assert_array_equal(model(value)["y:0"], np.ones(3, np.float32))
        self.assertEqual(model(1)["y:0"], 1)

    def test_an_input_may_be_omitted(self) -> None:
        model = self.graph(
            node("d", "Const", dtype="type: DT_INT32",
                 value="tensor { dtype: DT_INT32 tensor_shape { } int_val: 7 }") +
            node("x", "PlaceholderWithDefault", "d", dtype="type: DT_INT32", shape="shape { }") +
            node("y", "Identity", "x", T="type: DT_INT32"))
        self.assertEqual(model()["y:0"], 7)


class ErrorTest(ModelCase):

    def test_dtype(self) -> None:
        model = self.identity("DT_FLOAT")
        with self.assertRaisesRegex(TypeError, r"'x' is of dtype float32, but .*float64 and shape \(2,\)"):
            model(np.zeros(2))
        np.testing.assert_array_equal(model.run({"x": np.ones(2)}, cast=True)["y:0"], [1, 1])
        np.testing.assert_array_equal(self.identity("DT_FLOAT", cast=True)(np.ones(2))["y:0"], [1, 1])
        with self.assertRaisesRegex(TypeError, "float32, but .*'str'"):
            model("text")

    def test_python_numbers_never_lose_their_kind(self) -> None:
        model = self.identity("DT_INT32")
        self.assertEqual(model(3)["y:0"].dtype, np.int32)
        with self.assertRaises(TypeError):
            model(3.5)
        with self.assertRaises(OverflowError):
            model(2**40)
        self.assertEqual(model.run({"x": [1.5, -2.5]}, cast=True)["y:0"].tolist(), [1, -2])

    def test_layout(self) -> None:
        model = self.identity("DT_FLOAT")
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        for value in (x[:, ::2], x.T, x.astype(">f4")):
            with self.assertRaises((TypeError, ValueError)):
                model(value)
            np.testing.assert_array_equal(model.run({"x": value}, cast=True)["y:0"], value)

    def test_shape(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        with self.assertRaisesRegex(ValueError, r"'features' must have shape \[\?,16\], but has \[1,3\]"):
            model(np.zeros((1, 3), np.float32))

    def test_names(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        x = support.mlp_inputs()
        with self.assertRaisesRegex(ValueError, "no input 'image'; the model's inputs are 'features'"):
            model(image=x)
        named = model({"features:0": x})["output_0"]  # the tensor's name
        np.testing.assert_array_equal(named, model(features=x)["output_0"])
        with self.assertRaisesRegex(ValueError, "missing"):
            model()
        with self.assertRaisesRegex(ValueError, "given twice"):
            model(x, features=x)
        with self.assertRaisesRegex(ValueError, "1 inputs, but 2"):
            model(x, x)

    def test_files(self) -> None:
        with self.assertRaises(FileNotFoundError):
            tenon.load(self.folder / "none")
        (self.folder / "bad.pb").write_bytes(b"\xff\xfe\x00")
        with self.assertRaises(tenon.Error):
            tenon.load(self.folder / "bad.pb")
        with self.assertRaisesRegex(tenon.Error, "nothing_like_it"):
            tenon.load(support.MLP / "saved_model", signature="nothing_like_it")

    def test_closed(self) -> None:
        with tenon.load(support.MLP / "saved_model") as model:
            self.assertFalse(model.closed)
        self.assertTrue(model.closed)
        with self.assertRaisesRegex(tenon.FailedPreconditionError, "closed"):
            model(support.mlp_inputs())
        self.assertIn("closed", repr(model))
        model.close()


class OptionsTest(ModelCase):

    def test_results_in_the_callers_memory(self) -> None:
        model = tenon.load(support.MLP / "saved_model")
        y = np.empty((1, 1), np.float32)
        result = model.run({"features": support.mlp_inputs()}, out={"output_0": y})
        self.assertIs(result["output_0"], y)
        np.testing.assert_allclose(y, support.mlp_outputs(), rtol=1e-5, atol=1e-6)
        for bad in (np.empty((1, 1)), np.empty((2, 1), np.float32)):
            with self.assertRaises((TypeError, ValueError)):
                model.run({"features": support.mlp_inputs()}, out={"output_0": bad})
        with self.assertRaisesRegex(TypeError, "C-contiguous"):
            model.run({"features": np.zeros((2, 16), np.float32)},
                      out={"output_0": np.empty((2, 2), np.float32)[:, :1]})
        with self.assertRaisesRegex(ValueError, "no output 'z'"):
            model.run({"features": support.mlp_inputs()}, out={"z": y})
        y.flags.writeable = False
        with self.assertRaises(TypeError):
            model.run({"features": support.mlp_inputs()}, out={"output_0": y})

    def test_from_memory(self) -> None:
        text = (node("x", "Placeholder", dtype="type: DT_FLOAT", shape="shape { unknown_rank: true }") +
                node("y", "Neg", "x", T="type: DT_FLOAT"))
        model = tenon.load(text.encode())
        self.assertEqual(model(1.0)["y:0"], -1)
        self.assertEqual(list(tenon.signatures(text.encode())), [""])
        self.assertEqual(pickle.loads(pickle.dumps(model))(1.0)["y:0"], -1)

    def test_precision(self) -> None:
        model = tenon.load(support.MLP / "saved_model", precision="bf16")
        np.testing.assert_allclose(model(support.mlp_inputs())["output_0"], support.mlp_outputs(), atol=0.05)
        with self.assertRaisesRegex(ValueError, "fp8"):
            tenon.load(support.MLP / "saved_model", precision="fp8")

    def test_inner_tensors_are_fed(self) -> None:
        t = "type: DT_FLOAT"
        model = self.graph(node("x", "Placeholder", dtype=t, shape="shape { unknown_rank: true }") +
                           node("a", "Neg", "x", T=t) + node("y", "Exp", "a", T=t), feeds=["a:0"])
        self.assertEqual(model.run({"a:0": np.float32(0)})["y:0"], 1)


class ReferenceTest(ModelCase):
    """TensorFlow 1's variables."""

    def test_count_up_to_gives_the_number_before(self) -> None:
        t = "type: DT_INT32"
        model = self.graph(node("v", "VariableV2", dtype=t, shape="shape { }") +
                           node("c", "Const", dtype=t, value="tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }") +
                           node("a", "Assign", "v", "c", T=t) +
                           node("n", "CountUpTo", "v", "^a", T=t, limit="i: 3") + node("y", "Identity", "n", T=t))
        self.assertEqual(model.run({})["y:0"], 1)

    def test_scatter_nd(self) -> None:
        t, i = "type: DT_FLOAT", "type: DT_INT32"

        def const(name: str, kind: str, shape: str, values: str) -> str:
            dims = " ".join(f"dim {{ size: {d} }}" for d in shape.split())
            return node(name, "Const", dtype=f"type: {kind}",
                        value=f"tensor {{ dtype: {kind} tensor_shape {{ {dims} }} {values} }}")

        model = self.graph(node("v", "VariableV2", dtype=t, shape="shape { dim { size: 3 } }") +
                           const("c", "DT_FLOAT", "3", "float_val: 1 float_val: 2 float_val: 3") +
                           const("at", "DT_INT32", "1 1", "int_val: 2") + const("by", "DT_FLOAT", "1", "float_val: 5") +
                           node("a", "Assign", "v", "c", T=t) +
                           node("s", "ScatterNdAdd", "v", "at", "by", "^a", T=t, Tindices=i) + node("y", "Identity", "s", T=t))
        self.assertEqual(model.run({})["y:0"].tolist(), [1, 2, 8])


class StringTest(ModelCase):

    def test_strings(self) -> None:
        model = self.identity("DT_STRING")
        for value in (["a", "Ä"], [b"a", "Ä".encode()], np.array(["a", "Ä"]),
                      np.array(["a", "Ä"], object), np.array([b"a", "Ä".encode()])):
            y = model(value)["y:0"]
            self.assertEqual(y.dtype, object)
            self.assertEqual(y.tolist(), [b"a", "Ä".encode()])
        self.assertEqual(model("one")["y:0"].shape, ())
        for value in (["a\0", b"\0"], ("a\0", "\0"), np.array(["a\0", b"\0"], object)):
            self.assertEqual(model(value)["y:0"].tolist(), [b"a\0", b"\0"])
            self.assertEqual(model.run({"x": value}, cast=True)["y:0"].tolist(), [b"a\0", b"\0"])
        self.assertEqual(model(b"a\0")["y:0"].item(), b"a\0")
        self.assertEqual(model([])["y:0"].shape, (0,))
        self.assertEqual(model([[]])["y:0"].shape, (1, 0))
        self.assertEqual(model(np.array([["x"] * 3] * 2))["y:0"].shape, (2, 3))
        if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
            y = model(np.array(["long " * 10, ""], np.dtypes.StringDType()))["y:0"]
            self.assertEqual(y.tolist(), [b"long " * 10, b""])
        with self.assertRaisesRegex(TypeError, "dtype string, but .*float64"):
            model(np.zeros(2))
        with self.assertRaisesRegex(TypeError, "needs str or bytes, not int"):
            model(np.array(["a", 3], object))


class Bfloat16Test(ModelCase):

    def test_bits(self) -> None:
        bits = np.array([0x3F80, 0xC000], np.uint16)  # 1, -2
        with mock.patch.dict(sys.modules, ml_dtypes=None):
            self.assertEqual(tenon._numpy.dtype_of("bfloat16"), np.uint16)
        model = self.identity("DT_BFLOAT16")
        np.testing.assert_array_equal(model(bits)["y:0"].view(np.uint16), bits)

    def test_ml_dtypes(self) -> None:
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        model = self.identity("DT_BFLOAT16")
        x = np.array([1, -2], ml_dtypes.bfloat16)
        y = model(x)["y:0"]
        self.assertEqual(y.dtype, ml_dtypes.bfloat16)
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(model.run({"x": np.array([1.0, -2.0])}, cast=True)["y:0"], x)
        self.assertEqual(np.asarray(tenon.ops.Identity(x)).dtype, ml_dtypes.bfloat16)


class SmallNumbersTest(ModelCase):
    """Elements that NumPy and the buffer protocol do not have."""

    def test_bits(self) -> None:
        bits = np.array([0x38, 0x7E], np.uint8)
        with mock.patch.dict(sys.modules, ml_dtypes=None):
            self.assertEqual(tenon._numpy.dtype_of("float8_e4m3fn"), np.uint8)
            self.assertEqual(tenon._numpy.dtype_of("int4"), np.int8)
        y = tenon.ops.Identity(tenon._core.Tensor.from_buffer(bits, "float8_e4m3fn"))
        self.assertEqual(y.dtype, "float8_e4m3fn")
        with self.assertRaises(BufferError):
            memoryview(y)
        with self.assertRaises(BufferError):
            y.__dlpack__()

    def test_ml_dtypes(self) -> None:
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not installed")
        for name in ("float8_e5m2", "float8_e4m3fn", "int4", "uint4"):
            x = np.array([1, 2, 7], getattr(ml_dtypes, name))
            model = self.identity("DT_" + name.upper())
            y = model(x)["y:0"]
            self.assertEqual(y.dtype, x.dtype)
            np.testing.assert_array_equal(y, x)
            out = np.zeros(3, x.dtype)
            model.run({"x": x}, out={"y:0": out})
            np.testing.assert_array_equal(out, x)
            back = tenon.ops.Cast(x, DstT="float32" if "float" in name else "int32")
            np.testing.assert_array_equal(np.asarray(back), [1, 2, 7])


class VariableTest(ModelCase):

    def counter(self) -> tenon.Model:
        """A model that adds its input to a variable."""
        t = "type: DT_FLOAT"
        return self.graph(
            node("x", "Placeholder", dtype=t, shape="shape { dim { size: 2 } }") +
            node("zero", "Const", dtype=t,
                 value="tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 0 }") +
            node("v", "VariableV2", dtype=t, shape="shape { dim { size: 2 } }") +
            node("assign", "Assign", "v", "zero", T=t) +
            node("y", "AssignAdd", "v", "x", T=t), fetches=["y:0"])

    def test_variables(self) -> None:
        model = self.counter()
        self.assertEqual(list(model.variables), ["v"])
        with self.assertRaises(KeyError):
            model.variables["w"]
        model.variables["v"] = np.array([10, 20], np.float32)
        np.testing.assert_array_equal(model(np.ones(2, np.float32))["y:0"], [11, 21])
        np.testing.assert_array_equal(model.variables["v"], [11, 21])
        with self.assertRaises(ValueError):
            model.variables["v"] = np.zeros(3, np.float32)
        with self.assertRaises(TypeError):
            model.variables["v"] = np.zeros(2)


if __name__ == "__main__":
    unittest.main()
