import { replayPagePath } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import { RequestTaken } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createReadStream, readFileSync } from "node:fs";
import { type HtmlPage, htmlPage, refusalPage, sendPage } from "../html/html-page.ts";
import { byteRange } from "./byte-range.ts";
import { chaptersOf } from "./chapters.ts";
import type { ReplayAddresses } from "./replay-address.ts";
import type { ReplayStore } from "./replay-store.ts";

export interface ReplayViewParts {
  readonly addresses: ReplayAddresses;
  readonly store: Pick<ReplayStore, "film" | "find" | "show">;
  /**
   * Sees to it that the server answers which has the session's files.
   *
   * @throws {RequestTaken} when another one has taken the request.
   */
  readonly atHome: (request: FastifyRequest, sessionId: string) => Promise<unknown>;
  /** Sites that may show the page in a frame; empty = none. */
  readonly frameAncestors: readonly string[];
  /** Called for an address that opens nothing, before it is refused. */
  readonly onRefused: (request: FastifyRequest) => void;
}

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

const chunkBytes = 256 * 1024;
/** Seconds until a film may be whole. */
const retryAfterSeconds = 2;

/** Serves `replay_view_url`: a page around a recording, what it says of it, its chapters, and the film in parts. */
export function serveReplayView(app: FastifyInstance, { addresses, store, atHome, frameAncestors, onRefused }: ReplayViewParts): void {
  let page: HtmlPage | undefined;

  async function open(request: TokenRequest): Promise<{ readonly sessionId: string; readonly replayId: string }> {
    let opened: ReturnType<ReplayAddresses["open"]>;
    try {
      opened = addresses.open(request.params.token);
    } catch (error) {
      onRefused(request);
      throw error;
    }
    await atHome(request, opened.sessionId);
    return opened;
  }

  /** @param answer - not called when another server has answered. */
  function serve(path: string, answer: (request: TokenRequest, reply: FastifyReply) => Promise<unknown>): void {
    app.route<{ Params: { token: string } }>({
      method: ["GET", "HEAD"],
      url: `/browser/replay/:token${path}`,
      exposeHeadRoute: false,
      async handler(request, reply) {
        try {
          await answer(request, reply);
        } catch (error) {
          if (!(error instanceof RequestTaken)) throw error;
        }
        return reply;
      },
    });
  }

  serve("", async (request, reply) => {
    try {
      const { sessionId, replayId } = await open(request);
      await store.find(sessionId, replayId);
      sendPage(reply, 200, (page ??= htmlPage(readFileSync(replayPagePath, "utf8"))), frameAncestors);
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      const isGone = error.status === 404;
      sendPage(
        reply,
        error.status,
        refusalPage(
          isGone ? "The recording is not there" : "This address opens nothing",
          isGone ? "It was removed: recordings are kept for a while after their end." : error.message,
        ),
        frameAncestors,
      );
    }
  });

  serve("/info", async (request, reply) => {
    const { sessionId, replayId } = await open(request);
    const { going } = await store.find(sessionId, replayId);
    const { started_at, finished_at, failure_reason, marks } = await store.show(sessionId, replayId);
    const film = going ? undefined : await store.film(sessionId, replayId).catch(() => undefined);
    await reply.header("cache-control", "no-store").send({ started_at, finished_at, failure_reason, marks: marks ?? [], ready: film !== undefined });
  });

  serve("/chapters", async (request, reply) => {
    const { sessionId, replayId } = await open(request);
    await reply
      .header("content-type", "text/vtt; charset=utf-8")
      .header("cache-control", "no-store")
      .send(chaptersOf(await store.show(sessionId, replayId)));
  });

  serve("/film", async (request, reply) => {
    const { sessionId, replayId } = await open(request);
    const film = await store.film(sessionId, replayId);
    if (film === undefined) {
      await reply.code(202).header("retry-after", retryAfterSeconds).send();
      return;
    }
    const { path, sizeBytes: size } = film;
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
    await reply.send(request.method === "HEAD" || end < start ? undefined : createReadStream(path, { start, end, highWaterMark: chunkBytes }));
  });
}
