import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import { framesBelow } from "../follow/frame-tree.ts";
import { type CapturedProcess, capturedStyles, snapshotParameters } from "../sight/captured-page.ts";
import { type AccessibleTree, readAccessibleNodes, readAccessibleTree } from "./accessibility.ts";
import { DomDocument } from "./dom-snapshot.ts";
import { type Captured, maxDocuments } from "./page-document.ts";
import { type PlainNodes, plainNodes } from "./plain-nodes.ts";
import { noListeners, readListeners } from "./press-listeners.ts";

/** Chromium needs more than a second for the accessibility tree of a larger document. */
const maxAccessibleNodes = 12_000;
/** The styles of a larger document would take seconds more. */
const maxStyledNodes = 30_000;
/** What a large document may take longer, once its process has answered. */
export const largeMs = 20_000;
/** Chromium does not lay out parts of a page that are far from the viewport. A person would, by scrolling there. */
const layOutExpression = `(() => {
  const maxElements = 100000;
  let looked = 0;
  const layOut = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (++looked > maxElements) return;
      if (element.shadowRoot) layOut(element.shadowRoot);
      if (getComputedStyle(element).contentVisibility === "auto") element.querySelector("*")?.getBoundingClientRect();
    }
  };
  layOut(document);
})()`;
/** No other computed style of the snapshot has only this value; a text of the page may. */
const skippedStyle = "auto";

/** The part of a large document's time that is kept for its tree. */
const treeMs = 10_000;

/** What the last reading of a target needed. The next one sends for it at once, before it knows what the page has. */
interface Expected {
  readonly loaderId: string | undefined;
  /** Frames whose whole tree was read. */
  readonly wholes: readonly string[];
  /** Nodes that were asked about. */
  readonly asked: readonly number[];
}

/** Of targets without very large documents. */
const expectations = new WeakMap<FrameTarget, Expected>();
/** In the time for one node, Chromium reads this many of its whole tree. */
const nodesInsteadOfOne = 8;

export interface CaptureOptions {
  readonly timeoutMs: number;
  /** Whether to read Chromium's whole accessibility tree, with the focus of each frame. */
  readonly isWhole: boolean;
}

/** Captures the documents of one process. Returns `undefined` without an answer. */
export async function captureTarget(
  page: FollowedPage,
  target: FrameTarget,
  options: CaptureOptions,
): Promise<Captured[] | undefined> {
  const { session } = page;
  const answers = await session.outcome(readTarget(page, target, options), options.timeoutMs + largeMs);
  if (answers.kind === "gone") throw session.endError();
  if (answers.kind !== "done" || answers.result === undefined) return undefined;
  const read = answers.result;
  for (const { dom, frames: embedded } of read)
    for (const [index, child] of dom.childDocuments) {
      const document = read[child];
      if (document !== undefined) embedded.set(dom.backendNodeIdOf(index), document);
    }
  return read;
}

async function readTarget(
  page: FollowedPage,
  target: FrameTarget,
  { isWhole, timeoutMs }: CaptureOptions,
): Promise<Captured[] | undefined> {
  const { cdp, session } = page;
  const { sessionId } = target;
  const started = performance.now();
  const sizes = Promise.all([
    cdp.send("Page.getFrameTree", undefined, sessionId),
    cdp.send("Memory.getDOMCounters", undefined, sessionId),
  ]);
  const listening = readListeners(
    page,
    target,
    sizes.then(([, { jsEventListeners }]) => jsEventListeners),
  );
  const expected = expectedOf(page, target);
  const ahead = expected && captureProcess(page, target, { isBasic: false, timeoutMs: timeoutMs + largeMs });
  ahead?.catch(() => undefined);
  const asked = readAccessibleNodes(page, sessionId, expected?.asked ?? []);
  const wholes = new Map(expected?.wholes.map((frameId) => [frameId, readAccessibleTree(page, sessionId, frameId)]));
  const answer = await session.outcome(sizes, timeoutMs);
  if (answer.kind !== "done") return undefined;
  const [tree, counters] = answer.result;
  const frames = framesBelow(tree.frameTree, target).slice(0, maxDocuments);
  const loaders = new Map(frames.map(({ frameId, loaderId }) => [frameId, loaderId]));
  // These include nodes of earlier documents that wait for the garbage collector, and nodes that are in no document.
  const isLarge = counters.nodes > maxStyledNodes;
  const limitMs = isLarge ? timeoutMs + largeMs : timeoutMs;
  const take = (isBasic: boolean, ms: number) =>
    inTime(page, captureProcess(page, target, { isBasic, timeoutMs: ms }), ms);
  const first = await (ahead === undefined ? take(isLarge, limitMs) : inTime(page, ahead, limitMs));
  if (first === undefined) return undefined;
  const leftMs = timeoutMs + largeMs - treeMs - (performance.now() - started);
  // A second snapshot, with styles. Without an answer in this time, the first has to do.
  const isCounted = isLarge && ahead === undefined && nodesIn(first) <= maxStyledNodes && leftMs > 0;
  const captured = (isCounted ? await take(false, leftMs) : undefined) ?? first;
  const listeners = (await inTime(page, listening, limitMs)) ?? noListeners;
  const isSmall = nodesIn(captured) <= maxAccessibleNodes;
  const doms = captured.documents
    .slice(0, maxDocuments)
    .map((one) => new DomDocument(one, captured.strings, listeners));
  const plains = new Map(isSmall && !isWhole ? doms.map((dom) => [dom, plainOf(dom)]) : []);
  if (isLarge || captured.isLaidOutLater) expectations.delete(target);
  else
    expectations.set(target, {
      loaderId: page.loaderOf(target),
      wholes: isSmall ? doms.filter((dom) => plains.get(dom) === undefined).map(({ frameId }) => frameId) : [],
      asked: [...plains.values()].flatMap((plain) => plain?.asked ?? []),
    });
  // Parts that were laid out since then have other nodes in the tree.
  const known = captured.isLaidOutLater ? undefined : { asked: await asked, wholes };
  return Promise.all(
    doms.map(async (dom): Promise<Captured> => {
      const { frameId } = dom;
      const plain = plains.get(dom);
      if (isSmall && plain === undefined)
        dom.accessible = await (known?.wholes.get(frameId) ?? readAccessibleTree(page, sessionId, frameId));
      else if (plain !== undefined) dom.accessible = await withAsked(page, sessionId, plain, known?.asked);
      return { dom, target, loaderId: loaders.get(frameId) ?? "", frames: new Map() };
    }),
  );
}

