import { messageOf } from "@shoal/primitives";
import type { GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { reach, type Reached } from "../../connection/reach.ts";
import {
  configDir,
  type Context,
  keyPlace,
  readConfig,
  removeKey,
  storeKey,
  writeContexts,
} from "../../connection/contexts.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printable } from "../../output/format.ts";
import { printFields, printTable } from "../../output/output.ts";
import { printValue } from "../../output/print-result.ts";
import { type PlainAnswer, sendPlain } from "../../connection/send.ts";
import { defaultBaseUrl, findConnection } from "../../connection/settings.ts";

const checkTimeoutMs = 15_000;
const defaultName = "default";

interface OutputFlags extends GlobalFlags {
  readonly output: OutputFormat;
}

async function ask(to: Reached, path: string, run: Run): Promise<PlainAnswer> {
  const headers = {
    accept: "application/json",
    authorization: `Bearer ${to.apiKey ?? ""}`,
    ...(to.project !== undefined && { "x-shoal-project": to.project }),
  };
  try {
    return await sendPlain(
      { method: "GET", url: `${to.baseUrl}${path}`, headers },
      { signal: run.signal, timeoutMs: to.totalTimeoutMs ?? checkTimeoutMs },
    );
  } catch (error) {
    throw new ExitError(
      exitCodes.connection.status,
      `Cannot reach ${to.baseUrl}: ${messageOf(error) || "no connection"}.`,
      "Check --base-url, or store the key without checking it with --no-check.",
    );
  }
}

/** Returns `undefined` if the service does not report the key's owner. @throws {ExitError} for a rejected key. */
async function whoIs(to: Reached, run: Run): Promise<object | undefined> {
  const context = await ask(to, "/auth/context", run);
  // An older service lacks this operation, so check the key with another one.
  const answer = [404, 501].includes(context.status) ? await ask(to, "/profiles?limit=1", run) : context;
  if ([401, 403].includes(answer.status))
    throw new ExitError(
      exitCodes.unauthorized.status,
      `${to.baseUrl} rejected this key.`,
      "Create a key with: shoal api-keys create",
    );
  if (answer.status !== 200)
    throw new ExitError(
      exitCodes.server.status,
      `${to.baseUrl} answered with status ${String(answer.status)}.`,
      "Check that --base-url is a Shoal service, or pass --no-check.",
    );
  try {
    const value: unknown = JSON.parse(answer.text);
    return answer === context && typeof value === "object" && value !== null ? value : undefined;
  } catch {
    throw new ExitError(
      exitCodes.server.status,
      `${to.baseUrl} did not answer with JSON.`,
      "Check that --base-url is a Shoal service, or pass --no-check.",
    );
  }
}

async function givenKey(baseUrl: string, run: Run): Promise<string> {
  if (run.terminal.keyboard && !run.terminal.interactive)
    throw new ExitError(
      exitCodes.usage.status,
      "Cannot prompt for a key without a terminal.",
      "Pass it through stdin: shoal login < key.txt",
    );
  if (!run.terminal.keyboard) {
    let text = "";
    for await (const chunk of run.terminal.stdin) text += String(chunk);
    return text.trim();
  }
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({
    message: `API key for ${baseUrl}`,
    output: process.stderr,
    validate: (text) => (text === undefined || text.trim() === "" ? "A key starts with sk_." : undefined),
  });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  return answer.trim();
}

export async function login(flags: GlobalFlags & { readonly check: boolean }, run: Run): Promise<void> {
  const { terminal, env } = run;
  const config = readConfig(env);
  const name = flags.context ?? config.current ?? defaultName;
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new ExitError(
      exitCodes.usage.status,
      `Invalid context name "${name}".`,
      "Use 1 to 64 letters, digits, dots, dashes and underscores.",
    );
  const known = config.contexts?.[name];
  const variable = env.SHOAL_BASE_URL === "" ? undefined : env.SHOAL_BASE_URL;
  const found = findConnection({ baseUrl: flags.baseUrl ?? known?.base_url ?? variable ?? defaultBaseUrl }, env);
  if ("problem" in found && found.problem === "address")
    throw new ExitError(exitCodes.usage.status, found.message, found.hint);
  const baseUrl = found.baseUrl.replace(/(?<!\/)\/+$/, "");
  const apiKey = await givenKey(baseUrl, run);
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new ExitError(
      exitCodes.usage.status,
      apiKey === "" ? "The key is empty." : "The API key contains invalid characters (often a trailing newline).",
      "Pass it through stdin, or type it at the prompt.",
    );
  const project = flags.project ?? known?.project;
  if (flags.check) await whoIs({ baseUrl, apiKey, ...(project !== undefined && { project }) }, run);
  const kept = storeKey(name, apiKey, env);
  const context: Context = { base_url: baseUrl, key: kept, ...(project !== undefined && { project }) };
  writeContexts(env, { current: name, contexts: { ...config.contexts, [name]: context } });
  if (flags.quiet !== true)
    terminal.stderr.write(
      `Logged in to ${printable(baseUrl)} as context ${name}. The key is stored in ${keyPlace(kept, env)}.\n`,
    );
}

export function logout(flags: GlobalFlags & { readonly all?: boolean }, { terminal, env }: Run): void {
  const { current, contexts = {} } = readConfig(env);
  const name = flags.context ?? current;
  const gone = flags.all === true ? Object.keys(contexts) : name !== undefined && name in contexts ? [name] : [];
  if (flags.all !== true && flags.context !== undefined && gone.length === 0)
    throw new ExitError(
      exitCodes.notFound.status,
      `Context "${flags.context}" was not found.`,
      "List the contexts with: shoal contexts list",
    );
  for (const each of gone) removeKey(each, contexts[each]?.key ?? "file", env);
  if (gone.length > 0) {
    const left = Object.fromEntries(Object.entries(contexts).filter(([each]) => !gone.includes(each)));
    writeContexts(env, { ...(current !== undefined && current in left && { current }), contexts: left });
  }
  if (flags.quiet !== true)
    terminal.stderr.write(
      gone.length === 0
        ? "No stored keys.\n"
        : `Deleted ${gone.join(", ")}. The keys stay valid until they are deleted with: shoal api-keys delete\n`,
    );
}

export async function whoAmI(flags: OutputFlags, run: Run): Promise<void> {
  const to = reach(flags, run);
  const found = findConnection(flags, run.env);
  if ("problem" in found) return;
  const said = await whoIs(to, run);
  const value = {
    context: found.context ?? null,
    base_url: found.baseUrl,
    project: found.project ?? null,
    key: `${found.apiKey.slice(0, Math.min(12, found.apiKey.length / 3))}…`,
    key_source: found.keySource,
    ...said,
  };
  if (flags.output === "table") printFields(run.terminal, value);
  else await printValue(run.terminal, value, flags.output);
}

export async function listContexts(flags: OutputFlags, { terminal, env }: Run): Promise<void> {
  const { current, contexts = {} } = readConfig(env);
  const rows = Object.entries(contexts).map(([name, { base_url, project, key }]) => ({
    current: name === current,
    name,
    base_url,
    project: project ?? null,
    key,
  }));
  if (flags.output === "jsonl") for (const row of rows) await printValue(terminal, row, "jsonl");
  else if (flags.output !== "table") await printValue(terminal, rows, flags.output);
  else if (rows.length === 0) terminal.stderr.write(`No contexts in ${configDir(env)}. Create one: shoal login\n`);
  else
    printTable(
      terminal,
      rows.map((row) => ({ ...row, current: row.current ? "*" : "" })),
      [
        ["", "current"],
        ["NAME", "name"],
        ["URL", "base_url"],
        ["PROJECT", "project"],
        ["KEY", "key"],
      ],
    );
}

export function switchContext(name: string, flags: GlobalFlags, { terminal, env }: Run): void {
  const { contexts = {} } = readConfig(env);
  const context = contexts[name];
  if (!context)
    throw new ExitError(
      exitCodes.notFound.status,
      `Context "${name}" was not found.`,
      "List the contexts with: shoal contexts list",
    );
  writeContexts(env, {
    current: name,
    contexts: { ...contexts, [name]: { ...context, ...(flags.project !== undefined && { project: flags.project }) } },
  });
  if (flags.quiet !== true) terminal.stderr.write(`Commands now use ${printable(context.base_url)}.\n`);
}
