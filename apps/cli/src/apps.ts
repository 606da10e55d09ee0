import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { archiveFolder } from "./archive.ts";
import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import { printEvent } from "./event-line.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable, printableLines } from "./format.ts";
import type { OutputFormat } from "./output.ts";
import type { Run } from "./program.ts";
import { startSpinner } from "./spinner.ts";
import { upload } from "./transfers.ts";
import { connect } from "./transport.ts";
import { UsageError } from "./values.ts";

type Fields = Readonly<Record<string, unknown>>;

interface AppFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly version?: string;
}

/** Operations that the commands of apps are made of. */
export interface AppOperations {
  readonly of: (operationId: string) => CommandSpec;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function environment(pairs: readonly string[] = [], files: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  for (const file of files) {
    try {
      Object.assign(found, parseEnv(readFileSync(file, "utf8")));
    } catch {
      throw new UsageError(`--env-file: ${file} cannot be read.`);
    }
  }
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    if (at < 1) throw new UsageError(`--env takes KEY=value, not "${pair}".`);
    found[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return found;
}

/** Follows a deployment or an invocation to its end. @returns how it ended, as the last event has it. */
async function followToEnd(
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
  throw new ExitError(exitCodes.error.status, "The service stopped telling before it was over.", `Look with: shoal ${spec.words[0] ?? ""} get ${id}`);
}

/** `shoal deploy`: packs an app, sends it, and tells what becomes of it. */
export async function deploy(
  entrypoint: string,
  operations: AppOperations,
  flags: AppFlags & { force?: boolean; region?: string; env?: readonly string[]; envFile?: readonly string[]; follow: boolean },
  run: Run,
): Promise<void> {
  const { terminal } = run;
  const path = resolve(entrypoint);
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) throw new UsageError(`<entrypoint> is the file to start, and ${entrypoint} is no file.`);
  const env_vars = environment(flags.env, flags.envFile);
  const folder = dirname(path);
  const create = operations.of("deployments.create");
  await using archive = await archiveFolder(folder, { gitignore: true, signal: run.signal });
  const body = {
    version: flags.version ?? "latest",
    entrypoint_rel_path: basename(path),
    ...(flags.force === true && { force: true }),
    ...(flags.region !== undefined && { region: flags.region }),
    ...(Object.keys(env_vars).length > 0 && { env_vars }),
    file: archive.path,
  };
  if (flags.dryRun === true) {
    const { printRequest } = await import("./dry-run.ts");
    await printRequest({ spec: create, request: { params: {}, query: {}, body }, given: flags as unknown as Fields }, flags, run);
    return;
  }
  const deployment = (await upload(create, { params: {}, query: {}, body }, { ...flags, label: `${String(archive.files)} files` }, run)) as {
    id: string;
    status: string;
  };
  if (flags.output !== "table") terminal.stdout.write(`${JSON.stringify(deployment)}\n`);
  else if (flags.quiet !== true)
    terminal.stderr.write(`Sent ${String(archive.files)} files of ${printable(folder)} as deployment ${deployment.id}.\n`);
  if (!flags.follow) return;
  const end = await followToEnd(
    operations.of("deployments.follow"),
    deployment.id,
    { event: "deployment_state", field: "deployment", ends: ["running", "failed", "stopped"] },
    { flags, run },
  );
  if (end.status !== "running")
    throw new ExitError(
      exitCodes.error.status,
      `Deployment ${deployment.id} ${String(end.status)}${typeof end.status_reason === "string" && end.status_reason !== "" ? `: ${end.status_reason}` : ""}.`,
      `Its log: shoal deployments follow ${deployment.id}`,
    );
  if (flags.output === "table" && flags.quiet !== true) terminal.stderr.write(`Deployment ${deployment.id} runs.\n`);
}

/** `shoal invoke`: runs an action of an app and tells what it returned. Ctrl-C ends it on the service too. */
export async function invoke(
  target: { readonly app: string; readonly action: string },
  operations: AppOperations,
  flags: AppFlags & { payload?: string; payloadFile?: string; sync?: boolean; asyncTimeout?: string; since?: string },
  run: Run,
): Promise<void> {
  const payload = payloadOf(flags);
  const seconds = flags.asyncTimeout === undefined ? undefined : Number(flags.asyncTimeout);
  if (seconds !== undefined && !Number.isInteger(seconds))
    throw new UsageError(`--async-timeout takes a whole number, not "${String(flags.asyncTimeout)}".`);
  const create = operations.of("invocations.create");
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
    const { printRequest } = await import("./dry-run.ts");
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
        operations.of("invocations.follow"),
        started.id,
        { event: "invocation_state", field: "invocation", ends: ["succeeded", "failed"] },
        { flags, run, since: flags.since },
      );
    } finally {
      if (run.signal.aborted) await stopInvocation(started.id, operations, flags, run);
    }
  }
  if (flags.output === "table" && typeof end.output === "string" && end.output !== "") run.terminal.stdout.write(`${printableLines(end.output)}\n`);
  if (end.status === "failed")
    throw new ExitError(
      exitCodes.error.status,
      `Invocation ${started.id} failed${typeof end.status_reason === "string" && end.status_reason !== "" ? `: ${end.status_reason}` : ""}.`,
    );
}

