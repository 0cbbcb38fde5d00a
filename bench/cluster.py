#!/usr/bin/env python3
"""Throughput of Ray Data and Spark beside `tenon bench --streams` on the same cores; what the driver costs; a picture.

  bench/cluster.py --build build [--models resnet50:8,bert:4,deepfm:4096] [--actors 1,2] [--engines ray,spark]
  bench/cluster.py --picture bench/results/DATE-cluster.json --output docs/scale.svg

The models are those of bench/compare's tables, each with the rows of a batch. Every actor has one CPU and runs on one thread. An engine's throughput is that of its steady state: its start, the loading of models
and the last batches, when some actors have no more work, are left out. Engine and `tenon bench` take turns, and what is
compared are the medians of the rounds. Writes JSON to bench/results.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools"), str(HERE.parent / "tests" / "makers")]

import environments  # noqa: E402  the path is set above
import model_cache  # noqa: E402
import report  # noqa: E402


def alone(args: argparse.Namespace, folder: pathlib.Path, streams: int) -> float:
  """Rows per second of `tenon bench` with as many streams of one thread."""
  import numpy as np
  with tempfile.TemporaryDirectory() as scratch:
    inputs = pathlib.Path(scratch) / "inputs.npz"
    np.savez(inputs, **batch_of(folder, args.batch))
    done = subprocess.run(
        [args.build / "bin" / "tenon", "bench", folder / "saved_model", "--inputs", inputs, "--threads", "1",
         "--streams", str(streams), "--seconds", str(args.seconds), "--json"], capture_output=True, text=True, check=True)
  return json.loads(done.stdout.strip().splitlines()[-1])["runs_per_s"] * args.batch


def batch_of(folder: pathlib.Path, rows: int) -> dict:
  """The model's example, repeated."""
  import numpy as np
  with np.load(folder / "inputs.npz") as arrays:
    return {name: np.repeat(value[:1], rows, axis=0) for name, value in arrays.items()}


def table_of(arrays: dict):
  """An Arrow table of these rows."""
  import pyarrow as pa
  from tenon._arrow_columns import array_of
  return pa.table({name: array_of(value, name) for name, value in arrays.items()})


def steady(batches: list[tuple[str, float, float, int]]) -> float:
  """Rows per second while every actor works. batches: (actor, begin, end, rows)."""
  first: dict[str, float] = {}
  last: dict[str, float] = {}
  for actor, begin, end, _ in batches:
    first[actor] = min(first.get(actor, end), end)  # the first batch builds plans
    last[actor] = max(last.get(actor, 0), end)
  begin, end = max(first.values()), min(last.values())
  inside = [(b, e, n) for _, b, e, n in batches if e > begin and b < end]
  # A batch that is partly outside counts in part.
  rows = sum(n * (min(e, end) - max(b, begin)) / (e - b) for b, e, n in inside)
  return rows / (end - begin)


def with_ray(args: argparse.Namespace, folder: pathlib.Path, actors: int, seconds_of_batch: float) -> float:
  import pyarrow as pa
  import ray
  import tenon.ray

  class Timed(tenon.ray.Predictor):

    ended = 0.0

    def __call__(self, batch: pa.Table) -> pa.Table:
      begin = self.ended or time.time()  # waiting for a batch counts
      rows = len(super().__call__(batch))
      self.ended = time.time()
      return pa.table({"actor": [str(os.getpid())], "begin": [begin], "end": [self.ended], "rows": [rows]})

  count = max(8, int(args.seconds / seconds_of_batch)) * actors
  table = table_of(batch_of(folder, args.batch))
  blocks = [ray.put(table)] * count
  data = ray.data.from_arrow_refs(blocks).map_batches(
      Timed, fn_constructor_kwargs=dict(model=str(folder / "saved_model"), cache_dir=args.cache),
      batch_size=args.batch, batch_format="pyarrow", num_cpus=1, compute=ray.data.ActorPoolStrategy(size=actors))
  found = data.take_all()
  return steady([(row["actor"], row["begin"], row["end"], row["rows"]) for row in found])


