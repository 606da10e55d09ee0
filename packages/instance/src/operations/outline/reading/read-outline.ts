import { maxOutlineBytes, type PageOutline } from "../../../protocol/page.ts";
import { maskAt } from "../field-masks.ts";
import { findCovered } from "./covered.ts";
import { readDocuments } from "./frames.ts";
import { type FoundNode, OutlineWalk } from "./outline-walk.ts";
import type { NodeAddress } from "../../pages/follow/followed-page.ts";
import type { WatchedPage } from "../watched-page.ts";

/** Controls, and the blocks around them, come first: text is left out before them. */
const maxControls = 700;
const maxNodes = 1_500;
/** Room for quotes and commas is part of each node's text. */
const budgetBytes = maxOutlineBytes - 65_536;

/** Reads the front page. The references of earlier outlines become invalid, unless this one has them again. */
export async function readOutline(page: WatchedPage): Promise<PageOutline> {
  const [document, viewport] = await Promise.all([readDocuments(page), readViewport(page)]);
  const walk = new OutlineWalk(viewport);
  if (document !== undefined) walk.read(document);
  const covered = await findCovered(page, walk.found, viewport);
  const chosen = choose(walk.found);
  const places = new Map([...chosen].map((found, place) => [found, place]));
  const addresses = new Map<string, NodeAddress>();
  const nodes = [...chosen].map((found) => {
    const ref = page.refOf(found.address);
    addresses.set(ref, found.address);
    let parent = found.parent;
    while (parent !== undefined && !places.has(parent)) parent = parent.parent;
    const hidden = found.hidden ?? (covered.has(found) ? ("covered" as const) : undefined);
    return {
      ref,
      ...found.content,
      parent: parent === undefined ? -1 : (places.get(parent) ?? -1),
      ...(hidden !== undefined && { hidden }),
    };
  });
  page.remember(addresses);
  for (const { address, content } of chosen)
    if (holdsSecret(content)) void maskAt(page, address).catch(() => undefined);
  return { frames: walk.frames, nodes, left_out: walk.found.length - nodes.length, viewport };
}

/** A person may fill it in a live view; a page may show the characters of a password. */
function holdsSecret({ attributes, tag }: FoundNode["content"]): boolean {
  if (tag !== "input") return false;
  return attributes.type?.toLowerCase() === "password" || /\bone-time-code\b/i.test(attributes.autocomplete ?? "");
}

/** Keeps the order of the document. */
function choose(found: readonly FoundNode[]): ReadonlySet<FoundNode> {
  const kept = new Set<FoundNode>();
  let bytes = 0;
  const keep = (node: FoundNode): boolean => {
    bytes += Buffer.byteLength(JSON.stringify(node.content)) + 64;
    if (bytes > budgetBytes || kept.size >= maxNodes) return false;
    kept.add(node);
    return true;
  };
  let controls = 0;
  for (const node of found) if (node.kind === "control" && ++controls <= maxControls && !keep(node)) break;
  for (const node of found) if (node.kind !== "control" && !keep(node)) break;
  return new Set(found.filter((node) => kept.has(node)));
}

async function readViewport(page: WatchedPage): Promise<PageOutline["viewport"]> {
  const metrics = await page.send(page.cdp.send("Page.getLayoutMetrics", undefined, page.session.sessionId));
  const { clientWidth = 0, clientHeight = 0 } = metrics?.cssLayoutViewport ?? {};
  return { width: Math.round(clientWidth), height: Math.round(clientHeight) };
}
