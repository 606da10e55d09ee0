import { type GlobalFlags, type Reached, reach } from "./connect.ts";
import { configDir, type Context, keyPlace, readConfig, removeKey, storeKey, writeContexts } from "./contexts.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./format.ts";
import { type OutputFormat, printFields, printTable } from "./output.ts";
import { printValue } from "./print-result.ts";
import type { Run } from "./program.ts";
import { type PlainAnswer, sendPlain } from "./send.ts";
import { defaultBaseUrl, findConnection } from "./settings.ts";

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
      `${to.baseUrl} cannot be reached: ${error instanceof Error && error.message !== "" ? error.message : "no connection"}.`,
      "Look at --base-url; --no-check keeps the key without asking the service.",
    );
  }
}

/** Who a key is, as the service says; `undefined` where it opens the service and the service does not say. @throws {ExitError} when it opens nothing. */
async function whoIs(to: Reached, run: Run): Promise<object | undefined> {
  const context = await ask(to, "/auth/context", run);
  // An older service knows the key, and not the question.
  const answer = [404, 501].includes(context.status) ? await ask(to, "/profiles?limit=1", run) : context;
  if ([401, 403].includes(answer.status))
    throw new ExitError(exitCodes.unauthorized.status, `${to.baseUrl} does not take this key.`, "Keys are made with: shoal api-keys create");
  if (answer.status !== 200)
    throw new ExitError(
      exitCodes.server.status,
      `${to.baseUrl} answered with status ${String(answer.status)}.`,
      "Is it a Shoal service? --no-check keeps the key without asking.",
    );
  try {
    const value: unknown = JSON.parse(answer.text);
    return answer === context && typeof value === "object" && value !== null ? value : undefined;
  } catch {
    throw new ExitError(
      exitCodes.server.status,
      `${to.baseUrl} answered with something that is no JSON.`,
      "Is it a Shoal service? --no-check keeps the key without asking.",
    );
  }
}

async function givenKey(baseUrl: string, run: Run): Promise<string> {
  if (run.terminal.keyboard && !run.terminal.interactive)
    throw new ExitError(exitCodes.usage.status, "Nobody can type a key here.", "Send it through stdin: shoal login < key.txt");
  if (!run.terminal.keyboard) {
    let text = "";
    for await (const chunk of run.terminal.stdin) text += String(chunk);
    return text.trim();
  }
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({
    message: `API key for ${baseUrl}`,
    output: process.stderr,
    validate: (text) => (text === undefined || text.trim() === "" ? "A key begins with sk_." : undefined),
  });
  if (isCancel(answer)) throw new ExitError(exitCodes.interrupted.status, "Nothing was changed.");
  return answer.trim();
}

/** `shoal login`: keeps a key for a service under a name, after the service has taken it. */
export async function login(flags: GlobalFlags & { readonly check: boolean }, run: Run): Promise<void> {
  const { terminal, env } = run;
  const config = readConfig(env);
  const name = flags.context ?? config.current ?? defaultName;
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new ExitError(exitCodes.usage.status, `"${name}" is no name for a context.`, "Letters, digits, dots, dashes and underscores, at most 64.");
  const known = config.contexts?.[name];
  const variable = env.SHOAL_BASE_URL === "" ? undefined : env.SHOAL_BASE_URL;
  const found = findConnection({ baseUrl: flags.baseUrl ?? known?.base_url ?? variable ?? defaultBaseUrl }, env);
  if ("problem" in found && found.problem === "address") throw new ExitError(exitCodes.usage.status, found.message, found.hint);
  const baseUrl = found.baseUrl.replace(/\/+$/, "");
  const apiKey = await givenKey(baseUrl, run);
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new ExitError(
      exitCodes.usage.status,
      apiKey === "" ? "There is no key." : "The key holds characters that no key has: a line break or a space, perhaps.",
      "Send it through stdin, or type it when asked.",
    );
  const project = flags.project ?? known?.project;
  if (flags.check) await whoIs({ baseUrl, apiKey, ...(project !== undefined && { project }) }, run);
  const kept = storeKey(name, apiKey, env);
  const context: Context = { base_url: baseUrl, key: kept, ...(project !== undefined && { project }) };
  writeContexts(env, { current: name, contexts: { ...config.contexts, [name]: context } });
  if (flags.quiet !== true)
    terminal.stderr.write(`Logged in to ${printable(baseUrl)} as context ${name}. The key is kept in ${keyPlace(kept, env)}.\n`);
}

/** `shoal logout`: forgets a context and its key. */
export function logout(flags: GlobalFlags & { readonly all?: boolean }, { terminal, env }: Run): void {
  const { current, contexts = {} } = readConfig(env);
  const name = flags.context ?? current;
  const gone = flags.all === true ? Object.keys(contexts) : name !== undefined && name in contexts ? [name] : [];
  if (flags.all !== true && flags.context !== undefined && gone.length === 0)
    throw new ExitError(exitCodes.notFound.status, `There is no context "${flags.context}".`, "List them with: shoal contexts list");
  for (const each of gone) removeKey(each, contexts[each]?.key ?? "file", env);
  if (gone.length > 0) {
    const left = Object.fromEntries(Object.entries(contexts).filter(([each]) => !gone.includes(each)));
    writeContexts(env, { ...(current !== undefined && current in left && { current }), contexts: left });
  }
  if (flags.quiet !== true)
    terminal.stderr.write(
      gone.length === 0
        ? "Nobody was logged in.\n"
        : `Forgot ${gone.join(", ")}. The keys go on to work until they are deleted: shoal api-keys delete\n`,
    );
}

/** `shoal whoami`: which service, which key, and what the service says of it. */
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

/** `shoal contexts list` */
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
  else if (rows.length === 0) terminal.stderr.write(`No contexts in ${configDir(env)}. Make one: shoal login\n`);
  else
    printTable(
      terminal,
      rows.map((row) => ({ ...row, current: row.current ? "*" : "" })),
      [
        ["", "current"],
        ["NAME", "name"],
        ["ADDRESS", "base_url"],
        ["PROJECT", "project"],
        ["KEY", "key"],
      ],
    );
}

/** `shoal contexts use NAME` */
export function switchContext(name: string, flags: GlobalFlags, { terminal, env }: Run): void {
  const { contexts = {} } = readConfig(env);
  const context = contexts[name];
  if (!context) throw new ExitError(exitCodes.notFound.status, `There is no context "${name}".`, "List them with: shoal contexts list");
  writeContexts(env, {
    current: name,
    contexts: { ...contexts, [name]: { ...context, ...(flags.project !== undefined && { project: flags.project }) } },
  });
  if (flags.quiet !== true) terminal.stderr.write(`Commands go to ${printable(context.base_url)} now.\n`);
}
