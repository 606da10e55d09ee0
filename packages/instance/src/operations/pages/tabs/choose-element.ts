import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { ElementHandle } from "../follow/element-handle.ts";
import { selectElement } from "./select-element.ts";
import type { OpenTab, SessionPages } from "./session-pages.ts";

interface Choice {
  readonly ref?: string | undefined;
  readonly selector?: string | undefined;
  readonly tab?: string | undefined;
}

/**
 * Returns the tab of a request, and the element if it names one. @throws {ServiceError} 400 for contradictory fields, 404
 * for an unknown tab or element, 409 for a stale reference.
 */
export async function chooseElement(
  pages: SessionPages,
  { ref, selector, tab: tabId }: Choice,
): Promise<{ readonly tab: OpenTab; readonly element: ElementHandle | undefined }> {
  if (ref !== undefined && selector !== undefined)
    throw ServiceError.of(invalid("body.selector", "cannot be combined with `ref`"));
  if (ref === undefined) {
    const tab = await pages.tab(tabId);
    return { tab, element: selector === undefined ? undefined : await selectElement(tab, selector) };
  }
  const { element, tab } = await pages.resolve(ref);
  if (tabId !== undefined && tabId !== tab.id)
    throw ServiceError.of(invalid("body.tab", `does not contain ${ref}`, { hint: `Omit tab, or pass ${tab.id}.` }));
  return { tab, element };
}
