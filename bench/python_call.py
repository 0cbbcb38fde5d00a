#!/usr/bin/env python3
"""What a call from Python costs beyond the run itself, how long the import takes, and whether memory grows with
new shapes.

    PYTHONPATH=build/python bench/python_call.py [--model MODEL] [--tenon build/bin/tenon] [--runs 100000]

The cost is the median time of a call minus the median that `tenon bench` measures for the same model in its own
process, in turns.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


def call_us(model, x: np.ndarray, seconds: float) -> float:
    """The median time of a call."""
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter_ns()
        model(x)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1000


def run_us(tenon: pathlib.Path, path: str, seconds: float, threads: int) -> float:
    """The median time of a run in the command line."""
    done = subprocess.run([tenon, "bench", path, "--json", "--seconds", str(seconds), "--threads", str(threads)],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])["median_ms"] * 1000


def import_ms() -> float:
    """Of the package alone, in new processes that have NumPy already; the least of 5."""
    code = "import numpy, time; t = time.perf_counter(); import tenon; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
             for _ in range(5)]
    return min(times) * 1000


def growth(model, name: str, width: int, runs: int) -> tuple[float, float]:
    """Runs with 200 batch sizes in turn. Megabytes after the first round, and how many percent more at the end."""
    inputs = [np.zeros((batch, width), np.float32) for batch in range(1, 201)]
    for x in inputs:
        model.run({name: x})
    first = resident()
    for i in range(runs):
        model.run({name: inputs[i % 200]})
    return first / 1e6, 100 * (resident() / first - 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(ROOT / "tests/models/mlp/saved_model"))
    parser.add_argument("--tenon", type=pathlib.Path, default=ROOT / "build/bin/tenon")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print(f"import: {import_ms():.1f} ms")
    import tenon
    model = tenon.load(args.model, threads=args.threads)
    (spec,) = model.inputs
    width = spec.shape[1]
    x = np.random.default_rng(0).normal(size=(1, width)).astype(np.float32)
    costs = []
    for _ in range(5):
        run = run_us(args.tenon, args.model, args.seconds, args.threads)
        call = call_us(model, x, args.seconds)
        costs.append(call - run)
        print(f"run {run:.2f} us, call {call:.2f} us")
    print(f"cost of a call: {statistics.median(costs):.2f} us")
    megabytes, percent = growth(model, spec.name, width, args.runs)
    print(f"{args.runs} runs over 200 shapes: {megabytes:.0f} MB after the first round, {percent:+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
