import { ServiceError } from "@shoal/router";
import type { FlowPlace, FlowTarget } from "@shoal/schemas";
import { explainInterruption } from "../act/act-errors.ts";
import { ActRun } from "../act/act-run.ts";
import { describeActed } from "../act/element/describe.ts";
import { fingerprintHelpers } from "../act/record/fingerprint.ts";
import { ElementHandle } from "../follow/element-handle.ts";
import { fold, similar } from "../outline/find-element.ts";
import type { PageItemElement } from "../reading/page-items.ts";
import { readPage } from "../reading/read-page.ts";
import { dialogOpen } from "../tabs/page-errors.ts";
import { keyOf } from "../tabs/references.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { type Decision, decideElement, type Evidence } from "./decide-element.ts";
import { findByFallback } from "./find-fallback.ts";

/** The element of a step: a reference for an action, or why the page has no such element. */
export type StepElement =
  | { readonly kind: "one"; readonly ref: string; readonly by: string }
  | { readonly kind: "ambiguous" | "not_found" | "unsure"; readonly candidates: readonly string[] };

export interface StepSearch {
  readonly pages: SessionPages;
  readonly tab: OpenTab;
  readonly target: FlowTarget;
  readonly isGuarded: boolean;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Repeated parts of a page: an element of another one is another element. */
const itemRoles: ReadonlySet<string> = new Set(["generic", "gridcell", "listitem", "row", "treeitem"]);
const pausesMs = [50, 100, 200];
/** A slow page shows the name later. */
const onlyNameMs = 1_000;
const maxCandidates = 5;

const isWithinFunction = `function (role, name) {${fingerprintHelpers}
  const wanted = fold(name);
  if (role === "generic") {
    const part = partOf(this);
    return part !== undefined && (fold(placeNameOf(part)) === wanted || fold(part.innerText).includes(wanted));
  }
  for (let at = around(this); at; at = around(at))
    if (placeRoleOf(at) === role && (fold(placeNameOf(at)) === wanted || fold(at.innerText).includes(wanted))) return true;
  return false;
}`;

/** Waits for the element of a step until the time limit. @throws {ServiceError} 409 `dialog_open` or `page_not_responding` */
export async function findStepElement(search: StepSearch): Promise<StepElement> {
  try {
    return await find(search);
  } catch (error) {
    throw explainInterruption(error, search.tab);
  }
}

async function find(search: StepSearch): Promise<StepElement> {
  const { signal, tab, timeoutMs } = search;
  const run = new ActRun(tab.page, { signal, timeoutMs });
  const onlyNameUntil = performance.now() + Math.min(onlyNameMs, timeoutMs / 2);
  for (let attempt = 0; ; attempt++) {
    const isLast = run.leftMs <= 0;
    const found = await look(search, run, isLast || performance.now() > onlyNameUntil);
    if (found.kind === "one" || isLast) return found;
    await run.pause(pausesMs[attempt] ?? 300);
  }
}

async function look(search: StepSearch, run: ActRun, usesFallbacks: boolean): Promise<StepElement> {
  const { isGuarded, pages, tab, target } = search;
  const read = await run.within(readPage(tab));
  if (read === undefined) {
    const { dialog } = run.page.session;
    if (dialog !== undefined) throw ServiceError.of(dialogOpen(tab.id, dialog));
    return { kind: "not_found", candidates: [] };
  }
  const { elements } = read.tree;
  const byKey = new Map(elements.map((element) => [keyOf(element.address), element]));
  const named = await inPlace(run, target, namedElements(elements, read.covered, target));
  const isDecided = named?.length === 1;
  const fallbacks = isDecided || !usesFallbacks ? [] : await evidenceOf(run, target, elements);
  const decision = decideElement(
    named?.map(({ address }) => keyOf(address)),
    fallbacks,
    isGuarded,
  );
  if (decision.kind === "one") {
    const element = byKey.get(decision.key);
    if (element !== undefined) return { kind: "one", ref: pages.references.refOf(tab.id, element), by: decision.by };
  }
  const plain = usesFallbacks && decision.kind === "not_found" ? await plainElement(search, run) : undefined;
  if (plain !== undefined) return plain;
  return {
    kind: decision.kind === "one" ? "not_found" : decision.kind,
    candidates: candidatesOf(decision, byKey, target),
  };
}

/** Elements with the role and the whole name, usable ones before others. `undefined` without a name. */
function namedElements(
  elements: readonly PageItemElement[],
  covered: ReadonlySet<unknown>,
  { name, role }: FlowTarget,
): readonly PageItemElement[] | undefined {
  if (name === undefined) return undefined;
  const all = elements.filter((one) => one.role === role?.toLowerCase() && fold(one.name) === fold(name));
  const usable = all.filter(({ isUsable }) => isUsable);
  const group = usable.length > 0 ? usable : all;
  const reached = group.filter((one) => !covered.has(one));
  return reached.length > 0 ? reached : group;
}

/** Only elements in the place of the step, if that decides; always if the place is one of several equal ones. */
async function inPlace<E extends PageItemElement>(
  run: ActRun,
  { within }: FlowTarget,
  found: readonly E[] | undefined,
): Promise<readonly E[] | undefined> {
  if (found === undefined || within === undefined || found.length === 0) return found;
  const isItem = itemRoles.has(within.role);
  if (found.length === 1 && !isItem) return found;
  const inside = await Promise.all(found.map((element) => isWithin(run, element, within)));
  const kept = found.filter((_, index) => inside[index]);
  return isItem || kept.length > 0 ? kept : found;
}

async function isWithin(run: ActRun, { address }: PageItemElement, { name, role }: FlowPlace): Promise<boolean> {
  const handle = await ElementHandle.at(run, address);
  return (await handle?.call<boolean>(isWithinFunction, role, name)) === true;
}

/** An element without a role, such as the title of a menu, is in no outline: a selector finds it, and its name must be the same. */
async function plainElement({ pages, tab, target }: StepSearch, run: ActRun): Promise<StepElement | undefined> {
  const { fallbacks, name, role } = target;
  if (role?.toLowerCase() !== "generic") return undefined;
  for (const fallback of fallbacks.filter(({ by }) => by === "css" || by === "test_id")) {
    const [address, ...others] = (await findByFallback(run, fallback)) ?? [];
    if (address === undefined || others.length > 0) continue;
    const handle = await ElementHandle.at(run, address);
    const acted = handle && (await describeActed(pages, tab.id, handle));
    if (acted?.role === "generic" && (name === undefined || fold(acted.name) === fold(name)))
      return { kind: "one", ref: acted.ref, by: name === undefined ? fallback.by : `name+${fallback.by}` };
  }
  return undefined;
}

async function evidenceOf(
  run: ActRun,
  target: FlowTarget,
  elements: readonly PageItemElement[],
): Promise<readonly Evidence[]> {
  const { fallbacks, role } = target;
  const evidence = await Promise.all(
    fallbacks.map(async (fallback): Promise<Evidence> => {
      const nodes = (await findByFallback(run, fallback)) ?? [];
      const matching = elements.filter(
        ({ address, role: found }) =>
          (role === undefined || found === role.toLowerCase()) &&
          nodes.some(
            ({ backendNodeId, frameId }) => backendNodeId === address.backendNodeId && frameId === address.frameId,
          ),
      );
      const kept = (await inPlace(run, target, matching)) ?? [];
      return { by: fallback.by, keys: kept.map(({ address }) => keyOf(address)) };
    }),
  );
  return evidence;
}

function candidatesOf(
  decision: Decision,
  byKey: ReadonlyMap<string, PageItemElement>,
  { name, role }: FlowTarget,
): readonly string[] {
  const meant = "keys" in decision ? decision.keys.flatMap((key) => byKey.get(key) ?? []) : [];
  const shown = meant.length > 0 ? meant : similar([...byKey.values()], { name, role });
  return shown.slice(0, maxCandidates).map((one) => described(one.role, one.name));
}

export function described(role: string | undefined, name: string | undefined): string {
  const shown = name === undefined || name === "" ? "" : ` ${JSON.stringify(name.slice(0, 200))}`;
  return `${role ?? "element"}${shown}`;
}
