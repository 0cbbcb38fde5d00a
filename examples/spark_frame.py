"""spark_frame.py FOLDER: classifies digits in a Spark data frame, on this machine unless spark-submit says otherwise."""

import pathlib
import sys

import numpy as np
import tenon.spark
import tqdm
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

folder = pathlib.Path(sys.argv[1]).resolve()
samples = np.load(folder / "inputs.npz")["image"]
COPIES = 20

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
rows = [(pixels.ravel().tolist(),) for pixels in samples]
images = spark.createDataFrame(rows, "pixels array<float>").crossJoin(spark.range(COPIES)).repartition(4)
logits = tenon.spark.predict_udf(str(folder / "saved_model"), batch_size=64)

frame = images.select(logits("pixels").alias("logits")).select(
    F.expr("array_position(logits, array_max(logits)) - 1").alias("digit"))
counts = np.zeros(10, int)
with tqdm.tqdm(total=COPIES * len(samples), unit="images") as bar:
    for row in frame.toLocalIterator():
        counts[int(row.digit)] += 1
        bar.update()
print("images of each digit:", counts.tolist())
spark.stop()
