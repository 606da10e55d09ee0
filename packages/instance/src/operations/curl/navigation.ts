import { messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import pTimeout from "p-timeout";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { NetError } from "./net-errors.ts";

export interface ExchangeRequest {
  readonly url: string;
  readonly method: string;
  /** Replace the browser's headers of the same name. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
  readonly signal: AbortSignal;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded pieces of at most 256 KiB. */
  readonly body: AsyncGenerator<Buffer, undefined>;
  /**
   * Frees the target. Call it unless the body was read to its end or returned after the first read: a generator that
   * has not begun runs no `finally`.
   */
  end(): Promise<void>;
}

/** A hidden page that sends one request at a time and renders none of the answers. */
export interface NavigationTarget {
  readonly targetId: string;
  /** @throws {NetError} when no answer arrives. */
  exchange(request: ExchangeRequest): Promise<ExchangeAnswer>;
  close(): void;
}

const maxRedirects = 20;
const readBytes = 256 * 1024;
const eventStreamReads = 128;
/** Longest time for the event with `Set-Cookie` after an answer's head. */
const extraInfoTimeoutMs = 250;
const settleTimeoutMs = 2_000;
const redirects = new Set([301, 302, 303, 307, 308]);
const bodiless = new Set([204, 205, 304]);
/** Chromium sets these and rejects other values. */
const unsafe = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "keep-alive",
  "proxy-connection",
]);
/** Sent only to the site they were given for. */
const ofOneSite = new Set(["authorization", "cookie", "proxy-authorization"]);

type Commands = ProtocolMapping.Commands;
type Paused = Protocol.Fetch.RequestPausedEvent;

/** The navigation is aborted at the answer's head: nothing is rendered, run or downloaded. @throws {CdpError} */
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
    exchange: (request) => new Exchange(cdp, sessionId, request).run(),
    close() {
      cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
    },
  };
}

class Exchange {
  readonly #cdp: CdpConnection;
  readonly #sessionId: string;
  readonly #request: ExchangeRequest;
  readonly #cookies: CookieFollower;
  readonly #stops: readonly (() => void)[];
  readonly #head = Promise.withResolvers<Paused>();
  #navigated: Promise<void> = Promise.resolve();
  #hops = 0;
  #ended: Promise<void> | undefined;

  constructor(cdp: CdpConnection, sessionId: string, request: ExchangeRequest) {
    this.#cdp = cdp;
    this.#sessionId = sessionId;
    this.#request = request;
    this.#head.promise.catch(() => undefined);
    this.#cookies = followCookies(cdp, sessionId);
    this.#stops = [
      cdp.on("Fetch.requestPaused", (event, from) => {
        if (from === sessionId) this.#paused(event);
      }),
      cdp.on("Fetch.authRequired", ({ requestId }, from) => {
        if (from === sessionId)
          this.#tell("Fetch.continueWithAuth", { requestId, authChallengeResponse: { response: "CancelAuth" } });
      }),
    ];
  }

  /** Sends the request. Resolves at the answer's head. @throws {NetError} when no answer arrives. */
  async run(): Promise<ExchangeAnswer> {
    const { signal, url } = this.#request;
    this.#navigated = this.#cdp.send("Page.navigate", { url }, this.#sessionId).then(
      ({ errorText }) => {
        this.#head.reject(new NetError(errorText ?? "net::ERR_UNEXPECTED"));
      },
      (error: unknown) => {
        this.#head.reject(error);
      },
    );
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
    let event: Paused;
    try {
      event = await this.#head.promise;
    } catch (error) {
      await this.#finish();
      throw error;
    }
    return this.#answer(event);
  }

  async #answer(event: Paused): Promise<ExchangeAnswer> {
    const status = event.responseStatusCode ?? 0;
    const headers = (event.responseHeaders ?? []).map(({ name, value }) => [name, value] as const);
    const setCookies = await this.#cookies.of(event.networkId ?? "", this.#hops, status);
    const hasBody = this.#request.method !== "HEAD" && !bodiless.has(status) && !redirects.has(status);
    const isEventStream = headers.some(
      ([name, value]) => name.toLowerCase() === "content-type" && value.toLowerCase().startsWith("text/event-stream"),
    );
    return {
      status,
      headers: [
        ...headers.filter(([name]) => name.toLowerCase() !== "set-cookie"),
        ...setCookies.map((value) => ["set-cookie", value] as const),
      ],
      body: this.#body(event.requestId, { hasBody, isEventStream }),
      end: () => this.#end(event.requestId),
    };
  }

  async *#body(
    requestId: string,
    { hasBody, isEventStream }: { readonly hasBody: boolean; readonly isEventStream: boolean },
  ): AsyncGenerator<Buffer, undefined> {
    const { signal } = this.#request;
    try {
      if (!hasBody) return undefined;
      const taken = this.#cdp.send("Fetch.takeResponseBodyAsStream", { requestId }, this.#sessionId);
      const { stream } = await orAborted(taken, signal);
      try {
        const read: Read = (size) => this.#cdp.send("IO.read", { handle: stream, size }, this.#sessionId);
        if (isEventStream) yield* readAsItComes(read, signal);
        else yield* readInPieces(read, signal);
        return undefined;
      } finally {
        this.#tell("IO.close", { handle: stream });
      }
    } finally {
      await this.#end(requestId);
    }
  }

  #end(requestId: string): Promise<void> {
    if (this.#ended === undefined) {
      this.#tell("Fetch.failRequest", { requestId, errorReason: "Aborted" });
      this.#ended = this.#finish();
    }
    return this.#ended;
  }

  #paused(event: Paused): void {
    const { requestId, responseStatusCode } = event;
    if (event.responseErrorReason !== undefined) {
      // Without this, the next navigation hangs; the navigation reports the error.
      this.#tell("Fetch.continueRequest", { requestId });
    } else if (responseStatusCode === undefined) this.#send(event);
    else if (redirects.has(responseStatusCode) && hasLocation(event)) this.#redirected(requestId);
    else this.#head.resolve(event);
  }

  #send(event: Paused): void {
    const { requestId } = event;
    const sent = { requestId, ...sentAs(event, this.#request) };
    this.#cdp.send("Fetch.continueRequest", sent, this.#sessionId).catch((error: unknown) => {
      // Chromium says "Invalid header", "Unsafe header". Other failures mean that the request has ended.
      if (!/header/i.test(messageOf(error))) return;
      this.#head.reject(refusedHeaders());
      this.#tell("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    });
  }

  #redirected(requestId: string): void {
    this.#hops++;
    if (this.#hops <= maxRedirects) this.#tell("Fetch.continueRequest", { requestId });
    else {
      this.#head.reject(new NetError("net::ERR_TOO_MANY_REDIRECTS"));
      this.#tell("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    }
  }

  readonly #onAbort = (): void => {
    this.#head.reject(this.#request.signal.reason);
    this.#tell("Page.stopLoading");
  };

  /** Sends a command without waiting. A failure means that the request or the page has ended, which is reported elsewhere. */
  #tell<M extends keyof Commands>(method: M, params?: Commands[M]["paramsType"][0]): void {
    this.#cdp.send(method, params, this.#sessionId).catch(() => undefined);
  }

  async #finish(): Promise<void> {
    this.#request.signal.removeEventListener("abort", this.#onAbort);
    await pTimeout(this.#navigated, { milliseconds: settleTimeoutMs, message: false });
    for (const stop of this.#stops) stop();
    this.#cookies.stop();
  }
}

