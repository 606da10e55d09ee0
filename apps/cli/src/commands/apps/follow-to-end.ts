import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { endpointOf } from "../../connection/endpoint.ts";
import { printEvent } from "../../output/event-line.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { startSpinner } from "../../output/spinner.ts";
import { connect } from "../../connection/transport.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface AppFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly version?: string;
}

export type SpecOf = (operationId: string) => CommandSpec;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** Prints events until a final state. @returns the deployment or invocation. */
export async function followToEnd(
  spec: CommandSpec,
  id: string,
  subject: { readonly event: string; readonly field: string; readonly ends: readonly string[] },
  { flags, run, since }: { readonly flags: AppFlags; readonly run: Run; readonly since?: string | undefined },
): Promise<Fields> {
  const { terminal } = run;
  const spinner = flags.output === "table" && flags.quiet !== true ? startSpinner(terminal) : undefined;
  try {
    const events: AsyncIterable<unknown> = connect(flags, run).stream(
      endpointOf(spec),
      { params: { id }, query: since === undefined ? {} : { since } },
      { signal: run.signal },
    );
    for await (const event of events) {
      if (!isFields(event) || event.event === "sse_heartbeat") continue;
      const state = event.event === subject.event ? event[subject.field] : undefined;
      if (flags.output !== "table") printEvent(terminal, event, "jsonl");
      else if (isFields(state)) spinner?.say(typeof state.status === "string" ? state.status : "");
      else {
        spinner?.clear();
        printEvent(terminal, event, "table");
      }
      if (isFields(state) && typeof state.status === "string" && subject.ends.includes(state.status)) return state;
      if (event.event === "error")
        throw new ExitError(
          exitCodes.error.status,
          isFields(event.error) && typeof event.error.message === "string" ? event.error.message : "It failed.",
        );
    }
  } finally {
    spinner?.stop();
  }
  throw new ExitError(
    exitCodes.error.status,
    "The event stream ended before the final state.",
    `Show the state with: shoal ${spec.words[0] ?? ""} get ${id}`,
  );
}
