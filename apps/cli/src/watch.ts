import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { pagesOf } from "./list.ts";
import { type Printing, printResult, printValue } from "./print-result.ts";
import type { Run } from "./program.ts";
import type { CommandRequest } from "./values.ts";

const watchEveryMs = 2000;

/**
 * Asks again and again, and prints the answer whenever it is another one: of a list the whole of it, with JSON lines on one line, so that
 * what is gone is told too.
 */
export async function watch(
  spec: CommandSpec,
  request: CommandRequest,
  { all, globals, printing }: { readonly all: boolean; readonly globals: GlobalFlags; readonly printing: Printing },
  run: Run,
): Promise<void> {
  const { field, until } = spec.polish.watch ?? { field: "", until: [] };
  const isPage = spec.result === "page" || spec.result === "tokenPage";
  const { format, query, terminal } = printing;
  let shown: string | undefined;
  while (!run.signal.aborted) {
    const value = isPage ? await itemsOf(spec, request, { all, globals }, run) : (await call(spec, request, globals, run)).value;
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
