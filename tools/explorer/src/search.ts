// Search as you type: a box with a list of nodes (the ARIA pattern "combobox").
import { h, name, replace } from "./dom";
import * as format from "./format";
import type { Model } from "./model";
import { opTitle } from "./scene";

const MOST = 60;

export interface Hit {
  model: Model;
  id: number;
}

export class Search {
  readonly root: HTMLElement;
  readonly input = h("input", {
    type: "search", id: "search", role: "combobox", "aria-expanded": "false", "aria-controls": "hits",
    "aria-autocomplete": "list", autocomplete: "off", spellcheck: "false", "aria-label": "Search nodes",
    placeholder: "Search nodes and ops ( / )",
  });
  private readonly list = h("ul", { id: "hits", role: "listbox", "aria-label": "Nodes found", hidden: true });
  private readonly status = h("span", { class: "quiet", role: "status" });
  private hits: Hit[] = [];
  private at = -1;

  constructor(private readonly where: () => { model: Model; state: number }[],
              private readonly choose: (hit: Hit) => void) {
    this.root = h("div", { class: "search" }, this.input, this.status, this.list);
    this.input.addEventListener("input", () => this.find());
    this.input.addEventListener("keydown", (e) => this.key(e));
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
  }

  private find(): void {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.hits = [];
    this.at = -1;
    let found = 0;
    if (words.length > 0) {
      for (const { model, state } of this.where()) {
        const graph = model.history.at(state);
        // What is in the graph as shown comes first, then what was in it or will be.
        for (const present of [true, false]) {
          for (const id of model.history.all.keys()) {
            if (graph.has(id) !== present) continue;
            const text = model.lower(id);
            if (!words.every((w) => text.includes(w))) continue;
            if (present) ++found;
            if (this.hits.length < MOST) this.hits.push({ model, id });
          }
        }
      }
    }
    replace(this.list, ...this.hits.map((hit, i) => this.row(hit, i)));
    this.status.textContent = words.length > 0 ? `${format.count(found, "node")} here` : "";
    this.open(this.hits.length > 0);
  }

  private row(hit: Hit, i: number): HTMLElement {
    const node = hit.model.history.all.get(hit.id)!;
    const here = this.where().some((w) => w.model === hit.model && w.model.history.at(w.state).has(hit.id));
    return h("li", { role: "option", id: `hit-${i}`, "aria-selected": "false", class: here ? "" : "absent",
                     pointerdown: (e: Event) => { e.preventDefault(); this.take(i); } },
             h("b", {}, name(opTitle(node.op), 60)), " ", name(hit.model.short(node.name), 200),
             this.where().length > 1 && h("span", { class: "quiet" }, " in ", name(hit.model.title, 60)), !here && h("span", { class: "quiet" }, " (not in this state)"));
  }

  private open(yes: boolean): void {
    this.list.hidden = !yes;
    this.input.setAttribute("aria-expanded", String(yes));
    this.input.removeAttribute("aria-activedescendant");
  }

  close(): void {
    this.open(false);
  }

  private mark(at: number): void {
    const rows = this.list.children;
    rows[this.at]?.setAttribute("aria-selected", "false");
    this.at = (at + rows.length) % rows.length;
    rows[this.at].setAttribute("aria-selected", "true");
    rows[this.at].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", `hit-${this.at}`);
  }

  private take(i: number): void {
    const hit = this.hits[i];
    if (!hit) return;
    this.close();
    this.choose(hit);
  }

  private key(e: KeyboardEvent): void {
    if (e.key === "ArrowDown" && this.hits.length > 0) {
      if (this.list.hidden) this.open(true);
      this.mark(this.at + 1);
    } else if (e.key === "ArrowUp" && this.hits.length > 0) this.mark(Math.max(this.at, 0) - 1);
    else if (e.key === "Enter") this.take(Math.max(this.at, 0));
    else if (e.key === "Escape") this.close();
    else return;
    e.preventDefault();
  }
}
