"""Ray Data on two nodes of this machine."""

from __future__ import annotations

import logging
import os
import pathlib
import signal
import sys
import time
import unittest

import fixtures
import numpy as np
import pyarrow as pa
import ray
import tenon.ray
from ray.cluster_utils import Cluster
from ray.data import ActorPoolStrategy
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

COUNT = 2000


class Fragile(tenon.ray.Predictor):
  """Kills its own process at the third batch, once."""

  def __init__(self, marker: str, **options: object) -> None:
    super().__init__(**options)
    self._marker = pathlib.Path(marker)
    self._batches = 0

  def __call__(self, batch: pa.Table) -> pa.Table:
    self._batches += 1
    if self._batches == 3 and fixtures.once(self._marker):
      os.kill(os.getpid(), signal.SIGKILL)
    return super().__call__(batch)


class Described(tenon.ray.Predictor):
  """Adds the node, process and threads that a row was computed with."""

  def __call__(self, batch: pa.Table) -> pa.Table:
    result = super().__call__(batch)
    node = ray.get_runtime_context().get_node_id()
    time.sleep(0.05)  # so that every actor gets some
    store = fixtures.pss(kind="Pss_Shmem")
    for name, value in (("node", node), ("pid", os.getpid()), ("threads", self.rows.threads), ("own", fixtures.pss() - store),
                        ("store", store), ("plans", self.rows.plans), ("at", time.time())):
      result = result.append_column(name, pa.array([value] * len(result)))
    return result


class RayTest(fixtures.FolderCase):

  @classmethod
  def setUpClass(cls) -> None:
    super().setUpClass()
    store = {"object_store_memory": fixtures.STORE_BYTES, "include_dashboard": False}
    cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 3, **store})
    cls.addClassCleanup(cls.cluster.shutdown)
    cls.cluster.add_node(num_cpus=3, object_store_memory=fixtures.STORE_BYTES)
    ray.init(address=cls.cluster.address, log_to_driver=False, logging_level="ERROR")
    cls.addClassCleanup(ray.shutdown)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False

  def predict(self, predictor: type = tenon.ray.Predictor, table: pa.Table | None = None, blocks: int = 16,
              batch_size: int = 64, size: int = 2, cpus: float = 1, **options: object) -> pa.Table:
    data = ray.data.from_arrow(fixtures.rows(COUNT) if table is None else table).repartition(blocks)
    found = data.map_batches(
        predictor, fn_constructor_kwargs={"model": str(fixtures.MLP), "cache_dir": self.cache, **options},
        batch_size=batch_size, batch_format="pyarrow", num_cpus=cpus, compute=ActorPoolStrategy(size=size))
    return pa.concat_tables(ray.get(found.to_arrow_refs()), promote_options="permissive")

  def check_all_rows(self, found: pa.Table) -> None:
    order = np.argsort(found["id"].to_numpy())
    self.assertEqual(found["id"].to_numpy()[order].tolist(), list(range(COUNT)))
    results = np.array(found["output_0"].to_pylist())[order]
    np.testing.assert_allclose(results, fixtures.expected(COUNT), rtol=1e-5)

  def test_both_nodes_compute_all_rows_with_their_threads(self) -> None:
    found = self.predict(Described, cpus=2)  # an actor for each node
    self.check_all_rows(found)
    self.assertEqual(len(set(found["node"].to_pylist())), 2)
    self.assertEqual(set(found["threads"].to_pylist()), {2})
    self.assertLessEqual(max(found["plans"].to_pylist()), 8)

  def test_a_killed_actor_loses_and_repeats_no_row(self) -> None:
    marker = self.folder / "killed"
    found = self.predict(Fragile, marker=str(marker))
    self.assertTrue(marker.exists())
    self.check_all_rows(found)

  def test_poisoned_rows(self) -> None:
    rows = fixtures.rows(200).to_pylist()
    rows[77]["features"] = [1.0, 2.0]
    table = pa.Table.from_pylist(rows, pa.schema([("id", pa.int64()), ("features", pa.list_(pa.float32()))]))
    with self.assertRaises(Exception) as caught:
      self.predict(table=table, blocks=4, size=1, row_id="id")
    self.assertRegex(str(caught.exception), r"column 'features', row \d+ of the batch \(id 77\): has 2 values, not 16")
    left = self.predict(table=table, blocks=4, size=1, on_error="drop")
    self.assertEqual(sorted(left["id"].to_pylist()), [i for i in range(200) if i != 77])
    nulls = self.predict(table=table, blocks=4, size=1, on_error="null")
    self.assertEqual([row["id"] for row in nulls.to_pylist() if row["output_0"] is None], [77])

  def test_arrays_of_ray(self) -> None:
    for form in ("numpy", "pyarrow"):
      data = ray.data.from_numpy(np.ones((100, 16), np.float32)).map_batches(
          tenon.ray.Predictor, fn_constructor_kwargs=dict(model=str(fixtures.MLP), columns={"data": "features"},
                                                          cache_dir=self.cache),
          batch_size=30, batch_format=form, num_cpus=1, compute=ActorPoolStrategy(size=1))
      self.assertEqual(np.stack([row["output_0"] for row in data.take_all()]).shape, (100, 1))

  def test_threads_inside_a_placement_group(self) -> None:
    group = placement_group([{"CPU": 2}])
    ray.get(group.ready(), timeout=30)

    @ray.remote
    class Asked:

      def cpus(self) -> float | None:
        return tenon.ray.assigned_cpus()

    strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=0)
    for cpus in (1, 2):
      actor = Asked.options(num_cpus=cpus, scheduling_strategy=strategy).remote()
      self.assertEqual(ray.get(actor.cpus.remote(), timeout=60), cpus)
      ray.kill(actor)
    remove_placement_group(group)
    self.assertIsNone(tenon.ray.assigned_cpus())  # not in an actor

  @unittest.skipUnless(fixtures.ALL, "takes minutes")
  def test_memory_is_flat_over_a_million_small_rows(self) -> None:
    count = 1_000_000

    def rows(batch: dict[str, np.ndarray]) -> pa.Table:
      return fixtures.rows(len(batch["id"]), int(batch["id"][0]))

    # A task of Ray Data takes at least a batch, and puts out blocks of 128 MB: many tasks show what remains of each.
    data = ray.data.range(count, override_num_blocks=100).map_batches(rows, batch_size=1000)
    found = data.map_batches(
        Described, fn_constructor_kwargs={"model": str(fixtures.MLP), "cache_dir": self.cache, "keep": ["id"]},
        batch_size=1000, batch_format="pyarrow", num_cpus=1, compute=ActorPoolStrategy(size=1))
    total, ids, used = 0, 0, []  # used: (time, memory) of each run
    for batch in found.iter_batches(batch_size=None, batch_format="pyarrow"):
      total += len(batch)
      ids += int(batch["id"].to_numpy().sum())
      used += zip(batch["at"].to_numpy()[::1000], batch["own"].to_numpy()[::1000], batch["store"].to_numpy()[::1000])
    self.assertEqual((total, ids), (count, count * (count - 1) // 2))
    for place, name in ((1, "own memory"), (2, "pages of the object store")):
      parts = [np.median(part) for part in np.array_split([run[place] for run in sorted(used)], 10)]
      print(f"{name} by 100,000 rows: {[round(part / 1e6) for part in parts]} MB", file=sys.stderr)
      # The object store fills until it reuses its pages.
      self.assertLess(parts[-1], parts[1] * 1.05 if name == "own memory" else fixtures.STORE_BYTES)


if __name__ == "__main__":
  unittest.main()
