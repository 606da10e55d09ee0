import { getBrowser } from "@shoal/contract";
import { connect, ExitError, type GlobalFlags } from "./connect.ts";
import { exitCodes } from "./exit-codes.ts";
import { type OutputFormat, printJson } from "./output.ts";
import type { Run } from "./program.ts";

/** Prints the address of a session's live view. */
export async function viewBrowser(idOrName: string, flags: GlobalFlags & { output: OutputFormat }, run: Run): Promise<void> {
  const browser = await connect(flags, run).call(getBrowser, { params: { id_or_name: idOrName } }, { signal: run.signal });
  if (browser.browser_live_view_url === undefined)
    throw new ExitError(
      exitCodes.notImplemented.status,
      `The service offers no live view of browser ${browser.session_id}.`,
      `Attach DevTools or a script to its CDP address instead, cdp_ws_url of: shoal browsers get ${idOrName}`,
    );
  if (flags.output !== "table") printJson(run.terminal, { browser_live_view_url: browser.browser_live_view_url });
  else run.terminal.stdout.write(`${browser.browser_live_view_url}\n`);
}
