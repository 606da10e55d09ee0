import { messageOf } from "@shoal/primitives";
import { resolve } from "node:path";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import type { Run, Terminal } from "../../core/types.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { forShell } from "../../core/for-shell.ts";
import { loadService } from "./load-service.ts";
import { isOwnHost } from "../../operations/open-url.ts";
import { styled } from "../../output/output.ts";
import { defaultDataDir } from "../../connection/settings.ts";

type Service = typeof import("@shoal/server");

/** At most half of them look names up, which takes ten seconds if a name server of a page does not answer. */
const poolThreads = "32";

/** Runs the service until SIGTERM or Ctrl-C. Its flags are the settings of the service. */
export async function serve(args: readonly string[], run: Run): Promise<void> {
  // Node reads it when the pool starts. Boxes and other programs get their own environment.
  process.env.UV_THREADPOOL_SIZE ??= poolThreads;
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
  let dev: boolean;
  let publicUrl: string | undefined;
  // In a terminal, the lines below replace the log of the start.
  const sources = { flags, env: run.env, ...(terminal.progress && { defaults: { log_level: "warn" } }) };
  try {
    const config = service.loadConfig(sources);
    ({ data_dir: dataDir, dev, public_url: publicUrl } = config);
    server = await service.startServer(config);
  } catch (error) {
    throw asExitError(service, error);
  }
  if (run.signal.aborted) {
    // Stopped during the start.
    await server.close();
    return;
  }
  const bold = (text: string) => styled(terminal, "bold", text);
  terminal.stdout.write(`Shoal ${service.version} answers at ${bold(server.baseUrl)}\n`);
  if (server.placement === "process")
    terminal.help("Sessions are not isolated. Install bubblewrap for the sandbox; for details run shoal doctor.\n");
  if (dev)
    terminal.stdout.write(
      "Development mode: sessions reach every port of this machine, such as http://localhost:3000. Do not open untrusted pages.\n",
    );
  const url = new URL(publicUrl ?? server.baseUrl);
  if (url.protocol === "http:" && !isOwnHost(url.hostname))
    terminal.stdout.write(
      "Without TLS, keys and pages cross the network in clear text, and the console refuses to open. Put a proxy with TLS in front, and set SHOAL_PUBLIC_URL=https://… and SHOAL_TRUSTED_PROXIES (docs/operating.md).\n",
    );
  // Commands find a key only in the default folder or in SHOAL_DATA_DIR.
  const where = resolve(defaultDataDir(run.env)) === dataDir ? "" : `SHOAL_DATA_DIR=${forShell(dataDir)} `;
  if (server.newAdminKey) {
    // Never print the key to a non-terminal; it may be a log.
    terminal.stdout.write(
      terminal.screen
        ? `Admin key (shown once): ${bold(server.newAdminKey.apiKey)}\n`
        : `The admin key is stored in ${server.newAdminKey.path}. Commands on this machine read it from there${where === "" ? "" : ` with ${where.trim()}`}.\n`,
    );
  }
  if (terminal.progress)
    terminal.help(
      `CDP clients connect to ${server.baseUrl.replace(/^http/, "ws")}/?token=KEY\n` +
        `Try in another terminal: ${where}shoal open example.com, or ${where}shoal console for the web console. Ctrl-C stops the service.\n`,
    );

  // A second signal exits at once; the next start removes the files of sessions. In a terminal, SIGHUP means that the
  // window was closed.
  const reloads = !process.stdin.isTTY && process.platform !== "win32";
  if (reloads) {
    // Replaces the handler that stops every command.
    process.removeAllListeners("SIGHUP");
    process.on("SIGHUP", () => {
      reload(service, server, sources);
    });
  }
  if (process.platform !== "win32")
    process.on("SIGUSR2", () => {
      server.drain();
    });
  closeWithGrace({ delay: false, logger: false, ...(reloads && { skip: ["SIGHUP"] }) }, async ({ err, signal }) => {
    if (err !== undefined) server.log.fatal({ err }, "fatal error, shutting down");
    else if (terminal.progress)
      terminal.stderr.write(`${signal === "SIGINT" ? "\n" : ""}${stopNotice(server.sessionCount())}\n`);
    await server.close();
  });
}

function stopNotice(sessions: number): string {
  const ended =
    sessions === 0 ? "" : sessions === 1 ? " and ending 1 session" : ` and ending ${String(sessions)} sessions`;
  return `Stopping: finishing requests${ended}. Press Ctrl-C again to stop at once.`;
}

