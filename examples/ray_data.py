"""ray_data.py FOLDER: classifies digits with Ray Data, on the cluster that RAY_ADDRESS names or one on this machine."""

import os
import pathlib
import sys

import numpy as np
import ray
import tenon.ray
import tqdm

folder = pathlib.Path(sys.argv[1]).resolve()
samples = np.load(folder / "inputs.npz")["image"]
COPIES = 20

if "RAY_ADDRESS" in os.environ:
    ray.init(log_to_driver=False)
else:
    ray.init("local", num_cpus=3, object_store_memory=200_000_000, include_dashboard=False, log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False  # this program has its own
images = ray.data.from_numpy([samples] * COPIES).rename_columns({"data": "pixels"})
digits = images.map_batches(
    tenon.ray.Predictor,
    fn_constructor_kwargs=dict(model=str(folder / "saved_model"), columns={"pixels": "image"},
                               outputs={"output_0": "logits"}, keep=[]),
    batch_size=64, num_cpus=1, compute=ray.data.ActorPoolStrategy(min_size=1, max_size=2))

counts = np.zeros(10, int)
with tqdm.tqdm(total=COPIES * len(samples), unit="images") as bar:
    for batch in digits.iter_batches(batch_size=None):
        found = np.stack(batch["logits"]).argmax(axis=1)
        counts += np.bincount(found, minlength=10)
        bar.update(len(found))
print("images of each digit:", counts.tolist())
ray.shutdown()
