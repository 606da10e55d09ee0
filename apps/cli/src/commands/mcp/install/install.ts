import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readSettings } from "@shoal/mcp";
import { findConnection } from "../../../connection/settings.ts";
import { UsageError } from "../../../core/errors.ts";
import { exitCodes } from "../../../core/exit-codes.ts";
import type { Run } from "../../../core/types.ts";
import { printable } from "../../../output/format.ts";
import type { InstallFlags } from "../mcp-flags.ts";
import { argumentsOf, settingsOf } from "../server-settings.ts";
import { type Client, clients, selectClients } from "./clients.ts";
import { editJson, InvalidFile } from "./edit-json.ts";
import { editToml } from "./edit-toml.ts";
import { launcher } from "./launcher.ts";
import { replaceFile, shortened } from "./replace-file.ts";

export function install(flags: InstallFlags, run: Run): void {
  const settings = readSettings(settingsOf(flags));
  if ("problem" in settings) throw new UsageError(`--${settings.field.replaceAll("_", "-")} ${settings.problem}.`);
  const { args, command } = launcher({
    program: fileURLToPath(new URL("shoal.js", run.dist)),
    node: process.execPath,
    env: run.env,
    platform: process.platform,
  });
  const entry = { command, args: [...args, ...argumentsOf(flags)] };
  editAll(flags, run, (client) => client.entry(entry));
  warnOfKey(flags, run);
}

export function uninstall(flags: InstallFlags, run: Run): void {
  editAll(flags, run, () => undefined);
}

function editAll(flags: InstallFlags, run: Run, entryFor: (client: Client) => object | undefined): void {
  const { env, terminal } = run;
  for (const client of selectClients(clients(env), flags.client, "MCP client")) {
    try {
      const before = existsSync(client.file) ? readFileSync(client.file, "utf8") : "";
      const change = { table: client.table, name: flags.name, entry: entryFor(client) };
      const after = client.format === "json" ? editJson(before, change) : editToml(before, change);
      const isChanged = after !== before;
      if (isChanged && flags.dryRun !== true) replaceFile(client.file, after);
      const verb = !isChanged ? "unchanged" : flags.dryRun === true ? "would change" : "changed";
      terminal.stdout.write(`${client.title}: ${verb} ${printable(shortened(client.file, env))}\n`);
      if (isChanged && flags.dryRun === true && change.entry !== undefined)
        terminal.stdout.write(`${JSON.stringify({ [client.table]: { [flags.name]: change.entry } }, null, 2)}\n`);
    } catch (error) {
      if (!(error instanceof InvalidFile) && !(error instanceof Error && "code" in error)) throw error;
      run.exitWith(exitCodes.error.status);
      terminal.stderr.write(
        `error: ${client.title}: ${printable(shortened(client.file, env))} was not changed: ${printable(error.message)}\n`,
      );
    }
  }
}

/** Clients start the command without the variables of this shell. */
function warnOfKey(flags: InstallFlags, { env, terminal }: Run): void {
  if (flags.quiet === true) return;
  const connection = findConnection(flags, env);
  if ("problem" in connection) terminal.stderr.write(`${connection.message} ${connection.hint}\n`);
  else if (connection.keySource === "SHOAL_API_KEY")
    terminal.stderr.write("The clients may not have SHOAL_API_KEY. Store the key with: shoal login\n");
}
