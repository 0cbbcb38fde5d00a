"""Ragged tensors as inputs and outputs."""

from __future__ import annotations

import unittest

import numpy as np
import support
import tenon


class RaggedTest(unittest.TestCase):

    def test_rows_become_values_and_splits(self) -> None:
        feed = tenon.ragged("x", [[1.5], [2, 3]])
        self.assertEqual(feed["x"].dtype, np.float32)
        np.testing.assert_array_equal(feed["x_1"], [0, 1, 3])
        words = tenon.ragged("w", [["a", "b"], []])
        self.assertEqual(words["w"].tolist(), ["a", "b"])
        arrays = tenon.ragged("x", [np.zeros(2, np.int64), np.ones(1, np.int64)])
        self.assertEqual((arrays["x"].dtype, arrays["x"].tolist()), (np.int64, [0, 0, 1]))
        self.assertEqual(tenon.ragged("x", [[1]], np.float16)["x"].dtype, np.float16)

    def test_rows_of_rows(self) -> None:
        feed = tenon.ragged("x", [[[1, 2], []], [], [[3]]])
        self.assertEqual([feed[k].tolist() for k in ("x", "x_1", "x_2")],
                         [[1, 2, 3], [0, 2, 2, 3], [0, 2, 2, 3]])
        back = tenon.rows({"y/values": feed["x"], "y/row_splits_0": feed["x_1"], "y/row_splits_1": feed["x_2"]})
        self.assertEqual([[row.tolist() for row in rows] for rows in back], [[[1, 2], []], [], [[3]]])

    def test_nothing(self) -> None:
        self.assertEqual([v.tolist() for v in tenon.ragged("x", []).values()], [[], [0]])
        self.assertEqual([v.tolist() for v in tenon.ragged("x", [[], []]).values()], [[], [0, 0, 0]])

    def test_errors(self) -> None:
        with self.assertRaisesRegex(TypeError, "rows must be lists"):
            tenon.ragged("x", [1, 2])
        with self.assertRaisesRegex(ValueError, "different depths"):
            tenon.ragged("x", [[1, [2]]])
        with self.assertRaises(KeyError):
            tenon.rows({"y": np.zeros(1)})
        with self.assertRaises(KeyError):
            tenon.rows({"y/values": np.zeros(1), "y/row_splits": np.zeros(1)}, "z")

    def test_a_model(self) -> None:
        folder = support.ROOT / "tests" / "models" / "loader" / "composites"
        model = tenon.load(folder / "saved_model")
        inputs = dict(np.load(folder / "inputs.npz"))
        inputs.update(tenon.ragged("rows", [[1.0, -2.0, 3.5], [], [4.0]]))
        result, expected = model(inputs), np.load(folder / "outputs.npz")
        self.assertEqual(sorted(result), sorted(expected.files))
        for name in expected.files:
            np.testing.assert_array_equal(result[name], expected[name], name)
        self.assertEqual([[row.tolist() for row in rows] for rows in tenon.rows(result, "nested")],
                         [[[1, -2, 3.5]], [], [[], [4]]])


if __name__ == "__main__":
    unittest.main()
