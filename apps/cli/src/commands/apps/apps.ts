import { anySignal } from "@shoal/primitives";
import { readFileSync } from "node:fs";
import type { Run } from "../../core/types.ts";
import { call } from "../../connection/call.ts";
import { endpointOf } from "../../connection/endpoint.ts";
import { printEvent } from "../../output/event-line.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printableLines } from "../../output/format.ts";
import { connect } from "../../connection/transport.ts";
import { type AppFlags, type Fields, followToEnd, isFields, type SpecOf } from "./follow-to-end.ts";

/** Ctrl-C cancels the invocation on the service; on a terminal, after a question. */
export async function invoke(
  target: { readonly app: string; readonly action: string },
  specOf: SpecOf,
  flags: AppFlags & { payload?: string; payloadFile?: string; sync?: boolean; asyncTimeout?: string; since?: string },
  run: Run,
): Promise<void> {
  const payload = payloadOf(flags);
  const seconds = flags.asyncTimeout === undefined ? undefined : Number(flags.asyncTimeout);
  if (seconds !== undefined && !Number.isInteger(seconds))
    throw new UsageError(`--async-timeout takes a whole number, not "${String(flags.asyncTimeout)}".`);
  const create = specOf("invocations.create");
  const body = {
    app_name: target.app,
    action_name: target.action,
    version: flags.version ?? "latest",
    ...(payload !== undefined && { payload }),
    async: flags.sync !== true,
    ...(seconds !== undefined && { async_timeout_seconds: seconds }),
  };
  const request = { params: {}, query: {}, body };
  if (flags.dryRun === true) {
    const { printRequest } = await import("../../operations/dry-run.ts");
    await printRequest({ spec: create, request, given: flags as unknown as Fields }, flags, run);
    return;
  }
  const started = (await call(create, request, flags, run)).value as { id: string; status: string };
  let end: Fields = started;
  if (flags.output !== "table") run.terminal.stdout.write(`${JSON.stringify(started)}\n`);
  if (!["succeeded", "failed"].includes(started.status)) {
    if (flags.output === "table" && flags.quiet !== true) run.terminal.stderr.write(`Started ${started.id}.\n`);
    try {
      end = await followToEnd(
        specOf("invocations.follow"),
        started.id,
        { event: "invocation_state", field: "invocation", ends: ["succeeded", "failed"] },
        { flags, run, since: flags.since },
      );
    } finally {
      if (run.signal.aborted && (await wantsCancel(started.id, run)))
        await stopInvocation(started.id, specOf, flags, run);
    }
  }
  if (flags.output === "table" && typeof end.output === "string" && end.output !== "")
    run.terminal.stdout.write(`${printableLines(end.output)}\n`);
  if (end.status === "failed")
    throw new ExitError(
      exitCodes.error.status,
      `Invocation ${started.id} failed${typeof end.status_reason === "string" && end.status_reason !== "" ? `: ${end.status_reason}` : ""}.`,
    );
}

export function payloadOf({ payload, payloadFile }: { payload?: string; payloadFile?: string }): string | undefined {
  if (payload !== undefined && payloadFile !== undefined)
    throw new UsageError("--payload and --payload-file exclude each other.");
  let text = payload;
  if (payloadFile !== undefined) {
    try {
      text = readFileSync(payloadFile === "-" ? 0 : payloadFile, "utf8");
    } catch {
      throw new UsageError(`--payload-file: cannot read ${payloadFile}.`);
    }
  }
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError(`${payloadFile === undefined ? "--payload" : "--payload-file"} must be JSON.`);
  }
  return text;
}

/** A second Ctrl-C answers no. */
async function wantsCancel(id: string, { terminal }: Run): Promise<boolean> {
  if (!terminal.interactive) return true;
  const { confirm } = await import("@clack/prompts");
  const answer = await confirm({ message: `Cancel invocation ${id}?`, initialValue: true, output: process.stderr });
  if (answer === true) return true;
  terminal.stderr.write(`Invocation ${id} continues. Follow it with: shoal invocations follow ${id}\n`);
  return false;
}

async function stopInvocation(id: string, specOf: SpecOf, flags: AppFlags, run: Run): Promise<void> {
  // The command's own signal is already aborted. A second Ctrl-C exits at once.
  const own: Run = { ...run, signal: AbortSignal.timeout(30_000) };
  const params = { id };
  await call(
    specOf("invocations.update"),
    { params, query: {}, body: { status: "failed", output: JSON.stringify({ error: "cancelled by the caller" }) } },
    flags,
    own,
  ).catch(() => undefined);
  await call(specOf("invocations.deleteBrowsers"), { params, query: {}, body: undefined }, flags, own).catch(
    () => undefined,
  );
}

const quietMs = 3000;

export async function logs(
  app: string,
  specOf: SpecOf,
  flags: AppFlags & { follow?: boolean; since?: string; invocation?: string },
  run: Run,
): Promise<void> {
  let id = flags.invocation;
  if (id === undefined) {
    const apps = (
      await call(
        specOf("apps.list"),
        {
          params: {},
          query: { app_name: app, ...(flags.version !== undefined && { version: flags.version }), limit: 1 },
          body: undefined,
        },
        flags,
        run,
      )
    ).value as Fields[];
    const deployment = apps[0]?.deployment;
    if (typeof deployment !== "string")
      throw new ExitError(
        exitCodes.notFound.status,
        `App ${app}${flags.version === undefined ? "" : ` with version ${flags.version}`} was not found.`,
        "List the apps with: shoal apps list",
      );
    id = deployment;
  }
  const spec = specOf(flags.invocation === undefined ? "deployments.follow" : "invocations.follow");
  const done = new AbortController();
  const signal = anySignal([run.signal, done.signal]);
  const since = flags.since ?? (flags.follow === true ? "5s" : "5m");
  // Existing lines arrive at once after the first event, so silence means that the log has ended.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = () => {
    if (flags.follow === true) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      done.abort();
    }, quietMs);
  };
  try {
    const events: AsyncIterable<unknown> = connect(flags, run).stream(
      endpointOf(spec),
      { params: { id }, query: { since } },
      { signal },
    );
    for await (const event of events) {
      const isHeartbeat = !isFields(event) || event.event === "sse_heartbeat";
      if (!isHeartbeat || timer === undefined) rest();
      if (isHeartbeat) continue;
      if (flags.output !== "table" || event.event === "log") printEvent(run.terminal, event, flags.output);
    }
  } catch (error) {
    if (!done.signal.aborted || run.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
