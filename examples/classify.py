"""classify.py FOLDER: classifies images, and counts how many are right.

FOLDER has a model and samples: tests/models/digits, for one.
"""

import pathlib
import sys

import numpy as np
import tenon

folder = pathlib.Path(sys.argv[1])
images = np.load(folder / "inputs.npz")["image"]  # float32 [360, 8, 8, 1]
labels = np.load(folder / "labels.npz")["labels"]

with tenon.load(folder / "saved_model") as model:
    print(model)
    # By name, by position or as a dict. Arrays of the input's dtype are not copied.
    logits = model(image=images)["output_0"]

classes = logits.argmax(axis=1)
for image, found in zip(images[:3], classes):
    print("\n".join("".join(" .:-=+*#%@"[int(9 * ink)] * 2 for ink in row) for row in image[..., 0]))
    print(f"reads as {found}")
print(f"{(classes == labels).sum()} of {len(labels)} are right")
