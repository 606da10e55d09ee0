import { once } from "node:events";
import { call } from "../../connection/call.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import type { CommandSpec, GlobalFlags, Run } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import { serveCdpPort } from "./cdp-port.ts";

export async function runCdpPort(
  get: CommandSpec,
  idOrName: string,
  flags: GlobalFlags & { readonly port: string },
  run: Run,
): Promise<void> {
  const port = Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError("--port must be a number from 0 to 65535.");
  const { value } = await call(get, { params: { id_or_name: idOrName }, query: {}, body: undefined }, flags, run);
  const { base_url: baseUrl, cdp_ws_url: cdpUrl } = value as {
    readonly base_url?: string;
    readonly cdp_ws_url?: string;
  };
  const token = cdpUrl === undefined ? null : new URL(cdpUrl).searchParams.get("jwt");
  if (baseUrl === undefined || cdpUrl === undefined || token === null)
    throw new ExitError(
      exitCodes.notImplemented.status,
      "The service returned no CDP URL for this session.",
      "Check that --base-url is a Shoal service.",
    );
  const socketsUrl = cdpUrl.replace(/\/cdp\?.*$/s, "");
  const served = await serveCdpPort({ baseUrl, socketsUrl, token }, port).catch((error: unknown) => {
    throw new ExitError(
      exitCodes.usage.status,
      `Cannot listen on 127.0.0.1:${String(port)}: ${String(error)}.`,
      "Choose another port with --port.",
    );
  });
  run.terminal.stdout.write(`http://127.0.0.1:${String(served.port)}\n`);
  if (flags.quiet !== true)
    run.terminal.stderr.write(`Forwarding to the CDP of ${printable(idOrName)}. Press Ctrl-C to stop.\n`);
  if (!run.signal.aborted) await once(run.signal, "abort");
  await served.close();
}
