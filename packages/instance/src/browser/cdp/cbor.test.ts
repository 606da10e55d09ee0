import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CborError, decodeCbor, encodeCbor, envelopeHeaderBytes, eventNameOf, messageBytesAt } from "./cbor.ts";

describe("Chromium's CBOR", () => {
  it("round-trips every JSON document", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" })), (document) => {
        const message = encodeCbor(document);
        expect(decodeCbor(message)).toEqual(document);
        expect(messageBytesAt(message, 0)).toBe(message.length);
      }),
    );
  });

  it("preserves lone surrogates and a field named __proto__", () => {
    const document = JSON.parse('{"half":"\\ud800 and more","__proto__":{"polluted":true}}') as object;
    const decoded = decodeCbor(encodeCbor(document)) as { half: string; polluted?: boolean };
    expect(decoded.half).toBe("\ud800 and more");
    expect(decoded.polluted).toBeUndefined();
    expect(Object.keys(decoded)).toEqual(["half", "__proto__"]);
  });

  it("decodes the encodings that only the browser writes: base64, 16-bit text, lists and maps without an envelope", () => {
    const inner = Buffer.concat([
      Buffer.from([0xbf, 0x64, ...Buffer.from("data"), 0xd6, 0x43, 1, 2, 3]),
      Buffer.from([0x64, ...Buffer.from("text"), 0x44, 0xac, 0x20, 0x41, 0x00]),
      Buffer.from([0x64, ...Buffer.from("list"), 0x9f, 0x01, 0x38, 0xff, 0xfb, ...doubleBytes(1.5), 0xff]),
      Buffer.from([0x63, ...Buffer.from("map"), 0xbf, 0x61, 0x61, 0xf6, 0xff, 0xff]),
    ]);
    expect(decodeCbor(inner)).toEqual({ data: "AQID", text: "€A", list: [1, -256, 1.5], map: { a: null } });
  });

  it("returns an event's name without decoding the rest", () => {
    expect(eventNameOf(encodeCbor({ method: "Network.dataReceived", params: {} }))).toBe("Network.dataReceived");
    expect(eventNameOf(encodeCbor({ method: "Network.requestWillBeSentExtraInfo", params: {} }))).toBe(
      "Network.requestWillBeSentExtraInfo",
    );
    expect(eventNameOf(encodeCbor({ id: 1, result: {} }))).toBeUndefined();
    expect(eventNameOf(encodeCbor({}))).toBeUndefined();
  });

  it("rejects truncated and foreign bytes without hanging or returning a partial value", () => {
    const message = encodeCbor({ id: 7, result: { list: [1, "two", 3.5, null, true], text: "x".repeat(300) } });
    fc.assert(
      fc.property(fc.nat(message.length - 1), (length) => {
        expect(() => decodeCbor(message.subarray(0, length))).toThrow(CborError);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeCbor(Buffer.from(bytes));
        } catch (error) {
          expect(error).toBeInstanceOf(CborError);
        }
      }),
    );
    expect(() => decodeCbor(Buffer.alloc(10_000, 0x9f))).toThrow("nested too deeply");
    expect(() => messageBytesAt(Buffer.from('{"id":1}'), 0)).toThrow(CborError);
    expect(envelopeHeaderBytes).toBe(7);
  });
});

function doubleBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
