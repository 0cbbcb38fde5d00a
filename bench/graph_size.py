#!/usr/bin/env python3
"""How the time to load, rewrite and plan a graph grows with its nodes, from 100 to 100,000; a picture.

  bench/graph_size.py [--sizes 100,1000,10000,100000] [--shapes chain,rnn] [--seconds 60] [--plot FILE.svg]
  bench/graph_size.py --picture bench/results/DATE-graph-size.json --plot FILE.svg

Needs the package tenon (PYTHONPATH) and no TensorFlow. Each point is a process of its own: a GraphDef in text form is loaded (parsed and
imported), loaded and rewritten, planned and run once, and run again. Times are CPU times of one thread, because other programs may share
the machine. A shape's next size is left out when the last one took longer than --seconds. Writes JSON to bench/results.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import time
from typing import Callable, Iterator

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

FLOAT = "type: DT_FLOAT"


def node(name: str, op: str, *inputs: str, **attrs: str) -> str:
  """A node in GraphDef's text form."""
  parts = [f'name: "{name}" op: "{op}"', *(f'input: "{i}"' for i in inputs)]
  parts += [f'attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attrs.items()]
  return "node { " + " ".join(parts) + " }\n"


def constant(name: str, dtype: str, shape: list[int], values: str) -> str:
  dims = " ".join(f"dim {{ size: {d} }}" for d in shape)
  return node(name, "Const", dtype=f"type: {dtype}",
              value=f"tensor {{ dtype: {dtype} tensor_shape {{ {dims} }} {values} }}")


def source(columns: int = 8) -> str:
  return node("x", "Placeholder", dtype=FLOAT, shape=f"shape {{ dim {{ size: -1 }} dim {{ size: {columns} }} }}")


# Each gives the nodes of a graph with about `n` of them, and its last node is the output.


def chain(n: int) -> Iterator[str]:
  """Ops one after another; every other one reads the input, too."""
  yield source()
  last = "x"
  for i in range(n // 2):
    yield node(f"t{i}", "Tanh", last, T=FLOAT)
    yield node(f"a{i}", "AddV2", f"t{i}", "x", T=FLOAT)
    last = f"a{i}"


def layers(n: int) -> Iterator[str]:
  """Matrix products, each with a weight and a bias of its own and an activation."""
  yield source()
  last = "x"
  for i in range(n // 5):
    yield constant(f"w{i}", "DT_FLOAT", [8, 8], f"float_val: {0.01 + i % 7 / 100}")
    yield constant(f"b{i}", "DT_FLOAT", [8], f"float_val: {i % 5 / 10}")
    yield node(f"m{i}", "MatMul", last, f"w{i}", T=FLOAT)
    yield node(f"p{i}", "BiasAdd", f"m{i}", f"b{i}", T=FLOAT)
    yield node(f"r{i}", "Relu", f"p{i}", T=FLOAT)
    last = f"r{i}"


def fan_out(n: int) -> Iterator[str]:
  """One tensor with many readers, whose results are added up at once."""
  yield source()
  for i in range(n):
    yield node(f"e{i}", "Exp", "x", T=FLOAT)
  yield node("sum", "AddN", *(f"e{i}" for i in range(n)), T=FLOAT, N=f"i: {n}")


def constants(n: int) -> Iterator[str]:
  """As many constants as ops, which fold in part."""
  yield source()
  last = "x"
  for i in range(n // 3):
    yield constant(f"c{i}", "DT_FLOAT", [8], f"float_val: {i % 11 / 10}")
    yield node(f"n{i}", "Neg", f"c{i}", T=FLOAT)
    yield node(f"a{i}", "AddV2" if i % 2 else "Maximum", last, f"n{i}", T=FLOAT)
    last = f"a{i}"


def rnn(n: int) -> Iterator[str]:
  """An unrolled LSTM: a cell of 14 nodes for each time step, which share the weights."""
  steps = max(1, n // 14)
  yield source(8)
  yield constant("w", "DT_FLOAT", [16, 32], "float_val: 0.02")
  yield constant("b", "DT_FLOAT", [32], "float_val: 0.1")
  yield constant("one", "DT_INT32", [], "int_val: 1")
  h = c = "x"
  for i in range(steps):
    yield node(f"xh{i}", "ConcatV2", "x", h, "one", T=FLOAT, N="i: 2")
    yield node(f"m{i}", "MatMul", f"xh{i}", "w", T=FLOAT)
    yield node(f"g{i}", "BiasAdd", f"m{i}", "b", T=FLOAT)
    yield node(f"s{i}", "Split", "one", f"g{i}", T=FLOAT, num_split="i: 4")
    yield node(f"i{i}", "Sigmoid", f"s{i}", T=FLOAT)
    yield node(f"j{i}", "Tanh", f"s{i}:1", T=FLOAT)
    yield node(f"f{i}", "Sigmoid", f"s{i}:2", T=FLOAT)
    yield node(f"o{i}", "Sigmoid", f"s{i}:3", T=FLOAT)
    yield node(f"fc{i}", "Mul", f"f{i}", c, T=FLOAT)
    yield node(f"ij{i}", "Mul", f"i{i}", f"j{i}", T=FLOAT)
    yield node(f"c{i}", "AddV2", f"fc{i}", f"ij{i}", T=FLOAT)
    yield node(f"t{i}", "Tanh", f"c{i}", T=FLOAT)
    yield node(f"h{i}", "Mul", f"o{i}", f"t{i}", T=FLOAT)
    h, c = f"h{i}", f"c{i}"


def concats(n: int) -> Iterator[str]:
  """Joins inside of joins: each result is joined with the input, and its first half goes on."""
  yield source()
  yield constant("axis", "DT_INT32", [], "int_val: 1")
  last = "x"
  for i in range(n // 2):
    yield node(f"c{i}", "ConcatV2", last, "x", "axis", T=FLOAT, N="i: 2")
    yield node(f"s{i}", "Split", "axis", f"c{i}", T=FLOAT, num_split="i: 2")
    last = f"s{i}"
  yield node("y", "Identity", last, T=FLOAT)


def residuals(n: int) -> Iterator[str]:
  """Blocks with a skip connection and a normalization of constants, as exporters write them."""
  yield source()
  yield constant("axis", "DT_INT32", [1], "int_val: 1")
  yield constant("epsilon", "DT_FLOAT", [], "float_val: 0.001")
  last = "x"
  for i in range(n // 9):
    yield node(f"mean{i}", "Mean", last, "axis", T=FLOAT, keep_dims="b: true")
    yield node(f"d{i}", "SquaredDifference", last, f"mean{i}", T=FLOAT)
    yield node(f"v{i}", "Mean", f"d{i}", "axis", T=FLOAT, keep_dims="b: true")
    yield node(f"ve{i}", "AddV2", f"v{i}", "epsilon", T=FLOAT)
    yield node(f"r{i}", "Rsqrt", f"ve{i}", T=FLOAT)
    yield node(f"s{i}", "Sub", last, f"mean{i}", T=FLOAT)
    yield node(f"n{i}", "Mul", f"s{i}", f"r{i}", T=FLOAT)
    yield node(f"t{i}", "Tanh", f"n{i}", T=FLOAT)
    yield node(f"y{i}", "AddV2", f"t{i}", last, T=FLOAT)
    last = f"y{i}"


def outputs(n: int) -> Iterator[str]:
  """As many outputs as inner nodes."""
  yield source()
  for i in range(n // 2):
    yield node(f"e{i}", "Exp", "x" if i == 0 else f"e{i - 1}", T=FLOAT)
    yield node(f"y{i}", "Sqrt", f"e{i}", T=FLOAT)


SHAPES: dict[str, Callable[[int], Iterator[str]]] = {
    f.__name__: f for f in (chain, layers, fan_out, constants, rnn, concats, residuals, outputs)}


def graph(shape: str, n: int) -> bytes:
  return "".join(SHAPES[shape](n)).encode()


def measure(shape: str, n: int) -> dict:
  """In this process."""
  import numpy as np
  import tenon
  data = graph(shape, n)
  tenon.load(graph(shape, 10), threads=1)(np.full((2, 8), 0.5, np.float32))  # tables that are made once
  before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
  start = time.process_time()
  tenon.load(data, threads=1, onednn=False).close()
  parsed = time.process_time()
  model = tenon.load(data, threads=1)
  loaded = time.process_time()
  feed = {model.inputs[0].name: np.full((2, 8), 0.5, np.float32)}
  model.run(feed)
  planned = time.process_time()
  runs = []
  for _ in range(3):
    begin = time.process_time()
    model.run(feed)
    runs.append(time.process_time() - begin)
  report = model.report.details
  rewriting = report["rewriting"]
  return {"shape": shape, "nodes": data.count(b"node {"), "load_ms": (parsed - start) * 1e3,
          "rewrite_ms": max(0, loaded - parsed - (parsed - start)) * 1e3, "plan_ms": max(0, planned - loaded - min(runs)) * 1e3,
          "run_ms": min(runs) * 1e3, "kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
          "steps": report["plans"][0]["steps"], "phases": {p["phase"]: p["ms"] for p in rewriting["phases"]},
          "status": rewriting["status"]}


def measure_apart(shape: str, n: int, limit: float) -> dict | None:
  """In a process of its own; None if it takes much longer than `limit` seconds."""
  try:
    done = subprocess.run([sys.executable, __file__, "--point", f"{shape}:{n}"], capture_output=True, text=True, check=False,
                          timeout=10 * limit)
  except subprocess.TimeoutExpired:
    return None
  if done.returncode != 0:
    raise RuntimeError(f"{shape}, {n} nodes: {done.stderr[-2000:]}")
  return json.loads(done.stdout.splitlines()[-1])


def total(point: dict) -> float:
  return point["load_ms"] + point["rewrite_ms"] + point["plan_ms"]


def picture(points: list[dict], path: pathlib.Path) -> None:
  """Microseconds per node against nodes, both logarithmic: what is linear is level."""
  import svg
  width, height, left, bottom, right = 720, 420, 60, 40, 110
  drawing = svg.Svg(width, height, "Time per node to load, rewrite and plan a graph, against its nodes")
  colors = ("#1f6f8b", "#b0413e", "#4f7a4c", "#7a5c9e", "#b07a2e", "#444444", "#2e8b82", "#a0527a")
  per_node = [total(p) * 1e3 / p["nodes"] for p in points]
  x_range = [math.log10(min(p["nodes"] for p in points)), math.log10(max(p["nodes"] for p in points))]
  y_range = [math.floor(math.log10(min(per_node))), math.ceil(math.log10(max(per_node)))]

  def x_of(nodes: float) -> float:
    return left + (width - left - right) * (math.log10(nodes) - x_range[0]) / (x_range[1] - x_range[0])

  def y_of(us: float) -> float:
    return height - bottom - (height - bottom - 30) * (math.log10(us) - y_range[0]) / (y_range[1] - y_range[0])
  drawing.text(left, 16, "µs per node, to load, rewrite and plan")
  for decade in range(y_range[0], y_range[1] + 1):
    y = y_of(10 ** decade)
    drawing.line([(left, y), (width - right, y)], "#dddddd")
    drawing.text(left - 6, y + 4, f"{10 ** decade:g}", "end")
  for decade in range(round(x_range[0]), round(x_range[1]) + 1):
    drawing.text(x_of(10 ** decade), height - bottom + 18, f"{10 ** decade:,}", "middle")
  drawing.text(width - right, height - 6, "nodes", "end")
  ends: list[float] = []
  for color, shape in zip(colors, dict.fromkeys(p["shape"] for p in points)):
    line = [(x_of(p["nodes"]), y_of(total(p) * 1e3 / p["nodes"])) for p in points if p["shape"] == shape]
    drawing.line(line, color, 1.5)
    for x, y in line:
      drawing.dot(x, y, color)
    y = line[-1][1] + 4
    while any(abs(y - other) < 13 for other in ends):
      y += 3
    ends.append(y)
    drawing.text(line[-1][0] + 8, y, shape, fill=color)
  path.write_text(drawing.finish())


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
  parser.add_argument("--sizes", default="100,1000,10000,100000")
  parser.add_argument("--shapes", default=",".join(SHAPES))
  parser.add_argument("--seconds", type=float, default=60)
  parser.add_argument("--point", help="SHAPE:NODES, in this process")
  parser.add_argument("--picture", type=pathlib.Path)
  parser.add_argument("--plot", type=pathlib.Path)
  args = parser.parse_args()
  if args.point:
    shape, n = args.point.split(":")
    print(json.dumps(measure(shape, int(n))))
    return 0
  if args.picture:
    picture(json.loads(args.picture.read_text())["points"], args.plot)
    return 0
  import report
  points = []
  machine = report.machine()
  for shape in args.shapes.split(","):
    for n in map(int, args.sizes.split(",")):
      point = measure_apart(shape, n, args.seconds)
      if point is None:
        print(f"{shape:10} {n:7} took longer than {10 * args.seconds:.0f} s", flush=True)
        break
      points.append(point)
      print(f"{shape:10} {point['nodes']:7} nodes: load {point['load_ms']:9.1f} ms, rewrite {point['rewrite_ms']:9.1f}, "
            f"plan {point['plan_ms']:9.1f}, run {point['run_ms']:8.2f}; {total(point) * 1e3 / point['nodes']:7.1f} µs and "
            f"{point['kib'] * 1024 / point['nodes']:6.0f} bytes per node", flush=True)
      if total(point) > args.seconds * 1e3:
        break
  print(report.write_json("graph-size", {"revision": report.revision(), "machine": machine, "load_after": os.getloadavg()[0],
                                         "points": points}))
  if args.plot:
    picture(points, args.plot)
  return 0


if __name__ == "__main__":
  sys.exit(main())
