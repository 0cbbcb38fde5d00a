// The part of the address after '#': what is selected and shown, to be sent to somebody.

export interface Link {
  node?: string;
  view?: string;
  state?: number;
  model?: number;
}

export function readLink(hash: string): Link {
  const link: Link = {};
  for (const pair of hash.replace(/^#/, "").split("&")) {
    const at = pair.indexOf("=");
    if (at < 0) continue;
    let value: string;
    try {
      value = decodeURIComponent(pair.slice(at + 1));
    } catch {
      continue;
    }
    const key = pair.slice(0, at);
    if (key === "node") link.node = value;
    if (key === "view") link.view = value;
    if ((key === "state" || key === "model") && /^\d+$/.test(value)) link[key] = Number(value);
  }
  return link;
}

export function writeLink(link: Link): string {
  const pairs = Object.entries(link).filter(([, v]) => v !== undefined && v !== "");
  return pairs.length > 0 ? "#" + pairs.map(([k, v]) => `${k}=${encodeURIComponent(String(v))}`).join("&") : "";
}
