import fc from "fast-check";
import { expect, it } from "vitest";
import { maxViewportPixels } from "@shoal/schemas/viewport-limits";
import { readPlainAssign } from "./plain-assign.ts";
import { readAssign } from "./read-assign.ts";

const number = (most: number) => fc.oneof(fc.integer({ min: 1, max: most }), fc.constantFrom<unknown>(0, 1, most, most + 1, 0.5, 1e300, null, "1"));
const size = fc.oneof(
  fc.record({ width: number(maxViewportPixels), height: number(maxViewportPixels), refresh_rate: number(100) }, { requiredKeys: [] }),
  fc.constantFrom<unknown>(null, [], [1, 2]),
);
const document = fc.record(
  {
    session_id: fc.oneof(fc.string({ maxLength: 300 }), fc.constantFrom<unknown>("", "x".repeat(255), "x".repeat(256), 1, null)),
    timeout_seconds: number(259_200),
    viewport: size,
    start_url: fc.oneof(fc.webUrl(), fc.constantFrom<unknown>("", "x".repeat(8192), "x".repeat(8193), 1, null)),
    launch: fc.oneof(
      fc.record(
        {
          again: fc.boolean(),
          full: fc.boolean(),
          headless: fc.boolean(),
          kiosk: fc.boolean(),
          stealth: fc.constantFrom<unknown>(true, false, 1, null),
          other: fc.boolean(),
        },
        { requiredKeys: [] },
      ),
      fc.constantFrom<unknown>(null, [], "x"),
    ),
    other: fc.anything(),
  },
  { requiredKeys: [] },
);

it("reads nothing that the schema would refuse, nor reads it differently", () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 20, arbitrary: document.map((value) => JSON.stringify(value)) }, fc.string(), fc.json()), (text) => {
      const plain = readPlainAssign(text);
      if (plain !== undefined) expect(readAssign(text)).toStrictEqual({ assign: plain });
    }),
    { numRuns: 2000 },
  );
});

it("reads what the service sends for most sessions", () => {
  const least = { session_id: "s", timeout_seconds: 60 };
  for (const assign of [
    least,
    { ...least, viewport: { width: 1920, height: 1080 } },
    { ...least, viewport: { width: 1, height: maxViewportPixels }, start_url: "https://example.com/" },
    { ...least, launch: { headless: false, kiosk: true } },
  ]) {
    expect(readPlainAssign(JSON.stringify(assign))).toStrictEqual(assign);
  }
});

it("leaves anything else to the schema", () => {
  for (const text of [
    "",
    "[]",
    "null",
    "{}",
    '{"session_id":"s"}',
    '{"session_id":"s","timeout_seconds":60,"other":1}',
    '{"session_id":"s","timeout_seconds":60,"__proto__":{}}',
    '{"session_id":"s","timeout_seconds":60,"viewport":{"width":1,"height":1,"refresh_rate":60}}',
  ]) {
    expect(readPlainAssign(text)).toBeUndefined();
  }
});
