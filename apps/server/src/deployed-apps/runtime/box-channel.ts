import { encodeFrame, encodeMessage, type Frame, FrameReader, FromBox, maxFrameBytes } from "@shoal/app-runner";
import { Pace } from "@shoal/placement";
import { messageOf } from "@shoal/primitives";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** Nested arrays or objects, which a later `JSON.stringify` would recurse into. */
const maxDepth = 64;
const maxPathCharacters = 200;
/** Bytes, or 50,000 frames per second. A faster program waits, because one thread reads all programs. */
const rate = { burst: 16 * 2 ** 20, perSecond: 16 * 2 ** 20 };
const frameCostBytes = 320;
/** Parts of files are only copied: up to 256 MiB per second. */
const fileShare = 1 / 16;

type Issue = NonNullable<ReturnType<typeof FromBox.safeParse>["error"]>["issues"][number];

/** A box broke the protocol: its program was replaced or exceeded a limit. */
export class ChannelFailure extends Error {
  override readonly name = "ChannelFailure";
}

/** The service's side of a program's channel. Everything that it receives is untrusted. */
export class BoxChannel {
  readonly #channel: Duplex;
  readonly #frames: AsyncGenerator<Frame, undefined>;

  constructor(channel: Duplex) {
    this.#channel = channel;
    this.#frames = framesOf(channel);
  }

  send(message: object): void {
    this.#channel.write(encodeMessage(message));
  }

  sendValue(text: string): void {
    this.#channel.write(encodeFrame("value", Buffer.from(text)));
  }

  /** @returns `undefined` at the end. @throws {ChannelFailure} */
  async next(): Promise<Frame | undefined> {
    try {
      return (await this.#frames.next()).value;
    } catch (error) {
      throw new ChannelFailure(messageOf(error), { cause: error });
    }
  }

  /** @returns `undefined` at the end. @throws {ChannelFailure} */
  async message(): Promise<FromBox | undefined> {
    const frame = await this.next();
    return frame === undefined ? undefined : readMessage(frame);
  }
}

/** @throws {ChannelFailure} */
export function readMessage({ kind, content }: Frame): FromBox {
  if (kind !== "message") throw new ChannelFailure("The program sent an invalid message.");
  if (!isShallow(content))
    throw new ChannelFailure(`The program sent a message with more than ${String(maxDepth)} nested levels.`);
  const { data, error } = FromBox.safeParse(parse(content));
  if (data !== undefined) return data;
  throw new ChannelFailure(`The program sent an invalid message${whereOf(error.issues[0])}.`, { cause: error });
}

function parse(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The place and the limit, for the author of the app. */
function whereOf(issue: Issue | undefined): string {
  if (issue === undefined || issue.path.length === 0) return "";
  const path = issue.path.map((part) => (typeof part === "number" ? `[${String(part)}]` : `.${String(part)}`)).join("");
  const limit = issue.code === "too_big" ? `; the limit is ${String(issue.maximum)}` : "";
  return `: ${path.slice(1, maxPathCharacters)} is invalid${limit}`;
}

function isShallow(json: Buffer): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (isText) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) isText = false;
    } else if (byte === 0x22) isText = true;
    else if (byte === 0x5b || byte === 0x7b) depth++;
    else if (byte === 0x5d || byte === 0x7d) depth--;
    if (depth > maxDepth) return false;
  }
  return true;
}

async function* framesOf(channel: Duplex): AsyncGenerator<Frame, undefined> {
  const reader = new FrameReader(maxFrameBytes);
  const pace = new Pace(rate);
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) {
    let cost = 0;
    for (const frame of reader.read(chunk as Buffer)) {
      cost += frameCostBytes + frame.content.length * (frame.kind === "bytes" ? fileShare : 1);
      yield frame;
    }
    const waitMs = pace.spend(cost);
    if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
  }
  return undefined;
}