function payloadOf({ payload, payloadFile }: { payload?: string; payloadFile?: string }): string | undefined {
  if (payload !== undefined && payloadFile !== undefined) throw new UsageError("Give --payload or --payload-file, not both.");
  let text = payload;
  if (payloadFile !== undefined) {
    try {
      text = readFileSync(payloadFile === "-" ? 0 : payloadFile, "utf8");
    } catch {
      throw new UsageError(`--payload-file: ${payloadFile} cannot be read.`);
    }
  }
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError("The payload is no JSON.");
  }
  return text;
}

async function stopInvocation(id: string, operations: AppOperations, flags: AppFlags, run: Run): Promise<void> {
  // The command's own signal is what stopped it.
  const own: Run = { ...run, signal: AbortSignal.timeout(5000) };
  const params = { id };
  await call(
    operations.of("invocations.update"),
    { params, query: {}, body: { status: "failed", output: JSON.stringify({ error: "stopped by its caller" }) } },
    flags,
    own,
  ).catch(() => undefined);
  await call(operations.of("invocations.deleteBrowsers"), { params, query: {}, body: undefined }, flags, own).catch(() => undefined);
}

const quietMs = 3000;

/** `shoal logs`: the log of an app's deployment, or of one invocation. */
export async function logs(
  app: string,
  operations: AppOperations,
  flags: AppFlags & { follow?: boolean; since?: string; invocation?: string },
  run: Run,
): Promise<void> {
  let id = flags.invocation;
  if (id === undefined) {
    const apps = (
      await call(
        operations.of("apps.list"),
        { params: {}, query: { app_name: app, ...(flags.version !== undefined && { version: flags.version }), limit: 1 }, body: undefined },
        flags,
        run,
      )
    ).value as Fields[];
    const deployment = apps[0]?.deployment;
    if (typeof deployment !== "string")
      throw new ExitError(
        exitCodes.notFound.status,
        `There is no app ${app}${flags.version === undefined ? "" : ` of version ${flags.version}`}.`,
        "List them with: shoal apps list",
      );
    id = deployment;
  }
  const spec = operations.of(flags.invocation === undefined ? "deployments.follow" : "invocations.follow");
  const done = new AbortController();
  const signal = AbortSignal.any([run.signal, done.signal]);
  const since = flags.since ?? (flags.follow === true ? "5s" : "5m");
  // What has been written comes at once; silence then means that there is no more.
  let timer: ReturnType<typeof setTimeout> | undefined;
  const rest = () => {
    if (flags.follow === true) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      done.abort();
    }, quietMs);
  };
  rest();
  try {
    const events: AsyncIterable<unknown> = connect(flags, run).stream(endpointOf(spec), { params: { id }, query: { since } }, { signal });
    for await (const event of events) {
      if (!isFields(event) || event.event === "sse_heartbeat") continue;
      rest();
      if (flags.output !== "table" || event.event === "log") printEvent(run.terminal, event, flags.output);
    }
  } catch (error) {
    if (!done.signal.aborted || run.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
}
