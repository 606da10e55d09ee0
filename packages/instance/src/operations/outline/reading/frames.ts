import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { AccessibleNodes } from "../../pages/capture/accessibility.ts";
import { readAccessibility } from "./accessibility.ts";
import { readSnapshot, type SnapshotDocument } from "./snapshot.ts";
import type { FrameTarget } from "../../pages/follow/followed-page.ts";
import type { WatchedPage } from "../watched-page.ts";

export interface FrameFacts {
  readonly host: string;
  /** Empty for an opaque origin. */
  readonly origin: string;
  readonly loaderId: string;
}

/** A document with everything that an outline needs. */
export interface ReadDocument {
  readonly target: FrameTarget;
  readonly document: SnapshotDocument;
  readonly accessible: AccessibleNodes;
  readonly facts: FrameFacts;
  /** The document of an embedded frame, by the backend node id of its element. */
  readonly embedded: ReadonlyMap<number, ReadDocument>;
}

const maxDocuments = 60;

/** Returns the page's document, which contains those of its frames. */
export async function readDocuments(page: WatchedPage): Promise<ReadDocument | undefined> {
  const read = await Promise.all(page.targets.map((target) => readTarget(page, target)));
  const byFrame = new Map(read.flat().map((document) => [document.document.frameId, document]));
  for (const document of byFrame.values()) embedLocal(document, byFrame);
  await Promise.all(page.targets.map((target) => embedRemote(page, target, byFrame)));
  return byFrame.get(page.session.targetId);
}

type Embedding = ReadDocument & { readonly embedded: Map<number, ReadDocument>; readonly locals: readonly string[] };

async function readTarget(page: WatchedPage, target: FrameTarget): Promise<Embedding[]> {
  const [documents, facts] = await Promise.all([
    readSnapshot(page, target).catch(noDocuments(target)),
    readFrames(page, target),
  ]);
  const frameIds = documents.map(({ frameId }) => frameId);
  return Promise.all(
    documents.slice(0, maxDocuments).map(async (document) => ({
      target,
      document,
      accessible: await readAccessibility(page, target, document),
      facts: facts.get(document.frameId) ?? { host: "", origin: "", loaderId: "" },
      embedded: new Map<number, ReadDocument>(),
      locals: frameIds,
    })),
  );
}

/** A frame may go while it is read; the page may not. */
function noDocuments({ parent }: FrameTarget): (error: unknown) => readonly SnapshotDocument[] {
  return (error) => {
    if (parent === undefined) throw error;
    return [];
  };
}

function embedLocal({ document, embedded, locals }: Embedding, byFrame: ReadonlyMap<string, Embedding>): void {
  for (const { backendNodeId, childDocument } of document.nodes) {
    if (childDocument === undefined) continue;
    const child = byFrame.get(locals[childDocument] ?? "");
    if (child !== undefined) embedded.set(backendNodeId, child);
  }
}

async function embedRemote(
  page: WatchedPage,
  { parent, targetId }: FrameTarget,
  byFrame: ReadonlyMap<string, Embedding>,
): Promise<void> {
  const child = byFrame.get(targetId);
  if (parent === undefined || child === undefined) return;
  const owner = await page
    .send(page.cdp.send("DOM.getFrameOwner", { frameId: targetId }, parent.sessionId))
    .catch(() => undefined);
  if (owner === undefined) return;
  for (const { document, embedded, target } of byFrame.values())
    if (target === parent && document.nodes.some(({ backendNodeId }) => backendNodeId === owner.backendNodeId))
      embedded.set(owner.backendNodeId, child);
}

/** Reads the origins as they are now. */
export async function readFrames(page: WatchedPage, target: FrameTarget): Promise<ReadonlyMap<string, FrameFacts>> {
  const answer = await page
    .send(page.cdp.send("Page.getFrameTree", undefined, target.sessionId))
    .catch(() => undefined);
  const frames = answer === undefined ? [] : framesOf(answer.frameTree);
  const facts = frames.map(async (frame): Promise<readonly [string, FrameFacts]> => {
    // These frames have the origin of the frame around them, unless they are sandboxed.
    const origin = frame.url.startsWith("about:")
      ? await inheritedOrigin(page, target, frame.id)
      : frame.securityOrigin;
    return [frame.id, { host: hostOf(origin), origin, loaderId: frame.loaderId }];
  });
  return new Map(await Promise.all(facts));
}

function framesOf({ childFrames = [], frame }: Protocol.Page.FrameTree): readonly Protocol.Page.Frame[] {
  return [frame, ...childFrames.flatMap(framesOf)];
}

async function inheritedOrigin(page: WatchedPage, target: FrameTarget, frameId: string): Promise<string> {
  try {
    const contextId = await page.worldOf(frameId, target);
    if (contextId === undefined) return "";
    const params = { expression: "self.origin", contextId, returnByValue: true };
    const answer = await page.send(page.cdp.send("Runtime.evaluate", params, target.sessionId));
    const origin: unknown = answer?.result.value;
    return typeof origin === "string" ? origin : "";
  } catch {
    return "";
  }
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).hostname : "";
}
