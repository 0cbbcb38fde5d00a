#!/usr/bin/env python3
"""Throughput of Ray Data and Spark beside `tenon bench --streams` on the same cores; what the driver costs; a picture.

  bench/cluster.py --build build [--models resnet50:8,bert:4,deepfm:4096] [--actors 1,2] [--engines ray,spark]
  bench/cluster.py --picture bench/results/DATE-cluster.json --output docs/scale.svg

The models are those of bench/compare's tables, each with the rows of a batch. Every actor has one CPU and runs on one
thread; a block of Ray has work for half a second at least. An engine's throughput is that of its steady state: its
start, the loading of models and the last batches, when some actors have no more work, are left out. Engine and
`tenon bench` take turns, and what is compared are the medians of the rounds. For Ray also the CPU time of a row, of
`tenon bench` and of the actors, and what share of a core all other processes of Ray use; other work on the machine changes these less than it changes throughput. Writes JSON to
bench/results.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools"), str(HERE.parent / "tests" / "makers")]

import environments  # noqa: E402  the path is set above
import model_cache  # noqa: E402
import report  # noqa: E402


def alone(args: argparse.Namespace, folder: pathlib.Path, streams: int) -> tuple[float, float]:
  """Rows per second of `tenon bench` with as many streams of one thread, and the CPU seconds of a row."""
  import numpy as np

  def run(seconds: float) -> tuple[float, int, float]:
    """Runs per second, runs, CPU seconds of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [args.build / "bin" / "tenon", "bench", folder / "saved_model", "--inputs", inputs, "--threads", "1",
         "--streams", str(streams), "--seconds", str(seconds), "--json"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return (found["runs_per_s"], found["n"],
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)

  with tempfile.TemporaryDirectory() as scratch:
    inputs = pathlib.Path(scratch) / "inputs.npz"
    np.savez(inputs, **batch_of(folder, args.batch))
    _, few, start = run(0.01)  # loading and the first runs
    rate, runs, used = run(args.seconds)
  return rate * args.batch, (used - start) / (runs - few) / args.batch


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


class Work(NamedTuple):
  """What an actor did for a batch: time.time() at its begin and end, and its process's CPU seconds there."""

  pid: int
  begin: float
  end: float
  cpu_begin: float
  cpu_end: float
  rows: int


def steady(work: list[Work]) -> tuple[float, float, float, float]:
  """While every actor works: begin, end, rows, and the actors' CPU seconds."""
  first: dict[int, float] = {}
  last: dict[int, float] = {}
  for one in work:
    first[one.pid] = min(first.get(one.pid, one.end), one.end)  # the first batch builds plans
    last[one.pid] = max(last.get(one.pid, 0), one.end)
  begin, end = max(first.values()), min(last.values())
  rows = cpu = 0.0
  for one in work:  # a batch that is partly outside counts in part
    part = max(0.0, min(one.end, end) - max(one.begin, begin)) / (one.end - one.begin)
    rows += one.rows * part
    cpu += (one.cpu_end - one.cpu_begin) * part
  return begin, end, rows, cpu


class Meter:
  """Samples the CPU time of this process and of all that it started; what sampling costs is left out."""

  def __enter__(self) -> Meter:
    self._samples: list[tuple[float, dict[int, float]]] = []
    self._stop = threading.Event()
    self._thread = threading.Thread(target=self._sample)
    self._thread.start()
    return self

  def __exit__(self, *error: object) -> None:
    self._stop.set()
    self._thread.join()

  def _sample(self) -> None:
    import psutil
    own = psutil.Process()
    while not self._stop.wait(1):
      used = {}
      for process in (own, *own.children(recursive=True)):
        try:
          times = process.cpu_times()
        except psutil.Error:
          continue
        used[process.pid] = times.user + times.system
      used[own.pid] -= time.thread_time()
      self._samples.append((time.time(), used))

  def rate(self, begin: float, end: float, without: set[int]) -> float:
    """CPU seconds a second between these times, of all processes but some."""
    inside = [(at, used) for at, used in self._samples if begin <= at <= end]
    (first, before), (last, after) = inside[0], inside[-1]
    return sum(cpu - before.get(pid, 0) for pid, cpu in after.items() if pid not in without) / (last - first)


def with_ray(args: argparse.Namespace, folder: pathlib.Path, actors: int, seconds_of_batch: float) -> dict[str, float]:
  """Rows per second, the CPU seconds of a row in the actors, and the share of a core that the rest of Ray uses."""
  import pyarrow as pa
  import ray
  import tenon.ray

  class Timed(tenon.ray.Predictor):

    ended = 0.0
    used = 0.0

    def __call__(self, batch: pa.Table) -> pa.Table:
      begin, cpu = self.ended or time.time(), self.used or time.process_time()  # waiting for a batch counts
      rows = len(super().__call__(batch))
      self.ended, self.used = time.time(), time.process_time()
      return pa.table({"pid": [os.getpid()], "begin": [begin], "end": [self.ended], "cpu_begin": [cpu],
                       "cpu_end": [self.used], "rows": [rows]})

  # A task of Ray is a block: half a second's work at least, as Ray advises, so that handing it out costs little.
  inside = max(1, math.ceil(args.block_seconds / seconds_of_batch))
  count = max(8, int(args.seconds / (seconds_of_batch * inside))) * actors
  blocks = [ray.put(pa.concat_tables([table_of(batch_of(folder, args.batch))] * inside).combine_chunks())] * count
  data = ray.data.from_arrow_refs(blocks).map_batches(
      Timed, fn_constructor_kwargs=dict(model=str(folder / "saved_model"), cache_dir=args.cache),
      batch_size=args.batch, batch_format="pyarrow", num_cpus=1, compute=ray.data.ActorPoolStrategy(size=actors))
  with Meter() as meter:
    work = [Work(**row) for row in data.take_all()]
  begin, end, rows, cpu = steady(work)
  return {"rate": rows / (end - begin), "actor_cpu": cpu / rows, "batches_of_block": inside,
          "engine_cores": meter.rate(begin, end, {one.pid for one in work})}


def with_spark(args: argparse.Namespace, folder: pathlib.Path, actors: int, seconds_of_batch: float) -> dict[str, float]:
  """From the times of a short and of a long job: what both need to start falls out."""
  from pyspark.sql import SparkSession
  from pyspark.sql import functions as F
  import pyarrow.parquet as pq
  import tenon.spark

  spark = (SparkSession.builder.master(f"local[{actors}]").config("spark.ui.enabled", "false")
           .config("spark.driver.memory", "2g")
           .config("spark.sql.adaptive.enabled", "false")  # it puts small partitions together, for one task
           .config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
           .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(args.batch)).getOrCreate())
  spark.sparkContext.setLogLevel("ERROR")
  arrays = {name: value.reshape(len(value), -1) if value.ndim > 2 else value
            for name, value in batch_of(folder, args.batch).items()}
  with tempfile.TemporaryDirectory() as scratch:
    pq.write_table(table_of(arrays), pathlib.Path(scratch) / "rows.parquet")
    one = spark.read.parquet(str(pathlib.Path(scratch) / "rows.parquet")).cache()
    one.count()
    predict = tenon.spark.predict_udf(
        str(folder / "saved_model"), inputs=list(arrays), batch_size=args.batch, threads=1, cache_dir=args.cache,
        shapes={name: value.shape[1:] for name, value in batch_of(folder, 1).items()})
    used = []
    count = max(8, int(args.seconds / seconds_of_batch)) * actors
    for batches in (actors, count, 3 * count):
      many = spark.range(0, batches, 1, actors).crossJoin(F.broadcast(one))
      begin = time.monotonic()
      many.select(predict(*arrays).alias("y")).write.format("noop").mode("overwrite").save()
      used.append(time.monotonic() - begin)
  spark.stop()
  return {"rate": 2 * count * args.batch / (used[2] - used[1])}


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


