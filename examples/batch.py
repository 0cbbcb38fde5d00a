"""batch.py FOLDER: many samples, one by one and in batches, into arrays that are allocated once."""

import pathlib
import sys
import time

import numpy as np
import tenon

folder = pathlib.Path(sys.argv[1])
images = np.load(folder / "inputs.npz")["image"]
model = tenon.load(folder / "saved_model")
name = model.inputs[0].name
logits = np.empty((len(images), 10), np.float32)

for rows in (1, 8, len(images)):
    model(images[:rows])  # the first run of a batch size makes its plan
    start = time.perf_counter()
    for first in range(0, len(images), rows):
        part = slice(first, first + rows)
        model.run({name: images[part]}, out={"output_0": logits[part]})
    seconds = time.perf_counter() - start
    print(f"batch {rows}: {len(images) / seconds:.0f} images per second")

expected = np.load(folder / "outputs.npz")["output_0"]
print(f"largest difference from TensorFlow: {np.abs(logits - expected).max() / np.abs(expected).max():.0e} of the scale")
