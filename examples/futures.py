"""futures.py FOLDER: runs on other threads, as futures, with asyncio, as a stream, and with a deadline."""

import asyncio
import pathlib
import sys

import numpy as np
import tenon

folder = pathlib.Path(sys.argv[1])
images = np.load(folder / "inputs.npz")["image"]
feeds = [{"image": images[i:i + 1]} for i in range(16)]
model = tenon.load(folder / "saved_model", threads=1)  # per run, since several run at once


def digit(result: dict[str, np.ndarray]) -> int:
    return int(result["output_0"].argmax())


futures = [model.submit(feed) for feed in feeds]  # concurrent.futures.Future
print("futures:", [digit(future.result()) for future in futures])


async def serve() -> list[int]:
    results = await asyncio.gather(*(model.run_async(feed) for feed in feeds))
    return [digit(result) for result in results]


print("asyncio:", asyncio.run(serve()))
# In order, with at most four runs at a time; `feeds` may be an endless generator.
print("stream: ", [digit(result) for result in model.map(feeds, in_flight=4)])

try:
    model.run({"image": images}, timeout=1e-9)
except tenon.DeadlineExceededError as error:  # a TimeoutError
    print("too late:", error)
