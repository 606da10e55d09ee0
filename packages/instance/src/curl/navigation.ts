import type { Protocol } from "devtools-protocol";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { NetError } from "./net-errors.ts";

/** A request that the browser is to send. */
export interface ExchangeRequest {
  readonly url: string;
  readonly method: string;
  /** In place of the browser's own of the same name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  /** Ends the exchange at any point. */
  readonly signal: AbortSignal;
}

/** A site's answer whose body has not been read. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded pieces of at most 256 KiB. Read it, or return it: the target is free only then. */
  readonly body: AsyncGenerator<Buffer, undefined>;
}

/** A hidden page that sends one request at a time, and shows none of the answers. */
export interface NavigationTarget {
  readonly targetId: string;
  /** @throws {NetError} when no answer comes. */
  exchange(request: ExchangeRequest): Promise<ExchangeAnswer>;
  close(): void;
}

const maxRedirects = 20;
const readBytes = 256 * 1024;
const eventStreamReads = 128;
/** What follows an answer's head where it has not come before it. */
const extraInfoTimeoutMs = 250;
const settleTimeoutMs = 2_000;
const redirects = new Set([301, 302, 303, 307, 308]);
const bodiless = new Set([204, 205, 304]);
/** Chromium refuses these, and knows better. */
const unsafe = new Set(["host", "content-length", "connection", "transfer-encoding", "upgrade", "te", "trailer", "keep-alive", "proxy-connection"]);
/** Not for another site than the one that they were given for. */
const ofOneSite = new Set(["authorization", "cookie", "proxy-authorization"]);

type Paused = Protocol.Fetch.RequestPausedEvent;

/**
 * Opens a page for requests. An answer is taken at its head and the navigation then given up, so that nothing is rendered, run or downloaded.
 *
 * @throws {CdpError}
 */
export async function openNavigationTarget(cdp: CdpConnection): Promise<NavigationTarget> {
  const { targetId } = await cdp.send("Target.createTarget", { url: "about:blank", hidden: true });
  const { sessionId } = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  await Promise.all([
    cdp.send("Network.enable", { maxTotalBufferSize: 0, maxResourceBufferSize: 0 }, sessionId),
    cdp.send("Network.setBypassServiceWorker", { bypass: true }, sessionId),
    cdp.send("Network.setCacheDisabled", { cacheDisabled: true }, sessionId),
    cdp.send(
      "Fetch.enable",
      {
        handleAuthRequests: true,
        patterns: [
          { urlPattern: "*", requestStage: "Request" },
          { urlPattern: "*", requestStage: "Response" },
        ],
      },
      sessionId,
    ),
  ]);
  return {
    targetId,
    exchange: (request) => runExchange(cdp, sessionId, request),
    close() {
      cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
    },
  };
}

async function runExchange(cdp: CdpConnection, sessionId: string, request: ExchangeRequest): Promise<ExchangeAnswer> {
  const { signal } = request;
  const head = Promise.withResolvers<Paused>();
  head.promise.catch(() => undefined);
  const cookies = followCookies(cdp, sessionId);
  const reply = (method: "Fetch.continueRequest" | "Fetch.failRequest", params: object) => {
    // A request that ended meanwhile is reported otherwise.
    cdp.send(method, params as never, sessionId).catch(() => undefined);
  };
  let hops = 0;
  const stopPaused = cdp.on("Fetch.requestPaused", (event, from) => {
    if (from !== sessionId) return;
    const { requestId } = event;
    if (event.responseErrorReason !== undefined) {
      // Unless it is continued too, the next navigation hangs; the error itself is the navigation's.
      reply("Fetch.continueRequest", { requestId });
    } else if (event.responseStatusCode === undefined) {
      reply("Fetch.continueRequest", { requestId, ...sentAs(event, request) });
    } else if (redirects.has(event.responseStatusCode) && event.responseHeaders?.some(({ name }) => name.toLowerCase() === "location") === true) {
      hops++;
      if (hops <= maxRedirects) reply("Fetch.continueRequest", { requestId });
      else {
        head.reject(new NetError("net::ERR_TOO_MANY_REDIRECTS"));
        reply("Fetch.failRequest", { requestId, errorReason: "Aborted" });
      }
    } else head.resolve(event);
  });
  const stopAuth = cdp.on("Fetch.authRequired", ({ requestId }, from) => {
    if (from === sessionId)
      cdp.send("Fetch.continueWithAuth", { requestId, authChallengeResponse: { response: "CancelAuth" } }, sessionId).catch(() => undefined);
  });
  const navigated = cdp.send("Page.navigate", { url: request.url }, sessionId).then(
    ({ errorText }) => {
      head.reject(new NetError(errorText ?? "net::ERR_UNEXPECTED"));
    },
    (error: unknown) => {
      head.reject(error instanceof Error ? error : new Error(String(error)));
    },
  );
  const onAbort = () => {
    head.reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
    cdp.send("Page.stopLoading", undefined, sessionId).catch(() => undefined);
  };
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();

  /** Ends the exchange; afterwards the target can be used again. */
  async function finish(): Promise<void> {
    signal.removeEventListener("abort", onAbort);
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, settleTimeoutMs);
    await Promise.race([navigated, timeout.promise]);
    clearTimeout(timer);
    stopPaused();
    stopAuth();
    cookies.stop();
  }

  let event: Paused;
  try {
    event = await head.promise;
  } catch (error) {
    await finish();
    throw error;
  }
  const status = event.responseStatusCode ?? 0;
  const headers = (event.responseHeaders ?? []).map(({ name, value }) => [name, value] as const);
  const setCookies = await cookies.of(event.networkId ?? "", hops, status);
  const hasBody = request.method !== "HEAD" && !bodiless.has(status) && !redirects.has(status);
  const isEventStream = headers.some(([name, value]) => name.toLowerCase() === "content-type" && value.toLowerCase().startsWith("text/event-stream"));
  return {
    status,
    headers: [...headers.filter(([name]) => name.toLowerCase() !== "set-cookie"), ...setCookies.map((value) => ["set-cookie", value] as const)],
    body: readBody(),
  };

  async function* readBody(): AsyncGenerator<Buffer, undefined> {
    try {
      if (!hasBody) return undefined;
      const { stream } = await orAborted(cdp.send("Fetch.takeResponseBodyAsStream", { requestId: event.requestId }, sessionId), signal);
      try {
        const read = (size: number) => cdp.send("IO.read", { handle: stream, size }, sessionId);
        if (isEventStream) yield* readAsItComes(read, signal);
        else yield* readInPieces(read, signal);
        return undefined;
      } finally {
        cdp.send("IO.close", { handle: stream }, sessionId).catch(() => undefined);
      }
    } finally {
      reply("Fetch.failRequest", { requestId: event.requestId, errorReason: "Aborted" });
      await finish();
    }
  }
}

