"""quantize.py FOLDER OUTPUT: writes an int8 version of a model, and compares its answers."""

import pathlib
import sys

import numpy as np
import tenon

folder, output = pathlib.Path(sys.argv[1]), sys.argv[2]
images = np.load(folder / "inputs.npz")["image"]
labels = np.load(folder / "labels.npz")["labels"]

# Calibration: typical inputs, along the first axis. The rest checks the result.
report = tenon.quantize(folder / "saved_model", output, {"image": images[:128]}, progress=False)
print(report)  # the error of each layer

for path in (folder / "saved_model", output):
    model = tenon.load(path)
    (logits,) = model(images[128:]).values()
    right = (logits.argmax(axis=1) == labels[128:]).mean()
    print(f"{path}: {right:.1%} right")
