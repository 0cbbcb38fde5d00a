// Elements made by functions. Text is only ever set as text: what a model calls its nodes is never
// parsed as HTML.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | null | undefined | ((event: any) => void)>;

/** A function is a listener, `true` an attribute without a value; false, null: no attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  append(element, children);
  return element;
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) if (child) element.append(child);
}

export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no element ${id}`);
  return element as T;
}

// Control characters, and marks that change the direction of text or are invisible.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** As shown: one line, left to right, at most `most` characters. */
export function shown(text: string, most = 400): string {
  const cut = text.length > most ? text.slice(0, most - 1) + "…" : text;
  return cut.replace(INVISIBLE, "\ufffd");
}

/** Of a long name, the end, which tells most. */
export function shownEnd(text: string, most: number): string {
  const clean = text.length > 4 * most ? text.slice(-4 * most) : text;
  const visible = clean.replace(INVISIBLE, "\ufffd");
  return visible.length > most ? "…" + visible.slice(1 - most) : visible;
}

export function name(text: string, most = 400): HTMLElement {
  return h("bdi", { dir: "ltr" }, shown(text, most));
}

export function download(blob: Blob, file: string): void {
  const url = URL.createObjectURL(blob);
  const link = h("a", { href: url, download: file });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
