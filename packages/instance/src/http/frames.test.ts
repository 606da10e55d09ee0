import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFrameReader, encodeClose, encodeFrame, opcode, unmask, type FrameHeader } from "./frames.ts";
import { createServerFrames } from "./server-frames.ts";

interface Sent {
  readonly code: number;
  readonly final: boolean;
  readonly payload: Buffer;
  readonly mask: Buffer | undefined;
}

const payloads = fc
  .oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.constantFrom(125, 126, 127, 65_535, 65_536, 70_000).map((length) => new Uint8Array(length).fill(7)),
  )
  .map((bytes) => Buffer.from(bytes));

const frames = (masked: boolean): fc.Arbitrary<Sent[]> =>
  fc
    .array(
      fc.record({
        pieces: fc.array(payloads, { minLength: 1, maxLength: 3 }),
        control: fc.option(
          fc.record({
            code: fc.constantFrom(opcode.ping, opcode.pong),
            payload: fc.uint8Array({ maxLength: 125 }).map((bytes) => Buffer.from(bytes)),
          }),
          { nil: undefined },
        ),
        mask: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      }),
      { maxLength: 5 },
    )
    .map((messages) =>
      messages.flatMap(({ pieces, control, mask: key }) => {
        const mask = masked ? key : undefined;
        return pieces.flatMap((payload, index): Sent[] => [
          { code: index === 0 ? opcode.text : opcode.continuation, final: index === pieces.length - 1, payload, mask },
          ...(control === undefined ? [] : [{ code: control.code, final: true, payload: control.payload, mask }]),
        ]);
      }),
    );

function encode({ code, final, payload, mask }: Sent): Buffer {
  const frame = encodeFrame(code, payload, { masked: mask !== undefined });
  if (!final) frame[0] = (frame[0] ?? 0) & 0x7f;
  if (mask === undefined) return frame;
  const start = frame.length - payload.length;
  mask.copy(frame, start - 4);
  unmask(payload, mask, 0).copy(frame, start);
  return frame;
}

function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let offset = 0;
  for (let i = 0; offset < bytes.length; i++) {
    const end = offset + (lengths[i % lengths.length] ?? 1);
    chunks.push(bytes.subarray(offset, end));
    offset = end;
  }
  return chunks;
}

const chunkLengths = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 10 });

describe("createFrameReader", () => {
  it("finds the same frames however the bytes are split", () => {
    fc.assert(
      fc.property(frames(true), chunkLengths, (sent, lengths) => {
        const seen: { header: FrameHeader; payload: Buffer[]; ended: boolean }[] = [];
        const reader = createFrameReader(
          { masked: true, maxPayloadBytes: 2 ** 20 },
          {
            header: (header) => seen.push({ header, payload: [], ended: false }),
            payload: (chunk) => seen.at(-1)?.payload.push(chunk),
            end: () => {
              const last = seen.at(-1);
              if (last !== undefined) last.ended = true;
            },
          },
        );
        const bytes = Buffer.concat(sent.map(encode));
        for (const chunk of cut(bytes, lengths)) reader.push(chunk);
        expect(seen.every(({ ended }) => ended)).toBe(true);
        expect(Buffer.concat(seen.flatMap(({ header, payload }) => [header.raw, ...payload])).equals(bytes)).toBe(true);
        expect(
          seen.map(({ header, payload }) => [
            header.opcode,
            header.final,
            header.mask === undefined ? "" : unmask(Buffer.concat(payload), header.mask, 0).toString("hex"),
          ]),
        ).toEqual(sent.map(({ code, final, payload }) => [code, final, payload.toString("hex")]));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["an unmasked frame of a client", true, Buffer.from([0x81, 0x00]), 1002],
    ["a masked frame of a server", false, Buffer.from([0x81, 0x80, 0, 0, 0, 0]), 1002],
    ["reserved bits", true, Buffer.from([0xc1, 0x80]), 1002],
    ["an unknown opcode", true, Buffer.from([0x83, 0x80]), 1002],
    ["an unknown control opcode", true, Buffer.from([0x8b, 0x80]), 1002],
    ["a ping in pieces", true, Buffer.from([0x09, 0x80]), 1002],
    ["a long ping", true, Buffer.from([0x89, 0xfe, 0, 126]), 1002],
    ["a continuation of nothing", true, Buffer.from([0x80, 0x80, 0, 0, 0, 0]), 1002],
    ["a message inside another", true, Buffer.from([0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0]), 1002],
    ["more than may be", true, Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]), 1009],
    [
      "a length of 2^63 and more",
      true,
      Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      1009,
    ],
  ])("rejects %s", (_, masked, bytes, code) => {
    const reader = createFrameReader(
      { masked, maxPayloadBytes: 1000 },
      { header: () => undefined, payload: () => undefined, end: () => undefined },
    );
    expect(() => {
      for (const chunk of cut(bytes, [1])) reader.push(chunk);
    }).toThrow(expect.objectContaining({ name: "FrameError", code }));
  });
});

it("encodeClose cuts a long reason between characters", () => {
  const frame = encodeClose(1011, "é".repeat(200));
  expect(frame.length).toBeLessThanOrEqual(2 + 125);
  expect(frame.subarray(4).toString()).toMatch(/^é+$/);
});

describe("createServerFrames", () => {
  it("finds the last boundary between messages in each chunk", () => {
    fc.assert(
      fc.property(frames(false), chunkLengths, (sent, lengths) => {
        const boundaries = new Set([0]);
        let position = 0;
        let inMessage = false;
        for (const frame of sent) {
          position += encode(frame).length;
          if (frame.code < opcode.close) inMessage = !frame.final;
          if (!inMessage) boundaries.add(position);
        }
        const follower = createServerFrames();
        let start = 0;
        for (const chunk of cut(Buffer.concat(sent.map(encode)), lengths)) {
          const end = start + chunk.length;
          const expected = Math.max(
            -1,
            ...[...boundaries]
              .filter((boundary) => boundary > start && boundary <= end)
              .map((boundary) => boundary - start),
          );
          expect(follower.follow(chunk)).toBe(expected);
          expect(follower.atBoundary).toBe(boundaries.has(end));
          start = end;
        }
      }),
    );
  });

  it("counts messages that begin like an answer, however they are split", () => {
    const message = fc.record({
      text: fc.constantFrom('{"id":1,"result":{}}', '{"error":{}}', '{"method":"a"}', "{}", "", '{"identity":1}'),
      firstFrameBytes: fc.integer({ min: 0, max: 12 }),
    });
    fc.assert(
      fc.property(fc.array(message), chunkLengths, (messages, lengths) => {
        const follower = createServerFrames();
        const bytes = messages.flatMap(({ firstFrameBytes, text }) => {
          const [first, rest] = [text.slice(0, firstFrameBytes), text.slice(firstFrameBytes)].map((part) =>
            Buffer.from(part),
          );
          const frame = { code: opcode.text, final: false, payload: first ?? Buffer.alloc(0), mask: undefined };
          const ping = { code: opcode.ping, final: true, payload: Buffer.from('{"id":1}'), mask: undefined };
          const end = { code: opcode.continuation, final: true, payload: rest ?? Buffer.alloc(0), mask: undefined };
          return [frame, ping, end].map(encode);
        });
        for (const chunk of cut(Buffer.concat(bytes), lengths)) follower.follow(chunk);
        expect(follower.answers).toBe(messages.filter(({ text }) => /^\{"(?:id":|erro)/.test(text)).length);
      }),
    );
  });
});
