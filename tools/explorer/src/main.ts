// The page: reads the report, makes the toolbar, binds keys.
import { App, ViewName } from "./app";
import { readData } from "./data";
import { byId, h, name, replace, shown } from "./dom";
import { choices, Filter } from "./filters";
import { heatColor, METRICS } from "./metrics";
import type { Model } from "./model";
import { Search } from "./search";

const VIEWS: Record<ViewName, string> = {
  graph: "Graph", pair: "Side by side", memory: "Memory", timeline: "Timeline", summary: "Summary",
  differences: "Differences",
};
const FILTERS: [Filter["kind"], string][] = [
  ["", "all nodes"], ["unaccelerated", "not accelerated"], ["almost", "almost fused"], ["op", "one op"],
  ["rule", "one rule"], ["scope", "one scope"],
];
const KEYS: [string, string][] = [
  ["/", "search"], [", .", "previous and next step"], ["< >", "previous and next phase"],
  ["arrows", "neighbors of the selected node (Shift: pan)"], ["Enter", "open or close the scope"],
  ["+ − 0", "zoom, show all"], ["n N", "next and previous node that the filter lets through"],
  ["1 … 6", "views"], ["c", "constants"], ["?", "this list"],
];

function labeled(label: string, element: HTMLElement): HTMLElement {
  return h("label", {}, `${label} `, element);
}

function views(app: App): { root: HTMLElement; update(): void } {
  const buttons = app.views.map((v) =>
    h("button", { "aria-pressed": "false", "data-view": v, click: () => app.setView(v) }, VIEWS[v]));
  return {
    root: h("nav", { "aria-label": "Views" }, ...buttons),
    update: () => buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(app.views[i] === app.view))),
  };
}

function heat(app: App): { root: HTMLElement; update(): void } {
  const model: Model = app.models[0];
  const measured = app.models.some((m) => m.totalMs > 0);
  const list = h("select", { id: "heat", change: () => {
    app.metric = METRICS.find((m) => m.key === list.value) ?? null;
    app.refresh();
  } }, h("option", { value: "" }, "kind of kernel"),
    ...METRICS.filter((m) => measured || m.key === "flop" || m.key === "bytes")
      .map((m) => h("option", { value: m.key }, m.label)));
  list.disabled = !model.report.steps;
  const legend = h("span", { class: "legend" });
  const kinds = ["accelerated", "reference", "planning", "input", "constant"];
  const words = ["accelerated", "reference kernel", "takes no time", "input", "constant"];
  return {
    root: h("span", { class: "group" }, labeled("Color", list), legend),
    update: () => {
      const l = app.visible[0]?.pane.scene?.legend;
      if (l) {
        const bar = h("span", { class: "scale", "aria-hidden": "true" });
        bar.style.background = `linear-gradient(90deg, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(heatColor).join(",")})`;
        replace(legend, l.metric.text(l.least), bar, l.metric.text(l.most));
      } else {
        replace(legend, ...kinds.map((k, i) => h("span", { class: `key ${k}` }, words[i])));
      }
    },
  };
}

function filters(app: App): { root: HTMLElement; update(): void } {
  const offered = app.data.comparison ? [...FILTERS, ["marked", "differs"] as [Filter["kind"], string]] : FILTERS;
  const kind = h("select", { id: "filter", change: () => {
    const k = kind.value as Filter["kind"];
    app.setFilter({ kind: k, value: options(k)[0] ?? "" });
  } }, ...offered.map(([k, text]) => h("option", { value: k }, text)));
  const value: HTMLSelectElement = h("select", { id: "filter-value", "aria-label": "Which", hidden: true, change: () =>
    app.setFilter({ kind: app.filter.kind, value: value.value }) });
  const count = h("span", { id: "filter-count", class: "quiet", role: "status" });
  const options = (k: Filter["kind"]): string[] => {
    const s = app.visible[app.visible.length - 1];
    return choices(s?.model ?? app.models[0], s?.slider.state ?? 0, k);
  };
  let filled = "";
  return {
    root: h("span", { class: "group" }, labeled("Show", kind), value, count),
    update: () => {
      const f = app.filter;
      kind.value = f.kind;
      const list = f.kind === "" ? [] : options(f.kind);
      value.hidden = list.length === 0;
      if (f.value && !list.includes(f.value)) list.unshift(f.value);
      const key = list.join("\n");
      if (key !== filled) replace(value, ...list.map((v) => h("option", { value: v }, shown(v, 80))));
      filled = key;
      value.value = f.value;
      const { found, all } = app.filtered();
      count.textContent = f.kind && all ? `${found.length} of ${all} nodes` : all ? `${all} nodes` : "";
    },
  };
}

