"""Pages of `tenon explore` in headless Chromium."""

from __future__ import annotations

import functools
import pathlib
import shutil
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# The first two are Debian's.
PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
SIZE = {"width": 1280, "height": 800}


def program() -> str:
  for name in PROGRAMS:
    if found := shutil.which(name):
      return found
  raise SystemExit("no Chromium; install the packages in tools/explorer/packages.txt")


class Page:
  """An open page, with what its tests ask for."""

  def __init__(self, page: Any):
    self.page = page
    self.problems: list[str] = []
    page.on("pageerror", lambda e: self.problems.append(str(e)))
    page.on("console", lambda m: m.type in ("error", "warning") and self.problems.append(m.text))
    page.on("dialog", lambda d: (self.problems.append(f"dialog {d.message}"), d.dismiss()))
    page.on("request", lambda r: self._request(r.url))

  def _request(self, url: str) -> None:
    if not url.startswith(("file:", "blob:", "data:")):
      self.problems.append(f"request of {url}")

  def go(self, file: pathlib.Path, fragment: str = "") -> "Page":
    self.page.goto("about:blank")
    self.page.goto(file.resolve().as_uri() + fragment)
    self.await_element("html[data-ready]")
    return self

  def await_element(self, selector: str) -> None:
    """Waits for an element, which may be out of sight.

    Playwright's wait_for_function is of no use here: when its first evaluation is false, it evaluates a string within
    the page, and the page's Content Security Policy forbids that.
    """
    self.page.wait_for_selector(selector, state="attached")

  def js(self, expression: str, argument: Any = None) -> Any:
    return self.page.evaluate(expression, argument)

  def press(self, *keys: str) -> None:
    for key in keys:
      self.page.keyboard.press(key)

  def view(self, name: str) -> None:
    self.page.click(f"[data-view={name}]")

  def panel(self) -> str:
    return self.page.inner_text("#panel")

  def count(self) -> int:
    """How many nodes the filter lets through."""
    return int(self.page.inner_text("#filter-count").split()[0])

  def boxes(self, pane: int = 0) -> list[dict[str, Any]]:
    return self.js("i => explorer.visible[i].pane.scene.boxes.map(({key, fate, dim, kind, mark, collapsed}) => "
                   "({key, fate, dim, kind, mark, collapsed}))", pane)

  def select_filter(self, kind: str, value: str | None = None) -> None:
    self.page.select_option("#filter", kind)
    if value is not None:
      self.page.select_option("#filter-value", value)

  def point(self, pane: int, node: int) -> tuple[float, float]:
    """Where the window shows a node, brought into view first."""
    return tuple(self.js("""([i, id]) => {
      const {pane} = explorer.visible[i];
      const box = pane.scene.boxes[pane.scene.index.get(id)];
      pane.reveal(pane.scene.index.get(id));
      const at = pane.canvas.getBoundingClientRect(), {x, y, scale} = pane.view;
      return [at.left + (box.x + box.w / 2 - x) * scale, at.top + (box.y + box.h / 2 - y) * scale];
    }""", [pane, node]))

  def accessibility(self) -> list[str]:
    found = Axe().run(self.page).response["violations"]
    return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found]


class Browser:
  """Closes with the tests."""

  def __init__(self):
    self.driver = sync_playwright().start()
    self.chromium = self.driver.chromium.launch(executable_path=program(), args=["--no-sandbox"])

  def page(self, **options: Any) -> Page:
    context = self.chromium.new_context(**{"viewport": SIZE, "accept_downloads": True, **options})
    return Page(context.new_page())

  def close(self) -> None:
    self.chromium.close()
    self.driver.stop()


@functools.cache
def browser() -> Browser:
  return Browser()
