"""profiling.py FOLDER TRACE: where the time of a run goes, what rewriting did, and why a node did not fuse."""

import pathlib
import sys

import numpy as np
import tenon

folder, trace = pathlib.Path(sys.argv[1]), sys.argv[2]
image = np.load(folder / "inputs.npz")["image"][:1]
model = tenon.load(folder / "saved_model")

profile = model.profile({"image": image}, runs=20)
print(profile)  # a table; in a notebook, with bars
profile.to_chrome_trace(trace)  # open it in ui.perfetto.dev
print("\nby op:", {op: f"{ms:.4f} ms" for op, ms in profile.by_op.items()})

fired = {rule: times for rule, times in model.report.rules.items() if times}
print("rules that fired:", fired)
for node in model.explain():  # every contraction; explain("name", …) is about the nodes that you name
    print(node)
print(model.memory())
