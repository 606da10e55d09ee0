import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { recognize } from "./kinds.ts";
import type { SnapshotDocument } from "./snapshot.ts";
import type { FrameTarget } from "../../pages/follow/followed-page.ts";
import type { WatchedPage } from "../watched-page.ts";

export interface AccessibleNode {
  readonly role: string;
  readonly name: string;
  readonly states: ReadonlySet<"disabled" | "focused" | "invalid" | "readonly" | "required" | "busy">;
}

/** Chromium needs seconds for the whole tree of a larger document. */
const maxWholeTree = 3_000;
const maxSingleNodes = 300;

/** Reads names by backend node id; nodes that are hidden from assistive technology are absent. */
export async function readAccessibility(
  page: WatchedPage,
  target: FrameTarget,
  document: SnapshotDocument,
): Promise<ReadonlyMap<number, AccessibleNode>> {
  const isSmall = document.nodes.length <= maxWholeTree;
  const nodes = isSmall ? await readTree(page, target, document) : await readControls(page, target, document);
  const found = new Map<number, AccessibleNode>();
  for (const node of nodes)
    if (node.backendDOMNodeId !== undefined && !node.ignored) found.set(node.backendDOMNodeId, accessibleOf(node));
  return found;
}

async function readTree(
  page: WatchedPage,
  { sessionId }: FrameTarget,
  { frameId }: SnapshotDocument,
): Promise<readonly Protocol.Accessibility.AXNode[]> {
  const answer = await page
    .send(page.cdp.send("Accessibility.getFullAXTree", { frameId }, sessionId))
    .catch(() => undefined);
  return answer?.nodes ?? [];
}

async function readControls(
  page: WatchedPage,
  { sessionId }: FrameTarget,
  { nodes }: SnapshotDocument,
): Promise<readonly Protocol.Accessibility.AXNode[]> {
  const controls = nodes.filter((node) => node.box !== undefined && recognize(node, undefined)?.kind === "control");
  const fieldsFirst = [...controls.filter(({ tag }) => tag !== "a"), ...controls.filter(({ tag }) => tag === "a")];
  const read = fieldsFirst.slice(0, maxSingleNodes).map(async ({ backendNodeId }) => {
    const params = { backendNodeId, fetchRelatives: false };
    const answer = await page
      .send(page.cdp.send("Accessibility.getPartialAXTree", params, sessionId))
      .catch(() => undefined);
    return answer?.nodes ?? [];
  });
  return (await Promise.all(read)).flat();
}

function accessibleOf({ name, properties = [], role }: Protocol.Accessibility.AXNode): AccessibleNode {
  const values = new Map(properties.map((property) => [property.name, property.value.value as unknown]));
  const states = (["disabled", "focused", "readonly", "required", "busy"] as const).filter(
    (state) => values.get(state) === true,
  );
  const invalid = values.get("invalid");
  const isInvalid = invalid !== undefined && invalid !== "false" && invalid !== false;
  return {
    role: textOf(role?.value),
    name: textOf(name?.value),
    states: new Set([...states, ...(isInvalid ? (["invalid"] as const) : [])]),
  };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
