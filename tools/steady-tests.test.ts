import { Linter } from "eslint";
import { expect, it } from "vitest";
import { steadyTests } from "./steady-tests.mjs";

function problemsOf(code: string): string[] {
  return new Linter()
    .verify(code, {
      plugins: { steady: steadyTests },
      rules: { "steady/no-own-limits": "error", "steady/no-sleeps": "error" },
    })
    .map(({ message, messageId }) => messageId ?? message);
}

it.each([
  ["expect.poll(read, { timeout: 5 }).toBe(1)", "poll"],
  ["expect.poll(read, waiting).toBe(1)", "poll"],
  ["expect.soft.poll(read, { interval: 5 }).toBe(1)", "poll"],
  ["vi.waitFor(check)", "wait"],
  ["vi.waitUntil(check, { timeout: 5 })", "wait"],
  ["it('works', run, 60_000)", "limit"],
  ["it('works', { timeout: 60_000 }, run)", "limit"],
  ["it.each(rows)('works', run, 2 * 60_000)", "limit"],
  ["it.skipIf(missing)('works', { timeout }, run)", "limit"],
  ["describe('parts', { timeout: 60_000 }, run)", "limit"],
  ["beforeAll(start, 60_000)", "limit"],
  ["vi.setConfig({ testTimeout: 60_000 })", "limit"],
  ["import { setTimeout as delay } from 'node:timers/promises'; await delay(500)", "sleep"],
  ["await new Promise((resolve) => setTimeout(resolve, 500))", "sleep"],
])("refuses %s", (code, problem) => {
  expect(problemsOf(code)).toEqual([problem]);
});

it.each([
  "expect.poll(read).toBe(1)",
  "expect.poll(read, { message: 'the state' }).toBe(1)",
  "eventually(() => ready)",
  "it('works', run)",
  "it.each([1, 2])('works', run)",
  "describe.each([500, 600])('%i', run)",
  "const leaseMs = 2_000; import { setTimeout as delay } from 'node:timers/promises'; await delay(leaseMs)",
  "setTimeout(close, 50)",
  "test.service.id.slice(0, 12)",
])("accepts %s", (code) => {
  expect(problemsOf(code)).toEqual([]);
});
