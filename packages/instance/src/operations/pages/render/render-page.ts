import { invalid } from "@shoal/contract/refusals";
import { type BytesReply, ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import pTimeout from "p-timeout";
import { egressErrors, egressTarget } from "../../../egress/failures.ts";
import type { RenderHead } from "../../../protocol/render-frame.ts";
import type { RenderMore } from "../../../protocol/render-frame.ts";
import { withoutCredentials } from "../tabs/shown-address.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { addAndWait } from "./page-additions.ts";
import { factsFunction, holdsFunction, writeFunction } from "./page-scripts.ts";
import { PageWatch } from "./page-watch.ts";
import { type RenderedPart, type RenderTools, readParts } from "./read-parts.ts";
import { OutOfTime, RenderClock } from "./render-clock.ts";
import { cannotOpen, notAPage } from "./render-errors.ts";
import { addressOf, type InstanceRenderRequest, type RenderRequest } from "./render-request.ts";
import { callInPage, explainSelector, readFromPage } from "./render-world.ts";
import { RequestRules } from "./request-rules.ts";

interface Rendering {
  readonly tools: RenderTools;
  readonly request: RenderRequest;
  readonly more: RenderMore;
  readonly url: string;
  readonly tab: OpenTab;
  readonly watch: PageWatch;
  readonly clock: RenderClock;
}

const lookMs = 50;
const downloadNameMs = 500;
const states = {
  domcontentloaded: "DOMContentLoaded",
  load: "load",
  network_almost_idle: "networkAlmostIdle",
  network_idle: "networkIdle",
} as const;

/** Opens a page in the front tab of an unused browser, and reads it. @throws {ServiceError} 400, 404, 409 or 503. */
export async function renderPage(
  tools: RenderTools,
  { more = {}, page: request }: InstanceRenderRequest,
  signal: AbortSignal,
): Promise<BytesReply> {
  const url = addressOf(request);
  const tab = await tools.pages.tab();
  const { best_attempt: bestAttempt, timeout_ms: timeoutMs } = request;
  const clock = new RenderClock(tab.page, { url, timeoutMs, bestAttempt, signal });
  const watch = await PageWatch.open(tab.page);
  const rendering: Rendering = { tools, request, more, url, tab, watch, clock };
  try {
    await clock.load(prepare(rendering), "The browser was not ready");
    const timedOut = await loadBounded(rendering);
    const facts = await clock.read(factsOf(rendering), "The page");
    const read = await readParts(rendering);
    return frameOf({ ...facts, timed_out: timedOut }, read);
  } finally {
    clock.close();
    watch.close();
  }
}

async function prepare({ more, request, tab, url }: Rendering): Promise<void> {
  const { page } = tab;
  const { cdp, session } = page;
  const { cookies = [], javascript, media, user_agent: userAgent, viewport } = request;
  const isWeb = url !== "about:blank";
  await Promise.all([
    RequestRules.open(page, isWeb ? new URL(url).origin : undefined, { ...request, ...more }),
    viewport &&
      cdp.send(
        "Emulation.setDeviceMetricsOverride",
        {
          width: viewport.width,
          height: viewport.height,
          deviceScaleFactor: viewport.scale,
          mobile: more.mobile === true,
        },
        session.sessionId,
      ),
    userAgent !== undefined && cdp.send("Emulation.setUserAgentOverride", { userAgent }, session.sessionId),
    media !== undefined && cdp.send("Emulation.setEmulatedMedia", { media }, session.sessionId),
    more.touch === true &&
      cdp.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 1 }, session.sessionId),
    !javascript && cdp.send("Emulation.setScriptExecutionDisabled", { value: true }, session.sessionId),
  ]);
  for (const [index, cookie] of cookies.entries()) await setCookie(tab, url, { cookie, index });
}

async function setCookie(
  { page: { cdp, session } }: OpenTab,
  url: string,
  { cookie, index }: { readonly cookie: NonNullable<RenderRequest["cookies"]>[number]; readonly index: number },
): Promise<void> {
  const { domain, http_only: httpOnly = false, name, path, same_site: sameSite, secure, value } = cookie;
  const isWeb = url !== "about:blank";
  if (domain === undefined && !isWeb)
    throw ServiceError.of(invalid(`body.cookies[${String(index)}].domain`, "is required with html"));
  const params = {
    name,
    value,
    httpOnly,
    ...(isWeb && { url }),
    ...(domain !== undefined && { domain }),
    ...(path !== undefined && { path }),
    ...(secure !== undefined && { secure }),
    ...(sameSite && { sameSite }),
  };
  try {
    await cdp.send("Network.setCookies", { cookies: [params] }, session.sessionId);
  } catch {
    throw ServiceError.of(
      invalid(`body.cookies[${String(index)}]`, "was refused by the browser", {
        hint: "Its domain must fit, and SameSite=None needs secure.",
      }),
    );
  }
}

