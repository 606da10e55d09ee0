import { parseArgs, type ParseArgsOptionsConfig, styleText } from "node:util";
import { ExitError } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { loadService } from "./load-service.ts";
import type { Run } from "./program.ts";

type Service = typeof import("@shoal/server");

/** `shoal serve`: runs the service until SIGTERM or Ctrl-C. Flags are the service's settings. */
export async function serve(args: readonly string[], run: Run): Promise<void> {
  const service = await loadService();
  const { terminal } = run;
  const flags = readFlags(service, args);
  if (flags.help === true) {
    terminal.stdout.write(help(service));
    return;
  }
  const { default: closeWithGrace } = await import("close-with-grace");
  let server: Awaited<ReturnType<Service["startServer"]>>;
  try {
    const config = service.loadConfig({ flags, env: run.env });
    server = await service.startServer(config);
  } catch (error) {
    if (service.StartError.isInstance(error)) throw new ExitError(error.exitCode === 2 ? exitCodes.usage.status : exitCodes.start.status, error.message, error.hint);
    throw error;
  }
  const bold = (text: string) => (terminal.colour ? styleText("bold", text, { validateStream: false }) : text);
  terminal.stdout.write(`Shoal ${service.version} answers at ${bold(server.baseUrl)}\n`);
  if (server.placement === "process") terminal.stdout.write("Sessions are not isolated: install bubblewrap for the sandbox (shoal doctor says more).\n");
  if (server.newAdminKey) terminal.stdout.write(`Admin key, shown this once: ${bold(server.newAdminKey.apiKey)}\nThis user's shoal commands find it in ${server.newAdminKey.path}\n`);
  if (terminal.interactive) terminal.stdout.write("Ctrl-C stops.\n");

  // A second signal ends the process at once: sessions die with it, and what they leave is swept at the next start.
  closeWithGrace({ delay: false, logger: false }, async ({ err, signal }) => {
    if (err !== undefined) server.log.fatal({ err }, "the service failed and stops");
    else if (terminal.interactive) terminal.stderr.write(`${signal === "SIGINT" ? "\n" : ""}Stopping: requests in flight are finished, sessions are ended.\n`);
    await server.close();
  });
}

function readFlags(service: Service, args: readonly string[]): Record<string, unknown> {
  const options: ParseArgsOptionsConfig = { help: { type: "boolean", short: "h" }, config: { type: "string" } };
  for (const [name, setting] of Object.entries(service.settings)) {
    const flag = name.replaceAll("_", "-");
    options[flag] = setting.kind === "boolean" ? { type: "boolean" } : setting.kind === "list" ? { type: "string", multiple: true } : { type: "string" };
  }
  try {
    const { values } = parseArgs({ args: [...args], options, allowPositionals: false, allowNegative: true });
    return Object.fromEntries(Object.entries(values).map(([flag, value]) => [flag, Array.isArray(value) ? value.flatMap((item) => String(item).split(",")) : value]));
  } catch (error) {
    throw new ExitError(exitCodes.usage.status, error instanceof Error ? (error.message.split(". ")[0] ?? error.message) : String(error), "shoal serve --help lists every setting.");
  }
}

function help(service: Service): string {
  const lines = Object.entries(service.settings).map(([name, setting]) => {
    const flag = `--${name.replaceAll("_", "-")}${setting.kind === "boolean" ? "" : " <value>"}`;
    return `  ${flag.padEnd(34)} ${setting.summary}\n${" ".repeat(37)}Default: ${setting.default}.${setting.flagOnly ? "" : ` SHOAL_${name.toUpperCase()}.`}`;
  });
  return [
    "Usage: shoal serve [settings]",
    "",
    "Runs the service until it is stopped. Flags win over the environment, the environment over the config file.",
    "",
    "Settings:",
    `  ${"--config <path>".padEnd(34)} Config file, YAML or JSON, with the settings' names (data_dir: …).\n${" ".repeat(37)}Default: shoal.config.yaml in this folder, where there is one. SHOAL_CONFIG.`,
    ...lines,
    `  ${"-h, --help".padEnd(34)} print help`,
    "",
    "Examples:",
    "  $ shoal serve",
    "  $ shoal serve --port 0 --data-dir ./data --ready-file ./ready.json",
    "  $ DATABASE_URL=postgres://shoal@db/shoal shoal serve --warm 4",
    "",
  ].join("\n");
}