/** Light or dark: as the system is, until the button is pressed. */
function theme(app: App): HTMLElement {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const button = h("button", { click: () => set(root.dataset.theme !== "dark") }, "Dark");
  const set = (dark: boolean) => {
    root.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
    app.recolor();
  };
  system.addEventListener("change", () => set(system.matches));
  set(system.matches);
  return button;
}

function help(): HTMLDialogElement {
  const list = h("dl");
  for (const [keys, what] of KEYS) list.append(h("dt", {}, h("kbd", {}, keys)), h("dd", {}, what));
  const dialog: HTMLDialogElement = h("dialog", { "aria-label": "Keys" }, h("h2", {}, "Keys"), list,
                   h("button", { click: () => dialog.close() }, "Close"));
  return dialog;
}

function bindKeys(app: App, search: Search, dialog: HTMLDialogElement, constants: HTMLInputElement): void {
  document.addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLInputElement && e.target.type !== "range" && e.target.type !== "checkbox";
    if (typing || e.target instanceof HTMLSelectElement || e.ctrlKey || e.metaKey || e.altKey || dialog.open) return;
    const view = /^[1-6]$/.test(e.key) ? app.views[Number(e.key) - 1] : undefined;
    if (e.key === "/") search.input.focus();
    else if (e.key === ",") app.step(-1);
    else if (e.key === ".") app.step(1);
    else if (e.key === "<") app.phase(-1);
    else if (e.key === ">") app.phase(1);
    else if (e.key === "n") app.nextMatch(1);
    else if (e.key === "N") app.nextMatch(-1);
    else if (e.key === "c") constants.click();
    else if (e.key === "?") dialog.showModal();
    else if (view) app.setView(view);
    else return;
    e.preventDefault();
  });
}

function toolbar(app: App): void {
  const parts = [views(app), heat(app), filters(app)];
  const search = new Search(() => app.places, (hit) => app.select(hit.model, hit.id, true));
  const constants = h("input", { type: "checkbox", id: "constants", change: () => {
    app.constants = constants.checked;
    app.refresh();
  } });
  const compact = h("input", { type: "checkbox", id: "compact", change: () => {
    app.compact = compact.checked;
    app.refresh();
    app.fit();
  } });
  const dialog = help();
  replace(byId("bar"),
    h("div", { class: "row" },
      h("h1", {}, name(app.models.map((m) => m.title).join(" and "), 100)), parts[0].root, search.root,
      h("span", { class: "group right" }, theme(app), h("button", { click: () => app.save("svg") }, "SVG"),
        h("button", { click: () => app.save("png") }, "PNG"), h("button", { "aria-label": "Keys", click: () => dialog.showModal() }, "?"))),
    h("div", { class: "row graph-only" }, parts[1].root, parts[2].root,
      h("span", { class: "group" }, h("button", { click: () => app.setAll(false) }, "Open all"),
        h("button", { click: () => app.setAll(true) }, "Close all"), h("button", { click: () => app.fit() }, "Show all"),
        labeled("Constants", constants),
        h("label", { title: "closes the gaps that nodes of other states leave" }, "Compact ", compact))),
    dialog);
  bindKeys(app, search, dialog, constants);
  app.changed = () => {
    for (const part of parts) part.update();
    constants.checked = app.constants;
  };
}

async function start(): Promise<void> {
  const data = byId("tenon-data");
  try {
    const app = new App(await readData(data.textContent ?? ""));
    data.remove();
    document.title = `${app.models.map((m) => m.title).join(" and ")} · Tenon explorer`;
    toolbar(app);
    app.readHash();
    window.addEventListener("hashchange", () => app.readHash());
    (window as unknown as { explorer: App }).explorer = app;  // for tests, and the curious
    document.documentElement.dataset.ready = "yes";
  } catch (error) {
    replace(byId("main"), h("p", { class: "note", role: "alert" }, `This page cannot show its data: ${String(error)}`));
    document.documentElement.dataset.ready = "failed";
  }
}

void start();
