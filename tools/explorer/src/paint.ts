// Draws a scene on a canvas: only what is in view, and only as fine as can be seen.
import { HEIGHT } from "./place";
import type { Look, Scene } from "./scene";

export interface View {
  x: number;  // of the scene, at the left upper corner
  y: number;
  scale: number;
}

export interface Palette {
  back: string;
  ink: string;
  faint: string;
  edge: string;
  control: string;
  scope: string;
  scopeLine: string;
  select: string;
  light: string;
  added: string;
  removed: string;
  changed: string;
  kinds: Record<string, string>;
}

export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    back: of("canvas"), ink: of("ink"), faint: of("faint"), edge: of("edge"),
    control: of("control"), scope: of("scope"), scopeLine: of("scope-line"), select: of("select"),
    light: of("light"), added: of("added"), removed: of("removed"), changed: of("changed"),
    kinds: {
      accelerated: of("accelerated"), reference: of("reference"), planning: of("planning"),
      input: of("input"), constant: of("constant"), gone: of("planning"), scope: of("scope"),
    },
  };
}

const FONT = "system-ui, sans-serif";
const DIM = 0.38;

/** Of an edge: down, or around what is in between. */
export function curve(x0: number, y0: number, x1: number, y1: number): number[] {
  const dy = y1 - y0;
  if (dy < 0) return [x0, y0 + 60, x1, y1 - 60];
  const bend = Math.min(dy / 2, 80);
  // A straight line over several rows would run through boxes.
  const aside = dy > 3 * (HEIGHT + 34) && Math.abs(x1 - x0) < 160 ? 130 : 0;
  return [x0 + aside, y0 + bend, x1 + aside, y1 - bend];
}

function paintEdges(ctx: CanvasRenderingContext2D, scene: Scene, view: View, w: number, h: number,
                    colors: Palette): void {
  const { line, kind, count } = scene.edges;
  const left = view.x - 140, up = view.y, right = view.x + w / view.scale + 140,
        down = view.y + h / view.scale;
  const fine = view.scale > 0.25;
  const shortest = 2 / view.scale;
  for (const which of [0, 1, 2]) {
    ctx.beginPath();
    for (let i = 0; i < count; ++i) {
      if (kind[i] !== which) continue;
      const x0 = line[4 * i], y0 = line[4 * i + 1], x1 = line[4 * i + 2], y1 = line[4 * i + 3];
      if ((x0 < left && x1 < left) || (x0 > right && x1 > right) || (y0 < up - 60 && y1 < up - 60) ||
          (y0 > down + 60 && y1 > down + 60)) {
        continue;
      }
      if (fine) {
        const c = curve(x0, y0, x1, y1);
        ctx.moveTo(x0, y0);
        ctx.bezierCurveTo(c[0], c[1], c[2], c[3], x1, y1);
      } else if (Math.abs(x1 - x0) + Math.abs(y1 - y0) > shortest) {
        ctx.moveTo(x0, y0);
        ctx.lineTo(x1, y1);
      }
    }
    ctx.strokeStyle = which === 2 ? colors.removed : which === 1 ? colors.control : colors.edge;
    ctx.lineWidth = fine ? 1.2 : 0.7 / view.scale;
    ctx.globalAlpha = which === 2 ? 0.5 : 1;
    ctx.setLineDash(which === 0 || !fine ? [] : [4, 4]);
    ctx.stroke();
    ctx.globalAlpha = 1;
    if (fine) paintHeads(ctx, scene, which, left, up, right, down);
  }
  ctx.setLineDash([]);
}

function paintHeads(ctx: CanvasRenderingContext2D, scene: Scene, which: number, left: number,
                    up: number, right: number, down: number): void {
  const { line, kind, count } = scene.edges;
  ctx.fillStyle = ctx.strokeStyle;
  ctx.beginPath();
  for (let i = 0; i < count; ++i) {
    const x = line[4 * i + 2], y = line[4 * i + 3];
    if (kind[i] !== which || x < left || x > right || y < up || y > down + 10) continue;
    ctx.moveTo(x, y);
    ctx.lineTo(x - 3.5, y - 7);
    ctx.lineTo(x + 3.5, y - 7);
  }
  ctx.fill();
}

function outline(look: Look, colors: Palette): string | null {
  if (look.fate === "added") return colors.added;
  if (look.fate === "removed") return colors.removed;
  if (look.fate === "changed") return colors.changed;
  return look.mark ? colors.changed : null;
}

function paintScope(ctx: CanvasRenderingContext2D, look: Look, colors: Palette, fine: boolean,
                    scale: number): void {
  ctx.globalAlpha = 1;
  ctx.fillStyle = colors.scope;
  ctx.fillRect(look.x, look.y, look.w, look.h);
  ctx.strokeStyle = colors.scopeLine;
  ctx.lineWidth = Math.max(1, 0.5 / scale);
  ctx.strokeRect(look.x, look.y, look.w, look.h);
  if (!fine) return;
  ctx.fillStyle = colors.ink;
  ctx.font = `600 12px ${FONT}`;
  ctx.textAlign = "left";
  ctx.fillText(`− ${look.title}`, look.x + 8, look.y + 17, look.w - 16);
}

