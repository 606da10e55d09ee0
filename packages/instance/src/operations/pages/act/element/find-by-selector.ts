import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Frame } from "../../follow/frame-tree.ts";
import type { ActRun } from "../act-run.ts";
import { ElementHandle, handleOf, inWorld, nodeOf, withNodeId } from "../../follow/element-handle.ts";
import { framesOf } from "../../follow/frame-tree.ts";

export interface Matches {
  /** Visible matches, or all if none is visible. */
  readonly total: number;
  /** The first of them, at most {@link maxShown}. */
  readonly elements: readonly ElementHandle[];
}

/** Candidates in an error. */
const maxShown = 5;

/** Also in open shadow roots. Returns the only match, or what there is of several. A hidden copy, such as a menu for phones, does not make a selector ambiguous. */
const findFunction = `function (selector, most) {
  const isVisible = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true });
  };
  const found = [];
  const look = (root) => {
    for (const element of root.querySelectorAll(selector)) found.push(element);
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot) look(walk.currentNode.shadowRoot);
  };
  try { look(document); } catch (error) { return { invalid: true, elements: [], total: 0, visible: 0 }; }
  if (found.length === 1) return found[0];
  const visible = found.filter(isVisible);
  const elements = visible.length > 0 ? visible : found;
  return { invalid: false, elements: elements.slice(0, most), total: elements.length, visible: visible.length };
}`;

/** @throws {ServiceError} 400 for an invalid selector. */
export async function findBySelector(run: ActRun, selector: string, field: string): Promise<Matches> {
  const found = await findInFrames(run, selector);
  if (found.some((one) => one?.invalid === true))
    throw ServiceError.of(invalid(field, "is not a valid CSS selector", { hint: "Example: `form.login button`." }));
  const present = found.filter((one) => one !== undefined);
  const visible = present.filter((one) => one.visible > 0);
  const chosen = visible.length > 0 ? visible : present;
  return {
    total: chosen.reduce((sum, { total }) => sum + total, 0),
    elements: chosen.flatMap(({ elements }) => elements).slice(0, maxShown),
  };
}

/** Most pages have one document, which is searched while the browser names them. */
async function findInFrames(run: ActRun, selector: string): Promise<readonly (FoundInFrame | undefined)[]> {
  const { mainFrameId, targets } = run.page;
  const [target] = targets;
  if (target === undefined) return [];
  const main: Frame = { target, frameId: mainFrameId, loaderId: "", parentId: undefined };
  const ahead = findIn(run, main, selector);
  const [frames] = await Promise.all([framesOf(run), ahead]);
  return Promise.all(
    [...frames.values()].map(async (frame) => {
      const { frameId, loaderId } = frame;
      const found =
        frame.target === target && frameId === mainFrameId ? await ahead : await findIn(run, frame, selector);
      return found && { ...found, elements: found.elements.map((element) => element.in(loaderId)) };
    }),
  );
}

interface FoundInFrame {
  readonly invalid: boolean;
  readonly total: number;
  readonly visible: number;
  readonly elements: readonly ElementHandle[];
}

async function findIn(run: ActRun, frame: Frame, selector: string): Promise<FoundInFrame | undefined> {
  const { cdp } = run.page;
  const { frameId, loaderId, target } = frame;
  const { sessionId } = target;
  const given = {
    functionDeclaration: findFunction,
    arguments: [{ value: selector }, { value: maxShown }],
    serializationOptions: withNodeId,
  };
  const answer = await inWorld(run, frame, (world) =>
    run.ask(cdp.send("Runtime.callFunctionOn", { ...given, objectId: world.objectId }, sessionId)),
  );
  const objectId = answer?.result.objectId;
  if (objectId === undefined) return undefined;
  if (answer?.result.subtype === "node") {
    const only = new ElementHandle(run, { frameId, loaderId, target, backendNodeId: nodeOf(answer.result) }, objectId);
    return { invalid: false, total: 1, visible: 1, elements: [only] };
  }
  const summary = await callOn<Omit<FoundInFrame, "elements">>(
    run,
    { objectId, sessionId },
    "function () { const { invalid, total, visible } = this; return { invalid, total, visible }; }",
  );
  if (summary === undefined) return undefined;
  const shown = Array.from({ length: Math.min(summary.total, maxShown) }, (_, place) => place);
  const elements = await Promise.all(shown.map((place) => elementAt(run, frame, objectId, place)));
  cdp.send("Runtime.releaseObject", { objectId }, sessionId).catch(() => undefined);
  return { ...summary, elements: elements.filter((element) => element !== undefined) };
}

interface RemoteObject {
  readonly objectId: string;
  readonly sessionId: string;
}

async function callOn<T>(run: ActRun, object: RemoteObject, functionDeclaration: string): Promise<T | undefined> {
  const { objectId, sessionId } = object;
  const answer = await run.ask(
    run.page.cdp.send("Runtime.callFunctionOn", { functionDeclaration, objectId, returnByValue: true }, sessionId),
  );
  return answer?.exceptionDetails === undefined ? (answer?.result.value as T | undefined) : undefined;
}

async function elementAt(
  run: ActRun,
  frame: Frame,
  objectId: string,
  place: number,
): Promise<ElementHandle | undefined> {
  const answer = await run.ask(
    run.page.cdp.send(
      "Runtime.callFunctionOn",
      {
        functionDeclaration: "function (place) { return this.elements[place]; }",
        objectId,
        arguments: [{ value: place }],
      },
      frame.target.sessionId,
    ),
  );
  const element = answer?.result.objectId;
  return element === undefined ? undefined : handleOf(run, frame, element);
}
