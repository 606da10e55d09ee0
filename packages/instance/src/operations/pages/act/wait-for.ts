import { ServiceError } from "@shoal/router";
import { waitedInVain } from "./act-errors.ts";
import { captureProcess } from "../capture/capture-target.ts";
import { DomDocument } from "../capture/dom-snapshot.ts";
import { textBelow } from "../reading/names.ts";
import { hasTarget } from "./act-fields.ts";
import type { ActTools } from "./act-tools.ts";
import { type ElementHandle, inWorld } from "../follow/element-handle.ts";
import { stateFunction } from "./element/examine.ts";
import { describeTarget } from "./element/find-target.ts";
import { framesOf } from "../follow/frame-tree.ts";

/** Milliseconds between two looks. */
const pausesMs = [20, 50, 100];
const looksToClosedRoots = 4;
const closedRootsMs = 2_000;

/** Case and white space do not matter. */
const hasTextFunction = `function (wanted) {
  const squeeze = (text) => text.replace(/\\s+/g, " ").toLowerCase();
  const needle = squeeze(wanted).trim();
  const has = (root) => {
    const parts = root.body ? [root.body] : [...root.children];
    if (parts.some((part) => squeeze(part.innerText ?? "").includes(needle))) return true;
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    while (walk.nextNode()) if (walk.currentNode.shadowRoot && has(walk.currentNode.shadowRoot)) return true;
    return false;
  };
  return has(document);
}`;

/** Waits for an element, a text or an address. @throws {ServiceError} 409 `wait_timeout`. */
export async function waitFor(tools: ActTools): Promise<ElementHandle | undefined> {
  const { act, run } = tools;
  let found: ElementHandle | undefined;
  for (let attempt = 0; ; attempt++) {
    if (hasTarget(act)) {
      const seen = await lookAtElement(tools);
      if (seen.isReached) return seen.element;
      found = seen.element ?? found;
    } else if (act.url === undefined ? await lookForText(tools, attempt) : matchesUrl(await currentUrl(tools), act.url))
      return undefined;
    if (run.leftMs <= 0) throw ServiceError.of(waitedInVain(conditionOf(tools), act.timeout_ms));
    await run.pause(pausesMs[attempt] ?? 150);
  }
}

async function lookAtElement({
  act,
  actionable,
}: ActTools): Promise<{ readonly isReached: boolean; readonly element?: ElementHandle | undefined }> {
  const { state = "visible" } = act;
  const element = await actionable.finder.find(act, "body").catch((error: unknown) => {
    const isMissing =
      ServiceError.isInstance(error) && (error.code === "element_not_found" || error.code === "stale_reference");
    if (isMissing && (state === "hidden" || error.code === "element_not_found")) return undefined;
    throw error;
  });
  const seen = await element?.call<{ visible: boolean; disabled: boolean }>(stateFunction);
  if (seen === undefined) return { isReached: state === "hidden" };
  const isReached = {
    visible: seen.visible,
    hidden: !seen.visible,
    enabled: seen.visible && !seen.disabled,
    disabled: seen.disabled,
  }[state];
  return { isReached, element };
}

async function lookForText({ act, run }: ActTools, attempt: number): Promise<boolean> {
  const { state = "visible", text = "" } = act;
  const isWanted = state === "visible";
  const seen = await Promise.all(
    [...(await framesOf(run)).values()].map(async (frame) => {
      const { cdp } = run.page;
      const given = { functionDeclaration: hasTextFunction, arguments: [{ value: text }], returnByValue: true };
      const answer = await inWorld(run, frame, ({ objectId }) =>
        run.ask(cdp.send("Runtime.callFunctionOn", { ...given, objectId }, frame.target.sessionId)),
      );
      return answer?.result.value === true;
    }),
  );
  if (seen.includes(true)) return isWanted;
  // Scripts do not see closed shadow roots, and looking there takes longer.
  const looks = !isWanted || attempt % looksToClosedRoots === 0;
  return (looks && (await closedTextOf(run)).includes(squeezed(text))) === isWanted;
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

/** The text in closed shadow roots. */
async function closedTextOf({ page }: ActTools["run"]): Promise<string> {
  const captured = await Promise.all(
    page.targets.map((target) => captureProcess(page, target, { isBasic: false, timeoutMs: closedRootsMs })),
  );
  const texts = captured.flatMap((process) =>
    (process?.documents ?? []).flatMap((document) => {
      const { index = [], value = [] } = document.nodes.shadowRootType ?? {};
      const roots = index.filter((_, place) => process?.strings[value[place] ?? -1] === "closed");
      const dom = roots.length === 0 ? undefined : new DomDocument(document, process?.strings ?? []);
      return roots.map((root) => textBelow(dom?.tree[dom.parentOf(root)]));
    }),
  );
  return squeezed(texts.join(" "));
}

async function currentUrl({ run }: ActTools): Promise<string> {
  const { cdp, session } = run.page;
  const history = await run.ask(cdp.send("Page.getNavigationHistory", undefined, session.sessionId));
  return history?.entries[history.currentIndex]?.url ?? "";
}

/** `*` in a pattern matches any characters; without one, the address must be equal. */
export function matchesUrl(url: string, pattern: string): boolean {
  if (!pattern.includes("*")) return url === pattern || (URL.canParse(pattern) && url === new URL(pattern).href);
  // Part by part: a regular expression could take exponential time.
  const parts = pattern.split("*");
  const first = parts.shift() ?? "";
  const last = parts.pop() ?? "";
  if (!url.startsWith(first) || !url.endsWith(last) || url.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts) {
    const found = url.indexOf(part, at);
    if (found === -1 || found + part.length > url.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

function conditionOf({ act }: ActTools): string {
  const { state = "visible", text, url } = act;
  if (url !== undefined) return `The address did not become ${url.slice(0, 200)}`;
  if (text !== undefined)
    return `The text ${JSON.stringify(text.slice(0, 200))} did not ${state === "hidden" ? "disappear" : "appear"}`;
  return `The ${describeTarget(act)} did not become ${state}`;
}
