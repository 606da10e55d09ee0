import type { AccessibleNode, AccessibleState } from "./accessibility.ts";
import { type DomDocument, type DomNode, targetsOf } from "./dom-snapshot.ts";
import { isHiddenByMistake } from "../sight/aria-hidden.ts";
import { plainText } from "./plain-text.ts";

/** What the markup of a document tells just as Chromium would, and the nodes about which only Chromium tells. */
export interface PlainNodes {
  readonly nodes: Map<number, AccessibleNode>;
  readonly ignored: Set<number>;
  /** Backend node ids. */
  readonly asked: readonly number[];
}

type Attributes = ReadonlyMap<string, string>;

interface Surroundings {
  /** Whether an element around it may disable it. */
  readonly isDisabled: boolean;
  readonly isDrawing: boolean;
  /** Whether nothing in it is asked about. */
  readonly isOmitted: boolean;
  readonly isInList: boolean;
  /** Whether it is in no table, or the table or a part of it has another role. */
  readonly isInGrid: boolean;
}

/** Named by `aria-label` only. */
const groupRoles: ReadonlyMap<string, string> = new Map([
  ...["menu", "ol", "ul"].map((tag) => [tag, "list"] as const),
  ...["article", "form", "main", "search"].map((tag) => [tag, tag] as const),
  ["nav", "navigation"],
  ["section", "region"],
]);
/** What they are depends on more than their markup. */
const askedTags: ReadonlySet<string> = new Set([
  ...["address", "aside", "audio", "canvas", "details", "embed", "fencedframe", "fieldset", "footer", "frame"],
  ...["header", "hgroup", "iframe", "input", "meter", "object", "optgroup", "option", "output", "progress", "select"],
  ...["summary", "table", "textarea", "th", "video"],
]);
/** Named by their content. */
const contentRoles: ReadonlySet<string> = new Set([
  ...["button", "cell", "checkbox", "gridcell", "heading", "link", "radio", "switch", "tab"],
]);
const controlRoles: ReadonlySet<string> = new Set(["button", "checkbox", "link", "radio", "switch", "tab"]);
/** The roles that may have a state, by the attribute that tells it. */
const statefulRoles: Readonly<Record<string, ReadonlySet<string>>> = {
  "aria-checked": new Set(["checkbox", "radio", "switch"]),
  "aria-expanded": new Set(["button", "link"]),
  "aria-pressed": new Set(["button"]),
  "aria-selected": new Set(["tab"]),
};
const labelRoles: ReadonlySet<string> = new Set([
  ...["alert", "log", "main", "navigation", "region", "search", "status", "toolbar"],
]);
/** They change neither role nor states. */
const harmless = /^aria-(?:atomic|controls|current|describedby|haspopup|hidden|label(?:ledby)?|live|relevant)$/;
/** An image with an empty text and one of these may be more than decoration. */
const telling = /^(?:aria-.+|contenteditable|role|tabindex|title)$/;
/** An element with more is asked about. */
const maxLabels = 2;
const noStates: ReadonlySet<AccessibleState> = new Set();
const outside: Surroundings = {
  isDisabled: false,
  isDrawing: false,
  isOmitted: false,
  isInList: false,
  isInGrid: true,
};