def with_spark(args: argparse.Namespace, folder: pathlib.Path, actors: int, seconds_of_batch: float) -> float:
  """From the times of a short and of a long job: what both need to start falls out."""
  from pyspark.sql import SparkSession
  from pyspark.sql import functions as F
  import pyarrow.parquet as pq
  import tenon.spark

  spark = (SparkSession.builder.master(f"local[{actors}]").config("spark.ui.enabled", "false")
           .config("spark.driver.memory", "2g").config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
           .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(args.batch)).getOrCreate())
  spark.sparkContext.setLogLevel("ERROR")
  arrays = {name: value.reshape(len(value), -1) if value.ndim > 2 else value
            for name, value in batch_of(folder, args.batch).items()}
  with tempfile.TemporaryDirectory() as scratch:
    pq.write_table(table_of(arrays), pathlib.Path(scratch) / "rows.parquet")
    one = spark.read.parquet(str(pathlib.Path(scratch) / "rows.parquet")).cache()
    one.count()
    predict = tenon.spark.predict_udf(str(folder / "saved_model"), inputs=list(arrays), batch_size=args.batch,
                                      threads=1, cache_dir=args.cache)
    used = []
    count = max(8, int(args.seconds / seconds_of_batch)) * actors
    for batches in (actors, count, 3 * count):
      many = spark.range(0, batches, 1, actors).hint("rebalance").crossJoin(F.broadcast(one))
      begin = time.monotonic()
      many.select(predict(*arrays).alias("y")).write.format("noop").mode("overwrite").save()
      used.append(time.monotonic() - begin)
  spark.stop()
  return 2 * count * args.batch / (used[2] - used[1])


def driver_seconds() -> float:
  """What Ray's driver needs for a batch, from batches that cost nothing else."""
  import pyarrow as pa
  import ray

  class Nothing:

    def __call__(self, batch: pa.Table) -> pa.Table:
      return pa.table({"at": [time.time()]})

  block = ray.put(pa.table({"x": [0]}))
  data = ray.data.from_arrow_refs([block] * 600).map_batches(
      Nothing, batch_size=1, batch_format="pyarrow", num_cpus=1, compute=ray.data.ActorPoolStrategy(size=1))
  ends = sorted(row["at"] for row in data.take_all())
  return (ends[-1] - ends[100]) / (len(ends) - 101)


def simulate(actors: int, batch_seconds: float, driver: float, spread: float, seconds: float = 100) -> float:
  """Batches per second of a job in which one driver hands batches, one at a time, to actors with two in hand each.

  spread: the standard deviation of a batch's time over its mean
  """
  chance = random.Random(1)
  free = [(0.0, actor) for actor in range(actors) for _ in range(2)]  # when a place for a batch becomes free
  heapq.heapify(free)
  idle_from = [0.0] * actors
  now, done = 0.0, 0
  while now < seconds:
    at, actor = heapq.heappop(free)
    now = max(now, at) + driver
    cost = max(batch_seconds / 4, chance.gauss(batch_seconds, spread * batch_seconds))
    idle_from[actor] = max(idle_from[actor], now) + cost
    heapq.heappush(free, (idle_from[actor], actor))
    done += 1
  return done / now


def measure(args: argparse.Namespace) -> None:
  import ray
  engines = {"ray": with_ray, "spark": with_spark}
  environment = {"machine": report.machine(), "revision": report.revision(),
                 "python": sys.version.split()[0], "models": {}}
  if "ray" in args.engines:
    ray.init("local", num_cpus=max(args.actors) + 1, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
             object_store_memory=400_000_000)
    ray.data.DataContext.get_current().enable_progress_bars = False
    environment["driver_seconds"] = driver_seconds()
    print(f"Ray's driver: {environment['driver_seconds'] * 1e3:.2f} ms a batch", flush=True)
  for name, folder, batch in args.models:
    args.batch = batch
    rows: list[dict] = []
    for actors in args.actors:
      rounds: dict[str, list[float]] = {"alone": []}
      for _ in range(args.rounds):
        rounds["alone"].append(alone(args, folder, actors))
        for engine in args.engines:
          rate = engines[engine](args, folder, actors, args.batch * actors / rounds["alone"][-1])
          rounds.setdefault(engine, []).append(rate)
      row = {"actors": actors, "batch": batch, "row_bytes": sum(
          value[:1].nbytes for value in batch_of(folder, 1).values()), "load": os.getloadavg()[0], "rounds": rounds,
             **{key: statistics.median(values) for key, values in rounds.items()}}
      rows.append(row)
      shares = ", ".join(f"{engine} {row[engine]:.4g} ({row[engine] / row['alone']:.0%})" for engine in args.engines)
      print(f"{name}, {actors} actors: tenon bench {row['alone']:.4g} rows/s, {shares}", flush=True)
    environment["models"][name] = rows
  if "ray" in args.engines:
    for rows in environment["models"].values():
      cost = rows[0]["batch"] / rows[0]["ray"]
      for actors in (1, 3, 10, 30, 100, 250, 500, 1000, 2000):
        rate = simulate(actors, cost, environment["driver_seconds"], 0.1) * rows[0]["batch"]
        rows.append({"actors": actors, "simulated": rate})
    ray.shutdown()
  environment["machine"]["load_after"] = os.getloadavg()[0]
  print(report.write_json("cluster", environment))


