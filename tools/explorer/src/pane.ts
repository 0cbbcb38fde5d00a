// One graph on a canvas: panning, zooming, pointing, keys, an overview map.
import { h, shown } from "./dom";
import { Palette, paintEdgesOf, paintFrames, paintScene, View } from "./paint";
import { boxAt, boxOf, Scene } from "./scene";

export interface PaneEvents {
  select(pane: Pane, key: number | null): void;  // of a box; null: nothing
  open(pane: Pane, key: number): void;           // a scope: collapsed or not
  hover(pane: Pane, key: number | null): void;
  moved(pane: Pane): void;
}

const LEAST = 0.002, MOST = 3, READABLE = 0.55;
const MAP_W = 180, MAP_H = 130;

export class Pane {
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly heading = h("div", { class: "pane-head" });
  private readonly map: HTMLCanvasElement;
  private readonly mapImage = document.createElement("canvas");
  scene: Scene | null = null;
  view: View = { x: 0, y: 0, scale: 1 };
  selected: number[] = [];  // ids
  hovered = -1;             // box
  lit: number[] = [];       // ids that correspond to what is pointed at elsewhere
  colors!: Palette;
  frames = 0;               // painted, for measurements
  private pending = false;
  private fresh = false;

  constructor(label: string, private readonly events: PaneEvents) {
    this.canvas = h("canvas", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "graph",
      "aria-label": `${label}: arrow keys go to neighbors, Enter opens a scope, plus and minus zoom, ` +
                    "0 shows all, Shift with arrows pans",
    });
    this.map = h("canvas", { class: "minimap", "aria-hidden": "true", width: MAP_W, height: MAP_H });
    this.root = h("section", { class: "pane", "aria-label": label }, this.heading,
                  h("div", { class: "pane-body" }, this.canvas, this.map));
    this.pointers();
    this.canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.repaint()).observe(this.canvas);
  }

  show(scene: Scene): void {
    const first = this.scene === null;
    this.scene = scene;
    this.hovered = -1;
    this.fresh = true;
    if (first) this.fit();
    this.repaint();
  }

  get width(): number {
    return this.canvas.clientWidth || 800;
  }

  get height(): number {
    return this.canvas.clientHeight || 600;
  }

  /** Shows all; or the beginning, if all would be too small to read. */
  fit(all = false): void {
    const s = this.scene;
    if (!s) return;
    const both = Math.min((this.width - 40) / s.width, (this.height - 40) / s.height);
    const scale = Math.max(all ? LEAST : READABLE, Math.min(1, both));
    const middle = s.height / 2 - this.height / 2 / scale;
    let center = s.width / 2;
    if (scale > both) {  // begins at the first node
      const first = s.boxes.reduce((a, b) => (b.y < a.y || (b.y === a.y && b.x < a.x) ? b : a), s.boxes[0]);
      if (first && s.width * scale > this.width) center = first.x + first.w / 2;
    }
    this.view = { scale, x: center - this.width / 2 / scale, y: scale > both ? Math.min(-20 / scale, middle) : middle };
    this.changed();
  }

  /** Brings a box into view; keeps the scale if it can be read. */
  reveal(box: number): void {
    const b = this.scene?.boxes[box];
    if (!b) return;
    const open = b.key < 0 && !b.collapsed;
    const h = open ? Math.min(b.h, 60) : b.h;
    const x = (b.x - this.view.x) * this.view.scale, y = (b.y - this.view.y) * this.view.scale;
    const right = x + b.w * this.view.scale, low = y + h * this.view.scale;
    const inside = x > 20 && y > 20 && right < this.width - 20 && low < this.height - 20;
    const covered = right > this.width - MAP_W - 20 && low > this.height - MAP_H - 20;
    if (inside && !covered && this.view.scale > 0.38) return;
    const scale = Math.max(this.view.scale, 0.7);
    this.view = { scale, x: b.x + b.w / 2 - this.width / 2 / scale, y: b.y + h / 2 - this.height / 2 / scale };
    this.changed();
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const scale = Math.max(LEAST, Math.min(MOST, this.view.scale * factor));
    const sx = this.view.x + x / this.view.scale, sy = this.view.y + y / this.view.scale;
    this.view = { scale, x: sx - x / scale, y: sy - y / scale };
    this.changed();
  }

  pan(dx: number, dy: number): void {
    this.view = { ...this.view, x: this.view.x - dx / this.view.scale, y: this.view.y - dy / this.view.scale };
    this.changed();
  }

  private changed(): void {
    this.events.moved(this);
    this.repaint();
  }

  repaint(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  private paint(): void {
    if (!this.scene || !this.colors || !this.canvas.isConnected) return;
    const ratio = window.devicePixelRatio || 1;
    const w = Math.round(this.width * ratio), hh = Math.round(this.height * ratio);
    if (this.canvas.width !== w || this.canvas.height !== hh) {
      this.canvas.width = w;
      this.canvas.height = hh;
    }
    const ctx = this.canvas.getContext("2d")!;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintScene(ctx, this.scene, this.view, this.width, this.height, this.colors);
    const chosen = this.boxesOf(this.selected);
    for (const box of chosen) paintEdgesOf(ctx, this.scene, this.view, box, this.colors.select);
    paintFrames(ctx, this.scene, this.view, this.boxesOf(this.lit), this.colors.light, 3);
    if (this.hovered >= 0) {
      paintFrames(ctx, this.scene, this.view, [this.hovered], this.colors.light, 2);
    }
    paintFrames(ctx, this.scene, this.view, chosen, this.colors.select, 3);
    this.paintMap();
    ++this.frames;
  }

  private boxesOf(ids: number[]): Set<number> {
    const boxes = new Set<number>();
    for (const id of ids) {
      const box = boxOf(this.scene!, id);
      if (box >= 0) boxes.add(box);
    }
    return boxes;
  }

  private mapScale(): number {
    const s = this.scene!;
    return Math.min(MAP_W / s.width, MAP_H / s.height);
  }

  private paintMap(): void {
    const s = this.scene!;
    const scale = this.mapScale();
    if (this.fresh) {  // the picture changes with the scene only
      const w = Math.max(30, Math.round(s.width * scale)), height = Math.max(20, Math.round(s.height * scale));
      this.mapImage.width = this.map.width = w;
      this.mapImage.height = this.map.height = height;
      const ctx = this.mapImage.getContext("2d")!;
      ctx.fillStyle = this.colors.back;
      ctx.fillRect(0, 0, w, height);
      for (const b of s.boxes) {
        ctx.globalAlpha = b.dim ? 0.2 : b.kind === "scope" && !b.collapsed ? 0.3 : 1;
        ctx.fillStyle = b.fill ?? (b.kind === "scope" ? this.colors.scopeLine : this.colors.kinds[b.kind]);
        ctx.fillRect(b.x * scale, b.y * scale, Math.max(1, b.w * scale), Math.max(1, b.h * scale));
      }
      this.fresh = false;
    }
    const ctx = this.map.getContext("2d")!;
    ctx.clearRect(0, 0, this.map.width, this.map.height);
    ctx.drawImage(this.mapImage, 0, 0);
    ctx.strokeStyle = this.colors.select;
    ctx.lineWidth = 1.5;
    const within = (v: number, most: number) => Math.max(1, Math.min(most - 1, v * scale));
    const left = within(this.view.x, this.map.width), up = within(this.view.y, this.map.height);
    const right = within(this.view.x + this.width / this.view.scale, this.map.width);
    const low = within(this.view.y + this.height / this.view.scale, this.map.height);
    ctx.strokeRect(left, up, right - left, low - up);
  }

  recolor(colors: Palette): void {
    this.colors = colors;
    this.fresh = true;
    this.repaint();
  }

  private at(e: MouseEvent): number {
    if (!this.scene) return -1;
    const r = this.canvas.getBoundingClientRect();
    return boxAt(this.scene, this.view.x + (e.clientX - r.left) / this.view.scale,
                 this.view.y + (e.clientY - r.top) / this.view.scale);
  }

  private pointers(): void {
    const down = new Map<number, { x: number; y: number }>();
    let moved = 0;
    const canvas = this.canvas;
    canvas.addEventListener("pointerdown", (e) => {
      canvas.setPointerCapture(e.pointerId);
      down.set(e.pointerId, { x: e.clientX, y: e.clientY });
      moved = 0;
    });
    canvas.addEventListener("pointermove", (e) => {
      const before = down.get(e.pointerId);
      if (!before) {
        this.point(this.at(e));
        return;
      }
      const now = { x: e.clientX, y: e.clientY };
      const other = [...down].find(([id]) => id !== e.pointerId)?.[1];
      if (other) {  // two fingers
        const d0 = Math.hypot(before.x - other.x, before.y - other.y);
        const d1 = Math.hypot(now.x - other.x, now.y - other.y);
        const r = canvas.getBoundingClientRect();
        if (d0 > 0) this.zoom(d1 / d0, (now.x + other.x) / 2 - r.left, (now.y + other.y) / 2 - r.top);
      } else {
        this.pan(now.x - before.x, now.y - before.y);
      }
      moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
      down.set(e.pointerId, now);
    });
    const up = (e: PointerEvent) => {
      if (down.delete(e.pointerId) && e.type === "pointerup" && moved < 4) {
        const box = this.at(e);
        this.events.select(this, box < 0 ? null : this.scene!.boxes[box].key);
      }
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => this.point(-1));
    canvas.addEventListener("dblclick", (e) => {
      const box = this.at(e);
      const key = box < 0 ? 0 : this.scene!.boxes[box].key;
      if (key < 0) this.events.open(this, key);
    });
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      const r = canvas.getBoundingClientRect();
      if (e.shiftKey) this.pan(-e.deltaY, 0);
      else this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.03 : 0.0015)), e.clientX - r.left, e.clientY - r.top);
    }, { passive: false });
    const jump = (e: PointerEvent) => {
      if (!this.scene || !(e.buttons & 1)) return;
      const r = this.map.getBoundingClientRect(), scale = this.mapScale();
      this.view = { ...this.view, x: (e.clientX - r.left) / scale - this.width / 2 / this.view.scale,
                    y: (e.clientY - r.top) / scale - this.height / 2 / this.view.scale };
      this.changed();
    };
    this.map.addEventListener("pointerdown", jump);
    this.map.addEventListener("pointermove", jump);
  }

  private point(box: number): void {
    if (box === this.hovered) return;
    this.hovered = box;
    const look = box < 0 ? null : this.scene!.boxes[box];
    this.canvas.title = look ? `${look.title}\n${look.detail}${look.mark ? `\n${look.mark}` : ""}` : "";
    this.events.hover(this, look ? look.key : null);
    this.repaint();
  }

  private key(e: KeyboardEvent): void {
    if (e.ctrlKey || e.metaKey || e.altKey || !this.scene) return;
    const step = 80;
    const pans: Record<string, [number, number]> = { ArrowLeft: [step, 0], ArrowRight: [-step, 0],
                                                     ArrowUp: [0, step], ArrowDown: [0, -step] };
    const box = this.selected.length > 0 ? boxOf(this.scene, this.selected[0]) : -1;
    if (e.key in pans && e.shiftKey) this.pan(...pans[e.key]);
    else if (e.key in pans) this.walk(box, e.key);
    else if (e.key === "+" || e.key === "=") this.zoom(1.25);
    else if (e.key === "-") this.zoom(0.8);
    else if (e.key === "0") this.fit(true);
    else if (e.key === "Home") this.fit();
    else if (e.key === "Escape") this.events.select(this, null);
    else if (e.key === "Enter" && box >= 0) {
      const b = this.scene.boxes[box];
      const key = b.key < 0 ? b.key : b.parent >= 0 ? -1 - b.parent : 0;
      if (key < 0) this.events.open(this, key);
    } else return;
    e.preventDefault();
  }

  /** Up and down along edges, left and right within the row. */
  private walk(box: number, key: string): void {
    const { boxes, edges } = this.scene!;
    if (box < 0) {
      const first = boxes.findIndex((b) => (b.key >= 0 || b.collapsed) && !b.dim);
      if (first >= 0) this.go(first);
      return;
    }
    const here = boxes[box];
    const center = here.x + here.w / 2;
    let best = -1, least = Infinity;
    const consider = (i: number, cost: number) => {
      if (cost < least) [best, least] = [i, cost];
    };
    if (key === "ArrowUp" || key === "ArrowDown") {
      for (let i = 0; i < edges.count; ++i) {
        const other = key === "ArrowDown" ? (edges.from[i] === box ? edges.to[i] : -1)
                                          : edges.to[i] === box ? edges.from[i] : -1;
        if (other < 0) continue;
        const b = boxes[other];
        consider(other, Math.abs(b.x + b.w / 2 - center) + Math.abs(b.y - here.y));
      }
    } else {
      const side = key === "ArrowRight" ? 1 : -1;
      boxes.forEach((b, i) => {
        const away = side * (b.x + b.w / 2 - center);
        if (i === box || away <= 0 || (b.key < 0 && !b.collapsed)) return;
        consider(i, away + 6 * Math.abs(b.y - here.y));
      });
    }
    if (best >= 0) this.go(best);
  }

  private go(box: number): void {
    this.events.select(this, this.scene!.boxes[box].key);
    this.reveal(box);
  }

  describe(): string {
    const box = this.selected.length > 0 && this.scene ? boxOf(this.scene, this.selected[0]) : -1;
    const b = box < 0 ? undefined : this.scene!.boxes[box];
    return b ? shown(`${b.title}, ${b.detail}${b.fate ? `, ${b.fate}` : ""}${b.mark ? `, ${b.mark}` : ""}`) : "";
  }
}
