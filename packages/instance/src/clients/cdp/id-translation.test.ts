import fc from "fast-check";
import { expect, it } from "vitest";
import { encodeFrame, opcode } from "../../http/frames.ts";
import { createServerFrames } from "../../http/server-frames.ts";
import { IdTranslation } from "./id-translation.ts";

const [client, browser] = ["0B6D1F2E9A4C3857E1D0F7A2B5C68394", "9E27C4A1D35F80B6247A1C8E5D03F96B"];

it("translates ids in both directions, in any chunks, and leaves the other bytes unchanged", () => {
  const text = fc.array(
    fc.oneof(fc.constantFrom(browser, browser.slice(0, 20), browser.slice(20)), fc.string({ maxLength: 50 })),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(fc.array(text), fc.integer({ min: 1, max: 100 }), (texts, size) => {
      const translation = new IdTranslation();
      translation.add(client, browser);
      const frames = createServerFrames();
      const sent = texts.map((parts) => Buffer.from(parts.join("")));
      const bytes = Buffer.concat(sent.map((payload) => encodeFrame(opcode.text, payload)));
      const received: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        const chunk = bytes.subarray(at, at + size);
        const translated = translation.chunkToClient(chunk, frames.follow(chunk));
        received.push(Buffer.from(translated.bytes));
        // A frame of the gateway may follow at the boundary.
        expect(translated.boundary).toBeLessThanOrEqual(translated.bytes.length);
      }
      const expected = sent.map((payload) =>
        encodeFrame(opcode.text, Buffer.from(payload.toString().replaceAll(browser, client))),
      );
      expect(Buffer.concat(received).toString()).toBe(Buffer.concat(expected).toString());
      for (const payload of sent) {
        const back = translation.toBrowser(translation.toClient(payload));
        expect(back.toString()).toBe(payload.toString().replaceAll(client, browser));
      }
    }),
  );
});

it("ignores ids that would change the length of a message", () => {
  const translation = new IdTranslation();
  translation.add(client, "C".repeat(33));
  translation.add('"}', "{}");
  expect(translation.browserIdOf(client)).toBeUndefined();
  const message = Buffer.from(`{"sessionId":"${client}"}`);
  expect(translation.toBrowser(message)).toBe(message);
});
