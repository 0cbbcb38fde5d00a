// The graph as a picture in a file: SVG of all of it, PNG of all of it or of what is in view.
import { download } from "./dom";
import { curve, paintScene, Palette, View } from "./paint";
import type { Look, Scene } from "./scene";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 20;
const MOST_PIXELS = 8192;  // a side, as browsers allow

function part(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

function round(v: number): number {
  return Math.round(v * 10) / 10;
}

function box(look: Look, colors: Palette): SVGElement[] {
  const open = look.key < 0 && !look.collapsed;
  const line = look.fate ? colors[look.fate] : look.mark ? colors.changed : colors.scopeLine;
  const gone = look.fate === "removed";
  const group = part("g", { opacity: look.dim ? 0.38 : gone ? 0.55 : 1 });
  group.append(part("rect", {
    x: round(look.x), y: round(look.y), width: round(look.w), height: round(look.h),
    fill: open ? colors.scope : gone ? colors.back : look.fill ?? colors.kinds[look.kind], stroke: line,
    "stroke-width": look.fate || look.mark ? 3 : 1, ...(gone ? { "stroke-dasharray": "6 4" } : {}),
  }));
  const ink = gone ? colors.ink : look.ink ?? colors.ink;
  const text = (y: number, size: number, weight: number, what: string) =>
    group.append(part("text", {
      x: round(open ? look.x + 8 : look.x + look.w / 2), y: round(look.y + y), "font-size": size, "font-weight": weight,
      fill: open ? colors.ink : ink, "text-anchor": open ? "start" : "middle", direction: "ltr",
      ...(what.length * size * 0.55 > look.w - 10 ? { textLength: round(look.w - 10), lengthAdjust: "spacingAndGlyphs" } : {}),
    }, what));
  text(open ? 17 : 16, 12.5, 600, look.title);
  if (!open) text(31, 10.5, 400, look.mark || look.detail);
  return [group];
}

export function svgOf(scene: Scene, colors: Palette): string {
  const w = Math.ceil(scene.width + 2 * MARGIN), height = Math.ceil(scene.height + 2 * MARGIN);
  const root = part("svg", { xmlns: SVG, width: w, height, viewBox: `${-MARGIN} ${-MARGIN} ${w} ${height}`,
                             "font-family": "system-ui, sans-serif" });
  root.append(part("rect", { x: -MARGIN, y: -MARGIN, width: w, height, fill: colors.back }));
  for (const look of scene.boxes) if (look.key < 0 && !look.collapsed) root.append(...box(look, colors));
  const { line, kind, count } = scene.edges;
  for (const which of [0, 1, 2]) {
    let d = "";
    for (let i = 0; i < count; ++i) {
      if (kind[i] !== which) continue;
      const [x0, y0, x1, y1] = line.subarray(4 * i, 4 * i + 4);
      const c = curve(x0, y0, x1, y1);
      d += `M${[x0, y0].map(round)}C${[...c, x1, y1].map(round)}`;
    }
    if (d) {
      root.append(part("path", { d, fill: "none", stroke: [colors.edge, colors.control, colors.removed][which],
                                 "stroke-width": 1.2, ...(which ? { "stroke-dasharray": "4 4" } : {}) }));
    }
  }
  for (const look of scene.boxes) if (look.key >= 0 || look.collapsed) root.append(...box(look, colors));
  return new XMLSerializer().serializeToString(root);
}

export function saveSvg(scene: Scene, colors: Palette, title: string): void {
  download(new Blob([svgOf(scene, colors)], { type: "image/svg+xml" }), `${title}.svg`);
}

export function savePng(scene: Scene, colors: Palette, title: string): void {
  const scale = Math.min(2, MOST_PIXELS / (scene.width + 2 * MARGIN), MOST_PIXELS / (scene.height + 2 * MARGIN));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((scene.width + 2 * MARGIN) * scale);
  canvas.height = Math.ceil((scene.height + 2 * MARGIN) * scale);
  const view: View = { x: -MARGIN, y: -MARGIN, scale };
  paintScene(canvas.getContext("2d")!, scene, view, canvas.width, canvas.height, colors);
  canvas.toBlob((blob) => blob && download(blob, `${title}.png`), "image/png");
}
