import type { CommandRequest, Run } from "../../core/types.ts";
import { call } from "../../connection/call.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { pagesOf } from "../../operations/list.ts";
import { printable } from "../../output/format.ts";
import type { AppFlags, Fields, SpecOf } from "./follow-to-end.ts";

type RollbackFlags = AppFlags & { readonly app?: string };

export async function rollback(
  deployment: string | undefined,
  specOf: SpecOf,
  flags: RollbackFlags,
  run: Run,
): Promise<void> {
  if ((deployment === undefined) === (flags.app === undefined))
    throw new UsageError("Pass either a deployment, or --app for the previous deployment of an app.");
  const id = deployment ?? (await previousOf(flags.app ?? "", specOf, flags, run));
  const spec = specOf("deployments.rollback");
  const request: CommandRequest = { params: { id }, query: {}, body: undefined };
  if (flags.dryRun === true) {
    const { printRequest } = await import("../../operations/dry-run.ts");
    await printRequest({ spec, request, given: flags as unknown as Fields }, flags, run);
    return;
  }
  const { value } = await call(spec, request, flags, run);
  if (flags.output !== "table") run.terminal.stdout.write(`${JSON.stringify(value)}\n`);
  else if (flags.quiet !== true) {
    const { status_reason: reason } = value as { readonly status_reason?: string };
    run.terminal.stderr.write(`Deployment ${id} is running.${reason === undefined ? "" : ` ${printable(reason)}`}\n`);
  }
}

/** The newest deployment of the label that is older than the running one and not failed. */
async function previousOf(app: string, specOf: SpecOf, flags: RollbackFlags, run: Run): Promise<string> {
  const { version = "latest" } = flags;
  const globals = { ...flags, dryRun: false };
  const query = { app_name: app, version, limit: 1 };
  const found = await call(specOf("apps.list"), { params: {}, query, body: undefined }, globals, run);
  const running = (found.value as readonly Fields[])[0]?.deployment;
  let isOlder = running === undefined;
  const pages = pagesOf(
    specOf("deployments.list"),
    { params: {}, query: { app_name: app, app_version: version }, body: undefined },
    { all: true, globals },
    run,
  );
  for await (const { items } of pages)
    for (const { id, status } of items as readonly { readonly id: string; readonly status: string }[]) {
      if (isOlder && (status === "stopped" || status === "running")) return id;
      if (id === running) isOlder = true;
    }
  throw new ExitError(
    exitCodes.notFound.status,
    `App ${printable(app)} has no earlier deployment of version ${printable(version)}.`,
    `List its deployments with: shoal apps history ${printable(app)}`,
  );
}
