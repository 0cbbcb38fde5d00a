"""Classifies digits in a Spark data frame, on this machine with one or more numbers of worker processes, and draws the
throughput of each. With spark-submit, the number is the cluster's: leave out --workers.

    spark_frame.py FOLDER [--workers 1,2] [--copies 20] [--picture throughput.png]
"""

import argparse
import concurrent.futures
import os
import pathlib
import time

import numpy as np
import tenon.spark
import tqdm
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def counted(frame: DataFrame) -> np.ndarray:
    """How many rows have each digit, with a bar that counts Spark's tasks."""
    tracker = frame.sparkSession.sparkContext.statusTracker()
    counting = frame.groupBy("digit").count()
    stages: dict[int, tuple[int, int]] = {}  # tasks done and tasks in all
    with concurrent.futures.ThreadPoolExecutor(1) as pool, tqdm.tqdm(unit="tasks") as bar:
        job = pool.submit(counting.collect)
        while not job.done():
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info:
                    stages[stage] = info.numCompletedTasks, info.numTasks
            bar.n, bar.total = (sum(part) for part in zip((0, 0), *stages.values()))
            bar.refresh()
            time.sleep(0.1)
    counts = np.zeros(10, int)
    for row in job.result():
        counts[int(row["digit"])] = row["count"]
    return counts


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path, help="has saved_model and inputs.npz")
parser.add_argument("--workers", default="2", help="numbers of worker processes, separated by commas")
parser.add_argument("--copies", type=int, default=20, help="how often the images are read")
parser.add_argument("--picture", help="a file for throughput against workers")
args = parser.parse_args()
folder = args.folder.resolve()
samples = np.load(folder / "inputs.npz")["image"]
numbers = [int(number) for number in args.workers.split(",")]

rates = []
for number in numbers:
    spark = (SparkSession.builder.master(f"local[{number}]").config("spark.ui.enabled", "false")
             .config("spark.sql.shuffle.partitions", "2").getOrCreate())
    rows = [(pixels.ravel().tolist(),) for pixels in samples]
    images = spark.createDataFrame(rows, "pixels array<float>").crossJoin(spark.range(args.copies)).repartition(8).cache()
    logits = tenon.spark.predict_udf(str(folder / "saved_model"), batch_size=64)
    digits = images.select(logits("pixels").alias("logits")).select(
        F.expr("array_position(logits, array_max(logits)) - 1").alias("digit"))
    counted(digits)  # reads the images, loads the model
    begin = time.monotonic()
    counts = counted(digits)
    rates.append(counts.sum() / (time.monotonic() - begin))
    print(f"images of each digit: {counts.tolist()}; {number} workers: {rates[-1]:.0f} images/s")
    spark.stop()

if args.picture:
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.plot(numbers, rates, "o-")
    pyplot.xticks(numbers)
    pyplot.ylim(bottom=0)
    pyplot.xlabel("worker processes")
    pyplot.ylabel("images per second")
    pyplot.title(f"Spark on {os.cpu_count()} CPUs")
    pyplot.savefig(args.picture)
