"""Predictors without an engine: columns of every kind, bad rows, sizes of runs, weights that processes share."""

from __future__ import annotations

import io
import pathlib
import pickle
import subprocess
import sys
import unittest

import fixtures
import numpy as np
import pandas as pd
import pyarrow as pa
from fixtures import node
from tenon._arrow_columns import column_of as arrow_column
from tenon._columns import ColumnError, RowType, column_of
from tenon._spec import TensorSpec
from tenon.arrow import Image, Predictor

FLOATS = pa.float32()


def vectors(values: list, kind: pa.DataType = pa.list_(FLOATS)) -> pa.Array:
  return pa.array(values, kind)


class ColumnTest(unittest.TestCase):

  def check(self, column: object, row: RowType, wanted: object) -> np.ndarray:
    found = column_of(column, row)
    self.assertEqual(found.bad, {})
    array = found.take(None)
    np.testing.assert_array_equal(array, wanted)
    return array

  def test_lists_and_plain_values(self) -> None:
    vector = RowType("float32", (2,))
    wanted = [[1, 2], [3, 4]]
    for kind in (pa.list_(FLOATS), pa.large_list(FLOATS), pa.list_(FLOATS, 2)):
      self.check(vectors(wanted, kind), vector, wanted)
      self.check(vectors([[9, 9], *wanted, [9, 9]], kind)[1:3], vector, wanted)  # with an offset
      self.check(pa.chunked_array([vectors(wanted[:1], kind), vectors(wanted[1:], kind)]), vector, wanted)
    self.check(vectors(wanted), RowType("float32", None), wanted)
    self.check(vectors(wanted), RowType("float32", (None,)), wanted)
    self.check(pa.array([1.5, 2.5], FLOATS), RowType("float32", ()), [1.5, 2.5])
    self.check(pa.array([1.5, 2.5], FLOATS), RowType("float32", (1,)), [[1.5], [2.5]])
    self.check(pa.array([True, False]), RowType("bool", ()), [True, False])
    self.check(pa.array([1, 2]).dictionary_encode(), RowType("int64", ()), [1, 2])
    self.check(vectors([], pa.list_(FLOATS, 2)), vector, np.empty((0, 2)))
    self.check(pa.chunked_array([], pa.list_(FLOATS, 2)), vector, np.empty((0, 2)))

  def test_tensors(self) -> None:
    values = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    row = RowType("float32", (3, 2))
    self.check(pa.FixedShapeTensorArray.from_numpy_ndarray(values), row, values)
    self.check(pa.FixedShapeTensorArray.from_numpy_ndarray(values)[1:], row, values[1:])
    self.check(pa.array(values.tolist(), pa.list_(pa.list_(FLOATS))), row, values)
    self.check(pa.array(values.reshape(2, 6).tolist(), pa.list_(FLOATS)), row, values)  # flat
    self.check(pa.FixedShapeTensorArray.from_numpy_ndarray(values.reshape(2, 6)), row, values)

  def test_nothing_is_copied(self) -> None:
    values = np.arange(8, dtype=np.float32)
    plain = pa.array(values)
    for column, row in ((plain, RowType("float32", ())),
                        (pa.FixedSizeListArray.from_arrays(plain, 4), RowType("float32", (4,))),
                        (pa.FixedSizeListArray.from_arrays(plain, 4)[1:], RowType("float32", (2, 2))),
                        (pa.FixedShapeTensorArray.from_numpy_ndarray(values.reshape(2, 2, 2)), RowType("float32", (2, 2))),
                        (values.reshape(4, 2), RowType("float32", (2,)))):
      self.assertTrue(np.shares_memory(column_of(column, row).take(None), values), str(type(column)))

  def test_strings(self) -> None:
    for kind in (pa.string(), pa.large_string(), pa.binary()):
      self.check(pa.array(["a", "bc"], kind), RowType("string", ()), ["a", "bc"] if kind != pa.binary() else [b"a", b"bc"])
    self.check(pa.array([["a", "b"], ["c", ""]]), RowType("string", (2,)), [["a", "b"], ["c", ""]])
    self.assertEqual(column_of(np.array(["a", "b\0"], object), RowType("string", ())).take(None).tolist(), ["a", "b\0"])
    self.check(pd.Series(["a", "b"]), RowType("string", ()), ["a", "b"])

  def test_arrays_and_series(self) -> None:
    row = RowType("float32", (2,))
    wanted = np.array([[1, 2], [3, 4]], np.float32)
    self.check(wanted, row, wanted)
    objects = np.empty(2, object)
    objects[:] = list(wanted)
    self.check(objects, row, wanted)
    self.check(pd.Series(list(wanted)), row, wanted)
    self.check(pd.Series([1.0, 2.0]), RowType("float64", ()), [1, 2])

  def test_other_dtypes_need_cast(self) -> None:
    doubles = pa.array([[1.0, 2.0]])
    for column in (doubles, np.ones((1, 2)), pa.array([[1, 2]])):
      with self.assertRaisesRegex(ColumnError, "takes float32; cast=True converts it"):
        column_of(column, RowType("float32", (2,)))
    self.assertEqual(self.check(doubles, RowType("float32", (2,), True), [[1, 2]]).dtype, np.float32)
    for column, row in ((doubles, RowType("string", (2,))), (pa.array(["a"]), RowType("float32", ())),
                        (pa.array([{"a": 1}]), RowType("float32", ()))):
      with self.assertRaises(ColumnError):
        column_of(column, row).take(None)

  def test_shapes_that_do_not_fit_the_column(self) -> None:
    for column in (pa.array([1.0], FLOATS), vectors([[1, 2, 3]], pa.list_(FLOATS, 3)), np.ones((1, 3), np.float32),
                   pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((1, 2, 2), np.float32))):
      with self.assertRaisesRegex(ColumnError, "its (rows|tensors) have .* but the input takes"):
        column_of(column, RowType("float32", (2,)))

  def test_bad_rows_are_named(self) -> None:
    row = RowType("float32", (2,))
    ragged = [[1, 2], None, [1, 2, 3], [None, 1], [3, 4]]
    wanted = {1: "is null", 2: "has 3 values, not 2", 3: "has a value, number 0, that is null"}
    found = arrow_column(vectors(ragged), row)
    self.assertEqual(found.bad, wanted)
    np.testing.assert_array_equal(found.take(np.array([0, 4])), [[1, 2], [3, 4]])
    self.assertEqual(arrow_column(pa.chunked_array([vectors(ragged[:2]), vectors(ragged[2:])]), row).bad, wanted)
    fixed = arrow_column(vectors([[1, 2], None, [None, 1]], pa.list_(FLOATS, 2)), row)
    self.assertEqual(list(fixed.bad), [1, 2])
    np.testing.assert_array_equal(fixed.take(np.array([0])), [[1, 2]])
    self.assertEqual(arrow_column(pa.array([1.0, None], FLOATS), RowType("float32", ())).bad, {1: "is null"})
    nested = arrow_column(pa.array([[[1, 2], [3, 4]], [[1, 2], [3]]], pa.list_(pa.list_(FLOATS))), RowType("float32", (2, 2)))
    self.assertEqual(nested.bad, {1: "has a value, number 1, that has 1 values, not 2"})
    objects = np.empty(4, object)
    objects[:] = [np.ones(2, np.float32), None, np.ones(3, np.float32), np.zeros(2, np.float32)]
    found = column_of(objects, row)
    self.assertEqual(found.bad, {1: "is null", 2: "has shape [3], not [2]"})
    np.testing.assert_array_equal(found.take(np.array([0, 3])), [[1, 1], [0, 0]])


