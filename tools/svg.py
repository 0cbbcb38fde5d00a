"""Drawings as SVG text, for pages."""

from __future__ import annotations

from xml.sax.saxutils import escape


class Svg:
  """Lines, boxes and text on a white background."""

  def __init__(self, width: int, height: int, label: str):
    self._parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(label)}" font-family="sans-serif" '
        f'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

  def box(self, x: float, y: float, w: float, h: float, fill: str) -> None:
    self._parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" '
                       f'height="{h:.1f}" fill="{fill}"/>')

  def text(self, x: float, y: float, text: str, anchor: str = "start",
           fill: str = "#222222") -> None:
    self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" '
                       f'text-anchor="{anchor}">{escape(text)}</text>')

  def upright(self, x: float, y: float, text: str) -> None:
    """Text that reads from the bottom to the top."""
    self._parts.append(f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)" fill="#222222">'
                       f'{escape(text)}</text>')

  def line(self, points: list[tuple[float, float]], color: str,
           width: float = 1) -> None:
    text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    self._parts.append(f'<polyline points="{text}" fill="none" '
                       f'stroke="{color}" stroke-width="{width}"/>')

  def dot(self, x: float, y: float, color: str) -> None:
    self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" '
                       f'fill="{color}"/>')

  def finish(self) -> str:
    return "\n".join([*self._parts, "</svg>"]) + "\n"