function paintBox(ctx: CanvasRenderingContext2D, look: Look, colors: Palette, fine: boolean): void {
  const gone = look.fate === "removed";
  ctx.globalAlpha = look.dim ? DIM : gone ? 0.55 : 1;
  ctx.fillStyle = gone ? colors.back : look.fill ?? colors.kinds[look.kind];
  ctx.fillRect(look.x, look.y, look.w, look.h);
  const line = outline(look, colors);
  if (line || fine) {
    ctx.strokeStyle = line ?? colors.scopeLine;
    ctx.lineWidth = line ? 3 : 1;
    ctx.setLineDash(gone ? [6, 4] : []);
    ctx.strokeRect(look.x, look.y, look.w, look.h);
    if (gone) ctx.setLineDash([]);
  }
  if (look.collapsed) {  // a pile
    ctx.strokeStyle = colors.scopeLine;
    ctx.lineWidth = 1;
    ctx.strokeRect(look.x + 3, look.y + 3, look.w, look.h);
  }
  if (!fine) return;
  ctx.fillStyle = gone ? colors.ink : look.ink ?? colors.ink;
  ctx.textAlign = "center";
  const center = look.x + look.w / 2;
  ctx.font = `600 12.5px ${FONT}`;
  const sign = look.fate === "added" ? "+ " : gone ? "− " : look.collapsed ? "▸ " : "";
  ctx.fillText(sign + look.title, center, look.y + 16, look.w - 10);
  ctx.font = `10.5px ${FONT}`;
  ctx.fillText(look.mark || look.detail, center, look.y + 31, look.w - 10);
}

export function paintScene(ctx: CanvasRenderingContext2D, scene: Scene, view: View, w: number,
                           h: number, colors: Palette): void {
  ctx.save();
  ctx.fillStyle = colors.back;
  ctx.fillRect(0, 0, w, h);
  ctx.scale(view.scale, view.scale);
  ctx.translate(-view.x, -view.y);
  ctx.direction = "ltr";
  const left = view.x, up = view.y, right = view.x + w / view.scale, down = view.y + h / view.scale;
  const fine = view.scale > 0.38;
  const seen: Look[] = [];
  for (const look of scene.boxes) {
    if (look.x > right || look.x + look.w < left || look.y > down || look.y + look.h < up) continue;
    if (look.key < 0 && !look.collapsed) paintScope(ctx, look, colors, fine, view.scale);
    else seen.push(look);
  }
  paintEdges(ctx, scene, view, w, h, colors);
  if (view.scale < 0.12 && seen.length > 2000) paintSpecks(ctx, seen, colors);
  else for (const look of seen) paintBox(ctx, look, colors, fine);
  ctx.restore();
}

/** Boxes that are a few pixels: one fill for each color. */
function paintSpecks(ctx: CanvasRenderingContext2D, seen: Look[], colors: Palette): void {
  const byColor = new Map<string, Look[]>();
  for (const look of seen) {
    const key = `${look.dim ? 1 : 0}${outline(look, colors) ?? look.fill ?? colors.kinds[look.kind]}`;
    const same = byColor.get(key);
    if (same) same.push(look);
    else byColor.set(key, [look]);
  }
  for (const [key, looks] of byColor) {
    ctx.globalAlpha = key[0] === "1" ? DIM : 1;
    ctx.fillStyle = key.slice(1);
    ctx.beginPath();
    for (const look of looks) ctx.rect(look.x, look.y, look.w, look.h);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/** Frames around boxes, over a painted scene. */
export function paintFrames(ctx: CanvasRenderingContext2D, scene: Scene, view: View,
                            boxes: Iterable<number>, color: string, width: number): void {
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = width;
  for (const i of boxes) {
    const b = scene.boxes[i];
    if (!b) continue;
    ctx.strokeRect((b.x - view.x) * view.scale - width, (b.y - view.y) * view.scale - width,
                   b.w * view.scale + 2 * width, b.h * view.scale + 2 * width);
  }
  ctx.restore();
}

/** The edges of one box, over a painted scene. */
export function paintEdgesOf(ctx: CanvasRenderingContext2D, scene: Scene, view: View, box: number,
                             color: string): void {
  ctx.save();
  ctx.scale(view.scale, view.scale);
  ctx.translate(-view.x, -view.y);
  ctx.strokeStyle = color;
  ctx.lineWidth = 2 / Math.min(1, view.scale);
  ctx.beginPath();
  const { line, from, to, count } = scene.edges;
  for (let i = 0; i < count; ++i) {
    if (from[i] !== box && to[i] !== box) continue;
    const [x0, y0, x1, y1] = line.subarray(4 * i, 4 * i + 4);
    const c = curve(x0, y0, x1, y1);
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(c[0], c[1], c[2], c[3], x1, y1);
  }
  ctx.stroke();
  ctx.restore();
}
