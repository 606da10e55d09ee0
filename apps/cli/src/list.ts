import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { printJsonLine } from "./output.ts";
import { type Printing, printList, printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import type { CommandRequest } from "./values.ts";

/** Some items of a list. */
interface Items {
  readonly items: readonly unknown[];
  /** Query of the next page. */
  readonly next: Readonly<Record<string, unknown>> | undefined;
}

/** One page, as many as `--limit` asks for, or with `all` every one. */
export async function* pagesOf(
  spec: CommandSpec,
  request: CommandRequest,
  { all, globals }: { readonly all: boolean; readonly globals: GlobalFlags },
  run: Run,
): AsyncGenerator<Items> {
  const most = spec.flags.find(({ field }) => field === "limit")?.maximum ?? Infinity;
  const limit = typeof request.query.limit === "number" ? request.query.limit : undefined;
  // More than a page holds is fetched page by page.
  const wanted = all ? Infinity : limit !== undefined && limit > most ? limit : undefined;
  let count = 0;
  let next: Readonly<Record<string, unknown>> | undefined = {};
  do {
    const size: number | undefined =
      limit === undefined ? (all && most !== Infinity ? most : undefined) : Math.min(limit, most, (wanted ?? Infinity) - count);
    const answer = await call(spec, { ...request, query: { ...request.query, ...(size !== undefined && { limit: size }), ...next } }, globals, run);
    const items = answer.value as unknown[];
    count += items.length;
    ({ next } = answer);
    yield { items, next };
  } while (next !== undefined && count < (wanted ?? 0) && !run.signal.aborted);
}

/** Prints a list, and says where there are more. */
export async function list(
  spec: CommandSpec,
  request: CommandRequest,
  { printing, ...how }: { readonly all: boolean; readonly globals: GlobalFlags; readonly printing: Printing },
  run: Run,
): Promise<void> {
  const { terminal, format, query } = printing;
  const items: unknown[] = [];
  let next: Items["next"];
  for await (const page of pagesOf(spec, request, how, run)) {
    // Not kept: with --all and JSON lines a list may be longer than memory.
    if (format === "jsonl" && query === undefined) for (const item of page.items) printJsonLine(terminal, item);
    else items.push(...page.items);
    ({ next } = page);
  }
  if (format !== "jsonl" || query !== undefined) await (query === undefined ? printList(spec, items, printing) : printResult(spec, items, printing));
  if (next !== undefined && format === "table" && !printing.quiet) {
    const [field, value] = Object.entries(next)[0] ?? ["", ""];
    terminal.stderr.write(`There are more: add --all, or --${field.replaceAll("_", "-")} ${String(value)}.\n`);
  }
}
