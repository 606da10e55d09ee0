import { RuleTester } from "oxlint/plugins-dev";
import { describe, it } from "vitest";
import rules, { noOwnLimits, noSleeps, noSlowPatterns, pureZod } from "./lint-rules.mjs";

RuleTester.describe = describe;
RuleTester.it = it;
const tester = new RuleTester({ languageOptions: { sourceType: "module" } });

for (const [rule, code, messageId] of [
  [noOwnLimits, "expect.poll(read, { timeout: 5 }).toBe(1)", "poll"],
  [noOwnLimits, "expect.poll(read, waiting).toBe(1)", "poll"],
  [noOwnLimits, "expect.soft.poll(read, { interval: 5 }).toBe(1)", "poll"],
  [noOwnLimits, "vi.waitFor(check)", "wait"],
  [noOwnLimits, "vi.waitUntil(check, { timeout: 5 })", "wait"],
  [noOwnLimits, "it('works', run, 60_000)", "limit"],
  [noOwnLimits, "it('works', { timeout: 60_000 }, run)", "limit"],
  [noOwnLimits, "it.each(rows)('works', run, 2 * 60_000)", "limit"],
  [noOwnLimits, "it.skipIf(missing)('works', { timeout }, run)", "limit"],
  [noOwnLimits, "describe('parts', { timeout: 60_000 }, run)", "limit"],
  [noOwnLimits, "beforeAll(start, 60_000)", "limit"],
  [noOwnLimits, "vi.setConfig({ testTimeout: 60_000 })", "limit"],
  [noSleeps, "import { setTimeout as delay } from 'node:timers/promises'; await delay(500)", "sleep"],
  [noSleeps, "await new Promise((resolve) => setTimeout(resolve, 500))", "sleep"],
  [noSlowPatterns, String.raw`text.replace(/\/+$/, "")`, "slow"],
  [noSlowPatterns, "/^(?:a+)+$/.test(text)", "slow"],
  [noSlowPatterns, String.raw`text.replaceAll(/\s*\n\s*/g, " ")`, "slow"],
  [noSlowPatterns, "new RegExp('a+b')", "slow"],
  [noSlowPatterns, "RegExp(`^(a+b?)*$`, 'u')", "slow"],
  [noSlowPatterns, String.raw`new RegExp(String.raw${"`"}\s+$${"`"})`, "slow"],
  [pureZod, "import { z } from 'zod'", "named"],
  [pureZod, "import z from 'zod/mini'", "named"],
] as const)
  tester.run(`refuses ${code}`, rule, { valid: [], invalid: [{ code, errors: [{ messageId }] }] });

const accepted = [
  "expect.poll(read).toBe(1)",
  "expect.poll(read, { message: 'the state' }).toBe(1)",
  "eventually(() => ready)",
  "it('works', run)",
  "it.each([1, 2])('works', run)",
  "describe.each([500, 600])('%i', run)",
  "const leaseMs = 2_000; import { setTimeout as delay } from 'node:timers/promises'; await delay(leaseMs)",
  "setTimeout(close, 50)",
  "test.service.id.slice(0, 12)",
  String.raw`text.replace(/(?<!\/)\/+$/, "")`,
  "/^a+b/.test(text)",
  "new RegExp(`^${name}+$`)",
  "import * as z from 'zod/mini'; import { toJSONSchema } from 'zod'",
];
for (const [name, rule] of Object.entries(rules.rules)) tester.run(name, rule, { valid: accepted, invalid: [] });
