"""Dask's dataframes, with the recipe of docs/SCALE.md, on two worker processes."""

from __future__ import annotations

import os
import pathlib
import signal
import unittest

import fixtures
import numpy as np
from tenon.arrow import Predictor

COUNT = 1000


def predict(frame, model: str, cache: str, marker: str):
  from dask.distributed import get_worker

  worker = get_worker()
  if not hasattr(worker, "predictor"):
    worker.predictor = Predictor(model, cache_dir=cache, threads=1)
  if 500 in set(frame["id"]) and fixtures.once(pathlib.Path(marker)):
    os.kill(os.getpid(), signal.SIGKILL)
  return worker.predictor(frame)


class DaskTest(fixtures.FolderCase):

  def test_a_killed_worker_loses_and_repeats_no_row(self) -> None:
    import dask
    import dask.dataframe as dd
    from dask.distributed import Client, LocalCluster

    dask.config.set({"dataframe.convert-string": False, "distributed.worker.daemon": False})
    frame = fixtures.rows(COUNT).to_pandas()
    marker = self.folder / "killed"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster, \
        Client(cluster):
      meta = {"id": "i8", "features": object, "output_0": object}
      found = dd.from_pandas(frame, npartitions=8).map_partitions(
          predict, str(fixtures.MLP), self.cache, str(marker), meta=meta).compute()
    self.assertTrue(marker.exists())
    self.assertEqual(found["id"].tolist(), list(range(COUNT)))
    np.testing.assert_allclose(np.stack(found["output_0"]), fixtures.expected(COUNT), rtol=1e-5)


if __name__ == "__main__":
  unittest.main()
