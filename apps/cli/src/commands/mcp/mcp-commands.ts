import { type Command, Option } from "commander";
import type { Adding } from "../../core/types.ts";
import { examplesHelp } from "../command-line.ts";
import { showsDryRun } from "../dry-run.ts";
import type { InstallFlags, McpFlags } from "./mcp-flags.ts";

export function addMcpCommands({ groupFor, run, version }: Adding): void {
  const mcp = withServerFlags(groupFor([]).command("mcp"))
    .summary("Give an MCP client a browser")
    .description(
      "Serve the Model Context Protocol over stdin and stdout\n\nA client such as Claude Code or Cursor starts this command. The first tool that needs a browser starts a session; it ends with the client. `shoal mcp install` adds the command to clients.",
    )
    .addHelpText("after", examplesHelp(["shoal mcp install --client cursor", "shoal mcp --tools observe,act,read"]))
    .action(async (_options: unknown, command: Command) => {
      const { runMcp } = await import("./run-mcp.ts");
      await runMcp(command.optsWithGlobals<McpFlags>(), version, run);
    });

  withServerFlags(withClientFlags(showsDryRun(mcp.command("install"))))
    .summary("Add Shoal to MCP clients")
    .description(
      "Add Shoal to MCP clients on this machine\n\nEdits their configuration files and keeps comments. The old file remains next to it, as FILE.before-shoal. The entry contains no API key: the command reads it as usual.",
    )
    .addHelpText(
      "after",
      examplesHelp([
        "shoal mcp install",
        "shoal mcp install --client codex --client cursor",
        "shoal mcp install --client claude-code --profile shopping --save-changes --dry-run",
      ]),
    )
    .action(async (_options: unknown, command: Command) => {
      const { install } = await import("./install/install.ts");
      install(command.optsWithGlobals<InstallFlags>(), run);
    });

  withClientFlags(showsDryRun(mcp.command("uninstall")))
    .summary("Remove Shoal from MCP clients")
    .description("Remove the entry of `shoal mcp install` from MCP clients")
    .addHelpText("after", examplesHelp(["shoal mcp uninstall", "shoal mcp uninstall --client cursor"]))
    .action(async (_options: unknown, command: Command) => {
      const { uninstall } = await import("./install/install.ts");
      uninstall(command.optsWithGlobals<InstallFlags>(), run);
    });
}

function withClientFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--client <name>", "Client (repeatable; default: all on this machine)").argParser(
        (value: string, previous: string[] | undefined) => [...(previous ?? []), value],
      ),
    )
    .option("--name <name>", "Name of the entry", "shoal");
}

function withServerFlags(command: Command): Command {
  return command
    .option(
      "--tools <groups>",
      "Groups of tools, comma-separated: observe, act, secrets, read, screenshot, files, debug, processes, sessions, profiles, handoff, flows; or all (default: observe,act,read,screenshot,files)",
    )
    .option("--session <id-or-name>", "Use this running session and do not end it")
    .option("--profile <id-or-name>", "Profile to start from")
    .option("--save-changes", "Save the state to the profile at the end")
    .option("--proxy <id-or-name>", "Proxy to use")
    .option("--start-url <url>", "Page to open first")
    .option("--stealth", "Hide the signs of automation")
    .option("--no-headless", "Use a full Chromium with a window")
    .option("--timeout-seconds <seconds>", "End the session after this time without use (default: 600)")
    .option("--outline-tokens <number>", "Limit of the outline after each action, 0 = none (default: 2000)")
    .option("--no-structured", "Answer with text only, for clients that show text and structured content to the model");
}
