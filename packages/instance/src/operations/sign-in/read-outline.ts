import { ServiceError } from "@shoal/router";
import { maxOutlineBytes, maxOutlineNodes, type PageOutline } from "../../protocol/page.ts";
import type { PageDocument } from "../pages/capture/page-document.ts";
import { capturePage } from "../pages/capture/page-documents.ts";
import { type FormNode, readForm } from "../pages/form/form-view.ts";
import { hitTests, maxTests } from "../pages/reading/reachable.ts";
import { maskAt } from "../pages/node-input/field-masks.ts";
import type { WatchedPage } from "./watched-page.ts";

/** Controls, and the blocks around them, come first: text is left out before them. */
const maxControls = 700;
/** Room for quotes and commas is part of each node's text. */
const budgetBytes = maxOutlineBytes - 65_536;

/** Reads the front page. @throws {ServiceError} 409 if it does not answer, or has gone. */
export async function readOutline(page: WatchedPage): Promise<PageOutline> {
  const captured = await capturePage({ id: "the front tab", page }, { isWhole: true });
  if (captured === undefined) throw new ServiceError(409, "conflict", "A dialog of the page is open.");
  const origins = documentsOf(captured.main).map(async ({ dom: { frameId }, target }) => {
    return [frameId, await page.originOf(frameId, target)] as const;
  });
  const { found, frames, places } = readForm(captured, new Map(await Promise.all(origins)));
  const tested = testable(found);
  const hits = await hitTests(page, tested, places);
  const covered = new Set(tested.filter((node) => !hits.has(node)));
  const chosen = choose(found);
  const indexes = new Map([...chosen].map((node, index) => [node, index]));
  const nodes = [...chosen].map((node) => {
    let { parent } = node;
    while (parent !== undefined && !indexes.has(parent)) ({ parent } = parent);
    const hidden = node.hidden ?? (covered.has(node) ? ("covered" as const) : undefined);
    return {
      ref: page.refOf(node),
      ...node.content,
      parent: parent === undefined ? -1 : (indexes.get(parent) ?? -1),
      ...(hidden !== undefined && { hidden }),
    };
  });
  for (const { address, content } of chosen)
    if (holdsSecret(content)) void maskAt(page, address).catch(() => undefined);
  const { height, width } = captured.metrics;
  const viewport = { width: Math.round(width), height: Math.round(height) };
  return { frames: [...frames], nodes, left_out: found.length - nodes.length, viewport };
}

function documentsOf(document: PageDocument): readonly PageDocument[] {
  return [document, ...[...document.frames.values()].flatMap(documentsOf)];
}

/** Fields and buttons first. */
function testable(found: readonly FormNode[]): readonly FormNode[] {
  const rank = ({ content: { role } }: FormNode) => (role === "link" || role === "clickable" ? 1 : 0);
  return found
    .filter(({ hidden, isVisible, kind }) => kind === "control" && hidden === undefined && isVisible)
    .toSorted((first, second) => rank(first) - rank(second))
    .slice(0, maxTests);
}

/** A person may fill it in a live view; a page may show the characters of a password. */
function holdsSecret({ attributes, tag }: FormNode["content"]): boolean {
  if (tag !== "input") return false;
  return attributes.type?.toLowerCase() === "password" || /\bone-time-code\b/i.test(attributes.autocomplete ?? "");
}

/** Keeps the order of the document. */
function choose(found: readonly FormNode[]): ReadonlySet<FormNode> {
  const kept = new Set<FormNode>();
  let bytes = 0;
  const keep = (node: FormNode): boolean => {
    bytes += Buffer.byteLength(JSON.stringify(node.content)) + 64;
    if (bytes > budgetBytes || kept.size >= maxOutlineNodes) return false;
    kept.add(node);
    return true;
  };
  let controls = 0;
  for (const node of found) if (node.kind === "control" && ++controls <= maxControls && !keep(node)) break;
  for (const node of found) if (node.kind !== "control" && !keep(node)) break;
  return new Set(found.filter((node) => kept.has(node)));
}
