import type { Handoff } from "@shoal/schemas";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { Run } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import { notify } from "../../output/output.ts";
import { printValue } from "../../output/print-result.ts";
import type { PageFlags } from "./page-flags.ts";

/** Below the default timeout of requests. */
const waitSeconds = 30;
/** A second Ctrl-C exits at once. */
const cancelMs = 30_000;

export interface HandOverCalls {
  request(body: Readonly<Record<string, unknown>>): Promise<Handoff>;
  get(query: Readonly<Record<string, unknown>>): Promise<Handoff>;
  cancel(signal: AbortSignal): Promise<unknown>;
}

/** Asks a person for help, and waits for the end. Ctrl-C cancels the request. */
export async function handOver(
  calls: HandOverCalls,
  body: Readonly<Record<string, unknown>>,
  { flags, run }: { readonly flags: PageFlags; readonly run: Run },
): Promise<void> {
  const begun = await calls.request(body);
  try {
    if (flags.output === "table") run.terminal.stdout.write(`${begun.url ?? ""}\n`);
    notify(run.terminal, flags, "Waiting for the person. Ctrl-C cancels the request.");
    let shown = begun.status;
    for (;;) {
      const handoff = await calls.get({ handoff_id: begun.id, wait_seconds: waitSeconds });
      if (handoff.ended_at !== null) {
        await report(handoff, flags, run);
        return;
      }
      if (handoff.status !== shown) notify(run.terminal, flags, "The person has taken control.");
      shown = handoff.status;
    }
  } catch (error) {
    if (run.signal.aborted) await calls.cancel(AbortSignal.timeout(cancelMs)).catch(() => undefined);
    throw error;
  }
}

async function report(handoff: Handoff, flags: PageFlags, run: Run): Promise<void> {
  const { note, released_by, status } = handoff;
  if (flags.output !== "table") await printValue(run.terminal, handoff, flags.output);
  if (status !== "released")
    throw new ExitError(
      exitCodes.error.status,
      status === "expired" ? "The person did not return control in time." : "The handoff was canceled.",
      "Ask again with: shoal handoff MESSAGE",
    );
  notify(run.terminal, flags, `${printable(released_by ?? "The person")} returned control.`);
  if (flags.output === "table" && note !== null) run.terminal.stdout.write(`${printable(note)}\n`);
}