/** @returns whether loading took too long, with `best_attempt`. */
async function loadBounded(rendering: Rendering): Promise<boolean> {
  const { clock, request, tab } = rendering;
  try {
    await (rendering.url === "about:blank" ? write(rendering) : open(rendering));
    await addAndWait(rendering);
    await waitFor(rendering);
    return false;
  } catch (error) {
    if (!request.best_attempt || !(error instanceof OutOfTime)) throw error;
    const { cdp, session } = tab.page;
    await clock.read(cdp.send("Page.stopLoading", undefined, session.sessionId), "The page").catch(() => undefined);
    return true;
  }
}

async function write({ clock, request, tab, watch }: Rendering): Promise<void> {
  watch.restart();
  await clock.load(readFromPage<null>(tab, writeFunction, request.html ?? ""), "The HTML was not loaded");
  await clock.load(watch.reached(states[request.wait_until]), loadCondition(request));
}

async function open(rendering: Rendering): Promise<void> {
  const { clock, request, tab, tools, url, watch } = rendering;
  const { cdp, session } = tab.page;
  watch.restart();
  const opening = cdp.send("Page.navigate", { url }, session.sessionId);
  const { errorText = "", isDownload } = await clock.load(opening, "The page did not answer");
  if (isDownload === true) throw await downloaded(rendering);
  // The site answered an error without a page.
  const isStatus = errorText === "net::ERR_HTTP_RESPONSE_CODE_FAILURE";
  if (errorText !== "" && !isStatus) {
    if (errorText === "net::ERR_ABORTED" && watch.response?.status === 204) throw notAPage(url, "has no content (204)");
    // After redirects.
    const { requestedUrl: failed = url } = watch;
    const failure = egressErrors.has(errorText) ? await tools.failures?.of(egressTarget(failed)) : undefined;
    throw cannotOpen(failed, errorText, failure?.message);
  }
  if (watch.response?.mimeType === "application/pdf") throw notAPage(url, "is a PDF, not a page");
  await clock.load(watch.reached(states[request.wait_until]), loadCondition(request));
  if (watch.download !== undefined) throw await downloaded(rendering);
}

async function downloaded({ url, watch }: Rendering): Promise<ServiceError> {
  // Its name may follow.
  await pTimeout(watch.reached("download"), { milliseconds: downloadNameMs, fallback: () => undefined });
  const { download: name = "a file", response } = watch;
  return response?.mimeType === "application/pdf" || name.toLowerCase().endsWith(".pdf")
    ? notAPage(url, "is a PDF, not a page")
    : notAPage(url, `is a download (${JSON.stringify(name)}), not a page`);
}

function loadCondition({ wait_until: wanted }: RenderRequest): string {
  return `The page did not reach ${wanted}`;
}

async function waitFor({ clock, request, tab }: Rendering): Promise<void> {
  const { selector, state, text, time_ms: timeMs } = request.wait_for ?? {};
  if ((selector ?? text) !== undefined) {
    const condition = describeWait(request.wait_for);
    const look = (): Promise<boolean | undefined> => callInPage<boolean>(tab, holdsFunction, { selector, state, text });
    while ((await clock.load(look().catch(explainSelector("body.wait_for.selector")), condition)) !== true)
      await clock.load(clock.pause(lookMs), condition);
  }
  if (timeMs !== undefined) await clock.load(clock.pause(timeMs), "wait_for.time_ms did not pass");
}

function describeWait(wanted: RenderRequest["wait_for"]): string {
  const { selector, state = "visible", text } = wanted ?? {};
  const element = selector === undefined ? "" : `no element ${JSON.stringify(selector.slice(0, 200))} became ${state}`;
  const words = text === undefined ? "" : `the text ${JSON.stringify(text.slice(0, 200))} did not appear`;
  return `On the page, ${[element, words].filter((one) => one !== "").join(", or ")}`;
}

/** @throws {ServiceError} if the page left the web. */
async function factsOf({ tab, url, watch }: Rendering): Promise<Omit<RenderHead, "cut" | "parts" | "timed_out">> {
  const found = await readFromPage<{ readonly url: string; readonly title: string }>(tab, factsFunction);
  const isErrorPage = found.url.startsWith("chrome-error:");
  if (!/^(?:https?:|about:(?:blank|srcdoc)|blob:https?:)/.test(found.url) && !(isErrorPage && watch.response))
    throw cannotOpen(url, "the page led to an address that is not of the web");
  const { redirects, dialogs, response } = watch;
  return {
    url: withoutCredentials(isErrorPage ? url : found.url),
    title: isErrorPage ? "" : found.title,
    ...(response && { status: response.status }),
    redirects,
    headers: response?.headers ?? {},
    dialogs,
  };
}

/** See `RenderHead`. */
function frameOf(facts: Omit<RenderHead, "cut" | "parts">, parts: readonly RenderedPart[]): BytesReply {
  const head: RenderHead = {
    ...facts,
    cut: parts.filter(({ isCut }) => isCut).map(({ name }) => name),
    parts: parts.map(({ name, type, content }) => ({ name, type, bytes: content.length })),
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(text.length);
  const pieces = [length, text, ...parts.map(({ content }) => content)];
  return {
    stream: Readable.from(pieces.filter((piece) => piece.length > 0)),
    sizeBytes: pieces.reduce((sum, piece) => sum + piece.length, 0),
  };
}
