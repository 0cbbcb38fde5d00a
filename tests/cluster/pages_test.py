"""Runs the Python blocks of RAY.md, SPARK.md and SCALE.md, each page as one program, and the programs of examples/ that
need a cluster's packages."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import fixtures
import pyarrow.parquet as pq

PRELUDES = {
    "RAY": "import ray\nray.init(\"local\", num_cpus=3, include_dashboard=False, object_store_memory=200_000_000, log_to_driver=False)\n",
    "SPARK": "from pyspark.sql import SparkSession\n"
             'spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()\n',
    "SCALE": "",
}
DIGITS = fixtures.ROOT / "tests" / "models" / "digits"


class ProgramCase(fixtures.FolderCase):

  def setUp(self) -> None:
    pq.write_table(fixtures.rows(200), self.folder / "rows.parquet")
    from PIL import Image
    Image.new("L", (8, 8), 128).save(self.folder / "photo.png")

  def run_program(self, *command: object) -> str:
    done = subprocess.run([sys.executable, *map(str, command)], cwd=self.folder, capture_output=True, text=True,
                          check=False, timeout=400, env={**os.environ, "TENON_CACHE_DIR": self.cache})
    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
    return done.stdout


class PagesTest(ProgramCase):

  def check_page(self, name: str) -> str:
    text = (fixtures.ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    self.assertTrue(blocks)
    program = PRELUDES[name] + "".join(blocks)
    for path, model in (("/models/my_model", fixtures.MLP), ("/models/digits", DIGITS / "saved_model")):
      program = program.replace(path, str(model))
    file = self.folder / f"{name}.py"
    file.write_text("if __name__ == '__main__':\n" + "".join(f"  {line}\n" for line in program.splitlines()))
    return self.run_program(file)

  def scored(self, folder: str) -> int:
    return sum(pq.read_metadata(path).num_rows for path in (self.folder / folder).glob("*.parquet"))

  def test_ray(self) -> None:
    self.assertIn("200", self.check_page("RAY"))
    self.assertEqual(self.scored("scores"), 200)

  def test_spark(self) -> None:
    shutil.rmtree(self.folder / "scores", ignore_errors=True)
    self.assertIn("0 rows have no score", self.check_page("SPARK"))
    self.assertEqual(self.scored("scores"), 200)
    self.assertEqual(self.scored("scores_by_batch"), 200)

  def test_scale(self) -> None:
    self.check_page("SCALE")


class ExamplesTest(ProgramCase):

  def check(self, name: str, sizes: str) -> None:
    shown = self.run_program(fixtures.ROOT / "examples" / name, DIGITS, sizes, "1,2", "--picture", "throughput.png")
    found = re.findall(r"each digit: \[(.*)\]; (\d) \w+: (\d+) images/s", shown)
    self.assertEqual([size for _, size, _ in found], ["1", "2"])
    for text, _, rate in found:
      counts = [int(n) for n in text.split(",")]
      self.assertEqual(sum(counts), 20 * 360)
      self.assertTrue(all(500 < n < 900 for n in counts), counts)
      self.assertGreater(int(rate), 0)
    from PIL import Image
    with Image.open(self.folder / "throughput.png") as picture:
      self.assertGreater(picture.width, 300)

  def test_ray(self) -> None:
    self.check("ray_data.py", "--actors")

  def test_spark(self) -> None:
    self.check("spark_frame.py", "--workers")

  @unittest.skipUnless(fixtures.ALL, "starts a second cluster")
  def test_ray_serve(self) -> None:
    server = pathlib.Path(os.environ["TENON_TEST_BUILD"]) / "bin" / "tensorflow_model_server"
    if not server.exists():
      self.skipTest("the server is not built")
    (self.folder / "digits").mkdir()
    shutil.copytree(DIGITS / "saved_model", self.folder / "digits" / "1")
    shown = self.run_program(fixtures.ROOT / "examples" / "ray_serve.py", server, self.folder / "digits")
    self.assertIn("2 replicas answered", shown)


if __name__ == "__main__":
  unittest.main()
