import type { Command } from "commander";
import type { Adding, GlobalFlags } from "../../core/types.ts";
import { examplesHelp } from "../command-line.ts";
import { addSessionArguments, sessionArguments } from "../session-argument.ts";

type Flags = GlobalFlags & { readonly port: string };

export function addCdpPortCommand({ groupFor, run, specOf }: Adding): void {
  addSessionArguments(groupFor(["browsers"]).command("cdp-port"))
    .option("-p, --port <number>", "Port on 127.0.0.1, 0 for a free port (default: 9222)", "9222")
    .summary("Forward a local port to a session's CDP until Ctrl-C")
    .description(
      "Forward a local port to a session's CDP until Ctrl-C\n\nFor programs that take a host and port, or a URL like http://127.0.0.1:9222. Every local program can use the port while the command runs.",
    )
    .addHelpText(
      "after",
      examplesHelp(["shoal browsers cdp-port research", "shoal browsers cdp-port research --port 0 --quiet"]),
    )
    .action(async (_id: unknown, _options: unknown, command: Command) => {
      const [id = ""] = sessionArguments(command, run);
      const { runCdpPort } = await import("./run-cdp-port.ts");
      await runCdpPort(specOf("browsers.get"), id, command.optsWithGlobals<Flags>(), run);
    });
}
