"""Makes the pictures of docs/EXPLORE.md from a model, such as ResNet-50: pictures.py --tenon PROGRAM MODEL [OPTION OF explore …]

They show times, so that they differ from machine to machine: look at them before you commit them.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import environments

environments.reexec("explorer")
from browser import browser

FOLDER = ROOT / "docs" / "explore"
SIZE = {"width": 1200, "height": 720}


def main():
  parser = argparse.ArgumentParser()
  parser.add_argument("--tenon", required=True)
  parser.add_argument("model")
  args, more = parser.parse_known_args()
  FOLDER.mkdir(exist_ok=True)
  with tempfile.TemporaryDirectory() as scratch:

    def page(*words, **options):
      file = pathlib.Path(scratch) / "page.html"
      subprocess.run([args.tenon, "explore", args.model, *more, *words, "--profile", "-o", file], check=True)
      return browser().page(viewport=SIZE, **options).go(file)

    def save(shown, name):
      shown.page.wait_for_timeout(300)
      shown.page.screenshot(path=FOLDER / f"{name}.png")

    one = page()
    # The fused node of the plan that takes longest.
    node = one.js("""() => {
      const {report} = explorer.models[0];
      const fused = new Map(report.final.filter(f => f.origins.length > 3).map(f => [f.id, f]));
      return report.steps.filter(s => fused.has(s.node)).sort((a, b) => b.ms - a.ms)[0].node;
    }""")
    one.page.select_option("#heat", "time")
    one.js("id => explorer.select(explorer.models[0], id, true)", node)
    save(one, "graph")
    one.page.select_option("#heat", "")
    one.js("explorer.select(explorer.models[0], null)")
    one.view("pair")
    first = one.js("explorer.models[0].report.final.find(f => f.origins.length > 3 && f.op !== 'Const').id")
    one.page.mouse.move(*one.point(1, first))
    save(one, "pair")
    one.js("id => explorer.select(explorer.models[0], id, true)", node)
    one.view("memory")
    save(one, "memory")
    two = page("--precision2", "bf16", color_scheme="dark")
    two.view("differences")
    two.page.set_viewport_size({**SIZE, "height": 480})
    save(two, "differences")


if __name__ == "__main__":
  main()