def simulate(actors: int, block_seconds: float, driver: float, spread: float, seconds: float = 100) -> float:
  """Blocks per second of a job in which one driver hands blocks, one at a time, to actors with two in hand each.

  spread: the standard deviation of a block's time over its mean
  """
  chance = random.Random(1)
  free = [(0.0, actor) for actor in range(actors) for _ in range(2)]  # when a place for a block becomes free
  heapq.heapify(free)
  idle_from = [0.0] * actors
  now, done = 0.0, 0
  while now < seconds:
    at, actor = heapq.heappop(free)
    now = max(now, at) + driver
    cost = max(block_seconds / 4, chance.gauss(block_seconds, spread * block_seconds))
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
      rounds: dict[str, list[float]] = {"alone": [], "alone_cpu": []}
      for _ in range(args.rounds):
        rate, cpu = alone(args, folder, actors)
        rounds["alone"].append(rate)
        rounds["alone_cpu"].append(cpu)
        for engine in args.engines:
          found = engines[engine](args, folder, actors, args.batch * actors / rate)
          rounds.setdefault(engine, []).append(found.pop("rate"))
          for key, value in found.items():
            rounds.setdefault(key, []).append(value)
      row = {"actors": actors, "batch": batch, "row_bytes": sum(
          value[:1].nbytes for value in batch_of(folder, 1).values()), "load": os.getloadavg()[0], "rounds": rounds,
             **{key: statistics.median(values) for key, values in rounds.items()}}
      rows.append(row)
      shares = ", ".join(f"{engine} {row[engine]:.4g} ({row[engine] / row['alone']:.0%})" for engine in args.engines)
      print(f"{name}, {actors} actors: tenon bench {row['alone']:.4g} rows/s, {shares}", flush=True)
      if "ray" in args.engines:
        print("  CPU ms a row: tenon bench {:.4g}, actors {:.4g}; the rest of Ray uses {:.1%} of a core".format(
            row["alone_cpu"] * 1e3, row["actor_cpu"] * 1e3, row["engine_cores"]), flush=True)
    environment["models"][name] = rows
  if "ray" in args.engines:
    for rows in environment["models"].values():
      cost = rows[0]["batch"] * rows[0]["batches_of_block"] / rows[0]["ray"]
      for actors in (1, 3, 10, 30, 100, 250, 500, 1000, 2000):
        rate = simulate(actors, cost, environment["driver_seconds"], 0.1) * rows[0]["batch"] * rows[0]["batches_of_block"]
        rows.append({"actors": actors, "simulated": rate})
    ray.shutdown()
  environment["machine"]["load_after"] = os.getloadavg()[0]
  print(report.write_json("cluster", environment))


def picture(args: argparse.Namespace) -> None:
  """Throughput against actors, measured and simulated, both axes logarithmic."""
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
  parser.add_argument("--block-seconds", type=float, default=0.5, help="of work in a block of Ray, at least")
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
