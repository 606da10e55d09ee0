import type { FlowFallback } from "@shoal/schemas";
import type { ActRun } from "../act/act-run.ts";
import { fingerprintHelpers } from "../act/record/fingerprint.ts";
import type { NodeAddress } from "../follow/followed-page.ts";
import { handleOf, inWorld } from "../follow/element-handle.ts";
import { type Frame, framesOf } from "../follow/frame-tree.ts";

/** Further matches make a fallback useless anyway. */
const maxMatches = 10;

const findFunction = `function (by, value, most) {${fingerprintHelpers}
  const wanted = fold(value);
  const controls = "a[href], button, input, select, textarea, summary, [role], [contenteditable=''], [contenteditable=true], [tabindex]";
  const quoted = '"' + CSS.escape(value) + '"';
  const nearby = (element) => {
    for (let at = around(element); at; at = around(at))
      if (placeRoleOf(at) !== undefined && placeRoleOf(at) !== "main") return fold(at.innerText).includes(wanted);
    return false;
  };
  const ways = {
    css: (root) => [...root.querySelectorAll(value)],
    test_id: (root) => [...root.querySelectorAll(testIds.map((id) => "[" + id + "=" + quoted + "]").join(","))],
    placeholder: (root) => [...root.querySelectorAll("[placeholder]")].filter((one) => fold(one.getAttribute("placeholder")) === wanted),
    label: (root) => [...root.querySelectorAll("label")].filter((one) => fold(one.innerText) === wanted).map((one) => one.control).filter(Boolean),
    near: (root) => [...root.querySelectorAll(controls)].filter(nearby),
  };
  const found = new Set();
  const look = (root) => {
    for (const element of ways[by](root)) found.add(element);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot) look(walk.currentNode.shadowRoot);
  };
  try { look(document); } catch (error) { return []; }
  return [...found].slice(0, most);
}`;

/** The elements that a fallback matches, in all frames and open shadow roots; `undefined` for more than ten. */
export async function findByFallback(run: ActRun, fallback: FlowFallback): Promise<readonly NodeAddress[] | undefined> {
  const frames = [...(await framesOf(run)).values()];
  const found = (await Promise.all(frames.map((frame) => findIn(run, frame, fallback)))).flat();
  return found.length > maxMatches ? undefined : found;
}

async function findIn(run: ActRun, frame: Frame, { by, value }: FlowFallback): Promise<NodeAddress[]> {
  const { cdp } = run.page;
  const { sessionId } = frame.target;
  const values = [by, value, maxMatches + 1].map((one) => ({ value: one }));
  const params = { functionDeclaration: findFunction, arguments: values };
  const answer = await inWorld(run, frame, (world) =>
    run.ask(cdp.send("Runtime.callFunctionOn", { ...params, objectId: world.objectId }, sessionId)),
  );
  const objectId = answer?.result.objectId;
  if (objectId === undefined) return [];
  const listed = await run.ask(cdp.send("Runtime.getProperties", { objectId, ownProperties: true }, sessionId));
  const elements = (listed?.result ?? []).flatMap(({ name, value: one }) =>
    /^\d+$/.test(name) && one?.objectId !== undefined ? [one.objectId] : [],
  );
  const handles = await Promise.all(elements.map((element) => handleOf(run, frame, element)));
  cdp.send("Runtime.releaseObject", { objectId }, sessionId).catch(() => undefined);
  return handles.flatMap((handle) => (handle === undefined ? [] : [handle.address]));
}
