import { ServiceError } from "@shoal/router";
import { RequestTaken } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { type HtmlPage, refusalPage, refusedLinkPage, sendPage } from "../../http/pages/html-page.ts";
import { byteRange } from "./byte-range.ts";
import { chaptersOf } from "./chapters.ts";
import type { ReplayAddresses } from "./replay-address.ts";
import type { OpenedFilm } from "./film.ts";
import type { ReplayStore } from "./replay-store.ts";

export interface ReplayViewParts {
  readonly addresses: ReplayAddresses;
  readonly store: Pick<ReplayStore, "film" | "find" | "show">;
  /** `undefined` for sessions without a name, and for deleted ones. */
  readonly nameOf: (sessionId: string) => Promise<string | undefined>;
  /** Forwards to the server that has the files of the session. @throws {RequestTaken} when another server answers. */
  readonly atHome: (request: FastifyRequest, sessionId: string) => Promise<unknown>;
  /** Sites that may embed the page; empty = none. */
  readonly frameAncestors: readonly string[];
  readonly onRefused: (request: FastifyRequest) => void;
  /** The page that plays a recording. */
  readonly page: (request: IncomingMessage) => Promise<HtmlPage>;
}

interface TokenRoute {
  readonly Params: { readonly token: string };
  readonly Querystring: { readonly bytes?: unknown };
}
type TokenRequest = FastifyRequest<TokenRoute>;

/** Reload interval while a film is incomplete. */
const retryAfterSeconds = 2;

/** Serves `replay_view_url`: the page of a recording, its description, chapters, and the film in ranges. */
export function serveReplayView(app: FastifyInstance, parts: ReplayViewParts): void {
  const view = new ReplayView(parts);
  const pages: Readonly<Record<string, (request: TokenRequest, reply: FastifyReply) => Promise<void>>> = {
    "": (request, reply) => view.page(request, reply),
    "/info": (request, reply) => view.info(request, reply),
    "/chapters": (request, reply) => view.chapters(request, reply),
    "/film": (request, reply) => view.film(request, reply),
  };
  for (const [path, answer] of Object.entries(pages))
    app.route<TokenRoute>({
      method: ["GET", "HEAD"],
      url: `/browser/replay/:token${path}`,
      exposeHeadRoute: false,
      async handler(request, reply) {
        try {
          await answer(request, reply);
        } catch (error) {
          // Another server answered.
          if (!(error instanceof RequestTaken)) throw error;
        }
        return reply;
      },
    });
}

interface NamedReplay {
  readonly sessionId: string;
  readonly replayId: string;
}

class ReplayView {
  readonly #parts: ReplayViewParts;

  constructor(parts: ReplayViewParts) {
    this.#parts = parts;
  }

  async page(request: TokenRequest, reply: FastifyReply): Promise<void> {
    const { frameAncestors, page, store } = this.#parts;
    try {
      const { sessionId, replayId } = await this.#open(request);
      await store.find(sessionId, replayId);
      sendPage(reply, 200, await page(request.raw), frameAncestors);
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      sendPage(reply, error.status, explained(error), frameAncestors);
    }
  }

  async info(request: TokenRequest, reply: FastifyReply): Promise<void> {
    const { nameOf, store } = this.#parts;
    const { sessionId, replayId } = await this.#open(request);
    const { going } = await store.find(sessionId, replayId);
    const { started_at, finished_at, failure_reason, marks } = await store.show(sessionId, replayId);
    const film = await store.film(sessionId, replayId, true).catch(() => undefined);
    await reply.header("cache-control", "no-store").send({
      session_name: await nameOf(sessionId),
      started_at,
      finished_at,
      failure_reason,
      marks: marks ?? [],
      ready: film !== undefined && !going,
      recorded_bytes: going ? film?.sizeBytes : undefined,
    });
  }

  async chapters(request: TokenRequest, reply: FastifyReply): Promise<void> {
    const { sessionId, replayId } = await this.#open(request);
    await reply
      .header("content-type", "text/vtt; charset=utf-8")
      .header("cache-control", "no-store")
      .send(chaptersOf(await this.#parts.store.show(sessionId, replayId)));
  }

  async film(request: TokenRequest, reply: FastifyReply): Promise<void> {
    const { sessionId, replayId } = await this.#open(request);
    const bytes = firstBytes(request.query.bytes);
    const film = await this.#parts.store.film(sessionId, replayId, bytes !== undefined);
    if (film === undefined) await reply.code(202).header("retry-after", retryAfterSeconds).send();
    else await sendFilm(request, reply, { ...film, sizeBytes: Math.min(film.sizeBytes, bytes ?? Infinity), replayId });
  }

  /** Forwards to the server that has the files of the session. @throws {RequestTaken} when that is another server. */
  async #open(request: TokenRequest): Promise<NamedReplay> {
    const { addresses, atHome, onRefused } = this.#parts;
    let opened: NamedReplay;
    try {
      opened = addresses.open(request.params.token);
    } catch (error) {
      onRefused(request);
      throw error;
    }
    await atHome(request, opened.sessionId);
    return opened;
  }
}

/** A player requests the film so far by its length, because all its ranges must be parts of one file. */
function firstBytes(text: unknown): number | undefined {
  return typeof text === "string" && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
}

function explained(error: ServiceError): HtmlPage {
  return error.status === 404
    ? refusalPage("Recording not found", "It was deleted: recordings are kept for a limited time.")
    : refusedLinkPage(error);
}

async function sendFilm(
  request: FastifyRequest,
  reply: FastifyReply,
  { read, replayId, sizeBytes: size }: OpenedFilm & { readonly replayId: string },
): Promise<void> {
  const tag = `"${replayId}-${String(size)}"`;
  const { "if-range": ifRange } = request.headers;
  const range = ifRange === undefined || ifRange === tag ? byteRange(request.headers.range, size) : "whole";
  void reply.headers({
    "accept-ranges": "bytes",
    "content-type": "video/mp4",
    etag: tag,
    "cache-control": "private, max-age=3600",
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  if (range === "beyond") {
    await reply
      .code(416)
      .header("content-range", `bytes */${String(size)}`)
      .send();
    return;
  }
  const { start, end } = range === "whole" ? { start: 0, end: size - 1 } : range;
  void reply.code(range === "whole" ? 200 : 206).header("content-length", end - start + 1);
  if (range !== "whole") void reply.header("content-range", `bytes ${String(start)}-${String(end)}/${String(size)}`);
  await reply.send(request.method === "HEAD" || end < start ? undefined : read({ start, end }));
}
