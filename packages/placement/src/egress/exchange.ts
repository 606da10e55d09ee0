import type { ExitHeaders } from "../interface/egress.ts";
import type { ExchangeRequest, PlayedExchange } from "../interface/exchanges.ts";
import { exchangeRequest, playAnswer } from "./exchanges/play.ts";
import { maxHeldBytes, maxHeldPerSession, readBody } from "./exchanges/request-body.ts";
import { EgressFailure } from "./failure.ts";
import { type Forwarding, forwardRequest } from "./forward.ts";
import { explainRoute } from "./route.ts";
import type { IncomingMessage, ServerResponse } from "node:http";

const maxShownUrl = 300;

/** One request of the browser, and the ways to answer it. */
export interface Exchanging {
  readonly exit: Pick<ExitHeaders, "player" | "recorder"> | undefined;
  /** Absolute. */
  readonly url: string;
  /** Finds the way to the host. */
  readonly forwarding: () => Promise<Forwarding>;
  readonly onMissing: (failure: EgressFailure) => void;
}

/** Answers from the recording of the session, or forwards the request. @throws {EgressFailure} before the answer begins. */
export async function answerRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { exit: { player, recorder } = {}, forwarding, onMissing, url }: Exchanging,
): Promise<void> {
  const asked = exchangeRequest(request, url);
  if (player === undefined) {
    const way = await forwarding();
    await forwardRequest(request, response, { ...way, recorded: recorder?.begin(asked) }).catch(explainPlain(way));
    return;
  }
  if (!player.knows(asked) && player.passes) {
    const way = await forwarding();
    await forwardRequest(request, response, way).catch(explainPlain(way));
    return;
  }
  const { bytes: body, digest } = await readBody(request, response, player);
  const played = player.next(asked, digest);
  if (played !== undefined) {
    const unreadable = await playAnswer(response, played).then(
      () => undefined,
      (error: unknown) => {
        if (response.headersSent || response.closed) throw error;
        return missing(`The answer to ${nameOf(asked)} cannot be read from the recording. It may have been deleted.`);
      },
    );
    if (unreadable !== undefined) refuse(response, unreadable, onMissing);
    return;
  }
  if (player.passes && body !== undefined) {
    const way = await forwarding();
    await forwardRequest(request, response, { ...way, body }).catch(explainPlain(way));
    return;
  }
  const failure = missing(
    player.passes
      ? `The body of ${nameOf(asked)} cannot leave a session that replays a recording: it has more than ${inMiB(maxHeldBytes)}, or this and other requests have more than ${inMiB(maxHeldPerSession)}.`
      : player.explain(asked),
  );
  refuse(response, failure, onMissing);
}

function refuse(response: ServerResponse, failure: EgressFailure, onMissing: Exchanging["onMissing"]): void {
  onMissing(failure);
  const { message, proxyError, status } = failure;
  const headers = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" };
  response.writeHead(status, "Not In Recording", { ...headers, "x-shoal-proxy-error": proxyError }).end(`${message}\n`);
}

function nameOf({ method, url }: ExchangeRequest): string {
  return `${method} ${url.length > maxShownUrl ? `${url.slice(0, maxShownUrl)}…` : url}`;
}

function inMiB(bytes: number): string {
  return `${String(bytes / 2 ** 20)} MiB`;
}

/** In a tunnel, each connection explains its own failure. */
function explainPlain({ route, way }: Forwarding): (error: unknown) => never {
  if (way === "requests") return explainRoute(route);
  return (error) => {
    throw error;
  };
}

/** For a program of a session that replays a recording. */
export function programOffline(host: string): EgressFailure {
  return new EgressFailure(
    403,
    `This session replays a recording, so its programs cannot reach ${host}. Use its browser, or create the session with replay.on_missing: "pass".`,
  );
}

/** @returns the recorded WebSocket; `undefined` if the request goes to the network. @throws {EgressFailure} 504. */
export function playedSocket(exit: Pick<ExitHeaders, "player">, asked: ExchangeRequest): PlayedExchange | undefined {
  const { player } = exit;
  const played = player?.next(asked, "");
  if (player === undefined || played !== undefined || player.passes) return played;
  throw missing(player.explain(asked));
}

function missing(message: string): EgressFailure {
  return new EgressFailure(504, message, { code: "Not In Recording", proxyError: "not_in_recording" });
}