/** Returns `undefined` for a document with a part that decides about others, such as an open dialog. */
export function plainNodes(dom: DomDocument): PlainNodes | undefined {
  const { tree } = dom;
  const isShown = shownOf(tree);
  const surroundings: Surroundings[] = [];
  const nodes = new Map<number, AccessibleNode>();
  const ignored = new Set<number>();
  const asked: number[] = [];
  for (const node of tree) {
    const { backendNodeId, index, parent, tag } = node;
    const around = (parent && surroundings[parent.index]) ?? outside;
    surroundings[index] = around;
    if (node.isText || tag.startsWith("#") || tag.startsWith("::")) continue;
    const attributes = dom.attributesOf(index);
    if (!around.isOmitted && decidesAboutOthers(node, attributes)) return undefined;
    const isHidden = attributes.get("aria-hidden") === "true" || attributes.has("inert");
    const isRemoved = isHidden || isShown[index] !== 1 || isIgnored(node, attributes);
    const known = isRemoved || around.isOmitted ? undefined : knownOf(node, attributes, around);
    if (isRemoved || around.isOmitted) ignored.add(backendNodeId);
    else if (known === undefined) asked.push(backendNodeId);
    else nodes.set(backendNodeId, known);
    surroundings[index] = {
      isDisabled:
        around.isDisabled || attributes.has("aria-disabled") || (tag === "fieldset" && attributes.has("disabled")),
      isDrawing: tag !== "foreignobject" && (around.isDrawing || tag === "svg"),
      isOmitted:
        around.isOmitted ||
        isHidden ||
        isShown[index] !== 1 ||
        tag === "select" ||
        node.style("content-visibility") === "hidden",
      isInList: known?.role === "list",
      isInGrid:
        tag === "table"
          ? attributes.has("role")
          : around.isInGrid || (/^(?:tr|t(?:head|body|foot))$/.test(tag) && attributes.has("role")),
    };
  }
  return { nodes, ignored, asked };
}

/** For each node 1 if it or a part of it is laid out. */
function shownOf(tree: readonly DomNode[]): Uint8Array {
  const shown = new Uint8Array(tree.length);
  for (const node of tree.toReversed()) {
    if (node.isLaidOut) shown[node.index] = 1;
    if (shown[node.index] === 1 && node.parent !== undefined) shown[node.parent.index] = 1;
  }
  return shown;
}

function isIgnored(node: DomNode, attributes: Attributes): boolean {
  if (node.isLaidOut && node.style("visibility") !== "visible") return true;
  if (node.tag !== "img" || attributes.get("alt") !== "" || isClickable(node)) return false;
  return [...attributes.keys()].every((name) => !telling.test(name));
}

function isClickable({ document, index }: DomNode): boolean {
  return document.clickable.has(index);
}

function decidesAboutOthers(node: DomNode, attributes: Attributes): boolean {
  if (attributes.has("aria-owns") || attributes.has("aria-modal")) return true;
  const hidden = attributes.get("aria-hidden") ?? "";
  const isHidden = hidden === "true";
  // Chromium takes most other values for `true`.
  if (!isHidden && hidden !== "" && hidden !== "false") return true;
  // Assistive technology gets a whole page, and a part that has the focus.
  if (isHidden && (/^(?:html|body)$/.test(node.tag) || isHiddenByMistake(node.document, node.index))) return true;
  return node.isLaidOut && (node.tag === "dialog" || node.style("content-visibility") === "auto");
}

/** `undefined` where only Chromium can tell. */
function knownOf(node: DomNode, attributes: Attributes, around: Surroundings): AccessibleNode | undefined {
  const { tag } = node;
  if (tag.includes("-") || askedTags.has(tag) || attributes.has("contenteditable")) return undefined;
  if (attributes.get("aria-label")?.trim() === "" || isUnusual(node, attributes)) return undefined;
  const role = roleOf(node, attributes, around);
  if (role === undefined || (!node.isLaidOut && role !== "generic")) return undefined;
  if (attributes.has("tabindex") && !controlRoles.has(role)) return undefined;
  const states = statesOf(node, role, attributes, around);
  const name = states && nameOf(node, role, attributes);
  if (states === undefined || name === undefined) return undefined;
  const isFocusable =
    (attributes.has("tabindex") || tag === "button" || (tag === "a" && attributes.has("href"))) &&
    !states.has("disabled");
  return { role, name, value: "", isFocusable, states };
}

/** An image that is something else, or is more than decoration; an anchor that only a script follows. */
function isUnusual(node: DomNode, attributes: Attributes): boolean {
  if (node.tag === "a") return !attributes.has("href") && isClickable(node);
  if (node.tag !== "img") return false;
  return attributes.get("alt") === "" || ["aria-labelledby", "role", "tabindex"].some((name) => attributes.has(name));
}

