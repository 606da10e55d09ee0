import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { type OutputFormat, printJson } from "./output.ts";
import type { Run } from "./program.ts";

/** Prints the address of a session's live view. */
export async function viewBrowser(get: CommandSpec, idOrName: string, flags: GlobalFlags & { output: OutputFormat }, run: Run): Promise<void> {
  const browser = (await call(get, { params: { id_or_name: idOrName }, query: {}, body: undefined }, flags, run)).value as { session_id: string; browser_live_view_url?: string };
  if (browser.browser_live_view_url === undefined)
    throw new ExitError(
      exitCodes.notImplemented.status,
      `The service offers no live view of browser ${browser.session_id}.`,
      `Attach DevTools or a script to its CDP address instead, cdp_ws_url of: shoal browsers get ${idOrName}`,
    );
  if (flags.output !== "table") printJson(run.terminal, { browser_live_view_url: browser.browser_live_view_url });
  else run.terminal.stdout.write(`${browser.browser_live_view_url}\n`);
}
