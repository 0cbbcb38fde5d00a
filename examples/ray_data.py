"""Classifies digits with Ray Data, on the cluster that RAY_ADDRESS names or one on this machine, with one or more sizes
of the pool of actors, and draws the throughput of each.

    ray_data.py FOLDER [--actors 1,2] [--copies 20] [--picture throughput.png]
"""

import argparse
import os
import pathlib
import time

import numpy as np
import ray
import tenon.ray
import tqdm

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path, help="has saved_model and inputs.npz")
parser.add_argument("--actors", default="2", help="sizes of the pool, separated by commas")
parser.add_argument("--copies", type=int, default=20, help="how often the images are read")
parser.add_argument("--picture", help="a file for throughput against actors")
args = parser.parse_args()
folder = args.folder.resolve()
samples = np.load(folder / "inputs.npz")["image"]
sizes = [int(size) for size in args.actors.split(",")]

if "RAY_ADDRESS" in os.environ:
    ray.init(log_to_driver=False)
else:
    ray.init("local", num_cpus=max(sizes) + 1, object_store_memory=200_000_000, include_dashboard=False, log_to_driver=False)
ray.data.DataContext.get_current().enable_progress_bars = False  # this program has its own
rates = []
for size in sizes:
    images = ray.data.from_numpy([samples] * args.copies).rename_columns({"data": "pixels"})
    digits = images.map_batches(
        tenon.ray.Predictor,
        fn_constructor_kwargs=dict(model=str(folder / "saved_model"), columns={"pixels": "image"},
                                   outputs={"output_0": "logits"}, keep=[]),
        batch_size=64, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=size))
    counts = np.zeros(10, int)
    begin, first = 0.0, 0  # the first result is there: the model is loaded
    with tqdm.tqdm(total=args.copies * len(samples), unit="images", desc=f"{size} actors") as bar:
        for batch in digits.iter_batches(batch_size=None):
            found = np.stack(batch["logits"]).argmax(axis=1)
            counts += np.bincount(found, minlength=10)
            bar.update(len(found))
            if not begin:
                begin, first = time.monotonic(), len(found)
    rates.append((counts.sum() - first) / (time.monotonic() - begin))
    print(f"images of each digit: {counts.tolist()}; {size} actors: {rates[-1]:.0f} images/s")
ray.shutdown()

if args.picture:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.plot(sizes, rates, "o-")
    pyplot.xticks(sizes)
    pyplot.ylim(bottom=0)
    pyplot.xlabel("actors of one CPU")
    pyplot.ylabel("images per second")
    pyplot.title(f"Ray Data on {os.cpu_count()} CPUs")
    pyplot.savefig(args.picture)
