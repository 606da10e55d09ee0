import { isUtf8 } from "node:buffer";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import pLimit from "p-limit";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { type EgressFailure, egressErrors, egressTarget } from "../../egress/failures.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, type WatchedTarget } from "./watched-target.ts";

interface Exchange {
  /** The target that sent it; the surrounding page requests a frame's document. */
  readonly target: WatchedTarget;
  readonly url: string | undefined;
  readonly method: string | undefined;
  readonly frameId: string | undefined;
  readonly loaderId: string | undefined;
  readonly resourceType: string | undefined;
  response: Protocol.Network.Response | undefined;
  dataBytes: number;
}

const idleMs = 500;
/** Maximum number of open requests; beyond it, the oldest is dropped. */
const maxOpen = 20_000;
/** Maximum number of concurrent body reads: others wait for the same connection. */
const maxBodyReads = 16;
/** The browser returns only whole bodies; larger ones are skipped. */
const maxReadBytes = 4 * 2 ** 20;
const structuredBytes = 8 * 1024;
const textBytes = 4 * 1024;
const maxPostBytes = 64 * 1024;
const maxHeaders = 200;

/** Returns why the egress gateway just failed to reach `host:port`: the browser does not report it. */
export type FailureOf = (target: string) => Promise<EgressFailure | undefined>;

export function networkEvents(cdp: CdpConnection, recorder: TelemetryRecorder, failureOf: FailureOf): NetworkEvents {
  return new NetworkEvents(cdp, recorder, failureOf);
}

export class NetworkEvents {
  readonly #cdp: CdpConnection;
  readonly #recorder: TelemetryRecorder;
  readonly #failureOf: FailureOf;

