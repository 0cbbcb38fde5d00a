"""Arrays of other libraries as inputs and outputs, where those are installed."""

from __future__ import annotations

import importlib
import unittest
from typing import Any

import numpy as np
import support
import tenon


def library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


class LibraryCase(support.ModelCase):

    def check(self, value: Any, dtype: str = "DT_FLOAT") -> np.ndarray[Any, Any]:
        """What a model that returns its input makes of `value`."""
        return self.identity(dtype)(value)["y:0"]


class TorchTest(LibraryCase):

    def test_inputs(self) -> None:
        torch = library("torch")
        x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        np.testing.assert_array_equal(self.check(x), x.numpy())
        np.testing.assert_array_equal(self.check(torch.tensor([True, False]), "DT_BOOL"), [True, False])
        np.testing.assert_array_equal(self.check(torch.tensor(7), "DT_INT64"), 7)
        self.assertEqual(self.check(torch.zeros(0, 3)).shape, (0, 3))
        y = self.check(torch.tensor([1.0, -2.0], dtype=torch.bfloat16), "DT_BFLOAT16")
        np.testing.assert_array_equal(y.view(np.uint16), [0x3F80, 0xC000])
        np.testing.assert_array_equal(self.check(torch.tensor([1.0, 2.0], dtype=torch.float16), "DT_HALF"), [1, 2])

    def test_a_tensor_with_a_gradient_is_only_read(self) -> None:
        torch = library("torch")
        np.testing.assert_array_equal(self.check(torch.ones(2, requires_grad=True)), [1, 1])

    def test_nothing_is_copied(self) -> None:
        torch = library("torch")
        x = torch.zeros(4)
        tensor = tenon.Tensor.from_dlpack(x)
        x[0] = 5
        self.assertEqual(tensor.numpy()[0], 5)

    def test_outputs(self) -> None:
        torch = library("torch")
        y = torch.from_dlpack(tenon.ops.Add([1.0, 2.0], [3.0, 4.0]))
        self.assertEqual(y.tolist(), [4, 6])
        self.assertEqual(torch.from_numpy(self.check(torch.ones(2))).tolist(), [1, 1])

    def test_errors_say_what_came(self) -> None:
        torch = library("torch")
        with self.assertRaisesRegex(TypeError, "float32, but .*torch.float64 and shape \\(2,\\)"):
            self.check(torch.zeros(2, dtype=torch.float64))
        with self.assertRaisesRegex((TypeError, ValueError), "C-contiguous|stride"):
            self.check(torch.zeros(2, 3).t())
        model = self.identity("DT_FLOAT", cast=True)
        np.testing.assert_array_equal(model(torch.arange(6).reshape(2, 3).t())["y:0"], [[0, 3], [1, 4], [2, 5]])


class JaxTest(LibraryCase):

    def test_inputs_and_outputs(self) -> None:
        jax = library("jax")
        x = jax.numpy.arange(6, dtype=jax.numpy.float32).reshape(2, 3)
        np.testing.assert_array_equal(self.check(x), np.asarray(x))
        np.testing.assert_array_equal(self.check(jax.numpy.int32(3), "DT_INT32"), 3)
        y = self.check(jax.numpy.asarray([1, -2], jax.numpy.bfloat16), "DT_BFLOAT16")
        np.testing.assert_array_equal(y.view(np.uint16), [0x3F80, 0xC000])
        back = jax.dlpack.from_dlpack(tenon.ops.Add([1.0, 2.0], [3.0, 4.0]))
        np.testing.assert_array_equal(np.asarray(back), [4, 6])
        with self.assertRaisesRegex(TypeError, "float32, but .*int32"):
            self.check(jax.numpy.arange(3))


class ArrowTest(LibraryCase):

    def test_inputs(self) -> None:
        pa = library("pyarrow")
        np.testing.assert_array_equal(self.check(pa.array([1.0, 2.0], pa.float32())), [1, 2])
        sliced = pa.array([0.0, 1.0, 2.0], pa.float32())[1:]
        np.testing.assert_array_equal(self.check(sliced), [1, 2])
        np.testing.assert_array_equal(self.check(pa.array([1, 2], pa.int64()), "DT_INT64"), [1, 2])
        self.assertEqual(self.check(pa.array(["a", "bc"]), "DT_STRING").tolist(), [b"a", b"bc"])
        tensor = pa.Tensor.from_numpy(np.ones((2, 3), np.float32))
        np.testing.assert_array_equal(self.check(tensor), np.ones((2, 3)))
        chunked = pa.chunked_array([[1.0], [2.0, 3.0]], pa.float32())
        np.testing.assert_array_equal(self.check(chunked), [1, 2, 3])
        with self.assertRaisesRegex((TypeError, ValueError), "float32|null|None"):
            self.check(pa.array([1.0, None], pa.float64()))

    def test_polars(self) -> None:
        pl = library("polars")
        np.testing.assert_array_equal(self.check(pl.Series([1.0, 2.0], dtype=pl.Float32)), [1, 2])


if __name__ == "__main__":
    unittest.main()
