import { ApiError, ConnectionError, TimeoutError } from "@shoal/transport";
import { setTimeout as delay } from "node:timers/promises";
import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { call } from "../connection/call.ts";
import { pagesOf } from "./list.ts";
import { type Printing, printResult, printValue } from "../output/print-result.ts";

const watchEveryMs = 2000;

export interface WatchOptions {
  readonly all: boolean;
  /** Keep waiting while the service does not answer. */
  readonly waits: boolean;
  readonly globals: GlobalFlags;
  readonly printing: Printing;
}

/** Prints the result at each change. A list is printed whole, so that removed items are visible. */
export async function watch(
  spec: CommandSpec,
  request: CommandRequest,
  { all, waits, globals, printing }: WatchOptions,
  run: Run,
): Promise<void> {
  const { field, until } = spec.entry.watch ?? { field: "", until: [] };
  const isPage = spec.result === "page" || spec.result === "tokenPage";
  const { format, query, terminal } = printing;
  const ask = async () =>
    isPage ? itemsOf(spec, request, { all, globals }, run) : (await call(spec, request, globals, run)).value;
  let shown: string | undefined;
  let isAway = false;
  while (!run.signal.aborted) {
    let value: unknown;
    try {
      value = await ask();
    } catch (error) {
      if (!waits || !isUnreachable(error)) throw error;
      if (!isAway && !printing.quiet)
        terminal.stderr.write("The service does not answer. Waiting for it; press Ctrl-C to stop.\n");
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
      // Repeated notes below an object would be noise, but an empty list needs its message.
      else await printResult(spec, value, { ...printing, quiet: printing.quiet || !Array.isArray(value) });
    }
    const state = (value as Readonly<Record<string, unknown>> | undefined)?.[field];
    if (typeof state === "string" && until.includes(state)) return;
    await pause(watchEveryMs, run.signal);
  }
}

/** The service is down or starting. */
function isUnreachable(error: unknown): boolean {
  return (
    ConnectionError.isInstance(error) ||
    TimeoutError.isInstance(error) ||
    (ApiError.isInstance(error) && [502, 503, 504].includes(error.status))
  );
}

async function itemsOf(...args: Parameters<typeof pagesOf>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const page of pagesOf(...args)) items.push(...page.items);
  return items;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