class PredictorTest(fixtures.FolderCase):

  def predictor(self, model: object = fixtures.MLP, **options: object) -> Predictor:
    return Predictor(model, cache_dir=self.cache, **options)

  def test_batches_of_every_kind(self) -> None:
    predict = self.predictor(outputs={"output_0": "score"})
    table, wanted = fixtures.rows(5), fixtures.expected(5)
    result = predict(table)
    self.assertEqual(result.column_names, ["id", "features", "score"])
    self.assertEqual(result["score"].type, pa.list_(FLOATS, 1))
    np.testing.assert_allclose(result["score"].to_pylist(), wanted, rtol=1e-6)
    batch = predict(table.to_batches()[0])
    self.assertIsInstance(batch, pa.RecordBatch)
    self.assertEqual(batch.column("score"), result["score"].chunk(0))
    arrays = {"id": np.arange(5), "features": np.array(table["features"].to_pylist(), np.float32)}
    np.testing.assert_allclose(predict(arrays)["score"], wanted, rtol=1e-6)
    frame = predict(pd.DataFrame({"id": range(5), "features": list(arrays["features"])}))
    self.assertEqual(list(frame.columns), ["id", "features", "score"])
    np.testing.assert_allclose(np.stack(frame["score"]), wanted, rtol=1e-6)
    self.assertEqual(predict(table.slice(0, 0))["score"].type, pa.list_(FLOATS, 1))
    with self.assertRaisesRegex(TypeError, "not a 'list'"):
      predict([1])

  def test_names(self) -> None:
    table = fixtures.rows(2).rename_columns(["id", "x"])
    result = self.predictor(columns={"x": "features"}, keep=["id"])(table)
    self.assertEqual(result.column_names, ["id", "output_0"])
    for options, message in ((dict(columns={"x": "none"}), "no input 'none'; it has features"),
                             (dict(columns={}), "no column is given for input 'features'"),
                             (dict(outputs={"none": "y"}), "no output 'none'"),
                             (dict(on_error="skip"), "raise, null, drop, not 'skip'"),
                             (dict(constants={"features": 1}, columns={"x": "features"}), "given twice"),
                             (dict(images={"x": Image()}), "'x', which is no input")):
      with self.assertRaisesRegex(ValueError, message):
        self.predictor(**options)
    with self.assertRaisesRegex(ValueError, "no column 'features'; there are id, x"):
      self.predictor()(table)
    with self.assertRaisesRegex(ValueError, "both named 'id'"):
      self.predictor(columns={"x": "features"}, outputs={"output_0": "id"})(table)
    with self.assertRaises(FileNotFoundError):
      self.predictor(self.folder / "none")

  def poisoned(self) -> pa.Table:
    rows = fixtures.rows(8).to_pylist()
    rows[3]["features"] = None
    rows[5]["features"] = [1.0]
    return pa.Table.from_pylist(rows, pa.schema([("id", pa.int64()), ("features", pa.list_(FLOATS))]))

  def test_policies(self) -> None:
    table, wanted = self.poisoned(), fixtures.expected(8)
    with self.assertRaisesRegex(ValueError, r"^column 'features', row 3 of the batch \(id 3\): is null$"):
      self.predictor(row_id="id")(table)
    dropped = self.predictor(on_error="drop")(table)
    good = [0, 1, 2, 4, 6, 7]
    self.assertEqual(dropped["id"].to_pylist(), good)
    np.testing.assert_allclose(dropped["output_0"].to_pylist(), wanted[good], rtol=1e-6)
    nulls = self.predictor(on_error="null")(table)
    self.assertEqual(nulls["id"].to_pylist(), list(range(8)))
    self.assertEqual([i for i, y in enumerate(nulls["output_0"].to_pylist()) if y is None], [3, 5])
    np.testing.assert_allclose(nulls["output_0"].drop_null().to_pylist(), wanted[good], rtol=1e-6)
    frame = self.predictor(on_error="null")(table.to_pandas())
    self.assertEqual([i for i, y in enumerate(frame["output_0"]) if y is None], [3, 5])
    arrays = {"id": np.arange(8), "features": table.to_pandas()["features"].to_numpy()}
    self.assertEqual(self.predictor(on_error="drop")(arrays)["id"].tolist(), good)
    with self.assertRaisesRegex(ValueError, "NumPy arrays have no nulls"):
      self.predictor(on_error="null")(arrays)

  def test_rows_that_make_a_run_fail(self) -> None:
    model = fixtures.checking_model(self.folder / "checking.pbtxt")
    values = np.ones((100, 2), np.float32)
    values[[17, 60]] = np.inf
    batch = {"id": np.arange(100), "x": values}
    with self.assertRaisesRegex(ValueError, r"row 17 of the batch \(id 17\): .*poison"):
      self.predictor(model, row_id="id")(batch)
    left = self.predictor(model, on_error="drop")(batch)
    self.assertEqual(left["id"].tolist(), [i for i in range(100) if i not in (17, 60)])
    self.assertTrue((left["y:0"] == 1).all())
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 2)})
    nulls = self.predictor(model, on_error="null", keep=[])(table)["y:0"]
    self.assertEqual(np.flatnonzero(nulls.is_null().to_numpy()).tolist(), [17, 60])
    everything = self.predictor(model, on_error="drop")({"x": np.full((3, 2), np.inf, np.float32)})
    self.assertEqual(everything["y:0"].shape, (0, 2))

  def test_few_plans_for_many_sizes(self) -> None:
    predict = self.predictor()
    for rows in (64, *range(1, 65), 100, 250, 3):
      result = predict(fixtures.rows(rows))["output_0"].to_pylist()
      np.testing.assert_allclose(result, fixtures.expected(rows), rtol=1e-6)
    self.assertLessEqual(predict.rows.plans, 12)

  def test_images(self) -> None:
    from PIL import Image as Encoder
    pixels = np.random.default_rng(1).integers(0, 255, (8, 8, 1), np.uint8)
    files = []
    for form in ("png", "bmp"):
      out = io.BytesIO()
      Encoder.fromarray(pixels[:, :, 0]).convert("RGB" if form == "bmp" else "L").save(out, form)
      files.append(out.getvalue())
    x = node("x", "Placeholder", dtype="type: DT_FLOAT",
             shape="shape { dim { size: -1 } dim { size: 8 } dim { size: 8 } dim { size: 1 } }")
    model = self.folder / "image.pbtxt"
    model.write_text(x + node("y", "Identity", "x", T="type: DT_FLOAT"))
    table = pa.table({"file": pa.array([files[0], b"no image", None])})
    for scale, offset in ((1.0, 0.0), (1 / 127.5, -1.0)):
      predict = self.predictor(model, columns={"file": "x"}, images={"file": Image(scale=scale, offset=offset)},
                               on_error="null", keep=[])
      result = predict(table)["y:0"]
      self.assertEqual(result.is_null().to_pylist(), [False, True, True])
      np.testing.assert_allclose(np.array(result[0].as_py(), np.float32).reshape(8, 8, 1),
                                 pixels * np.float32(scale) + np.float32(offset), atol=1e-6)
    with self.assertRaisesRegex(ValueError, "column 'file', row 1 of the batch: is not an image: "):
      self.predictor(model, columns={"file": "x"}, images={"file": Image()})(table)
    resized = Image((4, 4), channels=3).decode(files[1], "uint8", None)
    self.assertEqual((resized.shape, resized.dtype), ((4, 4, 3), np.uint8))

  def test_models_of_a_fixed_batch_and_scalars(self) -> None:
    model = self.folder / "fixed.pbtxt"
    model.write_text(
        node("x", "Placeholder", dtype="type: DT_FLOAT", shape="shape { dim { size: 4 } dim { size: 2 } }") +
        node("s", "Placeholder", dtype="type: DT_FLOAT", shape="shape { }") +
        node("y", "Mul", "x", "s", T="type: DT_FLOAT"))
    predict = self.predictor(model, constants={"s": np.float32(2)})
    np.testing.assert_array_equal(predict({"x": np.ones((6, 2), np.float32)})["y:0"], np.full((6, 2), 2))
    with self.assertRaisesRegex(ValueError, "no column 's'; there are x"):
      self.predictor(model)({"x": np.ones((6, 2), np.float32)})
    with self.assertRaisesRegex(ColumnError, "'s' is a scalar, not one value a row"):
      RowType.of(TensorSpec("s", "float32", ()), False)

  def test_shapes_of_rows_that_the_model_leaves_open(self) -> None:
    model = self.folder / "open.pbtxt"
    dims = " ".join(f"dim {{ size: {d} }}" for d in (-1, -1, 2))
    model.write_text(node("x", "Placeholder", dtype="type: DT_FLOAT", shape=f"shape {{ {dims} }}") +
                     node("y", "Neg", "x", T="type: DT_FLOAT"))
    values = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    flat = pa.table({"x": pa.array(values.reshape(2, 6).tolist(), pa.list_(FLOATS))})
    with self.assertRaisesRegex(ValueError, r"rows have rank 1, but the input takes rows of shape \[\?, 2\]"):
      self.predictor(model)(flat)
    result = self.predictor(model, shapes={"x": (3, 2)}, keep=[])(flat)["y:0"].combine_chunks()
    np.testing.assert_array_equal(result.to_numpy_ndarray(), -values)
    for shapes, message in (({"x": (3, 3)}, r"shapes gives \[3, 3\] for rows of input 'x'"), ({"x": (3,)}, "for rows of input 'x'"),
                            ({"x": (-1, 2)}, "for rows of input 'x'"), ({"z": (3,)}, "'z', which no column feeds.*: x")):
      with self.assertRaisesRegex(ValueError, message):
        self.predictor(model, shapes=shapes)

  def test_it_is_not_imported_with_tenon(self) -> None:
    subprocess.run([sys.executable, "-c", "import sys, tenon; assert not {'pyarrow', 'ray', 'pyspark'} & set(sys.modules);"
                    "import tenon.ray, tenon.spark; assert not {'pyarrow', 'ray', 'pyspark'} & set(sys.modules)"], check=True)


