import type { TelemetryEnvelope } from "@shoal/schemas";
import { expect, it } from "vitest";
import { consoleLineOf, matching } from "./console-lines.ts";

let seq = 0;
const line = (type: string, data: object) =>
  consoleLineOf({
    seq: ++seq,
    event: { ts: 2_000_000, type, category: "console", source: { kind: "cdp" }, data } as TelemetryEnvelope["event"],
  });

const lines = [
  line("console_log", { level: "warning", text: "Cart", args: ["Cart", "is empty"] }),
  line("console_log", { level: "table", text: "[object]" }),
  line("console_log", { level: "trace", text: "render" }),
  line("console_log", { level: "assert", text: "total > 0" }),
  line("console_error", { text: "TypeError: cart is undefined" }),
  line("console_log", { level: "constructor", text: "odd" }),
];

it("groups console methods by level, and shows all arguments", () => {
  expect(lines.map(({ level, method, text }) => [level, method, text])).toEqual([
    ["warning", "warning", "Cart is empty"],
    ["info", "table", "[object]"],
    ["debug", "trace", "render"],
    ["error", "assert", "total > 0"],
    ["error", "error", "TypeError: cart is undefined"],
    ["info", "constructor", "odd"],
  ]);
});

it("finds lines by text in any case and by level", () => {
  const textsOf = (filters: Parameters<typeof matching>[1]) => matching(lines, filters).map(({ text }) => text);
  expect(textsOf({ find: " CART " })).toEqual(["Cart is empty", "TypeError: cart is undefined"]);
  expect(textsOf({ find: "cart", level: "error" })).toEqual(["TypeError: cart is undefined"]);
  expect(textsOf({ level: "debug" })).toEqual(["render"]);
  expect(textsOf({})).toHaveLength(lines.length);
});