type Read = (size: number) => Promise<Protocol.IO.ReadResponse>;

function bytesOf({ data, base64Encoded }: Protocol.IO.ReadResponse): Buffer {
  return Buffer.from(data, base64Encoded === true ? "base64" : "utf8");
}

async function* readInPieces(read: Read, signal: AbortSignal): AsyncGenerator<Buffer, undefined> {
  for (;;) {
    const piece = await orAborted(read(readBytes), signal);
    if (piece.data !== "") yield bytesOf(piece);
    if (piece.eof) return undefined;
  }
}

/** A read waits for as many bytes as it asks for: an event would be held back until the next ones have filled its piece. So bytes are asked for one by one, many at once. */
async function* readAsItComes(read: Read, signal: AbortSignal): AsyncGenerator<Buffer, undefined> {
  const asked: Promise<Protocol.IO.ReadResponse>[] = [];
  const state: { ready: Buffer[]; ended: boolean } = { ready: [], ended: false };
  const take = (said: Protocol.IO.ReadResponse) => {
    state.ready.push(bytesOf(said));
    if (said.eof) state.ended = true;
  };
  for (;;) {
    while (asked.length < eventStreamReads) {
      const piece = read(1);
      // A failure is met where the piece is waited for.
      piece.then(take, () => undefined);
      asked.push(piece);
    }
    for (const piece of asked.splice(0, Math.max(1, state.ready.length))) await orAborted(piece, signal);
    const bytes = Buffer.concat(state.ready);
    state.ready = [];
    if (bytes.length > 0) yield bytes;
    if (state.ended) return undefined;
  }
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => {
    aborted.reject(signal.reason instanceof Error ? signal.reason : new Error("aborted"));
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** What is changed of a request before it goes out. */
function sentAs(event: Paused, { url, method, headers, body }: ExchangeRequest): Protocol.Fetch.ContinueRequestRequest | object {
  const isFirst = event.redirectedRequestId === undefined;
  const sameSite = isFirst || new URL(event.request.url).origin === new URL(url).origin;
  const own = headers.filter(([name]) => !unsafe.has(name.toLowerCase()) && (sameSite || !ofOneSite.has(name.toLowerCase())));
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  // The list replaces all of the browser's own fields.
  const kept = Object.entries(event.request.headers).filter(([name]) => !names.has(name.toLowerCase()));
  const merged = [...kept, ...own].map(([name, value]) => ({ name, value }));
  if (!isFirst) return { headers: merged };
  return { headers: merged, method, ...(body !== undefined && { postData: body.toString("base64") }) };
}

/** `Set-Cookie` is kept from the intercepted answer, and told by another event, a moment before or after. */
function followCookies(cdp: CdpConnection, sessionId: string) {
  const seen: Protocol.Network.ResponseReceivedExtraInfoEvent[] = [];
  let onSeen: () => void = () => undefined;
  const stop = cdp.on("Network.responseReceivedExtraInfo", (event, from) => {
    if (from !== sessionId) return;
    seen.push(event);
    onSeen();
  });
  return {
    stop,
    async of(networkId: string, hops: number, status: number): Promise<readonly string[]> {
      const ours = () => seen.filter(({ requestId }) => requestId === networkId);
      if (ours().length <= hops) {
        const came = Promise.withResolvers<void>();
        onSeen = () => {
          if (ours().length > hops) came.resolve();
        };
        const timer = setTimeout(came.resolve, extraInfoTimeoutMs);
        await came.promise;
        clearTimeout(timer);
      }
      const last = ours().findLast(({ statusCode }) => statusCode === status);
      return Object.entries(last?.headers ?? {})
        .filter(([name]) => name.toLowerCase() === "set-cookie")
        .flatMap(([, value]) => value.split("\n"));
    },
  };
}