def picture(args: argparse.Namespace) -> None:
  """Throughput against actors, measured and simulated, both axes logarithmic."""
  import math

  from svg import Svg
  found = json.loads(args.picture.read_text())
  colors = ["#1b6ca8", "#c0392b", "#2e8b57", "#8e6bbf"]
  rates = [value for rows in found["models"].values() for row in rows for key, value in row.items()
           if key in ("alone", "ray", "spark", "simulated")]
  low, high = math.floor(math.log10(min(rates))), math.ceil(math.log10(max(rates)))
  left, top, width, height = 70, 40, 480, 300
  svg = Svg(left + width + 190, top + height + 60, "rows per second against actors")

  def at(actors: float, rate: float) -> tuple[float, float]:
    return (left + width * math.log10(actors) / math.log10(2000),
            top + height * (1 - (math.log10(rate) - low) / (high - low)))

  svg.text(left, 20, f"Rows per second in Ray Data, one CPU an actor ({found['machine']['cpu']})")
  for power in range(low, high + 1):
    y = at(1, 10 ** power)[1]
    svg.line([(left, y), (left + width, y)], "#dddddd")
    svg.text(left - 8, y + 4, f"{10 ** power:,}" if power >= 0 else f"{10 ** power:g}", "end")
  for actors in (1, 10, 100, 1000):
    x = at(actors, 10 ** low)[0]
    svg.line([(x, top), (x, top + height)], "#dddddd")
    svg.text(x, top + height + 18, f"{actors:,}", "middle")
  svg.text(left + width / 2, top + height + 40, "actors: dots are measured, lines simulated", "middle")
  for color, (name, rows) in zip(colors, found["models"].items()):
    simulated = [at(row["actors"], row["simulated"]) for row in rows if "simulated" in row]
    svg.line(simulated, color, 2)
    svg.text(simulated[-1][0] + 8, simulated[-1][1] + 4, f"{name}, batches of {rows[0]['batch']}", fill=color)
    for row in rows:
      if "ray" in row:
        svg.dot(*at(row["actors"], row["ray"]), color)
  args.output.write_text(svg.finish())


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
  parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build")
  parser.add_argument("--models", default="resnet50:8,bert:4,deepfm:4096")
  parser.add_argument("--actors", default="1,2")
  parser.add_argument("--engines", default="ray,spark")
  parser.add_argument("--seconds", type=float, default=10, help="of a round of each, at least")
  parser.add_argument("--rounds", type=int, default=3)
  parser.add_argument("--cache", default=str(environments.CACHE / "cluster-cache"))
  parser.add_argument("--picture", type=pathlib.Path)
  parser.add_argument("--output", type=pathlib.Path)
  args = parser.parse_args()
  if args.picture:
    return picture(args)
  environments.reexec("cluster")
  args.build = args.build.resolve()
  package = str(args.build / "python")
  if package not in os.environ.get("PYTHONPATH", ""):  # the engines' workers need it too
    os.environ.update({"PYTHONPATH": package, "PYSPARK_PYTHON": sys.executable, "RAY_worker_niceness": "0"})
    os.execv(sys.executable, [sys.executable, *sys.argv])
  args.models = [(name, family.ensure([name]) / name, int(batch))
                 for name, batch in (text.split(":") for text in args.models.split(","))
                 for family in model_cache.FAMILIES.values() if name in family.names]
  args.actors = [int(n) for n in args.actors.split(",")]
  args.engines = args.engines.split(",")
  return measure(args)


if __name__ == "__main__":
  main()
