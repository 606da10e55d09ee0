import { encodeFrame, opcode } from "@shoal/instance";
import fc from "fast-check";
import { expect, it } from "vitest";
import { keepAliveAnswers } from "./keep-alive.ts";

const payload = fc.uint8Array({ maxLength: 125 }).map((bytes) => Buffer.from(bytes));
const mask = fc.uint8Array({ minLength: 4, maxLength: 4 });

function masked(code: number, bytes: Buffer, key: Uint8Array): Buffer {
  const frame = encodeFrame(code, bytes, { masked: true });
  const start = frame.length - bytes.length;
  frame.set(key, start - 4);
  for (let at = 0; at < bytes.length; at++) frame[start + at] = (bytes[at] ?? 0) ^ (key[at & 3] ?? 0);
  return frame;
}

it("answers each ping of a client with its payload, and no pong", () => {
  const frames = fc.array(fc.record({ isPing: fc.boolean(), payload, mask }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(frames, (sent) => {
      const bytes = Buffer.concat(
        sent.map(({ isPing, mask: key, payload: content }) => masked(isPing ? opcode.ping : opcode.pong, content, key)),
      );
      const pongs = sent.flatMap(({ isPing, payload: content }) => (isPing ? [encodeFrame(opcode.pong, content)] : []));
      expect(keepAliveAnswers(bytes)).toEqual(pongs);
      for (
        let cut = 1;
        cut < masked(opcode.pong, sent[0]?.payload ?? Buffer.alloc(0), [0, 0, 0, 0] as never).length;
        cut++
      )
        expect(keepAliveAnswers(bytes.subarray(0, cut))).toBeUndefined();
    }),
  );
});

it.each([
  ["a message", masked(opcode.text, Buffer.from("{}"), new Uint8Array(4))],
  ["a close frame", masked(opcode.close, Buffer.alloc(2), new Uint8Array(4))],
  [
    "thousands of pings",
    Buffer.concat(Array<Buffer>(1000).fill(masked(opcode.ping, Buffer.alloc(0), new Uint8Array(4)))),
  ],
  ["a ping without a mask", encodeFrame(opcode.ping, Buffer.alloc(0))],
  [
    "a pong and a message",
    Buffer.concat([
      masked(opcode.pong, Buffer.alloc(0), new Uint8Array(4)),
      masked(opcode.text, Buffer.from("{}"), new Uint8Array(4)),
    ]),
  ],
])("leaves %s to the instance", (_what, bytes) => {
  expect(keepAliveAnswers(bytes)).toBeUndefined();
});
