import fc from "fast-check";
import { expect, it } from "vitest";
import { maxInspectedBytes, type Verdict, ClientMessages } from "./client-messages.ts";
import { encodeFrame, FrameError, opcode } from "../../http/frames.ts";

function follow(verdict: (text: string) => Verdict = () => "pass") {
  const forwarded: Buffer[] = [];
  const inspected: string[] = [];
  const controls: [number, string][] = [];
  const messages = new ClientMessages({
    forward: (bytes) => forwarded.push(bytes),
    inspect(message) {
      inspected.push(message.toString());
      return verdict(message.toString());
    },
    control: (code, payload) => controls.push([code, payload.toString()]),
  });
  return {
    messages,
    inspected,
    controls,
    forwarded: () => Buffer.concat(forwarded),
    forwardedCount: () => forwarded.length,
  };
}

const text = (payload: string) => encodeFrame(opcode.text, Buffer.from(payload), { masked: true });

it("forwards accepted messages unchanged, and inspects each message as a whole", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 400, unit: "binary" })),
      fc.integer({ min: 1, max: 500 }),
      (sent, size) => {
        const { messages, inspected, forwarded } = follow();
        const bytes = Buffer.concat(sent.map(text));
        for (let i = 0; i < bytes.length; i += size) messages.push(bytes.subarray(i, i + size));
        expect(inspected).toEqual(sent.map((payload) => Buffer.from(payload).toString()));
        expect(forwarded().equals(bytes)).toBe(true);
      },
    ),
  );
});

it("drops and replaces messages", () => {
  const { messages, forwarded } = follow((message) =>
    message === "drop me" ? "drop" : message === "change me" ? { replace: "changed" } : "pass",
  );
  messages.push(Buffer.concat([text("a"), text("drop me"), text("change me"), text("b")]));
  expect(forwarded().equals(Buffer.concat([text("a"), text("changed"), text("b")]))).toBe(true);
});

it("joins the fragments of a message before inspecting it", () => {
  const { messages, inspected, forwarded, controls } = follow();
  const first = encodeFrame(opcode.text, Buffer.from("Browser."), { masked: true });
  first[0] = opcode.text;
  const ping = encodeFrame(opcode.ping, Buffer.from("p"), { masked: true });
  const second = encodeFrame(opcode.continuation, Buffer.from("close"), { masked: true });
  messages.push(Buffer.concat([first, ping]));
  expect(forwarded().length).toBe(0);
  messages.push(second);
  expect(inspected).toEqual(["Browser.close"]);
  expect(controls).toEqual([[opcode.ping, "p"]]);
  expect(forwarded().equals(Buffer.concat([first, second]))).toBe(true);
});

it("forwards a large message in pieces, without buffering or inspecting it", () => {
  const { messages, inspected, forwardedCount, forwarded } = follow();
  const bytes = text("x".repeat(maxInspectedBytes));
  for (let i = 0; i < bytes.length; i += 10_000) {
    messages.push(bytes.subarray(i, i + 10_000));
    expect(forwardedCount()).toBeGreaterThan(i / 10_000);
  }
  messages.push(text("small"));
  expect(inspected).toEqual(["small"]);
  expect(forwarded().equals(Buffer.concat([bytes, text("small")]))).toBe(true);
});

it("never buffers more than it inspects, even with very small frames", () => {
  const { messages, forwarded } = follow();
  const first = encodeFrame(opcode.text, Buffer.from("x"), { masked: true });
  first[0] = opcode.text;
  messages.push(first);
  const piece = encodeFrame(opcode.continuation, Buffer.alloc(0), { masked: true });
  piece[0] = opcode.continuation;
  const pieces = Buffer.concat(Array.from({ length: 50_000 }, () => piece));
  messages.push(pieces);
  expect(forwarded().length).toBe(first.length + pieces.length);
});

it("rejects binary messages", () => {
  const { messages } = follow();
  expect(() => {
    messages.push(encodeFrame(opcode.binary, Buffer.from("x"), { masked: true }));
  }).toThrow(FrameError);
});

it("sends a message of the gateway between the client's messages, never inside a large one", () => {
  const { messages, forwarded } = follow();
  messages.send("first");
  const large = text("x".repeat(maxInspectedBytes + 1));
  messages.push(large.subarray(0, 1000));
  messages.send("between");
  messages.push(large.subarray(1000));
  expect(forwarded().equals(Buffer.concat([text("first"), large, text("between")]))).toBe(true);
});
