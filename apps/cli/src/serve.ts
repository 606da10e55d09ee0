import { resolve } from "node:path";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadService } from "./load-service.ts";
import { styled, type Terminal } from "./output.ts";
import type { Run } from "./program.ts";
import { defaultDataDir } from "./settings.ts";

type Service = typeof import("@shoal/server");

/** `shoal serve`: runs the service until SIGTERM or Ctrl-C. Flags are the service's settings. */
export async function serve(args: readonly string[], run: Run): Promise<void> {
  const service = await loadService();
  const { terminal } = run;
  const flags = readFlags(service, args);
  if (flags.help === true) {
    terminal.stdout.write(help(service, terminal));
    return;
  }
  const { default: closeWithGrace } = await import("close-with-grace");
  let server: Awaited<ReturnType<Service["startServer"]>>;
  let dataDir: string;
  try {
    const config = service.loadConfig({ flags, env: run.env });
    dataDir = config.data_dir;
    server = await service.startServer(config);
  } catch (error) {
    throw asExitError(service, error);
  }
  if (run.signal.aborted) {
    // Told to stop while it started.
    await server.close();
    return;
  }
  const bold = (text: string) => styled(terminal, "bold", text);
  terminal.stdout.write(`Shoal ${service.version} answers at ${bold(server.baseUrl)}\n`);
  if (server.placement === "process")
    terminal.stdout.write("Sessions are not isolated: install bubblewrap for the sandbox (shoal doctor says more).\n");
  // Commands look in the usual folder, or where they are told to.
  const where = resolve(defaultDataDir(run.env)) === dataDir ? "" : `SHOAL_DATA_DIR=${dataDir} `;
  if (server.newAdminKey) {
    // What is no terminal may be a log: the key is not for those who read that.
    if (terminal.screen) terminal.stdout.write(`Admin key, shown this once: ${bold(server.newAdminKey.apiKey)}\n`);
    terminal.stdout.write(
      `${terminal.screen ? "It" : "The admin key"} is kept in ${server.newAdminKey.path}, where this user's shoal commands find it${where === "" ? "" : ` with ${where.trim()}`}\n`,
    );
  }
  if (terminal.progress) terminal.stdout.write(`Try it in another terminal: ${where}shoal browsers create\nCtrl-C stops.\n`);

  // A second signal ends the process at once: sessions die with it, and what they leave is swept at the next start.
  // A terminal that is closed says the same as an operator who wants the settings read again; whoever has a terminal wants the first.
  const reloads = !process.stdin.isTTY && process.platform !== "win32";
  if (reloads) {
    // Until now it ended the command, as it ends every other.
    process.removeAllListeners("SIGHUP");
    process.on("SIGHUP", () => {
      reload(service, server, { flags, env: run.env });
    });
  }
  closeWithGrace({ delay: false, logger: false, ...(reloads && { skip: ["SIGHUP"] }) }, async ({ err, signal }) => {
    if (err !== undefined) server.log.fatal({ err }, "the service failed and stops");
    else if (terminal.progress) terminal.stderr.write(`${signal === "SIGINT" ? "\n" : ""}${stopNotice(server.sessionCount())}\n`);
    await server.close();
  });
}

function stopNotice(sessions: number): string {
  const ended = sessions === 0 ? "no session runs" : sessions === 1 ? "1 session is ended" : `${String(sessions)} sessions are ended`;
  return `Stopping: requests in flight are finished, ${ended}. Ctrl-C again stops at once.`;
}