function roleOf(node: DomNode, attributes: Attributes, around: Surroundings): string | undefined {
  const { tag } = node;
  const parentTag = node.parent?.tag ?? "";
  const stated = attributes.get("role");
  if (around.isDrawing || tag === "svg") return isMuteDrawing(node, attributes) ? "generic" : undefined;
  if (stated === "list" && (tag === "ul" || tag === "ol")) return "list";
  if (stated === "region" && !attributes.has("aria-label") && !attributes.has("aria-labelledby")) return undefined;
  if (stated !== undefined)
    return (contentRoles.has(stated) && stated !== "cell") || labelRoles.has(stated) ? stated : undefined;
  if (tag === "button") return "button";
  if (tag === "a") return attributes.has("href") ? "link" : "generic";
  if (tag === "img") return "image";
  if (tag === "li") return around.isInList ? "listitem" : undefined;
  if (tag === "tr") return around.isInGrid || !/^t(?:able|head|body|foot)$/.test(parentTag) ? undefined : "row";
  if (tag === "td") return around.isInGrid || parentTag !== "tr" ? undefined : "cell";
  if (/^h[1-6]$/.test(tag)) return "heading";
  // A landmark needs a name.
  if ((tag === "section" || tag === "form") && !attributes.has("aria-label") && !attributes.has("title"))
    return "generic";
  return groupRoles.get(tag) ?? "generic";
}

function isMuteDrawing(node: DomNode, attributes: Attributes): boolean {
  if (node.tag === "a" || node.tag === "foreignobject" || attributes.has("role") || attributes.has("aria-label"))
    return false;
  return node.children.every(({ tag }) => tag !== "title");
}

function statesOf(
  node: DomNode,
  role: string,
  attributes: Attributes,
  around: Surroundings,
): ReadonlySet<AccessibleState> | undefined {
  const isControl = node.tag === "button";
  if (around.isDisabled && role !== "generic") return undefined;
  if (isControl && (attributes.has("popovertarget") || attributes.has("command"))) return undefined;
  const states: AccessibleState[] = isControl && attributes.has("disabled") ? ["disabled"] : [];
  for (const [name, value] of attributes) {
    if (!name.startsWith("aria-") || harmless.test(name)) continue;
    if (statefulRoles[name]?.has(role) !== true || (value !== "true" && value !== "false")) return undefined;
    if (name === "aria-expanded") states.push(value === "true" ? "expanded" : "collapsed");
    else if (value === "true") states.push(name.slice("aria-".length) as AccessibleState);
  }
  if (role === "tab" && !attributes.has("aria-selected")) return undefined;
  return states.length === 0 ? noStates : new Set(states);
}

function nameOf(node: DomNode, role: string, attributes: Attributes): string | undefined {
  if (attributes.has("aria-labelledby")) return role === "generic" ? undefined : labelsOf(node);
  const stated = attributes.get("aria-label")?.trim() ?? "";
  if (stated !== "") return stated;
  if (role === "generic") return attributes.has("title") ? undefined : "";
  if (role === "image") return attributes.get("alt") ?? (attributes.has("title") ? undefined : "");
  if (!contentRoles.has(role)) return attributes.has("title") ? undefined : "";
  if (node.tag === "button" && isLabelled(node, attributes)) return undefined;
  const text = plainText(node);
  return text === "" && attributes.has("title") ? undefined : text;
}

/** The text of the elements that `aria-labelledby` names, if these are few. */
function labelsOf(node: DomNode): string | undefined {
  const ids = (node.attribute("aria-labelledby") ?? "").trim().split(/\s+/, maxLabels + 1);
  if (ids.length > maxLabels || new Set(ids).size < ids.length) return undefined;
  const labels = targetsOf(node, "aria-labelledby").map((target) =>
    target === node ||
    target.attribute("aria-label") !== undefined ||
    !target.isLaidOut ||
    target.attribute("aria-hidden") !== undefined ||
    /^(input|select|textarea|img|svg)$/.test(target.tag)
      ? undefined
      : plainText(target),
  );
  const text = labels.includes(undefined) ? "" : labels.join(" ").trim();
  return text === "" ? undefined : text;
}

function isLabelled(node: DomNode, attributes: Attributes): boolean {
  const id = attributes.get("id");
  if (id !== undefined && node.document.labelFor(id, node) !== undefined) return true;
  for (let at = node.parent; at !== undefined; at = at.parent) if (at.tag === "label") return true;
  return false;
}
