// Which scopes are closed when the page opens.
import type { Model } from "./model";

const MOST_BOXES = 260;

/** Inner scopes are closed until what is open is not too much to look at. */
export function closedAtFirst(model: Model): Set<number> {
  const { scopes, nodes } = model.layout;
  const closed = new Set<number>();
  const sizes = scopes.map(() => 0);
  const inner: number[][] = scopes.map(() => []);
  const queue: number[] = [];
  let open = 0;
  nodes.id.forEach((id, i) => {
    const node = model.history.all.get(id);
    if (!node || model.isConstant(node)) return;
    if (nodes.scope[i] >= 0) ++sizes[nodes.scope[i]];
    else ++open;
  });
  scopes.forEach((s, i) => {
    if (s.parent < 0) {
      queue.push(i);
      return;
    }
    ++sizes[s.parent];
    inner[s.parent].push(i);
  });
  open += queue.length;
  for (const scope of queue) {  // outer ones first
    if (closed.has(scope) || open + sizes[scope] > MOST_BOXES) closed.add(scope);
    else open += sizes[scope];
    for (const i of inner[scope]) {
      if (closed.has(scope)) closed.add(i);
      queue.push(i);
    }
  }
  return closed;
}
