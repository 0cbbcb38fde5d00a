#!/usr/bin/env python3
"""Times of the server's answers beside runs in the client's own process, what batching brings, and
the same requests to TensorFlow.

  cmake --build build --target tenon_server tenon_serve_bench tenon_cli
  bench/serve.py [--build build] [--seconds 5] [--rounds 3] [--parts latency,batching,streams] [--realtime]

Client and server are on this machine and share its CPUs. Contestants take turns; every figure is the
median of the rounds. The peer is a plain gRPC server in Python (serve_peer.py) that answers Predict by
TensorFlow's own saved_model: neither TensorFlow Serving nor OpenVINO Model Server is in a registry of
packages. On a machine with other work, --realtime lets nothing else run before client and server; the
figures say so. Writes bench/results/DATE-serve.json.

latency: one client; the MLP of tests/models and that of bench/compare.
batching: 64 clients, batching off and on; the MLP of bench/compare, whose run costs less than its
  request, and a ranking MLP of 12.6 million weights (50 MB), which every run reads as a whole.
streams: ResNet-50, one image, two streams; beside `tenon bench --streams 2`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in
                ("bench", "tools", "tests/serve", "tests/makers")]
import clients  # noqa: E402  the path is set above
import environments  # noqa: E402
import model_cache  # noqa: E402
import report  # noqa: E402

RANKER = """
import sys, keras
x = features = keras.Input((512,), name="features")
for width in (4096, 2048, 1024):
  x = keras.layers.Dense(width, activation="relu")(x)
keras.Model(features, keras.layers.Dense(1, activation="sigmoid")(x)).export(sys.argv[1], verbose=False)
"""


class Bench:

  def __init__(self, args: argparse.Namespace, scratch: pathlib.Path):
    self.args = args
    self.scratch = scratch
    home = model_cache.NETWORKS.directory()
    model_cache.NETWORKS.ensure(["mlp", "resnet50"])
    self.python = environments.ensure("main")
    ranker = scratch / "ranker"
    subprocess.run([self.python, "-c", RANKER, ranker], check=True,
                   capture_output=True)
    self.models = {
        "mlp_of_tests": ROOT / "tests" / "models" / "mlp" / "saved_model",
        "mlp": home / "mlp" / "saved_model", "ranker": ranker,
        "resnet50": home / "resnet50" / "saved_model"}
    self.inputs = home / "resnet50" / "inputs.npz"

  def serve(self, model: str, *flags: str) -> clients.Server:
    folder = self.scratch / f"base-{model}"
    folder.mkdir(exist_ok=True)
    if not (folder / "1").exists():
      (folder / "1").symlink_to(self.models[model].resolve())
    return clients.Server(
        "--model_name=m", f"--model_base_path={folder}", *flags,
        program=str(self.args.build / "bin" / "tensorflow_model_server"))

  def peer(self, model: str) -> clients.Server:
    return clients.Server(str(self.models[model]), program=str(self.python),
                          script=str(ROOT / "bench" / "serve_peer.py"))

  def ask(self, server: clients.Server, model: str, count: int,
          rest: bool) -> dict:
    done = subprocess.run(
        [self.args.build / "bin" / "tenon_serve_bench", self.models[model], "m",
         server.grpc, str(server.rest_port if rest else 0),
         str(self.args.seconds), str(count),
         str(224 if model == "resnet50" else 1)], check=True,
        capture_output=True, text=True)
    return json.loads(done.stdout)

  def turns(self, model: str, count: int,
            contestants: dict[str, tuple[str, ...] | None]) -> dict:
    """By contestant, the median of every figure. None: the peer."""
    rounds: dict[str, list[dict]] = {name: [] for name in contestants}
    for _ in range(self.args.rounds):
      for name, flags in contestants.items():
        server = (self.peer(model) if flags is None
                  else self.serve(model, *flags))
        try:
          rounds[name].append(self.ask(server, model, count,
                                       flags is not None))
        finally:
          server.end()
    return {name: medians(all_) for name, all_ in rounds.items()}

  def latency(self) -> dict:
    result = {}
    for model in ("mlp_of_tests", "mlp"):
      result[model] = self.turns(model, 1, {"tenon": (), "tensorflow": None})
      tenon = result[model]["tenon"]
      for way in ("grpc", "rest"):
        tenon[f"{way}_above_in_process_us"] = (
            tenon[way]["p50_us"] - tenon["in_process"]["p50_us"])
    return result

  def batching(self) -> dict:
    result = {}
    for model in ("mlp", "ranker"):
      result[model] = self.turns(model, 64, {
          "batching_off": (), "batching_on": ("--enable_batching",),
          "tensorflow": None})
      result[model]["gain"] = (
          result[model]["batching_on"]["requests_per_s"] /
          result[model]["batching_off"]["requests_per_s"])
    return result

  def streams(self) -> dict:
    rounds: dict[str, list[dict]] = {"server": [], "tenon_bench": [],
                                     "tensorflow": []}
    for _ in range(self.args.rounds):
      for name, make in (
          ("server", lambda: self.serve("resnet50", "--streams=2")),
          ("tensorflow", lambda: self.peer("resnet50"))):
        server = make()
        try:
          rounds[name].append(self.ask(server, "resnet50", 4, False))
        finally:
          server.end()
      done = subprocess.run(
          [self.args.build / "bin" / "tenon", "bench", self.models["resnet50"],
           "--inputs", self.inputs, "--streams", "2", "--threads", "2",
           "--seconds", str(self.args.seconds), "--json"], check=True,
          capture_output=True, text=True)
      rounds["tenon_bench"].append(
          {"requests_per_s": json.loads(
              done.stdout.strip().splitlines()[-1])["runs_per_s"]})
    result = {name: medians(all_) for name, all_ in rounds.items()}
    result["server_over_tenon_bench"] = (
        result["server"]["requests_per_s"] /
        result["tenon_bench"]["requests_per_s"])
    return result


def medians(rounds: list[dict]) -> dict:
  return {key: medians([r[key] for r in rounds]) if isinstance(value, dict)
          else statistics.median(r[key] for r in rounds)
          for key, value in rounds[0].items()}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
  parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
  parser.add_argument("--seconds", type=float, default=5)
  parser.add_argument("--rounds", type=int, default=3)
  parser.add_argument("--parts", default="latency,batching,streams")
  parser.add_argument("--realtime", action="store_true")
  args = parser.parse_args()
  record = {"revision": report.revision(), "machine": report.machine(),
            "seconds": args.seconds, "rounds": args.rounds,
            "realtime": args.realtime}
  with tempfile.TemporaryDirectory() as scratch:
    bench = Bench(args, pathlib.Path(scratch))
    if args.realtime:
      os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    for part in args.parts.split(","):
      record[part] = getattr(bench, part)()
      print(part, json.dumps(record[part], indent=2), flush=True)
  record["load_after"] = os.getloadavg()[0]
  print(report.write_json("serve", record))


if __name__ == "__main__":
  main()