  // Request ids are unique in the browser, and an exchange may continue in another target.
  readonly #open = new Map<string, Exchange>();
  readonly #counts = new Map<WatchedTarget, number>();
  readonly #idleTimers = new Map<WatchedTarget, NodeJS.Timeout>();
  readonly #bodyReads = pLimit(maxBodyReads);
  readonly #tellIdle = (target: WatchedTarget): void => {
    this.#recorder.record({
      type: "network_idle",
      category: "network",
      source: { kind: "cdp" },
      data: contextOf(target, undefined),
    });
  };

  readonly requestSent = (
    target: WatchedTarget,
    {
      documentURL,
      frameId,
      initiator,
      loaderId,
      redirectResponse,
      request,
      requestId,
      type,
    }: Protocol.Network.RequestWillBeSentEvent,
  ): void => {
    if (redirectResponse !== undefined) this.#tellRedirect(target, requestId, redirectResponse);
    const cutter = new Cutter();
    const exchange: Exchange = {
      target,
      url: request.url,
      method: request.method,
      frameId,
      loaderId,
      resourceType: type,
      response: undefined,
      dataBytes: 0,
    };
    this.#begin(requestId, exchange);
    const post = this.#recorder.captures("bodies") ? postOf(request) : undefined;
    this.#recorder.record({
      type: "network_request",
      category: "network",
      source: { kind: "cdp", event: "Network.requestWillBeSent" },
      data: {
        ...this.#whereOf(target, exchange, cutter),
        request_id: requestId,
        method: request.method,
        document_url: cutter.text(documentURL, maxUrlBytes),
        headers: headersOf(request.headers, cutter),
        initiator_type: initiator.type,
        ...(post !== undefined && { post_data: cutter.text(post, maxPostBytes) }),
        ...(redirectResponse && { is_redirect: true, redirect_url: cutter.text(redirectResponse.url, maxUrlBytes) }),
      },
      ...cutter.mark,
    });
  };

  readonly responseReceived = (
    target: WatchedTarget,
    { frameId, loaderId, requestId, response, type }: Protocol.Network.ResponseReceivedEvent,
  ): void => {
    const known = this.#open.get(requestId);
    const exchange: Exchange = known ?? {
      target,
      url: response.url,
      method: undefined,
      frameId,
      loaderId,
      resourceType: type,
      response,
      dataBytes: 0,
    };
    exchange.response = response;
    // It was sent before the watch started.
    if (known === undefined) this.#begin(requestId, exchange);
  };

  readonly dataReceived = ({ dataLength, requestId }: Protocol.Network.DataReceivedEvent): void => {
    const exchange = this.#open.get(requestId);
    if (exchange !== undefined) exchange.dataBytes += dataLength;
  };

  readonly finished = (target: WatchedTarget, { requestId }: Protocol.Network.LoadingFinishedEvent): void => {
    const exchange = this.#end(requestId);
    this.#tellDenied(target, requestId, exchange);
    const maxBytes = this.#recorder.captures("bodies") ? bodyBytes(exchange?.response?.mimeType) : 0;
    if (maxBytes === 0 || exchange === undefined || exchange.dataBytes === 0)
      this.#tellResponse(target, requestId, exchange, undefined);
    else if (exchange.dataBytes > maxReadBytes)
      this.#tellResponse(target, requestId, exchange, { text: "", cut: true });
    else {
      void this.#bodyReads(async () => {
        this.#tellResponse(target, requestId, exchange, await this.#readBody(target, requestId, maxBytes));
      });
    }
  };

  readonly failed = (target: WatchedTarget, event: Protocol.Network.LoadingFailedEvent): void => {
    const { errorText, requestId } = event;
    const exchange = this.#end(requestId);
    if (exchange?.url === undefined || !egressErrors.has(errorText)) {
      this.#tellFailed(target, exchange, event);
      return;
    }
    void this.#failureOf(egressTarget(exchange.url)).then((failure) => {
      if (failure !== undefined) this.#tellProxyError(target, requestId, exchange, failure);
      this.#tellFailed(target, exchange, event);
    });
  };

  readonly forget = (target: WatchedTarget): void => {
    for (const [requestId, exchange] of this.#open) if (exchange.target === target) this.#open.delete(requestId);
    this.#counts.delete(target);
    clearTimeout(this.#idleTimers.get(target));
    this.#idleTimers.delete(target);
  };

  readonly clear = (): void => {
    this.#open.clear();
    this.#counts.clear();
    for (const timer of this.#idleTimers.values()) clearTimeout(timer);
    this.#idleTimers.clear();
  };

  constructor(cdp: CdpConnection, recorder: TelemetryRecorder, failureOf: FailureOf) {
    this.#cdp = cdp;
    this.#recorder = recorder;
    this.#failureOf = failureOf;
  }

  #begin(requestId: string, exchange: Exchange): void {
    this.#end(requestId);
    this.#open.set(requestId, exchange);
    this.#counts.set(exchange.target, (this.#counts.get(exchange.target) ?? 0) + 1);
    clearTimeout(this.#idleTimers.get(exchange.target));
    if (this.#open.size <= maxOpen) return;
    for (const oldest of this.#open.keys()) {
      this.#end(oldest);
      break;
    }
  }

  #end(requestId: string): Exchange | undefined {
    const exchange = this.#open.get(requestId);
    if (exchange === undefined) return undefined;
    this.#open.delete(requestId);
    const { target } = exchange;
    const left = (this.#counts.get(target) ?? 1) - 1;
    this.#counts.set(target, left);
    if (left === 0 && target.kind === "page") {
      clearTimeout(this.#idleTimers.get(target));
      this.#idleTimers.set(target, setTimeout(this.#tellIdle, idleMs, target).unref());
    }
    return exchange;
  }

  #whereOf(target: WatchedTarget, exchange: Exchange | undefined, cutter: Cutter) {
    const url = exchange?.url ?? exchange?.response?.url;
    const { url: _page, frame_id: _frame, loader_id: _loader, ...where } = contextOf(target, undefined);
    return {
      ...where,
      ...(url !== undefined && { url: cutter.text(url, maxUrlBytes) }),
      ...(exchange?.frameId !== undefined && { frame_id: exchange.frameId }),
      ...(exchange?.loaderId !== undefined && exchange.loaderId !== "" && { loader_id: exchange.loaderId }),
      ...(exchange?.resourceType !== undefined && { resource_type: exchange.resourceType }),
    };
  }

  #tellResponse(
    target: WatchedTarget,
    requestId: string,
    exchange: Exchange | undefined,
    body: { text: string; cut: boolean } | undefined,
  ): void {
    const cutter = new Cutter();
    cutter.cut = body?.cut === true;
    const response = exchange?.response;
    this.#recorder.record({
      type: "network_response",
      category: "network",
      source: { kind: "cdp", event: "Network.loadingFinished" },
      data: {
        ...this.#whereOf(target, exchange, cutter),
        request_id: requestId,
        ...(exchange?.method !== undefined && { method: exchange.method }),
        ...(response && answerOf(response, cutter)),
        ...(body !== undefined && body.text !== "" && { body: body.text }),
      },
      ...cutter.mark,
    });
  }

  /** The browser reports the answer of a redirect with the request that follows, and no end of loading. */
  #tellRedirect(target: WatchedTarget, requestId: string, response: Protocol.Network.Response): void {
    const cutter = new Cutter();
    const exchange = this.#open.get(requestId);
    this.#recorder.record({
      type: "network_response",
      category: "network",
      source: { kind: "cdp", event: "Network.requestWillBeSent" },
      data: {
        ...this.#whereOf(target, exchange, cutter),
        url: cutter.text(response.url, maxUrlBytes),
        request_id: requestId,
        ...(exchange?.method !== undefined && { method: exchange.method }),
        is_redirect: true,
        ...answerOf(response, cutter),
      },
      ...cutter.mark,
    });
  }

  /** The gateway answered instead of the site. A site can send the header too, so the gateway is asked. */
  #tellDenied(target: WatchedTarget, requestId: string, exchange: Exchange | undefined): void {
    const headers = Object.keys(exchange?.response?.headers ?? {});
    const url = exchange?.url ?? exchange?.response?.url;
    if (exchange === undefined || url === undefined) return;
    if (!headers.some((name) => name.toLowerCase() === "x-shoal-proxy-error")) return;
    void this.#failureOf(egressTarget(url)).then((failure) => {
      if (failure?.proxy_error !== undefined) this.#tellProxyError(target, requestId, exchange, failure);
    });
  }

  #tellProxyError(target: WatchedTarget, requestId: string, exchange: Exchange, failure: EgressFailure): void {
    const cutter = new Cutter();
    this.#recorder.record({
      type: "proxy_error",
      category: "network",
      source: { kind: "cdp" },
      data: {
        ...this.#whereOf(target, exchange, cutter),
        request_id: requestId,
        code: failure.proxy_error ?? proxyErrorCode(failure.status),
        status: failure.proxy_error === "network_policy_denied" ? 403 : toldStatus,
        ...(exchange.method !== undefined && { method: exchange.method }),
      },
      ...cutter.mark,
    });
  }

  #tellFailed(
    target: WatchedTarget,
    exchange: Exchange | undefined,
    { canceled, errorText, requestId, type }: Protocol.Network.LoadingFailedEvent,
  ): void {
    const cutter = new Cutter();
    this.#recorder.record({
      type: "network_loading_failed",
      category: "network",
      source: { kind: "cdp", event: "Network.loadingFailed" },
      data: {
        ...this.#whereOf(target, exchange, cutter),
        request_id: requestId,
        error_text: errorText,
        canceled: canceled === true,
        resource_type: exchange?.resourceType ?? type,
      },
      ...cutter.mark,
    });
  }

  async #readBody(
    target: WatchedTarget,
    requestId: string,
    maxBytes: number,
  ): Promise<{ text: string; cut: boolean } | undefined> {
    const result = await Promise.race([
      this.#cdp.send("Network.getResponseBody", { requestId }, target.sessionId).catch(() => undefined),
      target.gone,
    ]);
    if (result === undefined) return undefined;
    const cutter = new Cutter();
    return {
      text: cutter.text(result.base64Encoded ? Buffer.from(result.body, "base64").toString() : result.body, maxBytes),
      cut: cutter.cut,
    };
  }
}

