"""Spark on a local cluster: two workers, an executor each."""

from __future__ import annotations

import os
import pathlib
import signal
import sys
import unittest

import fixtures
import numpy as np
import pandas as pd
import pyspark
import tenon.spark
from pyspark.ml.functions import predict_batch_udf
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, FloatType

COUNT = 2000


def kill_once(marker: str, executor: bool):
  """A pandas function that kills its worker process, or its executor, once."""

  def fatal(ids: pd.Series) -> pd.Series:
    if (ids == 500).any() and fixtures.once(pathlib.Path(marker)):
      victim = os.getpid()
      while executor and b"CoarseGrainedExecutorBackend" not in pathlib.Path(f"/proc/{victim}/cmdline").read_bytes():
        victim = int(pathlib.Path(f"/proc/{victim}/stat").read_text().rpartition(")")[2].split()[1])
      os.kill(victim, signal.SIGKILL)
    return ids

  return F.pandas_udf(fatal, "long")


class SparkTest(fixtures.FolderCase):

  @classmethod
  def setUpClass(cls) -> None:
    super().setUpClass()
    os.environ["SPARK_HOME"] = str(pathlib.Path(pyspark.__file__).parent)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    cls.spark = (
        SparkSession.builder.master("local-cluster[2,1,600]").appName("tenon")
        .config("spark.executor.memory", "512m").config("spark.driver.memory", "512m")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").config("spark.sql.shuffle.partitions", "2")
        .config("spark.local.dir", str(cls.folder / "spark")).config("spark.task.maxFailures", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "150")
        .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"]).getOrCreate())
    cls.addClassCleanup(cls.spark.stop)
    cls.spark.sparkContext.setLogLevel("OFF")
    path = str(cls.folder / "rows.parquet")
    import pyarrow.parquet as pq
    pq.write_table(fixtures.rows(COUNT), path)
    cls.frame = cls.spark.read.parquet(path).repartition(6)

  def udf(self, **options: object):
    return tenon.spark.predict_udf(str(fixtures.MLP), cache_dir=self.cache, **options)

  def check_all_rows(self, found: list) -> None:
    found = sorted(found, key=lambda row: row.id)
    self.assertEqual([row.id for row in found], list(range(COUNT)))
    np.testing.assert_allclose([row.y for row in found], fixtures.expected(COUNT), rtol=1e-5)

  def test_all_rows(self) -> None:
    found = self.frame.select("id", self.udf()("features").alias("y"))
    self.assertEqual(found.schema["y"].dataType.simpleString(), "array<float>")
    self.check_all_rows(found.collect())

  def test_predict_batch_udf(self) -> None:
    score = predict_batch_udf(tenon.spark.predict_batch_fn(str(fixtures.MLP), cache_dir=self.cache),
                              return_type=ArrayType(FloatType()), batch_size=64, input_tensor_shapes=[[16]])
    self.check_all_rows(self.frame.select("id", score("features").alias("y")).collect())

  def test_predict_udf_through_predict_batch_udf(self) -> None:
    found = self.frame.select("id", self.udf(through="predict_batch_udf")("features").alias("y"))
    self.assertEqual(found.schema["y"].dataType.simpleString(), "array<float>")
    self.check_all_rows(found.collect())
    null = self.frame.limit(3).select(F.lit(None).cast("array<float>").alias("features"))
    with self.assertRaisesRegex(Exception, "null|None|shape|dimension|input"):
      null.select(self.udf(through="predict_batch_udf")("features")).collect()

  def test_a_killed_worker_loses_and_repeats_no_row(self) -> None:
    for executor in (False, True):
      marker = self.folder / f"killed-{executor}"
      found = self.frame.select(kill_once(str(marker), executor)("id").alias("id"), self.udf()("features").alias("y"))
      rows = found.collect()
      self.assertTrue(marker.exists())
      self.check_all_rows(rows)

  def test_poisoned_rows(self) -> None:
    poisoned = self.frame.withColumn("features", F.expr("if(id = 77, null, if(id = 78, array(1.0f), features))"))
    found = poisoned.select("id", self.udf(on_error="null")("features").alias("y")).collect()
    self.assertEqual(len(found), COUNT)
    self.assertEqual(sorted(row.id for row in found if row.y is None), [77, 78])
    with self.assertRaisesRegex(Exception, r"column 'features', row \d+ of partition \d+: (is null|has 1 values, not 16)"):
      poisoned.select(self.udf()("features")).collect()

  def test_options(self) -> None:
    with self.assertRaisesRegex(ValueError, '"raise" or "null", not'):
      self.udf(on_error="drop")
    with self.assertRaisesRegex(ValueError, "no output 'none'"):
      self.udf(outputs=["none"])
    with self.assertRaisesRegex(ValueError, "need arrow_udf"):
      self.udf(through="predict_batch_udf", on_error="null")
    with self.assertRaisesRegex(ValueError, 'must be "arrow_udf" or'):
      self.udf(through="pandas_udf")
    with self.assertRaises(FileNotFoundError):
      tenon.spark.predict_udf("none")

  def test_inputs_and_outputs_of_several_columns(self) -> None:
    from fixtures import node
    x = dict(dtype="type: DT_FLOAT", shape="shape { dim { size: -1 } }")
    model = self.folder / "two.pbtxt"
    model.write_text(node("a", "Placeholder", **x) + node("b", "Placeholder", **x) +
                     node("sum", "Add", "a", "b", T="type: DT_FLOAT") + node("product", "Mul", "a", "b", T="type: DT_FLOAT"))
    for through in ("arrow_udf", "predict_batch_udf"):
      both = tenon.spark.predict_udf(str(model), inputs=["b", "a"], outputs=["sum:0", "product:0"], cast=True, through=through,
                                     return_type="struct<total: float, product: float>", cache_dir=self.cache)
      row = self.spark.range(1, 2).select(both(F.lit(2.0), F.col("id") + 2).alias("r")).collect()[0].r
      self.assertEqual((row["total"], row["product"]), (5.0, 6.0))

  def test_rows_of_several_dimensions(self) -> None:
    digits = fixtures.ROOT / "tests" / "models" / "digits"
    with np.load(digits / "inputs.npz") as arrays, np.load(digits / "outputs.npz") as results:
      images, (expected,) = arrays["image"][:20], [results[name][:20] for name in results.files]
    frame = self.spark.createDataFrame([(i, image.ravel().tolist()) for i, image in enumerate(images)],
                                       "id int, pixels array<float>")
    for through in ("arrow_udf", "predict_batch_udf"):
      logits = tenon.spark.predict_udf(str(digits / "saved_model"), through=through, cache_dir=self.cache)
      found = sorted(frame.select("id", logits("pixels").alias("y")).collect(), key=lambda row: row.id)
      np.testing.assert_allclose([row.y for row in found], expected, rtol=1e-4, atol=1e-4)

  def test_rows_whose_shape_the_model_leaves_open(self) -> None:
    from fixtures import node
    model = self.folder / "open.pbtxt"
    dims = " ".join(f"dim {{ size: {d} }}" for d in (-1, -1, 2))
    model.write_text(node("x", "Placeholder", dtype="type: DT_FLOAT", shape=f"shape {{ {dims} }}") +
                     node("y", "Sum", "x", "axis", T="type: DT_FLOAT", Tidx="type: DT_INT32") +
                     node("axis", "Const", dtype="type: DT_INT32", value="tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }"))
    frame = self.spark.createDataFrame([([1.0, 2.0, 3.0, 4.0, 5.0, 6.0],)], "x array<float>")
    for through in ("arrow_udf", "predict_batch_udf"):
      sums = tenon.spark.predict_udf(str(model), inputs=["x"], outputs=["y:0"], shapes={"x": (3, 2)}, through=through,
                                     return_type="array<float>", cache_dir=self.cache)
      self.assertEqual(frame.select(sums("x").alias("y")).collect()[0].y, [9.0, 12.0])

  @unittest.skipUnless(fixtures.ALL, "takes minutes")
  def test_memory_is_flat_over_a_million_small_rows(self) -> None:
    features = F.array(*[F.sin(F.col("id") * 0.7 + i).cast("float") for i in range(16)])
    used = F.pandas_udf(lambda ids: pd.Series([fixtures.pss()] * len(ids)), "long")
    frame = self.spark.range(0, 1_000_000, 1, 1).select("id", self.udf()(features).alias("y"), used("id").alias("used"))
    found = frame.groupBy(F.floor(F.col("id") / 100_000).alias("part")).agg(
        F.count("id").alias("n"), F.sum("id").alias("ids"), F.median("used").alias("used")).orderBy("part").collect()
    self.assertEqual((sum(row.n for row in found), sum(row.ids for row in found)), (1_000_000, 499_999_500_000))
    print(f"memory by 100,000 rows: {[round(row.used / 1e6) for row in found]} MB", file=sys.stderr)
    self.assertLess(found[-1].used, found[1].used * 1.05)


if __name__ == "__main__":
  unittest.main()
