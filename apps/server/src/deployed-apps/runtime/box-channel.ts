import { encodeFrame, encodeMessage, type Frame, FrameReader, FromBox, maxFrameBytes } from "@shoal/app-runner";
import { messageOf } from "@shoal/primitives";
import type { Duplex } from "node:stream";

/** Nested arrays or objects, which a later `JSON.stringify` would recurse into. */
const maxDepth = 64;

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
  try {
    if (kind !== "message" || !isShallow(content)) throw new ChannelFailure("unexpected content");
    return FromBox.parse(JSON.parse(content.toString("utf8")));
  } catch (error) {
    throw new ChannelFailure("The program sent an invalid message.", { cause: error });
  }
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
  for await (const chunk of channel.iterator({ destroyOnReturn: false })) yield* reader.read(chunk as Buffer);
  return undefined;
}