/** Status of other kinds of `proxy_error` on the wire: the gateway's own status becomes the code. */
const toldStatus = 502;

function proxyErrorCode(
  status: number,
):
  | "destination_blocked"
  | "upstream_timeout"
  | "upstream_dns_failure"
  | "upstream_connect_failed"
  | "proxy_unavailable" {
  if (status === 400 || status === 403) return "destination_blocked";
  if (status === 504) return "upstream_timeout";
  if (status === 502) return "upstream_dns_failure";
  return status >= 594 && status <= 596 ? "upstream_connect_failed" : "proxy_unavailable";
}

/** Returns how many bytes of a body are recorded; 0 for a body that is not text. */
function bodyBytes(mimeType: string | undefined): number {
  const type = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (/[/+](?:json|xml)$/.test(type) || type === "application/x-www-form-urlencoded" || type === "application/x-ndjson")
    return structuredBytes;
  return type.startsWith("text/") ||
    /^application\/(?:javascript|ecmascript|x-javascript|graphql|yaml|x-yaml)$/.test(type)
    ? textBytes
    : 0;
}

function postOf({ postDataEntries }: Protocol.Network.Request): string | undefined {
  if (postDataEntries === undefined) return undefined;
  const bytes = Buffer.concat(postDataEntries.map(({ bytes: part = "" }) => Buffer.from(part, "base64")));
  return bytes.length > 0 && isUtf8(bytes) ? bytes.toString() : undefined;
}

function answerOf(response: Protocol.Network.Response, cutter: Cutter) {
  return {
    status: response.status,
    status_text: response.statusText,
    headers: headersOf(response.headers, cutter),
    mime_type: response.mimeType,
  };
}

function headersOf(headers: Protocol.Network.Headers, cutter: Cutter): Record<string, unknown> {
  return Object.fromEntries(
    cutter
      .list(Object.entries(headers), maxHeaders)
      .map(([name, value]: [string, unknown]) => [
        name,
        typeof value === "string" ? cutter.text(value, maxUrlBytes) : value,
      ]),
  );
}