SHARER = """
import sys, numpy as np, pyarrow, fixtures
from tenon.arrow import Predictor
x = np.ones((8, int(sys.argv[2])), np.float32)
np.dot(x, x.T)
before = fixtures.pss()
predict = Predictor(sys.argv[1], cache_dir=sys.argv[3], threads=1)
if len(sys.argv) > 4: sys.stdin.readline()
assert (predict({"x": x})["y:0"] > 0).all()
print(before, predict.rows.memory.plans, flush=True)
sys.stdin.readline()
"""


class SharingTest(fixtures.FolderCase):
  """Processes that start together race for nothing, and hold the weights once."""

  def test_memory_of_processes(self) -> None:
    count, size = (8, 6000) if fixtures.ALL else (4, 3000)
    weights = size * size * 4
    model = fixtures.weights_model(self.folder / "weights.pbtxt", size)
    running = [subprocess.Popen([sys.executable, "-c", SHARER, str(model), str(size), self.cache],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for process in running:
      self.addCleanup(process.wait)
      self.addCleanup(process.kill)
    before, plans = zip(*(map(int, process.stdout.readline().split()) for process in running))
    # `before` was measured while others had not come so far: libraries were shared by fewer.
    used = sum(fixtures.pss(process.pid) for process in running)
    for process in running:
      process.stdin.close()
    bare = self.bare(count, size)
    grown = used - bare
    print(f"{count} processes: {grown / 1e6:.0f} MB for weights of {weights / 1e6:.0f} MB and arenas of "
          f"{sum(plans) / 1e6:.1f} MB", file=sys.stderr)
    self.assertLess(grown, 1.15 * weights + sum(plans))
    self.assertEqual(len([f for f in pathlib.Path(self.cache).iterdir() if f.suffix != ".lock"]), 1)

  def bare(self, count: int, size: int) -> int:
    """Memory of as many processes with a small model."""
    model = fixtures.weights_model(self.folder / "small.pbtxt", 8)
    running = [subprocess.Popen([sys.executable, "-c", SHARER, str(model), "8", self.cache + "-small"],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    for process in running:
      process.stdout.readline()
    used = sum(fixtures.pss(process.pid) for process in running)
    for process in running:
      process.communicate("\n")
    return used


class PickleTest(unittest.TestCase):

  def test_the_class_goes_by_reference(self) -> None:
    self.assertIs(pickle.loads(pickle.dumps(Predictor)), Predictor)


if __name__ == "__main__":
  unittest.main()
