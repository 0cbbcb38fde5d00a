// Rectangles over two axes: the memory plan and the timeline.
import { h, shownEnd } from "./dom";
import type { Palette } from "./paint";

export interface Bar {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  id: number | null;  // a node
  fill: string;       // a kind of Palette, or a color
  label: string;
  text: string;  // all of it, for the tip and for screen readers
}

export interface ChartData {
  title: string;
  bars: Bar[];
  x: { least: number; most: number; label: string; text: (v: number) => string };
  y: { least: number; most: number; label: string; text: (v: number) => string; binary?: boolean };
}

const LEFT = 84, BOTTOM = 34, TOP = 8;

/** About `n` round values between two. */
function ticks(least: number, most: number, n: number, binary = false): number[] {
  const raw = (most - least) / n || 1;
  const unit = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = binary ? Math.pow(2, Math.ceil(Math.log2(raw)))
                      : [1, 2, 5, 10].map((k) => k * unit).find((s) => s >= raw) ?? raw;
  const found: number[] = [];
  for (let v = Math.ceil(least / step) * step; v <= most; v += step) found.push(v);
  return found;
}

export class Chart {
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  private readonly tip = h("p", { class: "tip", role: "status" });
  private data: ChartData | null = null;
  private x0 = 0;
  private x1 = 1;
  private at = -1;
  selected: number[] = [];
  colors!: Palette;
  private pending = false;

