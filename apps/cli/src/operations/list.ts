import type { CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { call } from "../connection/call.ts";
import { printJsonLine } from "../output/output.ts";
import { type Printing, printList, printResult } from "../output/print-result.ts";

interface Items {
  readonly items: readonly unknown[];
  readonly next: Readonly<Record<string, unknown>> | undefined;
}

/** Fetches one page, as many pages as `--limit` needs, or with `all` every page. */
export async function* pagesOf(
  spec: CommandSpec,
  request: CommandRequest,
  { all, globals }: { readonly all: boolean; readonly globals: GlobalFlags },
  run: Run,
): AsyncGenerator<Items> {
  const most = spec.flags.find(({ field }) => field === "limit")?.maximum ?? Infinity;
  const limit = typeof request.query.limit === "number" ? request.query.limit : undefined;
  const wanted = all ? Infinity : limit !== undefined && limit > most ? limit : undefined;
  let count = 0;
  let next: Readonly<Record<string, unknown>> | undefined = {};
  do {
    const size: number | undefined =
      limit === undefined
        ? all && most !== Infinity
          ? most
          : undefined
        : Math.min(limit, most, (wanted ?? Infinity) - count);
    const answer = await call(
      spec,
      { ...request, query: { ...request.query, ...(size !== undefined && { limit: size }), ...next } },
      globals,
      run,
    );
    const items = answer.value as unknown[];
    count += items.length;
    ({ next } = answer);
    yield { items, next };
  } while (next !== undefined && count < (wanted ?? 0) && !run.signal.aborted);
}

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
    // Print JSON lines at once: with --all a list may not fit into memory.
    if (format === "jsonl" && query === undefined) for (const item of page.items) printJsonLine(terminal, item);
    else items.push(...page.items);
    ({ next } = page);
  }
  if (format !== "jsonl" || query !== undefined)
    await (query === undefined ? printList(spec, items, printing) : printResult(spec, items, printing));
  if (next !== undefined && format === "table" && !printing.quiet) {
    const [field, value] = Object.entries(next)[0] ?? ["", ""];
    terminal.stderr.write(`More items: pass --all, or --${field.replaceAll("_", "-")} ${String(value)}.\n`);
  }
}
