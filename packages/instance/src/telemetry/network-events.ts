import { isUtf8 } from "node:buffer";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { type EgressFailure, egressErrors, egressTarget } from "../egress-failures.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, type WatchedTarget } from "./watched-target.ts";

/** The requests of a browser. */
export interface NetworkEvents {
  readonly requestSent: (target: WatchedTarget, event: Protocol.Network.RequestWillBeSentEvent) => void;
  readonly responseReceived: (target: WatchedTarget, event: Protocol.Network.ResponseReceivedEvent) => void;
  readonly dataReceived: (event: Protocol.Network.DataReceivedEvent) => void;
  readonly finished: (target: WatchedTarget, event: Protocol.Network.LoadingFinishedEvent) => void;
  readonly failed: (target: WatchedTarget, event: Protocol.Network.LoadingFailedEvent) => void;
  /** Forgets the requests of a target that is gone. */
  readonly forget: (target: WatchedTarget) => void;
  /** Forgets all requests. */
  readonly clear: () => void;
}

interface Exchange {
  /** The target that sent it; a frame's document is asked for by the page around it. */
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
/** Requests whose end is waited for; beyond, the oldest is forgotten. */
const maxOpen = 20_000;
/** Bodies that the browser is asked for at once: others wait on the same connection. */
const maxBodyReads = 16;
/** The browser hands over whole bodies only; larger ones are left out. */
const maxReadBytes = 4 * 2 ** 20;
const structuredBytes = 8 * 1024;
const textBytes = 4 * 1024;
const maxPostBytes = 64 * 1024;
const maxHeaders = 200;

/** Why the egress gateway has just not reached `host:port`: the browser does not report it. */
export type FailureOf = (target: string) => Promise<EgressFailure | undefined>;

/** Tells what pages and workers send and receive. */
export function networkEvents(cdp: CdpConnection, recorder: TelemetryRecorder, failureOf: FailureOf): NetworkEvents {
  // Numbers of requests are the browser's own, and an exchange may go on in another target than it began in.
  const open = new Map<string, Exchange>();
  const counts = new Map<WatchedTarget, number>();
  const idleTimers = new Map<WatchedTarget, NodeJS.Timeout>();
  const waiting: (() => Promise<void>)[] = [];
  let reading = 0;

  function begin(requestId: string, exchange: Exchange): void {
    end(requestId);
    open.set(requestId, exchange);
    counts.set(exchange.target, (counts.get(exchange.target) ?? 0) + 1);
    clearTimeout(idleTimers.get(exchange.target));
    if (open.size <= maxOpen) return;
    for (const oldest of open.keys()) {
      end(oldest);
      break;
    }
  }

  function end(requestId: string): Exchange | undefined {
    const exchange = open.get(requestId);
    if (exchange === undefined) return undefined;
    open.delete(requestId);
    const { target } = exchange;
    const left = (counts.get(target) ?? 1) - 1;
    counts.set(target, left);
    if (left === 0 && target.kind === "page") {
      clearTimeout(idleTimers.get(target));
      idleTimers.set(target, setTimeout(tellIdle, idleMs, target).unref());
    }
    return exchange;
  }

  function tellIdle(target: WatchedTarget): void {
    recorder.record({ type: "network_idle", category: "network", source: { kind: "cdp" }, data: contextOf(target, undefined) });
  }

  function whereOf(target: WatchedTarget, exchange: Exchange | undefined, cutter: Cutter) {
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

  function tellResponse(
    target: WatchedTarget,
    requestId: string,
    exchange: Exchange | undefined,
    body: { text: string; cut: boolean } | undefined,
  ): void {
    const cutter = new Cutter();
    cutter.cut = body?.cut === true;
    const response = exchange?.response;
    recorder.record({
      type: "network_response",
      category: "network",
      source: { kind: "cdp", event: "Network.loadingFinished" },
      data: {
        ...whereOf(target, exchange, cutter),
        request_id: requestId,
        ...(exchange?.method !== undefined && { method: exchange.method }),
        ...(response && {
          status: response.status,
          status_text: response.statusText,
          headers: headersOf(response.headers, cutter),
          mime_type: response.mimeType,
        }),
        ...(body !== undefined && body.text !== "" && { body: body.text }),
      },
      ...cutter.mark,
    });
  }

  function tellProxyError(target: WatchedTarget, requestId: string, exchange: Exchange, status: number): void {
    const cutter = new Cutter();
    recorder.record({
      type: "proxy_error",
      category: "network",
      source: { kind: "cdp" },
      data: {
        ...whereOf(target, exchange, cutter),
        request_id: requestId,
        code: proxyErrorCode(status),
        status: toldStatus,
        ...(exchange.method !== undefined && { method: exchange.method }),
      },
      ...cutter.mark,
    });
  }

  function tellFailed(
    target: WatchedTarget,
    exchange: Exchange | undefined,
    { canceled, errorText, requestId, type }: Protocol.Network.LoadingFailedEvent,
  ): void {
    const cutter = new Cutter();
    recorder.record({
      type: "network_loading_failed",
      category: "network",
      source: { kind: "cdp", event: "Network.loadingFailed" },
      data: {
        ...whereOf(target, exchange, cutter),
        request_id: requestId,
        error_text: errorText,
        canceled: canceled === true,
        resource_type: exchange?.resourceType ?? type,
      },
      ...cutter.mark,
    });
  }

  async function readBody(target: WatchedTarget, requestId: string, maxBytes: number): Promise<{ text: string; cut: boolean } | undefined> {
    const result = await Promise.race([cdp.send("Network.getResponseBody", { requestId }, target.sessionId).catch(() => undefined), target.gone]);
    if (result === undefined) return undefined;
    const cutter = new Cutter();
    return { text: cutter.text(result.base64Encoded ? Buffer.from(result.body, "base64").toString() : result.body, maxBytes), cut: cutter.cut };
  }

  function nextRead(): void {
    while (reading < maxBodyReads) {
      const read = waiting.shift();
      if (read === undefined) return;
      reading++;
      void read().finally(() => {
        reading--;
        nextRead();
      });
    }
  }

  return {
    requestSent(target, { documentURL, frameId, initiator, loaderId, redirectResponse, request, requestId, type }) {
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
      begin(requestId, exchange);
      const post = postOf(request);
      recorder.record({
        type: "network_request",
        category: "network",
        source: { kind: "cdp", event: "Network.requestWillBeSent" },
        data: {
          ...whereOf(target, exchange, cutter),
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
    },
    responseReceived(target, { frameId, loaderId, requestId, response, type }) {
      const known = open.get(requestId);
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
      // It was sent before the watch began.
      if (known === undefined) begin(requestId, exchange);
    },
    dataReceived({ dataLength, requestId }) {
      const exchange = open.get(requestId);
      if (exchange !== undefined) exchange.dataBytes += dataLength;
    },
    finished(target, { requestId }) {
      const exchange = end(requestId);
      const maxBytes = bodyBytes(exchange?.response?.mimeType);
      if (maxBytes === 0 || exchange === undefined || exchange.dataBytes === 0) tellResponse(target, requestId, exchange, undefined);
      else if (exchange.dataBytes > maxReadBytes) tellResponse(target, requestId, exchange, { text: "", cut: true });
      else {
        waiting.push(async () => {
          tellResponse(target, requestId, exchange, await readBody(target, requestId, maxBytes));
        });
        nextRead();
      }
    },
    failed(target, event) {
      const { errorText, requestId } = event;
      const exchange = end(requestId);
      if (exchange?.url === undefined || !egressErrors.has(errorText)) {
        tellFailed(target, exchange, event);
        return;
      }
      void failureOf(egressTarget(exchange.url)).then((failure) => {
        if (failure !== undefined) tellProxyError(target, requestId, exchange, failure.status);
        tellFailed(target, exchange, event);
      });
    },
    forget(target) {
      for (const [requestId, exchange] of open) if (exchange.target === target) open.delete(requestId);
      counts.delete(target);
      clearTimeout(idleTimers.get(target));
      idleTimers.delete(target);
    },
    clear() {
      open.clear();
      counts.clear();
      for (const timer of idleTimers.values()) clearTimeout(timer);
      idleTimers.clear();
    },
  };
}

/** Of every `proxy_error`, by the wire: the gateway's own statuses become its code. */
const toldStatus = 502;

function proxyErrorCode(
  status: number,
): "destination_blocked" | "upstream_timeout" | "upstream_dns_failure" | "upstream_connect_failed" | "proxy_unavailable" {
  if (status === 400 || status === 403) return "destination_blocked";
  if (status === 504) return "upstream_timeout";
  if (status === 502) return "upstream_dns_failure";
  return status >= 594 && status <= 596 ? "upstream_connect_failed" : "proxy_unavailable";
}

/** How much of a body is told; 0 where it is no text. */
function bodyBytes(mimeType: string | undefined): number {
  const type = mimeType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (/[/+](?:json|xml)$/.test(type) || type === "application/x-www-form-urlencoded" || type === "application/x-ndjson") return structuredBytes;
  return type.startsWith("text/") || /^application\/(?:javascript|ecmascript|x-javascript|graphql|yaml|x-yaml)$/.test(type) ? textBytes : 0;
}

/** What was sent, where the browser has it as text. */
function postOf({ postDataEntries }: Protocol.Network.Request): string | undefined {
  if (postDataEntries === undefined) return undefined;
  const bytes = Buffer.concat(postDataEntries.map(({ bytes: part = "" }) => Buffer.from(part, "base64")));
  return bytes.length > 0 && isUtf8(bytes) ? bytes.toString() : undefined;
}

function headersOf(headers: Protocol.Network.Headers, cutter: Cutter): Record<string, unknown> {
  return Object.fromEntries(
    cutter
      .list(Object.entries(headers), maxHeaders)
      .map(([name, value]: [string, unknown]) => [name, typeof value === "string" ? cutter.text(value, maxUrlBytes) : value]),
  );
}