function refusedHeaders(): ServiceError {
  return new ServiceError(400, "bad_request", "a browser sends no header with one of these names or values", {
    field: "body.headers",
    hint: "Names are tokens, values have no line breaks and NUL characters, and Proxy-Authorization is for proxies alone.",
  });
}

function hasLocation({ responseHeaders = [] }: Paused): boolean {
  return responseHeaders.some(({ name }) => name.toLowerCase() === "location");
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

/** Requests many single bytes at once: a read waits until all of its bytes are there, which would delay events. */
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
      // The loop below awaits the piece and handles a failure.
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

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return pTimeout(work, { milliseconds: Infinity, signal });
}

function sentAs(
  event: Paused,
  { url, method, headers, body }: ExchangeRequest,
): Protocol.Fetch.ContinueRequestRequest | object {
  const isFirst = event.redirectedRequestId === undefined;
  const sameSite = isFirst || new URL(event.request.url).origin === new URL(url).origin;
  const own = headers.filter(
    ([name]) => !unsafe.has(name.toLowerCase()) && (sameSite || !ofOneSite.has(name.toLowerCase())),
  );
  const names = new Set(own.map(([name]) => name.toLowerCase()));
  // The list replaces all of the browser's headers.
  const kept = Object.entries(event.request.headers).filter(([name]) => !names.has(name.toLowerCase()));
  const merged = [...kept, ...own].map(([name, value]) => ({ name, value }));
  if (!isFirst) return { headers: merged };
  return { headers: merged, method, ...(body !== undefined && { postData: body.toString("base64") }) };
}

interface CookieFollower {
  /** Returns the `Set-Cookie` values of a request's answer after a number of redirects. */
  of(networkId: string, hops: number, status: number): Promise<readonly string[]>;
  stop(): void;
}

/** Collects `Set-Cookie`, which the intercepted answer lacks. Another event carries it, shortly before or after. */
function followCookies(cdp: CdpConnection, sessionId: string): CookieFollower {
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
        await pTimeout(came.promise, { milliseconds: extraInfoTimeoutMs, message: false });
      }
      const last = ours().findLast(({ statusCode }) => statusCode === status);
      return Object.entries(last?.headers ?? {})
        .filter(([name]) => name.toLowerCase() === "set-cookie")
        .flatMap(([, value]) => value.split("\n"));
    },
  };
}
