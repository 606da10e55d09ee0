import type { NodeAddress } from "../follow/followed-page.ts";

/** An element of an outline: where it is, and its description. */
export interface DescribedElement {
  readonly address: NodeAddress;
  readonly role: string;
  readonly name: string;
  /** Roles and names around it, without positions: another row of a list has another path. */
  readonly path: string;
  /** Address of its document, without the fragment. */
  readonly url: string;
  /** What no other element of its page has, by which it is found after the page replaces it. */
  readonly identity?: string | undefined;
}

export interface KnownElement extends DescribedElement {
  /** `e12` */
  readonly ref: string;
  readonly tabId: string;
}

/** References of one tab that are kept. */
const maxKept = 10_000;

/** References of all tabs of a session. A number is never used for another element. */
export class References {
  readonly #known = new Map<string, KnownElement>();
  readonly #refs = new Map<string, string>();
  /** By tab: references that went to another element, until an outline shows them. */
  readonly #replaced = new Map<string, Set<string>>();
  #last = 0;

  get(ref: string): KnownElement | undefined {
    return this.#known.get(ref);
  }

  /** The element at an address, as an outline or a search described it. */
  at(address: NodeAddress): KnownElement | undefined {
    return this.#known.get(this.#refs.get(keyOf(address)) ?? "");
  }

  /**
   * Returns the references of all elements of a tab's outline. A new element gets the reference of a removed one with
   * the same identity.
   */
  assign(tabId: string, elements: readonly DescribedElement[]): readonly string[] {
    const isNew = elements.some(({ address }) => !this.#refs.has(keyOf(address)));
    const gone = isNew ? this.#gone(tabId, elements) : new Map<string | undefined, string>();
    const refs = elements.map((element) => {
      const old = this.#refs.get(keyOf(element.address));
      const replaced = gone.get(element.identity);
      if (old === undefined && replaced !== undefined) this.#note(tabId, replaced);
      return this.#keep(tabId, old ?? replaced ?? `e${String(++this.#last)}`, element);
    });
    this.#prune(tabId);
    return refs;
  }

  /** Returns the reference of one element, without a look at the others. */
  refOf(tabId: string, element: DescribedElement): string {
    const known = this.#refs.get(keyOf(element.address)) ?? this.#sameNode(tabId, element);
    const ref = this.#keep(tabId, known ?? `e${String(++this.#last)}`, element);
    this.#prune(tabId);
    return ref;
  }

  /** As {@link refOf}; keeps the description of a known element. */
  add(tabId: string, element: DescribedElement): string {
    return this.#refs.get(keyOf(element.address)) ?? this.#sameNode(tabId, element) ?? this.refOf(tabId, element);
  }

  /** The reference now means this element. */
  rebind(ref: string, element: DescribedElement): void {
    const known = this.#known.get(ref);
    if (known !== undefined) this.#keep(known.tabId, ref, element);
  }

  /** Returns each reference that went to another element since the last call. */
  takeReplaced(tabId: string): readonly string[] {
    const replaced = [...(this.#replaced.get(tabId) ?? [])];
    this.#replaced.delete(tabId);
    return replaced;
  }

  forgetTab(tabId: string): void {
    this.#replaced.delete(tabId);
    for (const known of this.#known.values()) if (known.tabId === tabId) this.#forget(known);
  }

  /** References to elements that are no longer there, by identity. */
  #gone(tabId: string, elements: readonly DescribedElement[]): ReadonlyMap<string | undefined, string> {
    const present = new Set(elements.map(({ address }) => keyOf(address)));
    const gone = new Map<string | undefined, string>();
    for (const { address, identity, ref, tabId: ofTab } of this.#known.values())
      if (ofTab === tabId && identity !== undefined && !present.has(keyOf(address))) gone.set(identity, ref);
    return gone;
  }

  #note(tabId: string, ref: string): void {
    const noted = this.#replaced.get(tabId) ?? new Set();
    this.#replaced.set(tabId, noted.add(ref));
  }

  /** An element that was found by a selector has no loader id: its document is the present one. */
  #sameNode(tabId: string, { address }: DescribedElement): string | undefined {
    if (address.loaderId !== "") return undefined;
    const { backendNodeId, frameId } = address;
    return [...this.#known.values()].findLast(
      (known) =>
        known.tabId === tabId && known.address.backendNodeId === backendNodeId && known.address.frameId === frameId,
    )?.ref;
  }

  #keep(tabId: string, ref: string, { address, identity, name, path, role, url }: DescribedElement): string {
    const old = this.#known.get(ref);
    // Moves it to the end: the oldest are forgotten first.
    if (old !== undefined) this.#forget(old);
    this.#known.set(ref, { ref, tabId, address, name, path, role, url, identity });
    this.#refs.set(keyOf(address), ref);
    return ref;
  }

  #forget({ address, ref }: KnownElement): void {
    this.#known.delete(ref);
    this.#refs.delete(keyOf(address));
  }

  #prune(tabId: string): void {
    if (this.#known.size <= maxKept) return;
    const known = [...this.#known.values()].filter((one) => one.tabId === tabId);
    for (const old of known.slice(0, Math.max(0, known.length - maxKept))) this.#forget(old);
  }
}

/** Text that is the same for the same node of the same document. */
export function keyOf({ backendNodeId, loaderId, target }: NodeAddress): string {
  return `${target.sessionId} ${loaderId} ${String(backendNodeId)}`;
}
