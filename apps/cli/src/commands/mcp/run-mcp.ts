import { readSettings, serveStdio } from "@shoal/mcp";
import { Readable, Writable } from "node:stream";
import { connectLater } from "../../connection/transport.ts";
import { UsageError } from "../../core/errors.ts";
import type { Run } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import type { McpFlags } from "./mcp-flags.ts";
import { OwnService } from "./own-service.ts";
import { settingsOf } from "./server-settings.ts";

/** Serves until the client closes stdin. Starts without a service and a key: then the tools say what to do. */
export async function runMcp(flags: McpFlags, version: string, run: Run): Promise<void> {
  const settings = readSettings(settingsOf(flags));
  if ("problem" in settings) throw new UsageError(`--${settings.field.replaceAll("_", "-")} ${settings.problem}.`);
  const { terminal, signal } = run;
  const { stdin: input, stdout: output } = terminal;
  if (!(input instanceof Readable) || !(output instanceof Writable))
    throw new Error("stdin and stdout are not streams of Node.");
  if (terminal.keyboard && flags.quiet !== true)
    terminal.stderr.write("Waiting for an MCP client on stdin. To add this command to a client: shoal mcp install\n");
  const service = new OwnService(flags, run);
  try {
    await serveStdio({
      transport: connectLater(() => service.reach(), flags, run),
      rights: connectLater(() => service.find(), flags, run),
      settings,
      version,
      input,
      output,
      signal,
      onError: ({ message }) => {
        // stdout belongs to the protocol.
        if (flags.debug === true) terminal.stderr.write(`mcp: ${printable(message)}\n`);
      },
    });
  } finally {
    await service.close();
  }
}
