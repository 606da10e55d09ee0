import type { OutlineNode, PageOutline } from "@shoal/instance";

const fieldRoles: ReadonlySet<string> = new Set(["textbox", "combobox", "spinbutton", "searchbox"]);
const buttonRoles: ReadonlySet<string> = new Set(["button", "clickable", "link", "menuitem", "option", "radio", "tab"]);

/** A hostile outline could be one chain. */
const maxDepth = 64;

/** Texts that are searched together. */
const maxSpoken = 300;

/** An outline with the ways through it. Broken positions of a hostile outline lead to nothing. */
export class PageTree {
  readonly outline: PageOutline;
  readonly #places: ReadonlyMap<OutlineNode, number>;

  constructor(outline: PageOutline) {
    this.outline = outline;
    this.#places = new Map(outline.nodes.map((node, place) => [node, place]));
  }

  get nodes(): readonly OutlineNode[] {
    return this.outline.nodes;
  }

  placeOf(node: OutlineNode): number {
    return this.#places.get(node) ?? -1;
  }

  /** The closest first. Surrounding nodes have lower positions. */
  around(node: OutlineNode): readonly OutlineNode[] {
    const around: OutlineNode[] = [];
    let place = this.placeOf(node);
    let next = this.nodes[node.parent];
    while (next !== undefined && this.placeOf(next) < place && around.length < maxDepth) {
      around.push(next);
      place = this.placeOf(next);
      next = this.nodes[next.parent];
    }
    return around;
  }

  closest(node: OutlineNode, ...roles: readonly string[]): OutlineNode | undefined {
    return this.around(node).find(({ role }) => roles.includes(role));
  }

  /** Nodes inside, in the order of the document. */
  inside(block: OutlineNode): readonly OutlineNode[] {
    const found = new Set([this.placeOf(block)]);
    const inside: OutlineNode[] = [];
    for (const [place, node] of this.nodes.entries()) {
      if (place <= this.placeOf(block) || !found.has(node.parent)) continue;
      found.add(place);
      inside.push(node);
    }
    return inside;
  }

  hostOf(node: OutlineNode): string {
    return this.outline.frames[node.frame]?.host ?? "";
  }

  /** Text of the page that a person sees. */
  get words(): string {
    return wordsOf(this.nodes.filter(({ role }) => role === "text" || role === "heading"));
  }
}

export function wordsOf(nodes: readonly OutlineNode[]): string {
  return nodes
    .slice(0, maxSpoken)
    .map(({ name }) => name)
    .join("\n");
}

/** A person can see it, perhaps after closing something in front of it. */
export function isShown({ hidden }: OutlineNode): boolean {
  return hidden === undefined || hidden === "covered";
}

export function isField(node: OutlineNode): boolean {
  if (!fieldRoles.has(node.role) || !isShown(node)) return false;
  if (node.tag === "select" || node.tag === "button") return false;
  if (node.role === "combobox" && node.tag !== "input") return false;
  return !node.states.includes("disabled") && !node.states.includes("readonly");
}

export function isButton(node: OutlineNode): boolean {
  return buttonRoles.has(node.role) && isShown(node) && node.tag !== "option";
}

/** Everything that tells the meaning of a control. */
export function meaningOf({ attributes, name }: OutlineNode): string {
  const { id = "", placeholder = "", title = "" } = attributes;
  return [name, placeholder, attributes["aria-label"] ?? "", title, attributes.name ?? "", isMade(id) ? "" : id].join(
    "\n",
  );
}

/** Ids such as `input28` or `:r1:` mean nothing. */
function isMade(id: string): boolean {
  return /^\W|^(?:input|field|i|ember|mui)-?\d+/i.test(id);
}
