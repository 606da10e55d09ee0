import { ServiceError } from "@shoal/router";
import { ambiguousTarget, elementNotFound, type NamedElement } from "../../tabs/page-errors.ts";
import { findElement } from "../../outline/find-element.ts";
import type { Target } from "../act-fields.ts";
import { type ActRun, Interrupted } from "../act-run.ts";
import { describeActed } from "./describe.ts";
import type { ActedTab, ElementSource } from "../../tabs/element-source.ts";
import { ElementHandle } from "../../follow/element-handle.ts";
import { findByRole } from "./find-by-role.ts";
import { findBySelector } from "./find-by-selector.ts";

/** Milliseconds between two searches. */
const pausesMs = [20, 50, 100, 200];

/** Finds the element of an action, in all frames of a tab. */
export class TargetFinder {
  readonly #pages: ElementSource;
  readonly #tab: ActedTab;
  readonly #run: ActRun;

  constructor(pages: ElementSource, tab: ActedTab, run: ActRun) {
    this.#pages = pages;
    this.#tab = tab;
    this.#run = run;
  }

  /**
   * Waits for the element until the time limit. @param field - path of the target's fields in errors: `body`.
   * @throws {ServiceError} 404 `element_not_found`, 409 `ambiguous_target`, 409 `stale_reference`.
   */
  async wait(target: Target, field: string): Promise<ElementHandle> {
    for (let attempt = 0; ; attempt++) {
      try {
        const found = await this.find(target, field);
        if (found !== undefined) return found;
        if (this.#run.page.session.dialog !== undefined) throw new Interrupted("dialog");
        if (this.#run.leftMs <= 0) throw ServiceError.of(elementNotFound(describeTarget(target), []));
      } catch (error) {
        const isMissing = ServiceError.isInstance(error) && error.code === "element_not_found";
        if (!isMissing || this.#run.leftMs <= 0) throw error;
      }
      await this.#run.pause(pausesMs[attempt] ?? 250);
    }
  }

  /** Returns `undefined` if nothing matches now. @throws {ServiceError} like {@link TargetFinder.wait}. */
  async find(target: Target, field: string): Promise<ElementHandle | undefined> {
    const [found] = await Promise.all([this.#find(target, field), this.#run.prepared]);
    if (found !== undefined && field === "body") this.#run.onFound?.(found);
    return found;
  }

  async #find({ name, ref, role, selector }: Target, field: string): Promise<ElementHandle | undefined> {
    if (ref !== undefined) return this.#byReference(ref);
    if (selector !== undefined) return this.#bySelector(selector, field);
    return role === undefined ? undefined : this.#byRole(role, name);
  }

  async #byReference(ref: string): Promise<ElementHandle | undefined> {
    const { element, replaced } = await this.#run.within(this.#pages.resolve(ref));
    if (replaced) this.#run.replacedRef = ref;
    return element.of(this.#run);
  }

  async #bySelector(selector: string, field: string): Promise<ElementHandle | undefined> {
    const { elements, total } = await findBySelector(this.#run, selector, `${field}.selector`);
    const [first] = elements;
    if (first === undefined || total === 1) return first;
    const described = await Promise.all(elements.map((element) => describeActed(this.#pages, this.#tab.id, element)));
    const named: NamedElement[] = described.filter((one) => one !== undefined);
    throw ServiceError.of(ambiguousTarget(JSON.stringify(selector), named, total));
  }

  async #byRole(role: string, name: string | undefined): Promise<ElementHandle | undefined> {
    const only = name === undefined ? undefined : await findByRole(this.#run, role, name);
    if (only !== undefined) return only;
    const found = await this.#run.within(findElement(this.#pages, this.#tab, { role, name }));
    return found && ElementHandle.at(this.#run, found.address);
  }
}

/** `button "Save"` */
export function describeTarget({ name, ref, role, selector }: Target): string {
  if (ref !== undefined) return ref;
  if (selector !== undefined) return `element with the selector ${JSON.stringify(selector.slice(0, 200))}`;
  return `${String(role)}${name === undefined ? "" : ` "${name.slice(0, 100)}"`}`;
}
