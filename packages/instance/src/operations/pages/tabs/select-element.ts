import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { type ElementHandle, handleOf } from "../follow/element-handle.ts";
import { elementNotFound, pageNotResponding } from "./page-errors.ts";
import type { OpenTab } from "./session-pages.ts";

/** Finds the first element in the document, then in its open shadow roots. */
const findFunction = `(selector) => {
  document.createDocumentFragment().querySelector(selector);
  const maxElements = 100000;
  let looked = 0;
  const findIn = (root) => {
    const found = root.querySelector(selector);
    if (found) return found;
    for (const element of root.querySelectorAll("*")) {
      if (++looked > maxElements) return null;
      const inside = element.shadowRoot && findIn(element.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  return findIn(document);
}`;

/** Returns the first element of a tab's document with a CSS selector. @throws {ServiceError} 400, 404 or 409. */
export async function selectElement(tab: OpenTab, selector: string): Promise<ElementHandle> {
  const { page } = tab;
  const [target] = page.targets;
  if (target === undefined) throw page.session.endError();
  const contextId = await page.worldOf(page.mainFrameId, target);
  const answer =
    contextId === undefined
      ? undefined
      : await page.send(
          page.cdp.send(
            "Runtime.evaluate",
            { expression: `(${findFunction})(${JSON.stringify(selector)})`, contextId },
            target.sessionId,
          ),
        );
  if (answer === undefined) throw ServiceError.of(pageNotResponding(tab.id, "did not look for the element"));
  if (answer.exceptionDetails !== undefined)
    throw ServiceError.of(invalid("body.selector", "is not a valid CSS selector"));
  const { objectId } = answer.result;
  const place = { target, frameId: page.mainFrameId, loaderId: "" };
  const element = objectId === undefined ? undefined : await handleOf(page, place, objectId);
  if (element === undefined)
    throw ServiceError.of({ ...elementNotFound("element with this selector", []), field: "body.selector" });
  return element;
}
