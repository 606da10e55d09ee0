import { expect, it } from "vitest";
import { withOuterAddresses } from "./running-app.ts";

const addresses = { inside: "http://127.0.0.1:61080", outside: "https://shoal.example/api" };

it.each([
  ['{"cdp":"ws://127.0.0.1:61080/browser/cdp?jwt=a"}', '{"cdp":"wss://shoal.example/api/browser/cdp?jwt=a"}'],
  [
    '["http://127.0.0.1:61080/a","http://127.0.0.1:61080"]',
    '["https://shoal.example/api/a","https://shoal.example/api"]',
  ],
  [
    `"https://viewer.example/?url=${encodeURIComponent("ws://127.0.0.1:61080/x?y")}"`,
    `"https://viewer.example/?url=${encodeURIComponent("wss://shoal.example/api/x?y")}"`,
  ],
  [
    '"http://127.0.0.1:610800/ 127.0.0.1:61080 http://127x0.0.1:61080/"',
    '"http://127.0.0.1:610800/ 127.0.0.1:61080 http://127x0.0.1:61080/"',
  ],
  ["null", "null"],
])("replaces the box's address of the service in %s", (output, expected) => {
  expect(withOuterAddresses(output, addresses)).toBe(expected);
});

it("keeps characters that have a meaning in replacements", () => {
  const odd = { inside: "http://127.0.0.1:1", outside: "https://shoal.example/$&$1" };
  expect(withOuterAddresses('"http://127.0.0.1:1/"', odd)).toBe('"https://shoal.example/$&$1/"');
});
