import type { FailedPageRequest } from "@shoal/schemas";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ActRun } from "../act-run.ts";
import { withoutCredentials } from "../../tabs/shown-address.ts";
import { HttpChallenges } from "./http-challenges.ts";
import type { FollowedPage, FrameTarget } from "../../follow/followed-page.ts";

/** Requests that change a page. */
const followedTypes: ReadonlySet<string> = new Set(["Document", "XHR", "Fetch", "Script", "Stylesheet"]);
const maxRunning = 500;
const maxFailed = 20;
/** Requests that last longer, such as long polls, do not count as activity. Milliseconds. */
const longRequestMs = 4_000;
/** An answer that takes longer to arrive is a stream. Milliseconds. */
const longAnswerMs = 1_000;
/** A request that the page has sent before belongs to an action only this soon after its input. Milliseconds. */
const promptMs = 150;
/** A poll sends its next request this soon after an answer. Milliseconds. */
const chainMs = 100;
const maxKinds = 1_000;
/** Longest time from a click on a link to its navigation, in milliseconds. */
const navigationStartMs = 2_000;
/** A page that can be used, but waits for pictures or counters, does not load any more. Milliseconds. */
const slowPartsMs = 1_000;

type Begun = Pick<ActRun, "begunAtMs">;

interface RunningRequest {
  readonly method: string;
  readonly url: string;
  /** The same for each request of a poll. */
  readonly kind: string;
  readonly sinceMs: number;
  /** Icons, which the browser requests for itself. */
  readonly isOfBrowser: boolean;
  /** When its answer began. */
  answeredMs?: number;
  isFollowed: boolean;
}

/** Collects the effects of the present action on a page. Keeps no bodies, headers or query strings. */
export class EffectLog {
  readonly #page: FollowedPage;
  readonly #challenges: HttpChallenges;
  readonly #running = new Map<string, RunningRequest>();
  #failed: FailedPageRequest[] = [];
  #navigated = false;
  #status: number | undefined;
  #isLoading = false;
  #isUsable = true;
  #hasChanged = false;
  #hasSent = false;
  #navigationRequestedAtMs = -Infinity;
  #changedAtMs = performance.now();
  #lateUntilMs = -Infinity;
  #inputEndedAtMs = -Infinity;
  #run: Begun = { begunAtMs: undefined };
  /** When the last request of each kind ended. */
  readonly #endedAtMs = new Map<string, number>();
  /** When a request ended that began before this log. */
  #unknownEndedAtMs = -Infinity;

  private constructor(page: FollowedPage) {
    this.#page = page;
    this.#challenges = new HttpChallenges(page);
    this.#follow();
  }

