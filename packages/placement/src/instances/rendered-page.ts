import { instanceControl, maxRenderBytes, maxRenderHeadBytes, RenderHead, type RenderPart } from "@shoal/instance";
import type { RequestOf } from "@shoal/contract";
import { Readable } from "node:stream";
import { AnswerProblem, answerJson } from "../streams/answer-text.ts";
import { readAtMost } from "@shoal/primitives/node";
import { type Requestable, streamFromInstance } from "./call-instance.ts";

type RenderRequest = NonNullable<RequestOf<typeof instanceControl.renderPage>["body"]>;

/** A page that an instance rendered. Its parts are hostile data, as the page is. */
export interface RenderedParts {
  readonly head: Omit<RenderHead, "parts">;
  readonly parts: ReadonlyMap<RenderPart, { readonly type: string; readonly content: Buffer }>;
}

const lengthBytes = 4;
/** Of redirects, headers, dialogs and parts. */
const maxHeadValues = 2_000;

/** Renders a page in an unused instance. @throws {InstanceRefusal | PlacementError | AnswerProblem} */
export async function renderPage(
  instance: Requestable,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<RenderedParts> {
  const answer = await streamFromInstance(instance, instanceControl.renderPage, { body: request, signal });
  const frame = await readAtMost(answer, lengthBytes + maxRenderHeadBytes + maxRenderBytes);
  if (frame === undefined) throw new AnswerProblem("The instance sent a rendered page that is too large.");
  return splitFrame(frame);
}

async function splitFrame(frame: Buffer): Promise<RenderedParts> {
  const headBytes = frame.length < lengthBytes ? Infinity : frame.readUInt32BE(0);
  let at = lengthBytes + headBytes;
  if (headBytes > maxRenderHeadBytes || at > frame.length) throw invalidFrame();
  const json = Readable.from([frame.subarray(lengthBytes, at)]);
  const found = RenderHead.safeParse(await answerJson(json, { bytes: maxRenderHeadBytes, values: maxHeadValues }));
  if (!found.success) throw invalidFrame();
  const { parts, ...head } = found.data;
  const contents = new Map<RenderPart, { readonly type: string; readonly content: Buffer }>();
  for (const { bytes, name, type } of parts) {
    contents.set(name, { type, content: frame.subarray(at, at + bytes) });
    at += bytes;
  }
  if (at !== frame.length) throw invalidFrame();
  return { head, parts: contents };
}

function invalidFrame(): AnswerProblem {
  return new AnswerProblem("The instance sent an invalid rendered page.");
}
