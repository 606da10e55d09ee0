import type { ActedElement } from "@shoal/schemas";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import { accessibleOf } from "../../capture/accessibility.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { shownRole } from "../../reading/roles.ts";
import type { ElementSource } from "../../tabs/element-source.ts";

type AXNode = Protocol.Accessibility.AXNode;

const maxNameCharacters = 300;
const maxValueCharacters = 1_000;

/** Characters that a password field, or the service, hides are not reported. */
const valueFunction = `function (most) {
  if (getComputedStyle(this).webkitTextSecurity !== "none" || this.type === "password") return null;
  const tag = this.localName;
  if (tag === "select") return [...this.selectedOptions].map((one) => one.label).join(", ").slice(0, most);
  if (tag === "textarea") return this.value.slice(0, most);
  if (tag === "input")
    return /^(button|submit|reset|image|checkbox|radio|hidden)$/.test(this.type) ? null
      : this.type === "file" ? [...this.files].map((one) => one.name).join(", ").slice(0, most) : this.value.slice(0, most);
  if (!this.isContentEditable) return null;
  // The text of paragraphs has two line breaks between them, and one more for an empty one.
  const isBlock = (node) => /^(p|div|h[1-6]|pre|blockquote|ul|ol)$/.test(node.localName ?? "");
  const parts = [...this.childNodes];
  const text = parts.length > 0 && parts.every(isBlock) ? parts.map((one) => one.innerText.replace(/\\n$/, "")).join("\\n") : this.innerText;
  return text.slice(0, most);
}`;

export interface Described {
  readonly role: string;
  readonly name: string;
  readonly states: string[];
}

/** Roles of elements that only a person knows as controls. */
const plainRoles: ReadonlySet<string> = new Set(["", "none", "generic", "Canvas", "LabelText"]);

/** Returns the element as assistive technology gets it; `undefined` when it has gone. */
export async function accessibleNode({ address, sender }: ElementHandle): Promise<AXNode | undefined> {
  const { backendNodeId, target } = address;
  const answer = await sender.ask(
    sender.page.cdp.send("Accessibility.getPartialAXTree", { backendNodeId, fetchRelatives: false }, target.sessionId),
  );
  return answer?.nodes.find(({ backendDOMNodeId }) => backendDOMNodeId === backendNodeId);
}

/** Returns role, name and states; `undefined` when the element has gone. */
export async function describe(element: ElementHandle): Promise<Described | undefined> {
  const node = await accessibleNode(element);
  if (node === undefined) return undefined;
  const { name, role, states } = accessibleOf(node);
  return { role: shownRole(role), name: shortName(name), states: [...states] };
}

/** Returns the element as an answer shows it, with a reference; `undefined` when it has gone. */
export async function describeActed(
  pages: ElementSource,
  tabId: string,
  element: ElementHandle,
): Promise<ActedElement | undefined> {
  const [described, value, at] = await Promise.all([
    describe(element),
    element.call<string | null>(valueFunction, maxValueCharacters),
    element.call<Place>(placeFunction),
  ]);
  if (described === undefined || typeof at?.url !== "string") return undefined;
  const { name, role, states } = described;
  const isPlain = plainRoles.has(role) || (role === "group" && name === "");
  const told = { role: isPlain ? "generic" : role, name: name === "" && isPlain ? shortName(at.text) : name };
  const ref = pages.references.add(tabId, { address: element.address, ...told, path: "", url: at.url });
  // An outline knows clickable elements, and the roles of elements behind a dialog that the action opened.
  const known = isPlain ? pages.references.get(ref) : undefined;
  return {
    ref,
    role: known?.role ?? told.role,
    name: told.name === "" ? (known?.name ?? "") : told.name,
    states,
    ...(typeof value === "string" && { value }),
  };
}

interface Place {
  /** Address of its document, `null` for a removed element. */
  readonly url: string | null;
  readonly text: string;
}

const placeFunction = `function () {
  return { url: this.isConnected ? location.href.replace(/#.*/, "") : null, text: (this.innerText ?? "").slice(0, 2000) };
}`;

function shortName(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, maxNameCharacters);
}