  static async open(page: FollowedPage): Promise<EffectLog> {
    const log = new EffectLog(page);
    // Without bodies: they would need memory of the browser.
    const enable = (sessionId: string) =>
      page.cdp
        .send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, sessionId)
        .catch(() => undefined);
    page.on("Target.attachedToTarget", ({ sessionId }) => void enable(sessionId));
    await page.send(Promise.all(page.targets.map(({ sessionId }) => enable(sessionId))));
    return log;
  }

  get navigated(): boolean {
    return this.#navigated;
  }

  /** Status of a new main document. */
  get status(): number | undefined {
    return this.#status;
  }

  get failedRequests(): FailedPageRequest[] {
    return this.#failed;
  }

  /** Whether anything happened since the action began. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Whether the page sent anything since the action began, of any kind: an answer may change it. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** Milliseconds since the last activity. */
  get quietMs(): number {
    return performance.now() - this.#changedAtMs;
  }

  /** Whether the page loads, or waits for requests that may change it. */
  isBusy(): boolean {
    const nowMs = performance.now();
    for (const { answeredMs = nowMs, isFollowed, sinceMs } of this.#running.values())
      if (isFollowed && nowMs - sinceMs < longRequestMs && nowMs - answeredMs < longAnswerMs) return true;
    if (nowMs - this.#navigationRequestedAtMs < navigationStartMs) return true;
    return this.#isLoading && !(this.#isUsable && this.quietMs > slowPartsMs);
  }

  /**
   * Begins the report of an action. @param isInput - requests that the page has sent before are effects from the
   * input until {@link EffectLog.awaitLate} or {@link EffectLog.endPrompt}, however long a busy page takes.
   */
  begin(run: Begun, isInput = false): void {
    this.#run = run;
    this.#challenges.begin();
    this.#failed = [];
    this.#navigated = false;
    this.#status = undefined;
    this.#hasChanged = false;
    this.#hasSent = false;
    this.#changedAtMs = performance.now();
    this.#lateUntilMs = isInput ? Infinity : -Infinity;
    // They are not effects of the action.
    for (const request of this.#running.values()) request.isFollowed = false;
  }

  /** Ends the report of an action. */
  end(): void {
    this.#challenges.end();
    this.#lateUntilMs = -Infinity;
  }

  /** The input is sent: effects follow from now on. */
  endInput(): void {
    this.#changedAtMs = performance.now();
    this.#inputEndedAtMs = this.#changedAtMs;
    if (this.#lateUntilMs !== Infinity) this.awaitLate(promptMs);
  }

  /** The page has answered since the input: from now on, requests that it has sent before are its polls. */
  endPrompt(): void {
    if (this.#lateUntilMs === Infinity)
      this.#lateUntilMs = Math.max(performance.now(), this.#inputEndedAtMs + promptMs);
  }

  /** Also requests that the page has sent before are effects, for this time. */
  awaitLate(lateMs: number): void {
    this.#lateUntilMs = performance.now() + lateMs;
  }

  /** A requested navigation became a download. */
  endNavigation(): void {
    this.#navigationRequestedAtMs = -Infinity;
    this.#touch();
  }

  #touch(): void {
    this.#hasChanged = true;
    this.#changedAtMs = performance.now();
  }

  #follow(): void {
    const page = this.#page;
    const isMain = (target: FrameTarget, frameId: string | undefined) => page.isMainFrame(target, frameId);
    page.on("Network.requestWillBeSent", (event) => {
      this.#requested(event);
    });
    for (const event of ["Network.webSocketFrameSent", "Page.windowOpen"] as const)
      page.on(event, () => {
        this.#hasSent = true;
      });
    page.on("Network.responseReceived", ({ frameId, requestId, response, type }, target) => {
      if (isMain(target, frameId) && type === "Document") this.#status = response.status;
      const request = this.#running.get(requestId);
      if (request !== undefined) request.answeredMs ??= performance.now();
      if (response.status >= 400) this.#fail(requestId, { status: response.status });
    });
    page.on("Network.loadingFinished", ({ requestId }) => {
      this.#ended(requestId);
    });
    page.on("Network.loadingFailed", ({ canceled, errorText, requestId }) => {
      if (canceled !== true) this.#fail(requestId, { error: errorText.slice(0, 200) });
      this.#ended(requestId);
    });
    page.on("Page.frameRequestedNavigation", ({ disposition, frameId }, target) => {
      // Also of a frame, and for a new tab or a download.
      this.#hasSent = true;
      if (!isMain(target, frameId) || disposition !== "currentTab") return;
      this.#navigationRequestedAtMs = performance.now();
      this.#touch();
    });
    page.on("Page.javascriptDialogClosed", ({ result }) => {
      // A dismissed `beforeunload` dialog cancels the navigation.
      if (!result) this.endNavigation();
    });
    page.on("Page.frameStartedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) this.#loading(true);
    });
    page.on("Page.frameStoppedLoading", ({ frameId }, target) => {
      if (isMain(target, frameId)) this.#loading(false);
    });
    page.on("Page.domContentEventFired", (_event, target) => {
      if (target.parent === undefined) this.#isUsable = true;
    });
    page.on("Page.frameNavigated", ({ frame }, target) => {
      if (isMain(target, frame.id)) this.#navigate();
    });
    page.on("Page.navigatedWithinDocument", ({ frameId }, target) => {
      if (isMain(target, frameId)) this.#navigate();
    });
  }

  #navigate(): void {
    this.#navigated = true;
    this.#navigationRequestedAtMs = -Infinity;
    this.#touch();
  }

  #loading(isLoading: boolean): void {
    this.#isLoading = isLoading;
    this.#navigationRequestedAtMs = -Infinity;
    this.#isUsable = !isLoading;
    this.#touch();
  }

  #requested({ request, requestId, type = "Other" }: Protocol.Network.RequestWillBeSentEvent): void {
    this.#hasSent = true;
    const [oldest] = this.#running.keys();
    if (this.#running.size >= maxRunning && oldest !== undefined) this.#running.delete(oldest);
    const { method, url } = request;
    const kind = kindOf(request);
    const redirected = this.#running.get(requestId);
    const isFollowed = redirected?.isFollowed ?? (followedTypes.has(type) && !this.#isRepeated(kind));
    const isOfBrowser = type === "Other";
    this.#running.set(requestId, { method, url, kind, sinceMs: performance.now(), isFollowed, isOfBrowser });
    if (isFollowed) this.#touch();
  }

  /** Whether the page sends this request again and again, as a poll does. */
  #isRepeated(kind: string): boolean {
    const nowMs = performance.now();
    const endedMs = this.#endedAtMs.get(kind);
    if (endedMs === undefined) return nowMs - this.#unknownEndedAtMs < chainMs;
    const isRunning = [...this.#running.values()].some((one) => one.kind === kind);
    const { begunAtMs = -Infinity } = this.#run;
    const lateUntilMs = this.#lateUntilMs === Infinity && begunAtMs === -Infinity ? -Infinity : this.#lateUntilMs;
    const isLate = nowMs - begunAtMs > promptMs && nowMs > lateUntilMs;
    return (!isRunning && nowMs - endedMs < chainMs) || isLate;
  }

  #ended(requestId: string): void {
    const request = this.#running.get(requestId);
    if (request === undefined) {
      this.#unknownEndedAtMs = performance.now();
      return;
    }
    this.#running.delete(requestId);
    const [oldest] = this.#endedAtMs.keys();
    if (this.#endedAtMs.size >= maxKinds && oldest !== undefined) this.#endedAtMs.delete(oldest);
    this.#endedAtMs.set(request.kind, performance.now());
    if (request.isFollowed) this.#touch();
  }

  #fail(requestId: string, problem: Pick<FailedPageRequest, "status" | "error">): void {
    const request = this.#running.get(requestId);
    if (request === undefined || request.isOfBrowser || this.#failed.length >= maxFailed) return;
    this.#failed.push({ method: request.method.slice(0, 32), url: withoutQuery(request.url), ...problem });
  }
}

/** Without the numbers and tokens that change with each request of a poll. */
function kindOf({ method, postDataEntries = [], url }: Protocol.Network.Request): string {
  const [{ bytes = "" } = {}] = postDataEntries;
  const body = Buffer.from(bytes.slice(0, 4_000), "base64").toString("latin1");
  return `${method} ${url.slice(0, 2_000)} ${body}`.replaceAll(/[0-9a-f-]{8,}|\d+/gi, "0");
}

function withoutQuery(address: string): string {
  return withoutCredentials(address)
    .replace(/[?#].*/s, "")
    .slice(0, 2_000);
}
