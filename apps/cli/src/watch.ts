import { ApiError, ConnectionError, TimeoutError } from "@shoal/transport";
import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { pagesOf } from "./list.ts";
import { type Printing, printResult, printValue } from "./print-result.ts";
import type { Run } from "./program.ts";
import type { CommandRequest } from "./values.ts";

const watchEveryMs = 2000;

/** How an operation is watched. */
export interface WatchOptions {
  /** Every page of a list. */
  readonly all: boolean;
  /** Go on while the service does not answer. */
  readonly waits: boolean;
  readonly globals: GlobalFlags;
  readonly printing: Printing;
}

/**
 * Asks again and again, and prints the answer whenever it is another one: of a list the whole of it, with JSON lines on one line, so that
 * what is gone is told too.
 */
export async function watch(spec: CommandSpec, request: CommandRequest, { all, waits, globals, printing }: WatchOptions, run: Run): Promise<void> {
  const { field, until } = spec.polish.watch ?? { field: "", until: [] };
  const isPage = spec.result === "page" || spec.result === "tokenPage";
  const { format, query, terminal } = printing;
  const ask = async () => (isPage ? itemsOf(spec, request, { all, globals }, run) : (await call(spec, request, globals, run)).value);
  let shown: string | undefined;
  let isAway = false;
  while (!run.signal.aborted) {
    let value: unknown;
    try {
      value = await ask();
    } catch (error) {
      if (!waits || !isUnreachable(error)) throw error;
      if (!isAway && !printing.quiet) terminal.stderr.write("The service does not answer. Waiting until it does; Ctrl-C stops.\n");
      isAway = true;
      await pause(watchEveryMs, run.signal);
      continue;
    }
    isAway = false;
    const text = JSON.stringify(value);
    if (text !== shown) {
      if (shown !== undefined && format === "table") terminal.stdout.write("\n");
      shown = text;
      if (Array.isArray(value) && format === "jsonl" && query === undefined) await printValue(terminal, value, format);
      // Said once and again below one object, but an empty list has to look like one.
      else await printResult(spec, value, { ...printing, quiet: printing.quiet || !Array.isArray(value) });
    }
    const state = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
    if (typeof state === "string" && until.includes(state)) return;
    await pause(watchEveryMs, run.signal);
  }
}

/** Whether the service is down or starting, as opposed to refusing the call. */
function isUnreachable(error: unknown): boolean {
  return (
    ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || (ApiError.isInstance(error) && [502, 503, 504].includes(error.status))
  );
}

async function itemsOf(...args: Parameters<typeof pagesOf>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const page of pagesOf(...args)) items.push(...page.items);
  return items;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