/** Invalid settings change nothing. */
function reload(
  service: Service,
  server: Awaited<ReturnType<Service["startServer"]>>,
  sources: Parameters<Service["loadConfig"]>[0],
): void {
  try {
    server.reload(service.loadConfig(sources));
  } catch (error) {
    server.log.error(
      { err: error },
      `cannot reload the settings, so the current settings stay active: ${messageOf(error)}`,
    );
  }
}

function asExitError(service: Service, error: unknown): unknown {
  if (!service.StartError.isInstance(error)) return error;
  return new ExitError(
    error.exitCode === 2 ? exitCodes.usage.status : exitCodes.start.status,
    error.message,
    error.hint,
  );
}

const flagHint = "`shoal serve --help` lists every setting.";

function readFlags(service: Service, args: readonly string[]): Record<string, unknown> {
  const options: ParseArgsOptionsConfig = { help: { type: "boolean", short: "h" }, config: { type: "string" } };
  for (const [name, setting] of Object.entries(service.settings)) {
    const flag = name.replaceAll("_", "-");
    options[flag] =
      setting.kind === "boolean"
        ? { type: "boolean" }
        : setting.kind === "list"
          ? { type: "string", multiple: true }
          : { type: "string" };
  }
  // Not strict: the errors below suggest flags.
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    allowNegative: true,
    tokens: true,
  });
  const flags: Record<string, unknown> = {};
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional")
      throw new ExitError(exitCodes.usage.status, `Unknown argument "${token.value}" of shoal serve.`, flagHint);
    const isNegative = token.name.startsWith("no-") && options[token.name] === undefined;
    const name = isNegative ? token.name.slice(3) : token.name;
    const option = options[name];
    if (option === undefined || (isNegative && option.type !== "boolean")) throw unknownFlag(service, token.rawName);
    if (option.type === "string" && (token.value === undefined || (!token.inlineValue && /^--[a-z]/.test(token.value))))
      throw new ExitError(exitCodes.usage.status, `${token.rawName} needs a value.`, flagHint);
    if (option.type === "boolean" && token.value !== undefined) flags[name] = token.value;
    else if (option.type === "boolean") flags[name] = !isNegative;
    else
      flags[name] =
        option.multiple === true
          ? [...((flags[name] as string[] | undefined) ?? []), ...(token.value ?? "").split(",")]
          : token.value;
  }
  return flags;
}

/** The error of the service suggests a similar setting. */
function unknownFlag(service: Service, rawName: string): unknown {
  try {
    service.loadConfig({ flags: { [rawName.replace(/^-+/, "")]: true }, env: {}, cwd: "/" });
  } catch (error) {
    return asExitError(service, error);
  }
  return new ExitError(exitCodes.usage.status, `Unknown flag ${rawName} of shoal serve.`, flagHint);
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const valueNames: Readonly<Record<string, string>> = {
  integer: " <number>",
  auto_integer: " <number|auto>",
  text: " <text>",
  path: " <path>",
  list: " <a,b>",
};

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
      "Run the service until it is stopped. By default it listens on 127.0.0.1:7777 and stores everything, including an embedded PostgreSQL, in your data folder. Flags take precedence over environment variables, and these over the config file.",
      columns,
    ),
    "",
    title("Settings:"),
    entry(
      "--config <path>",
      "Config file in YAML or JSON (data_dir: …)",
      "Default: shoal.config.yaml in the working directory. Also SHOAL_CONFIG.",
    ),
    ...settings,
    entry("-h, --help", "Print help"),
    "",
    title("Examples:"),
    "  $ shoal serve",
    "  $ shoal serve --port 0 --data-dir ./data --ready-file ./ready.json",
    "  $ DATABASE_URL=postgres://shoal@db/shoal shoal serve --warm 4",
    "",
    title("Signals:"),
    ...wrap(
      "SIGTERM and Ctrl-C finish requests in flight, end the sessions and exit with status 0. A second signal stops at once. SIGHUP reloads the config file: limits, rate limits and the log level change at once, and the log names settings that need a restart. An invalid file changes nothing. In a terminal, SIGHUP stops the service.",
      columns - 2,
    ).map((line) => `  ${line}`),
    "",
    title("Exit status:"),
    "    0  stopped",
    "    2  invalid setting",
    "   12  cannot start",
    "",
  ].join("\n");
}
