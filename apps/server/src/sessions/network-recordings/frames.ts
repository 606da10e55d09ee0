import type { AnswerHead, ExchangeEnd, ExchangeRequest } from "@shoal/placement";

/** One step of an exchange, by its number `x`, in the order of time. */
export type Frame =
  | { readonly x: number; readonly request: ExchangeRequest }
  | { readonly x: number; readonly head: AnswerHead; readonly ms: number }
  /** `bytes` of the answer follow, after `messages` of the browser. */
  | { readonly x: number; readonly bytes: number; readonly ms: number; readonly messages: number }
  | { readonly x: number; readonly end: ExchangeEnd; readonly body: string }
  | { readonly x: number; readonly isLeftOut: true };

const lengthBytes = 4;

export function writeFrame(frame: Frame): Buffer {
  const text = Buffer.from(JSON.stringify(frame));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(text.length);
  return Buffer.concat([length, text]);
}

/** Yields frames with the offset after each one, where its bytes begin. Skips the bytes. */
export async function* readFrames(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly frame: Frame; readonly at: number }, void, undefined> {
  let held = Buffer.alloc(0);
  let at = 0;
  let skipped = 0;
  for await (const chunk of source) {
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const passed = Math.min(skipped, held.length);
      skipped -= passed;
      at += passed;
      held = held.subarray(passed);
      if (skipped > 0 || held.length < lengthBytes) break;
      const end = lengthBytes + held.readUInt32BE();
      if (held.length < end) break;
      const frame = JSON.parse(held.toString("utf8", lengthBytes, end)) as Frame;
      at += end;
      held = held.subarray(end);
      yield { frame, at };
      if ("bytes" in frame) skipped = frame.bytes;
    }
  }
}
