import { hasTarget } from "../act-fields.ts";
import type { ActTools } from "../act-tools.ts";
import { callInPage, type ElementHandle } from "../../follow/element-handle.ts";

/** Waits until no ancestor scrolls any more, at most a second. */
const scrolledFunction = `async function () {
  const places = () => {
    const found = [scrollX, scrollY];
    for (let at = this; at; at = at.parentElement ?? at.getRootNode().host) found.push(at.scrollLeft, at.scrollTop);
    return found.join();
  };
  const endMs = performance.now() + 1000;
  let still = 0;
  for (let last = places(); still < 4 && performance.now() < endMs; ) {
    await new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 100); });
    const now = places();
    still = now === last ? still + 1 : 0;
    last = now;
  }
}`;

/** Turns the mouse wheel over the element or the middle of the page; without deltas, brings the element into view. */
export async function scroll(tools: ActTools): Promise<ElementHandle | undefined> {
  const { act, actionable, pointer, run, view } = tools;
  const { delta_x: deltaX = 0, delta_y: deltaY = 0 } = act;
  if (!hasTarget(act)) {
    const size = await view.size();
    const middle = { x: (size?.width ?? 100) / 2, y: (size?.height ?? 100) / 2 };
    await pointer.wheel(middle, deltaX, deltaY);
    const { x, y } = middle;
    await callInPage(
      run,
      `async function (x, y) { await (${scrolledFunction}).call(document.elementFromPoint(x, y) ?? document.documentElement); return true; }`,
      x,
      y,
    );
    return undefined;
  }
  // The wheel turns the part under the pointer.
  const needs = { hit: deltaX !== 0 || deltaY !== 0 };
  return actionable.untilUsed({ target: act, field: "body", needs }, async ({ element, point }) => {
    run.hasBegun = true;
    if (deltaX === 0 && deltaY === 0) return true;
    await pointer.move(point);
    await pointer.wheel(point, deltaX, deltaY);
    await element.call(scrolledFunction);
    return true;
  });
}
