import { messageOf } from "@shoal/primitives";
import pTimeout from "p-timeout";
import { type Browser, chromium, type Page } from "playwright-core";
import { inspect } from "node:util";
import { connectCode } from "./code-transport.ts";
import {
  maxResultCharacters,
  type CloseMessage,
  type CodeTab,
  type Outcome,
  type OutputChannel,
  type RunMessage,
  type WorkerMessage,
} from "./messages.ts";
import { compileUserCode, describeSyntaxError, type Scope, type UserCode } from "./user-code.ts";

const maxPagesSearched = 30;
const closeTimeoutMs = 2_000;
/** Resources that code may leave behind, by Node's names. */
const resourceKinds = new Set([
  "Timeout",
  "Immediate",
  "TCPSocketWrap",
  "TCPServerWrap",
  "PipeWrap",
  "PipeServerWrap",
  "ProcessWrap",
  "UDPWrap",
  "FSEventWrap",
  "MessagePort",
]);

export function runWorker(): void {
  Error.stackTraceLimit = 50;
  let failRun: ((error: unknown) => void) | undefined;
  captureOutput("stdout");
  captureOutput("stderr");
  process.on("uncaughtException", (error) => failRun?.(error));
  process.on("unhandledRejection", (reason) => {
    if (failRun !== undefined) process.stderr.write(`Unhandled promise rejection: ${inspect(reason, { depth: 1 })}\n`);
  });
  process.on("disconnect", () => process.exit());
  process.on("message", (message: RunMessage | CloseMessage) => {
    if (message.type === "close") return;
    const before = countResources();
    const names = new Set(Reflect.ownKeys(globalThis));
    const directory = process.cwd();
    const unexpected = Promise.withResolvers<never>();
    unexpected.promise.catch(() => undefined);
    failRun = unexpected.reject;
    void runCode(message, unexpected.promise).then((outcome) => {
      failRun = undefined;
      for (const name of Reflect.ownKeys(globalThis)) if (!names.has(name)) Reflect.deleteProperty(globalThis, name);
      const after = countResources();
      const clean =
        process.cwd() === directory && [...after].every(([kind, count]) => count <= (before.get(kind) ?? 0));
      tell({ type: "done", outcome, clean });
    });
  });
  tell({ type: "ready" });
}

function tell(message: WorkerMessage): void {
  process.send?.(message);
}

function captureOutput(channel: OutputChannel): void {
  // Also serves calls with an encoding or without a callback.
  process[channel].write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    tell({ type: "output", channel, text: typeof chunk === "string" ? chunk : Buffer.from(chunk).toString() });
    const callback = rest.at(-1);
    if (typeof callback === "function") process.nextTick(callback);
    return true;
  };
}

