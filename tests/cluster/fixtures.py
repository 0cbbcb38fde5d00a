"""What the tests of tests/cluster share: models, rows and their sums, memory of processes."""

from __future__ import annotations

import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import numpy as np
import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from support import node  # noqa: E402,F401  the path is set above; tests use it too

MLP = ROOT / "tests" / "models" / "mlp" / "saved_model"
ALL = os.environ.get("TENON_CLUSTER_TESTS") == "all"  # the long ones too
STORE_BYTES = 200_000_000  # of a Ray node


class FolderCase(unittest.TestCase):
  """Tests with a folder of their own, in which every process keeps its cache."""

  folder: pathlib.Path

  @classmethod
  def setUpClass(cls) -> None:
    super().setUpClass()
    cls.folder = pathlib.Path(tempfile.mkdtemp())
    cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)

  @property
  def cache(self) -> str:
    return str(self.folder / "cache")


def rows(count: int, first: int = 0) -> pa.Table:
  """Rows (id, features) for the model MLP, which differ."""
  ids = np.arange(first, first + count)
  features = np.sin(ids[:, None] * 0.7 + np.arange(16)).astype(np.float32)
  return pa.table({"id": ids, "features": pa.FixedSizeListArray.from_arrays(pa.array(features.reshape(-1)), 16)})


def expected(count: int) -> np.ndarray:
  """The model's results for these rows, [count, 1]."""
  import tenon
  features = np.sin(np.arange(count)[:, None] * 0.7 + np.arange(16)).astype(np.float32)
  return tenon.load(MLP)(features)["output_0"]


def weights_model(path: pathlib.Path, size: int) -> pathlib.Path:
  """A GraphDef of one product with size * size weights: x [?, size] -> y [?, size]."""
  const = (f"dtype: DT_FLOAT tensor {{ dtype: DT_FLOAT tensor_shape {{ dim {{ size: {size} }} dim {{ size: {size} }} }} "
           "float_val: 0.001 }")
  path.write_text(
      node("x", "Placeholder", dtype="type: DT_FLOAT", shape=f"shape {{ dim {{ size: -1 }} dim {{ size: {size} }} }}") +
      f'node {{ name: "w" op: "Const" attr {{ key: "dtype" value {{ type: DT_FLOAT }} }} attr {{ key: "value" value {{ tensor {{ '
      + const.partition("tensor { ")[2] + " } } }\n" +
      node("y", "MatMul", "x", "w", T="type: DT_FLOAT", transpose_a="b: false", transpose_b="b: false"))
  return path


def checking_model(path: pathlib.Path) -> pathlib.Path:
  """x [?, 2] -> y [?, 2], which fails for a run with an infinite value."""
  path.write_text(
      node("x", "Placeholder", dtype="type: DT_FLOAT", shape="shape { dim { size: -1 } dim { size: 2 } }") +
      node("y", "CheckNumerics", "x", T="type: DT_FLOAT", message='s: "poison"'))
  return path


def pss(pid: int | str = "self", kind: str = "Pss") -> int:
  """Proportional memory of a process, in bytes: shared pages count in parts. "Pss_Shmem": that of shared memory alone."""
  for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
    if line.startswith(f"{kind}:"):
      return int(line.split()[1]) * 1024
  raise AssertionError(f"no {kind}")


def once(path: pathlib.Path) -> bool:
  """True for the first process that asks."""
  try:
    path.open("x").close()
  except FileExistsError:
    return False
  return True
