import { spawn } from "node:child_process";
import { call } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import type { GlobalFlags } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes } from "./exit-codes.ts";
import { printable } from "./format.ts";
import type { OutputFormat } from "./output.ts";
import { printValue } from "./print-result.ts";
import type { Run } from "./program.ts";

/** Opens a session's live view in the user's browser, or prints its address. */
export async function openBrowser(
  get: CommandSpec,
  idOrName: string,
  flags: GlobalFlags & { print?: boolean; readOnly?: boolean },
  run: Run,
): Promise<void> {
  const url = await liveView(get, idOrName, flags, run);
  // Whatever else an answer names is not for the system to open.
  const opened = flags.print !== true && /^https?:\/\//.test(url) && (await openUrl(url, run.env));
  const isTold = flags.quiet !== true;
  if (opened) {
    // The address opens the session, so it is not for a terminal's history.
    if (isTold) run.terminal.stderr.write(`Opened the live view of ${printable(idOrName)}, on ${printable(new URL(url).origin)}\n`);
    return;
  }
  if (flags.print !== true && isTold) run.terminal.stderr.write("No browser could be opened here. Open this address on a machine that has one:\n");
  run.terminal.stdout.write(`${url}\n`);
}

const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = { darwin: ["open"], win32: ["rundll32", "url.dll,FileProtocolHandler"] };

/** How long an opener may run before it counts as the browser itself. A failing one ends within milliseconds. */
const openerTimeoutMs = 3000;

/** Hands the address to the system's opener. @returns whether it took it: it ended with 0, or it goes on because it is the browser itself. */
function openUrl(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const [program = "", ...args] = env.BROWSER !== undefined && env.BROWSER !== "" ? [env.BROWSER] : (openers[process.platform] ?? ["xdg-open"]);
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { detached: true, stdio: "ignore" });
    const settle = (opened: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(opened);
    };
    const timer = setTimeout(settle, openerTimeoutMs, true);
    child.once("error", () => {
      settle(false);
    });
    child.once("exit", (status) => {
      settle(status === 0);
    });
  });
}

/** Prints the address of a session's live view. */
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

async function liveView(get: CommandSpec, idOrName: string, flags: GlobalFlags & { readOnly?: boolean }, run: Run): Promise<string> {
  const browser = (await call(get, { params: { id_or_name: idOrName }, query: {}, body: undefined }, flags, run)).value as {
    session_id: string;
    browser_live_view_url?: string;
    browser_live_view_read_only_url?: string;
  };
  const url = flags.readOnly === true ? browser.browser_live_view_read_only_url : browser.browser_live_view_url;
  if (url === undefined)
    throw new ExitError(
      exitCodes.notImplemented.status,
      `The service offers no live view of browser ${browser.session_id}${flags.readOnly === true ? " for watching only" : ""}.`,
      `Attach DevTools or a script to its CDP address instead, cdp_ws_url of: shoal browsers get ${idOrName}`,
    );
  return url;
}
