import { messageOf } from "@shoal/primitives";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { BrowserSupervisor } from "../../browser/chromium/supervisor.ts";
import { attachToPage } from "../../browser/pages/visible-page.ts";
import type { ChromiumProgram } from "../../browser/chromium/launch.ts";
import { parseMessage } from "./early-traffic.ts";

/** Turns the browser of a session into a full Chromium. */
export interface FullBrowserOptions {
  readonly browser: Pick<BrowserSupervisor, "cdp" | "launch" | "relaunch">;
  /** Absent if only a headless shell is installed. */
  readonly program: ChromiumProgram | undefined;
  /** Whether the session is used other than by CDP clients: a relaunch would disturb them. */
  readonly isBusy: () => boolean;
}

export const advice = "call it before the first page, or create the session with `extensions` or `headless: false`";

const domains = ["Autofill.", "Cast.", "Extensions."];
const domainBytes = domains.map((name) => Buffer.from(`"${name}`));
/** Developer tools send these to every page, and ignore the answer. */
const ignored: ReadonlySet<string> = new Set(["Autofill.enable", "Autofill.disable"]);

/** Returns the method of a command that a headless shell does not know. A byte search avoids parsing. */
export function fullMethod(message: Buffer): string | undefined {
  if (!domainBytes.some((name) => message.includes(name))) return undefined;
  const method = parseMessage(message)?.method;
  return typeof method === "string" && !ignored.has(method) && domains.some((name) => method.startsWith(name))
    ? method
    : undefined;
}

export interface OpenTarget {
  readonly targetId: string;
  readonly type: string;
}

export class FullBrowser {
  readonly #options: FullBrowserOptions;

  constructor(options: FullBrowserOptions) {
    this.#options = options;
  }

  get isNeeded(): boolean {
    return this.#options.browser.launch.program.kind === "headless_shell";
  }

  /** Returns why the browser cannot be replaced now. */
  async obstacle(): Promise<string | undefined> {
    const { browser, isBusy, program } = this.#options;
    if (program === undefined) return "this server has only a headless shell; install Chromium there";
    if (isBusy()) return `other users of the session are connected; ${advice}`;
    const problem = await blankProblem(await browser.cdp());
    return problem === undefined ? undefined : `${problem}; ${advice}`;
  }

  /** Relaunches the browser. @returns the targets before and after. @throws when the browser does not start. */
  async start(): Promise<ReadonlyMap<string, string>> {
    const { browser, program } = this.#options;
    const before = await targetsOf(await browser.cdp());
    if (program !== undefined && this.isNeeded) await browser.relaunch({ program });
    return pairs(before, await targetsOf(await browser.cdp()));
  }
}

/** -32601 as from the browser: clients may have another way. */
export function refuseCommand(message: Buffer, name: string, reason: string): string {
  const { id, sessionId } = parseMessage(message) ?? {};
  const text = `${name} needs a full Chromium, and this session runs a headless shell: ${reason}.`;
  return JSON.stringify({ id, error: { code: -32601, message: text }, sessionId });
}

/** Nothing would be lost: one page, without content and history. */
async function blankProblem(cdp: CdpConnection): Promise<string | undefined> {
  try {
    const [{ targetInfos }, { browserContextIds }] = await Promise.all([
      cdp.send("Target.getTargets", { filter: [{ type: "page" }] }),
      cdp.send("Target.getBrowserContexts"),
    ]);
    const [page, ...others] = targetInfos;
    if (browserContextIds.length > 0) return "it has browser contexts";
    if (page === undefined || others.length > 0 || page.url !== "about:blank") return "it has open pages";
    return (await isEmpty(cdp, page.targetId)) ? undefined : "its page has content or history";
  } catch (error) {
    return `its page cannot be read (${messageOf(error)})`;
  }
}

const emptyPage = "document.documentElement?.outerHTML === '<html><head></head><body></body></html>'";

async function isEmpty(cdp: CdpConnection, targetId: string): Promise<boolean> {
  await using page = await attachToPage(cdp, targetId);
  const { sessionId } = page;
  const [{ entries }, { executionContextId }] = await Promise.all([
    cdp.send("Page.getNavigationHistory", undefined, sessionId),
    cdp.send("Page.createIsolatedWorld", { frameId: targetId, worldName: "" }, sessionId),
  ]);
  const { result } = await cdp.send(
    "Runtime.evaluate",
    { expression: emptyPage, contextId: executionContextId, returnByValue: true },
    sessionId,
  );
  return entries.length === 1 && result.value === true;
}

async function targetsOf(cdp: CdpConnection): Promise<readonly OpenTarget[]> {
  const { targetInfos } = await cdp.send("Target.getTargets", { filter: [{}] });
  return targetInfos.map(({ targetId, type }) => ({ targetId, type }));
}

function pairs(before: readonly OpenTarget[], after: readonly OpenTarget[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { targetId, type } of before) {
    const same = after.filter((one) => one.type === type);
    if (same.length === 1 && same[0] !== undefined) found.set(targetId, same[0].targetId);
  }
  return found;
}