/** Reads the settings again. Those that do not fit change nothing. */
function reload(service: Service, server: Awaited<ReturnType<Service["startServer"]>>, sources: Parameters<Service["loadConfig"]>[0]): void {
  try {
    server.reload(service.loadConfig(sources));
  } catch (error) {
    server.log.error(
      { err: error },
      `the settings could not be read again, and the old ones hold: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function asExitError(service: Service, error: unknown): unknown {
  if (!service.StartError.isInstance(error)) return error;
  return new ExitError(error.exitCode === 2 ? exitCodes.usage.status : exitCodes.start.status, error.message, error.hint);
}

const flagHint = "`shoal serve --help` lists every setting.";

function readFlags(service: Service, args: readonly string[]): Record<string, unknown> {
  const options: ParseArgsOptionsConfig = { help: { type: "boolean", short: "h" }, config: { type: "string" } };
  for (const [name, setting] of Object.entries(service.settings)) {
    const flag = name.replaceAll("_", "-");
    options[flag] =
      setting.kind === "boolean" ? { type: "boolean" } : setting.kind === "list" ? { type: "string", multiple: true } : { type: "string" };
  }
  // Not strict: its errors neither know the nearest flag nor what a setting is.
  const { tokens } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, allowNegative: true, tokens: true });
  const flags: Record<string, unknown> = {};
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") throw new ExitError(exitCodes.usage.status, `"${token.value}" is no flag of shoal serve.`, flagHint);
    const isNegative = token.name.startsWith("no-") && options[token.name] === undefined;
    const name = isNegative ? token.name.slice(3) : token.name;
    const option = options[name];
    if (option === undefined || (isNegative && option.type !== "boolean")) throw unknownFlag(service, token.rawName);
    if (option.type === "string" && (token.value === undefined || (!token.inlineValue && /^--[a-z]/.test(token.value))))
      throw new ExitError(exitCodes.usage.status, `${token.rawName} needs a value.`, flagHint);
    if (option.type === "boolean" && token.value !== undefined) flags[name] = token.value;
    else if (option.type === "boolean") flags[name] = !isNegative;
    else flags[name] = option.multiple === true ? [...((flags[name] as string[] | undefined) ?? []), ...(token.value ?? "").split(",")] : token.value;
  }
  return flags;
}

/** The service knows its settings and says which one was meant. */
function unknownFlag(service: Service, rawName: string): unknown {
  try {
    service.loadConfig({ flags: { [rawName.replace(/^-+/, "")]: true }, env: {}, cwd: "/" });
  } catch (error) {
    return asExitError(service, error);
  }
  return new ExitError(exitCodes.usage.status, `${rawName} is no flag of shoal serve.`, flagHint);
}

/** Words in lines of at most `columns`. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const valueNames: Readonly<Record<string, string>> = { integer: " <number>", text: " <text>", path: " <path>", list: " <a,b>" };

function help(service: Service, terminal: Terminal): string {
  const columns = Math.max(40, Math.min(terminal.width, 100));
  const entry = (flag: string, ...texts: string[]) =>
    [`  ${flag}`, ...texts.flatMap((text) => wrap(text, columns - 6).map((line) => `      ${line}`))].join("\n");
  const settings = Object.entries(service.settings).map(([name, setting]) =>
    entry(
      `--${name.replaceAll("_", "-")}${valueNames[setting.kind] ?? ""}`,
      setting.summary,
      `Default: ${setting.default}.${setting.flagOnly ? "" : ` Also ${[...(setting.env ?? []), `SHOAL_${name.toUpperCase()}`].join(", ")}.`}`,
    ),
  );
  const title = (text: string) => styled(terminal, "bold", text);
  return [
    `${title("Usage:")} shoal serve [settings]`,
    "",
    ...wrap(
      "Runs the service until it is stopped. Without settings: PostgreSQL, sessions and keys in a data folder of yours, on 127.0.0.1:7777. Flags win over the environment, the environment over the config file.",
      columns,
    ),
    "",
    title("Settings:"),
    entry(
      "--config <path>",
      "Config file, YAML or JSON, with the settings' names (data_dir: …).",
      "Default: shoal.config.yaml in this folder, where there is one. Also SHOAL_CONFIG.",
    ),
    ...settings,
    entry("-h, --help", "Print help."),
    "",
    title("Examples:"),
    "  $ shoal serve",
    "  $ shoal serve --port 0 --data-dir ./data --ready-file ./ready.json",
    "  $ DATABASE_URL=postgres://shoal@db/shoal shoal serve --warm 4",
    "",
    title("Signals:"),
    ...wrap(
      "SIGTERM and Ctrl-C finish requests in flight, end the sessions and exit with 0. A second one stops at once. SIGHUP has the config file read again: limits, rate limits and the log level change at once, the log names what needs a restart, and a mistake in the file changes nothing. In a terminal, where it means that the window was closed, it stops.",
      columns - 2,
    ).map((line) => `  ${line}`),
    "",
    title("Exit status:"),
    "    0  it was stopped",
    "    2  a setting is wrong",
    "   12  it cannot start",
    "",
  ].join("\n");
}
