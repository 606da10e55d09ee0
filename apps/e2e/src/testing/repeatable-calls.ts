import type { CallOptions, Shoal } from "@shoal/client";
import { browserComputer, browserProcess, executePlaywright } from "@shoal/contract";
import { chromium } from "playwright-core";
import { firstPageOf } from "./page.ts";

/** A call with a side effect that shows whether it ran twice. */
export interface RepeatableCall {
  readonly name: string;
  /** Resolves with the status after the complete answer. */
  readonly send: (shoal: Shoal, options?: CallOptions) => Promise<number>;
  readonly trace: (shoal: Shoal) => Promise<string>;
  readonly isUnderWay: (shoal: Shoal) => Promise<boolean>;
  /** The side effect of one call. */
  readonly expected: string;
}

/**
 * A command and code that wait for the session's file `/home/shoal/go`, and typing of a text. @param value - reads the
 * typed text.
 */
export function repeatableCalls(id: string, value: () => Promise<string>): readonly RepeatableCall[] {
  const params = { id };
  const text = "typed once";
  const code = `const { appendFileSync, existsSync } = await import("node:fs");
appendFileSync("code", "run");
while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 50));`;
  const traceIn =
    (file: string) =>
    async ({ browsers }: Shoal) =>
      (await browsers.process.run(id, { command: "cat", args: [file] })).stdout;
  const calls: readonly (Omit<RepeatableCall, "isUnderWay" | "send"> & {
    readonly fetch: (shoal: Shoal, options: CallOptions) => Promise<Response>;
  })[] = [
    {
      name: "exec",
      fetch: ({ transport }, options) =>
        transport.fetch(
          browserProcess.execProcess,
          { params, body: { command: "printf run >> exec; until [ -e go ]; do sleep 0.05; done" } },
          options,
        ),
      trace: traceIn("exec"),
      expected: "run",
    },
    {
      name: "code",
      fetch: ({ transport }, options) =>
        transport.fetch(executePlaywright, { params, body: { code, timeout_sec: 300 } }, options),
      trace: traceIn("code"),
      expected: "run",
    },
    {
      name: "type",
      fetch: ({ transport }, options) =>
        transport.fetch(browserComputer.typeText, { params, body: { text, delay: 200 } }, options),
      trace: value,
      expected: text,
    },
  ];
  return calls.map(({ fetch, ...call }) => ({
    ...call,
    async send(shoal, options) {
      const response = await fetch(shoal, { timeoutMs: 300_000, ...options });
      await response.text();
      return response.status;
    },
    isUnderWay: async (shoal) => (await call.trace(shoal)) !== "",
  }));
}

/** Opens a page with a focused text field. @returns a function that reads the field. */
export async function fieldOf(address: string): Promise<() => Promise<string>> {
  const client = await chromium.connectOverCDP(address);
  const page = await firstPageOf(client);
  await page.setContent("<textarea id=field></textarea>");
  await page.focus("#field");
  return () => page.inputValue("#field");
}