function expectedOf(page: FollowedPage, target: FrameTarget): Expected | undefined {
  const expected = expectations.get(target);
  return expected?.loaderId === page.loaderOf(target) ? expected : undefined;
}

async function inTime<T>(page: FollowedPage, work: Promise<T>, timeoutMs: number): Promise<T | undefined> {
  const answer = await page.session.outcome(work, timeoutMs);
  return answer.kind === "done" ? answer.result : undefined;
}

/** `undefined` where asking about single nodes would take longer than the whole tree. */
function plainOf(dom: DomDocument): PlainNodes | undefined {
  const plain = plainNodes(dom);
  return plain && plain.asked.length * nodesInsteadOfOne <= dom.count ? plain : undefined;
}

/** Adds the nodes that only Chromium tells. */
async function withAsked(
  page: FollowedPage,
  sessionId: string,
  { asked, ignored, nodes }: PlainNodes,
  known: AccessibleTree | undefined,
): Promise<AccessibleTree> {
  const missing = asked.filter((id) => known?.nodes.has(id) !== true && known?.ignored.has(id) !== true);
  const read = await readAccessibleNodes(page, sessionId, missing);
  for (const id of asked) {
    const node = known?.nodes.get(id) ?? read.nodes.get(id);
    if (node !== undefined) nodes.set(id, node);
    else if (known?.ignored.has(id) === true || read.ignored.has(id)) ignored.add(id);
  }
  return { nodes, ignored };
}

function nodesIn({ documents }: CapturedProcess): number {
  return documents.reduce((sum, { nodes }) => sum + (nodes.parentIndex?.length ?? 0), 0);
}

interface Laid extends CapturedProcess {
  /** Whether parts were laid out for it. */
  readonly isLaidOutLater: boolean;
}

interface SnapshotSize {
  readonly isBasic: boolean;
  readonly timeoutMs: number;
}

/** Targets whose last snapshot had no element that scrolls. */
const still = new WeakSet<FrameTarget>();

/** Takes the snapshot of a process, with parts whose layout Chromium skips. Runs no scripts of the page. */
export async function captureProcess(
  page: FollowedPage,
  target: FrameTarget,
  size: SnapshotSize,
): Promise<Laid | undefined> {
  const first = await capture(page, target, size);
  if (first === undefined) return undefined;
  const place = capturedStyles.indexOf("content-visibility");
  const auto = first.strings.indexOf(skippedStyle);
  const skipping = first.documents.filter(
    ({ layout }) => auto >= 0 && layout.styles.some((one) => one[place] === auto),
  );
  if (skipping.length === 0) return { ...first, isLaidOutLater: false };
  await Promise.all(
    skipping.map(async ({ frameId }) => {
      const contextId = await page.worldOf(first.strings[frameId] ?? "", target);
      const params = { expression: layOutExpression, timeout: 2_000 };
      if (contextId !== undefined)
        await page.send(page.cdp.send("Runtime.evaluate", { ...params, contextId }, target.sessionId));
    }),
  );
  return { ...((await capture(page, target, size)) ?? first), isLaidOutLater: true };
}

async function capture(
  { cdp, session }: FollowedPage,
  target: FrameTarget,
  { isBasic, timeoutMs }: SnapshotSize,
): Promise<CapturedProcess | undefined> {
  const take = async (scrolls: boolean): Promise<CapturedProcess | undefined> => {
    const params = snapshotParameters({ isBasic, scrolls });
    const snapshot = cdp.send("DOMSnapshot.captureSnapshot", params, target.sessionId);
    const answer = await session.outcome(snapshot, timeoutMs);
    if (answer.kind === "gone") throw session.endError();
    return answer.kind === "done" ? answer.result : undefined;
  };
  const wasStill = still.has(target);
  const first = await take(!wasStill);
  if (first === undefined) return undefined;
  const scrolls = hasScroller(first);
  if (scrolls) still.delete(target);
  else still.add(target);
  return scrolls && wasStill ? take(true) : first;
}

function hasScroller({ documents, strings }: CapturedProcess): boolean {
  const places = [capturedStyles.indexOf("overflow-x"), capturedStyles.indexOf("overflow-y")];
  const scrolling = new Set(["auto", "scroll"].map((word) => strings.indexOf(word)).filter((index) => index >= 0));
  if (scrolling.size === 0) return false;
  return documents.some(({ layout }) =>
    layout.styles.some((styles) => places.some((place) => scrolling.has(styles[place] ?? -1))),
  );
}
