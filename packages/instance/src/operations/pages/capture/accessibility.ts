import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FollowedPage } from "../follow/followed-page.ts";

export type AccessibleState =
  | "busy"
  | "checked"
  | "collapsed"
  | "disabled"
  | "expanded"
  | "focused"
  | "invalid"
  | "mixed"
  | "pressed"
  | "readonly"
  | "required"
  | "selected";

/** What Chromium tells assistive technology about a node. */
export interface AccessibleNode {
  /** As Chromium names it: an ARIA role, or an own name like `DisclosureTriangle`. */
  readonly role: string;
  readonly name: string;
  readonly value: string;
  readonly isFocusable: boolean;
  readonly states: ReadonlySet<AccessibleState>;
}

/** By backend node id; nodes that are hidden from assistive technology are absent. */
export type AccessibleNodes = ReadonlyMap<number, AccessibleNode>;

/** The tree of a document. */
export interface AccessibleTree {
  readonly nodes: AccessibleNodes;
  /** Nodes that Chromium has looked at and hides from assistive technology. */
  readonly ignored: ReadonlySet<number>;
}

const textRoles: ReadonlySet<string> = new Set(["InlineTextBox", "StaticText", "LineBreak"]);

/** Reads Chromium's accessibility tree of a frame's document; `undefined` without an answer. */
export async function readAccessibleTree(
  page: FollowedPage,
  sessionId: string,
  frameId: string,
): Promise<AccessibleTree | undefined> {
  const answer = await page.ask(page.cdp.send("Accessibility.getFullAXTree", { frameId }, sessionId));
  return answer && treeOf(answer.nodes);
}

/** Reads single nodes of a process. */
export async function readAccessibleNodes(
  page: FollowedPage,
  sessionId: string,
  backendNodeIds: readonly number[],
): Promise<AccessibleTree> {
  const commands = backendNodeIds.map((backendNodeId) =>
    page.cdp
      .send("Accessibility.getPartialAXTree", { backendNodeId, fetchRelatives: false }, sessionId)
      // The node has gone.
      .catch(() => ({ nodes: [] })),
  );
  const answers = commands.length === 0 ? [] : await page.ask(Promise.all(commands));
  return treeOf(answers?.flatMap(({ nodes }) => nodes) ?? []);
}

function treeOf(nodes: readonly Protocol.Accessibility.AXNode[]): AccessibleTree {
  const ignored = nodes.flatMap((node) => (node.ignored ? (node.backendDOMNodeId ?? []) : []));
  return { nodes: accessibleNodes(nodes), ignored: new Set(ignored) };
}

function accessibleNodes(nodes: readonly Protocol.Accessibility.AXNode[]): AccessibleNodes {
  const found = new Map<number, AccessibleNode>();
  for (const node of nodes)
    if (node.backendDOMNodeId !== undefined && !node.ignored && !textRoles.has(textOf(node.role?.value)))
      found.set(node.backendDOMNodeId, accessibleOf(node));
  return found;
}

/** What a node of Chromium's tree says. */
export function accessibleOf({ name, properties = [], role, value }: Protocol.Accessibility.AXNode): AccessibleNode {
  return {
    role: textOf(role?.value),
    name: textOf(name?.value),
    value: textOf(value?.value),
    isFocusable: properties.some((property) => property.name === "focusable" && property.value.value === true),
    states: new Set(properties.flatMap((property) => stateOf(property.name, property.value.value))),
  };
}

function stateOf(name: string, value: unknown): readonly AccessibleState[] {
  const isTrue = value === true || value === "true";
  switch (name) {
    case "checked":
    case "pressed":
      return value === "mixed" ? ["mixed"] : isTrue ? [name] : [];
    case "expanded":
      return [isTrue ? "expanded" : "collapsed"];
    case "busy":
    case "disabled":
    case "focused":
    case "readonly":
    case "required":
    case "selected":
      return isTrue ? [name] : [];
    case "invalid":
      return value === undefined || value === false || value === "false" ? [] : ["invalid"];
    default:
      return [];
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}
