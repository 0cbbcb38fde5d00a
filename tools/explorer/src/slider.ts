// The slider of a pane: phases, and the steps within a phase.
import { h, replace, shown } from "./dom";
import type { Model } from "./model";

export class Slider {
  readonly root: HTMLElement;
  stop: number;
  state: number;
  private readonly phase: HTMLInputElement;
  private readonly step: HTMLInputElement;
  private readonly text = h("output", { class: "quiet" });

  constructor(private model: Model, label: string, stop: number, private readonly moved: () => void) {
    const { stops } = model.history;
    this.stop = stop < 0 ? stops.length + stop : stop;
    this.state = stops[this.stop].last;
    this.phase = h("input", { type: "range", min: 0, max: stops.length - 1, step: 1, "aria-label": `${label}: phase`, class: "phase",
                              input: () => this.toStop(Number(this.phase.value)) });
    this.step = h("input", { type: "range", min: 0, max: 0, step: 1, "aria-label": `${label}: step within the phase`,
                             input: () => this.toState(stops[this.stop].first + Number(this.step.value)) });
    const names = h("div", { class: "stops", "aria-hidden": "true" },
                    ...stops.map((s, i) => h("span", { click: () => this.toStop(i) }, s.name)));
    this.root = h("div", { class: "slider" },
                  h("div", { class: "phases" }, this.phase, names),
                  h("button", { "aria-label": `${label}: previous step`, title: "previous step ( , )", click: () => this.go(-1) }, "‹"),
                  this.step,
                  h("button", { "aria-label": `${label}: next step`, title: "next step ( . )", click: () => this.go(1) }, "›"),
                  this.text);
    this.update();
  }

  /** What changed is marked since this state. */
  get from(): number {
    const { first, last } = this.model.history.stops[this.stop];
    return this.state === last || this.state === first ? first : this.state - 1;
  }

  toStop(stop: number): void {
    this.stop = Math.max(0, Math.min(this.model.history.stops.length - 1, stop));
    this.toState(this.model.history.stops[this.stop].last);
  }

  toState(state: number): void {
    const { stops } = this.model.history;
    if (state < stops[this.stop].first || state > stops[this.stop].last) {
      this.stop = stops.findIndex((s) => state <= s.last);
    }
    this.state = state;
    this.update();
    this.moved();
  }

  /** By steps, from phase to phase. */
  go(by: number): void {
    const { stops } = this.model.history;
    const next = this.state + by;
    const stop = stops[this.stop];
    if (next >= stop.first && next <= stop.last) return this.toState(next);
    const other = this.stop + by;
    if (other < 0 || other >= stops.length) return;
    this.stop = other;
    this.toState(by > 0 ? Math.min(stops[other].first + 1, stops[other].last) : stops[other].last);
  }

  private update(): void {
    const { stops, steps } = this.model.history;
    const stop = stops[this.stop];
    this.phase.value = String(this.stop);
    this.phase.setAttribute("aria-valuetext", stop.name);
    this.step.max = String(stop.last - stop.first);
    this.step.value = String(this.state - stop.first);
    this.step.disabled = stop.last === stop.first;
    const all = stop.last - stop.first;
    const at = this.state - stop.first;
    const done = at > 0 ? steps[this.state - 1] : null;
    const what = all === 0 ? stop.name
      : at === all ? `after ${stop.name}: all ${all} steps`
      : at === 0 ? `before ${stop.name}`
      : `${stop.name} ${at} of ${all}: ${done!.rule} at ${this.model.short(done!.node)}`;
    this.step.setAttribute("aria-valuetext", shown(what, 200));
    replace(this.text, h("bdi", { dir: "ltr" }, shown(what, 160)));
  }
}