  constructor(label: string, private readonly select: (id: number) => void) {
    this.canvas = h("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "chart",
      "aria-label": `${label}: left and right arrow keys go through the items, Enter selects the node, ` +
                    "plus and minus zoom, 0 shows all",
    });
    this.root = h("section", { class: "pane", "aria-label": label }, this.tip, h("div", { class: "pane-body" }, this.canvas));
    new ResizeObserver(() => this.repaint()).observe(this.canvas);
    this.pointers();
    this.canvas.addEventListener("keydown", (e) => this.key(e));
  }

  show(data: ChartData): void {
    if (this.data === null || this.data.title !== data.title) {
      [this.x0, this.x1] = [data.x.least, data.x.most];
    }
    this.data = data;
    this.at = data.bars.findIndex((b) => b.id !== null && this.selected.includes(b.id));
    this.tip.textContent = this.at >= 0 ? data.bars[this.at].text : data.title;
    this.repaint();
  }

  recolor(colors: Palette): void {
    this.colors = colors;
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

  private get w(): number {
    return this.canvas.clientWidth - LEFT - 10;
  }

  private get hh(): number {
    return this.canvas.clientHeight - BOTTOM - TOP;
  }

  private px(x: number): number {
    return LEFT + ((x - this.x0) / (this.x1 - this.x0)) * this.w;
  }

  private py(y: number): number {
    const { least, most } = this.data!.y;
    return TOP + (1 - (y - least) / (most - least || 1)) * this.hh;
  }

  private paint(): void {
    const data = this.data;
    if (!data || !this.colors || this.canvas.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * ratio);
    this.canvas.height = Math.round(this.canvas.clientHeight * ratio);
    const ctx = this.canvas.getContext("2d")!;
    ctx.scale(ratio, ratio);
    ctx.direction = "ltr";
    ctx.fillStyle = this.colors.back;
    ctx.fillRect(0, 0, this.canvas.clientWidth, this.canvas.clientHeight);
    this.axes(ctx, data);
    ctx.save();
    ctx.beginPath();
    ctx.rect(LEFT, TOP, this.w, this.hh);
    ctx.clip();
    data.bars.forEach((bar, i) => this.bar(ctx, bar, i === this.at));
    ctx.restore();
  }

  private bar(ctx: CanvasRenderingContext2D, bar: Bar, current: boolean): void {
    const x = this.px(bar.x0), w = Math.max(1, this.px(bar.x1) - x);
    const y = this.py(bar.y1), height = Math.max(1, this.py(bar.y0) - y);
    if (x > LEFT + this.w || x + w < LEFT) return;
    const chosen = bar.id !== null && this.selected.includes(bar.id);
    ctx.fillStyle = this.colors.kinds[bar.fill] ?? bar.fill;
    ctx.fillRect(x, y, w, height);
    if (chosen || current || (w > 3 && height > 3)) {
      ctx.strokeStyle = chosen || current ? this.colors.select : this.colors.back;
      ctx.lineWidth = chosen || current ? 3 : 1;
      ctx.strokeRect(x, y, w, height);
    }
    if (w > 60 && height > 12) {
      ctx.fillStyle = this.colors.ink;
      ctx.font = "11px system-ui, sans-serif";
      ctx.textAlign = "left";
      ctx.fillText(shownEnd(bar.label, Math.floor(w / 7)), x + 4, y + height / 2 + 4, w - 8);
    }
  }

  private axes(ctx: CanvasRenderingContext2D, data: ChartData): void {
    ctx.fillStyle = this.colors.ink;
    ctx.strokeStyle = this.colors.scopeLine;
    ctx.lineWidth = 1;
    ctx.font = "11px system-ui, sans-serif";
    ctx.textAlign = "center";
    for (const v of ticks(this.x0, this.x1, 8)) {
      ctx.fillText(data.x.text(v), this.px(v), TOP + this.hh + 14);
      ctx.strokeRect(this.px(v), TOP, 0, this.hh);
    }
    ctx.fillText(data.x.label, LEFT + this.w / 2, TOP + this.hh + 29);
    ctx.textAlign = "right";
    for (const v of ticks(data.y.least, data.y.most, 6, data.y.binary)) ctx.fillText(data.y.text(v), LEFT - 6, this.py(v) + 4);
    ctx.textAlign = "left";
    ctx.save();
    ctx.translate(12, TOP + this.hh / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.textAlign = "center";
    ctx.fillText(data.y.label, 0, 0);
    ctx.restore();
  }

  private hit(e: MouseEvent): number {
    if (!this.data) return -1;
    const r = this.canvas.getBoundingClientRect();
    const x = e.clientX - r.left, y = e.clientY - r.top;
    for (let i = this.data.bars.length - 1; i >= 0; --i) {
      const b = this.data.bars[i];
      const left = this.px(b.x0), right = Math.max(left + 1, this.px(b.x1));
      if (x >= left && x <= right && y >= this.py(b.y1) && y <= Math.max(this.py(b.y0), this.py(b.y1) + 1)) return i;
    }
    return -1;
  }

  private point(i: number): void {
    if (i === this.at) return;
    this.at = i;
    this.tip.textContent = i >= 0 ? this.data!.bars[i].text : this.data!.title;
    this.repaint();
  }

  private zoom(factor: number, at: number): void {
    const { least, most } = this.data!.x;
    const span = Math.min(most - least, Math.max((this.x1 - this.x0) / factor, (most - least) / 1e4));
    const part = (at - this.x0) / (this.x1 - this.x0);
    this.x0 = Math.max(least, Math.min(most - span, at - part * span));
    this.x1 = this.x0 + span;
    this.repaint();
  }

  private pan(by: number): void {
    const { least, most } = this.data!.x;
    const span = this.x1 - this.x0;
    this.x0 = Math.max(least, Math.min(most - span, this.x0 + by));
    this.x1 = this.x0 + span;
    this.repaint();
  }

  private pointers(): void {
    let from: number | null = null, moved = 0;
    this.canvas.addEventListener("pointerdown", (e) => {
      from = e.clientX;
      moved = 0;
      this.canvas.setPointerCapture(e.pointerId);
    });
    this.canvas.addEventListener("pointermove", (e) => {
      if (!this.data) return;
      if (from === null) return this.point(this.hit(e));
      moved += Math.abs(e.clientX - from);
      this.pan(((from - e.clientX) / this.w) * (this.x1 - this.x0));
      from = e.clientX;
    });
    this.canvas.addEventListener("pointerup", (e) => {
      from = null;
      const i = moved < 4 ? this.hit(e) : -1;
      const id = i >= 0 ? this.data!.bars[i].id : null;
      if (id !== null) this.select(id);
    });
    this.canvas.addEventListener("wheel", (e) => {
      if (!this.data) return;
      e.preventDefault();
      const x = e.clientX - this.canvas.getBoundingClientRect().left;
      if (e.shiftKey) this.pan((e.deltaY / this.w) * (this.x1 - this.x0));
      else this.zoom(Math.exp(-e.deltaY * 0.0015), this.x0 + ((x - LEFT) / this.w) * (this.x1 - this.x0));
    }, { passive: false });
  }

  private key(e: KeyboardEvent): void {
    if (!this.data || e.ctrlKey || e.metaKey || e.altKey) return;
    const many = this.data.bars.length;
    const middle = (this.x0 + this.x1) / 2;
    if (e.key === "ArrowRight" && many > 0) this.point(Math.min(this.at + 1, many - 1));
    else if (e.key === "ArrowLeft" && many > 0) this.point(Math.max(this.at - 1, 0));
    else if (e.key === "+" || e.key === "=") this.zoom(1.25, middle);
    else if (e.key === "-") this.zoom(0.8, middle);
    else if (e.key === "0") this.zoom(1e-9, middle);
    else if (e.key === "Enter" && this.at >= 0) {
      const id = this.data.bars[this.at].id;
      if (id !== null) this.select(id);
    } else return;
    e.preventDefault();
  }
}
