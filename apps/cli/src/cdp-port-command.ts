import type { Command } from "commander";
import { once } from "node:events";
import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import { examplesHelp } from "./command-line.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./format.ts";
import type { Adding, Run } from "./program.ts";
import { UsageError } from "./values.ts";

type Flags = GlobalFlags & { readonly port: string };

/** The command that gives a session a debugging port on this machine. */
export function addCdpPortCommand({ groupFor, run, specOf }: Adding): void {
  groupFor(["browsers"])
    .command("cdp-port")
    .argument("<id-or-name>", "The session's id or name.")
    .option("-p, --port <number>", "Port on 127.0.0.1; 0 for a free one.", "9222")
    .summary("Serve a session's CDP on a local port, until Ctrl-C.")
    .description(
      "Serves a session as Chromium serves its debugging port, on 127.0.0.1 of this machine: for programs that take a host and a port, or an address like http://127.0.0.1:9222. Every program of this machine can use the port while the command runs.",
    )
    .addHelpText("after", examplesHelp(["shoal browsers cdp-port research", "shoal browsers cdp-port research --port 0 --quiet"]))
    .action(async (id: string, _options: unknown, command: Command) => {
      await runCdpPort(specOf("browsers.get"), id, command.optsWithGlobals<Flags>(), run);
    });
}

async function runCdpPort(get: CommandSpec, idOrName: string, flags: Flags, run: Run): Promise<void> {
  const port = Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError("--port takes a number from 0 to 65535.");
  const { value } = await call(get, { params: { id_or_name: idOrName }, query: {}, body: undefined }, flags, run);
  const { base_url: baseUrl, cdp_ws_url: cdpUrl } = value as { readonly base_url?: string; readonly cdp_ws_url?: string };
  const token = cdpUrl === undefined ? null : new URL(cdpUrl).searchParams.get("jwt");
  if (baseUrl === undefined || token === null)
    throw new ExitError(exitCodes.notImplemented.status, "The service gives this session no address for CDP.", "Use a service of Shoal.");
  const { serveCdpPort } = await import("./cdp-port.ts");
  const served = await serveCdpPort({ baseUrl, token }, port).catch((error: unknown) => {
    throw new ExitError(exitCodes.usage.status, `Cannot listen on 127.0.0.1:${String(port)}: ${String(error)}.`, "Choose another port with --port.");
  });
  run.terminal.stdout.write(`http://127.0.0.1:${String(served.port)}\n`);
  if (flags.quiet !== true) run.terminal.stderr.write(`Serves the CDP of ${printable(idOrName)}; Ctrl-C stops it.\n`);
  if (!run.signal.aborted) await once(run.signal, "abort");
  await served.close();
}
