import type { CommandSpec, GlobalFlags, OutputFormat, Run } from "../../core/types.ts";
import { call } from "../../connection/call.ts";
import { ExitError } from "../../core/errors.ts";
import { exitCodes } from "../../core/exit-codes.ts";
import { printable } from "../../output/format.ts";
import { openElsewhere, openUrl } from "../../operations/open-url.ts";
import { printValue } from "../../output/print-result.ts";

export async function openBrowser(
  get: CommandSpec,
  idOrName: string,
  flags: GlobalFlags & { print?: boolean; readOnly?: boolean },
  run: Run,
): Promise<void> {
  const url = await liveView(get, idOrName, flags, run);
  const opened = flags.print !== true && (await openUrl(url, run.env));
  const isLoud = flags.quiet !== true;
  if (opened) {
    // Do not print the URL: anyone with it controls the session.
    if (isLoud)
      run.terminal.stderr.write(
        `Opened the live view of ${printable(idOrName)} at ${printable(new URL(url).origin)}\n`,
      );
    return;
  }
  if (flags.print !== true && isLoud) run.terminal.stderr.write(`${openElsewhere(url)}\n`);
  run.terminal.stdout.write(`${url}\n`);
}

export async function viewBrowser(
  get: CommandSpec,
  idOrName: string,
  flags: GlobalFlags & { output: OutputFormat; readOnly?: boolean },
  run: Run,
): Promise<void> {
  const browser_live_view_url = await liveView(get, idOrName, flags, run);
  if (flags.output !== "table") await printValue(run.terminal, { browser_live_view_url }, flags.output);
  else run.terminal.stdout.write(`${browser_live_view_url}\n`);
}

async function liveView(
  get: CommandSpec,
  idOrName: string,
  flags: GlobalFlags & { readOnly?: boolean },
  run: Run,
): Promise<string> {
  const browser = (await call(get, { params: { id_or_name: idOrName }, query: {}, body: undefined }, flags, run))
    .value as {
    session_id: string;
    browser_live_view_url?: string;
    browser_live_view_read_only_url?: string;
  };
  const url = flags.readOnly === true ? browser.browser_live_view_read_only_url : browser.browser_live_view_url;
  if (url === undefined)
    throw new ExitError(
      exitCodes.notImplemented.status,
      `The service returned no ${flags.readOnly === true ? "read-only " : ""}live view for browser ${browser.session_id}.`,
      `Connect to its CDP URL instead, cdp_ws_url of: shoal browsers get ${idOrName}`,
    );
  return url;
}
