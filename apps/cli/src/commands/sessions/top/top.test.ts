import stringWidth from "fast-string-width";
import { expect, it } from "vitest";
import type { TopRow } from "./top-rows.ts";
import { topLines, topTable } from "./top-screen.ts";
import { firstState, keysOf, pressed, sorted, type TopState, withRows } from "./top-state.ts";

const now = new Date("2026-01-02T12:00:00.000Z");
const row = (id: string, more: Partial<TopRow> = {}): TopRow => ({
  id,
  label: id,
  cpuPercent: 1,
  memoryBytes: 50_000_000,
  pages: 1,
  clients: 0,
  startedMs: now.getTime() - 60_000,
  usedMs: Infinity,
  address: "https://shop.example/",
  ...more,
});
const rows = [row("a", { cpuPercent: 3 }), row("b", { cpuPercent: 90 }), row("c", { cpuPercent: undefined })];
const state = withRows(firstState, rows, false);
const type = (from: TopState, keys: string) => {
  let last: ReturnType<typeof pressed> = { state: from, action: "none" };
  for (const key of keysOf(keys)) last = pressed(last.state, key, 10);
  return last;
};
const ids = (of: TopState) => sorted(of).map(({ id }) => id);

it("sorts by the processor first, with silent sessions last", () => {
  expect(ids(state)).toEqual(["b", "a", "c"]);
  expect(ids(type(state, "r").state)).toEqual(["c", "a", "b"]);
  expect(ids(type(state, "ssssss").state)).toEqual(["a", "b", "c"]);
});

it("moves the selection with arrow keys, and keeps it when the order changes", () => {
  expect(state.selected).toBe("b");
  const down = type(state, "\u001b[B").state;
  expect(down.selected).toBe("a");
  expect(type(down, "\u001bOA\u001bOA").state.selected).toBe("b");
  expect(type(down, "\u001b[6~").state.selected).toBe("c");
  expect(withRows(down, [row("a", { cpuPercent: 99 }), row("b")], false).selected).toBe("a");
  expect(withRows(down, [row("b")], false).selected).toBe("b");
});

it("ends a session only after y", () => {
  const asked = type(state, "k");
  expect(topLines(asked.state, { width: 80, height: 24, now, baseUrl: "" }).at(-1)).toContain("End session b?");
  expect(type(asked.state, "n")).toMatchObject({ action: "none", state: { message: "Nothing was ended." } });
  expect(type(asked.state, "y")).toMatchObject({ action: { end: { id: "b" } } });
});

it("asks about the selected session even if it moves or ends meanwhile", () => {
  const asked = type(state, "k").state;
  expect(type(withRows(asked, [row("z")], false), "y")).toMatchObject({ action: { end: { id: "b" } } });
});

it.each(["q", "\u0003", "\u0004"])("quits with %j", (key) => {
  expect(type(state, key).action).toBe("quit");
});

it.each([
  [80, 24],
  [40, 10],
  [20, 4],
  [200, 50],
  [10, 2],
])("fits into %i x %i", (width, height) => {
  const many = Array.from({ length: 100 }, (_, index) => row(`session-${String(index)}`, { cpuPercent: index }));
  const lines = topLines(withRows(firstState, many, true), { width, height, now, baseUrl: "http://127.0.0.1:7777" });
  expect(lines).toHaveLength(height);
  for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
});

it("shows all figures in 80 columns, and the page in wider terminals", () => {
  const [heading, line] = topTable(state, { width: 80, now });
  expect(heading).toBe("SESSION                      CPU    MEMORY  PAGES  CLIENTS     AGE    USED");
  expect(line).toBe("b                          90.0%   50.0 MB      1        0   1 min     now");
  expect(topTable(state, { width: 120, now })[1]).toContain("https://shop.example/");
});

it("scrolls to the selected session", () => {
  const many = Array.from({ length: 100 }, (_, index) => row(`s${String(index)}`, { cpuPercent: 100 - index }));
  const last = type(withRows(firstState, many, false), "\u001b[6~".repeat(20)).state;
  expect(topLines(last, { width: 80, height: 10, now, baseUrl: "" }).join("\n")).toMatch(/^> s99 /m);
});

it("escapes control characters of names and addresses", () => {
  const evil = withRows(firstState, [row("a", { label: "a\u001b[2J", address: "https://x/\u001b]0;t\u0007" })], false);
  // oxlint-disable-next-line no-control-regex -- matches control characters on purpose
  expect(topLines(evil, { width: 200, height: 5, now, baseUrl: "" }).join("")).not.toMatch(/[\u0000-\u001f]/);
});