function countResources(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (resourceKinds.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

async function runCode(message: RunMessage, unexpected: Promise<never>): Promise<Outcome> {
  let code: UserCode;
  try {
    code = compileUserCode(message.code);
  } catch (error) {
    return { success: false, error: describeSyntaxError(error) };
  }
  let browser: Browser;
  let scope: Scope;
  try {
    // A connection for each call: routes, emulation, bindings and contexts end with it.
    const { busyPages, transport } = await connectCode(message.endpoint);
    browser = await chromium.connectOverCDP(transport, {
      artifactsDir: message.artifactsDir,
      timeout: message.connectTimeoutMs,
    });
    const busy = busyPages.problemOf(message.own === undefined ? message.visibleTarget : message.own.targetId);
    if (busy !== undefined) {
      await browser.close();
      return { success: false, error: `The code was not run: its tab is busy. ${busy}` };
    }
    const opened = await scopeOf(browser, message);
    ({ scope } = opened);
    if (opened.tab !== undefined) tell({ type: "tab", tab: opened.tab });
  } catch (error) {
    return { success: false, error: messageOf(error), unreached: true };
  }
  const gone = Promise.withResolvers<never>();
  gone.promise.catch(() => undefined);
  browser.on("disconnected", () => {
    gone.reject(
      new Error("The connection to the browser ended while the code ran: the browser crashed, or the code closed it."),
    );
  });
  guardClose(browser);
  const outcome = await outcomeOf(code, scope, [unexpected, gone.promise]);
  await closeConnection(browser);
  return outcome;
}

async function outcomeOf(code: UserCode, scope: Scope, failures: readonly Promise<never>[]): Promise<Outcome> {
  let value: unknown;
  try {
    value = await Promise.race([code.run(scope), ...failures]);
  } catch (error) {
    return { success: false, error: code.describe(error) };
  }
  try {
    // Contrary to its type, JSON.stringify returns `undefined` for functions and `undefined`.
    const result = JSON.stringify(value) as string | undefined;
    if (result !== undefined && result.length > maxResultCharacters)
      throw new Error(
        `it has ${String(result.length)} characters, and at most ${String(maxResultCharacters)} are possible. Write it to a file and read that.`,
      );
    return { success: true, result };
  } catch (error) {
    return {
      success: false,
      error: `What the code returned cannot be sent as JSON: ${messageOf(error)}`,
    };
  }
}

async function scopeOf(
  browser: Browser,
  message: RunMessage,
): Promise<{ readonly scope: Scope; readonly tab: CodeTab | undefined }> {
  const [context] = browser.contexts();
  if (context === undefined) throw new Error("it has no context");
  const pages = context.pages();
  const found = message.own === undefined ? await frontPage(pages, message) : await pageOf(pages, message.own.targetId);
  const page = found ?? (await context.newPage());
  const targetId = await targetOf(page);
  return {
    scope: { page, context, browser },
    tab: targetId === undefined ? undefined : { targetId, created: found === undefined },
  };
}

/** Returns the visible page, or else the first one. Skips tabs of executors. */
async function frontPage(
  pages: readonly Page[],
  { taken, visibleTarget }: Pick<RunMessage, "taken" | "visibleTarget">,
): Promise<Page | undefined> {
  if (pages.length < 2 && taken.length === 0) return pages[0];
  const found = await withTargets(pages.slice(-maxPagesSearched));
  const free = found.filter(({ targetId }) => targetId === undefined || !taken.includes(targetId));
  const visible = free.find(({ targetId }) => targetId !== undefined && targetId === visibleTarget);
  return (visible ?? free[0])?.page;
}

async function pageOf(pages: readonly Page[], wanted: string | undefined): Promise<Page | undefined> {
  if (wanted === undefined) return undefined;
  return (await withTargets(pages)).find(({ targetId }) => targetId === wanted)?.page;
}

function withTargets(pages: readonly Page[]) {
  return Promise.all(pages.map(async (page) => ({ page, targetId: await targetOf(page) })));
}

async function targetOf(page: Page): Promise<string | undefined> {
  const session = await page
    .context()
    .newCDPSession(page)
    .catch(() => undefined);
  const info = await session?.send("Target.getTargetInfo").catch(() => undefined);
  await session?.detach().catch(() => undefined);
  return info?.targetInfo.targetId;
}

/** Makes `Browser.close` from code end only the code's connection, as for any CDP client. */
function guardClose(browser: Browser): void {
  const open = browser.newBrowserCDPSession.bind(browser);
  browser.newBrowserCDPSession = async () => {
    const session = await open();
    const send = session.send.bind(session);
    session.send = (async (method: Parameters<typeof send>[0], params: Parameters<typeof send>[1]) => {
      if (method !== "Browser.close") return send(method, params);
      await browser.close();
      return undefined;
    }) as typeof session.send;
    return session;
  };
}

async function closeConnection(browser: Browser): Promise<void> {
  await allowedToClose();
  await pTimeout(browser.close(), { milliseconds: closeTimeoutMs, message: false }).catch(() => undefined);
}

/** The parent process looks after downloads that have just begun. */
function allowedToClose(): Promise<void> {
  return new Promise((resolve) => {
    function onMessage({ type }: RunMessage | CloseMessage): void {
      if (type !== "close") return;
      process.off("message", onMessage);
      resolve();
    }
    process.on("message", onMessage);
    tell({ type: "ended" });
  });
}
