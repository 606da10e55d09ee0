import { readBody, ServiceError } from "@shoal/router";
import { requestIdOf } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import type { RequestOrigins } from "../../http/request-origin.ts";
import { personNoteOf } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import { type AdmittedView, admitLiveView, type LiveViewGate } from "../live-view/live-view-address.ts";
import type { Handoffs } from "./handoffs.ts";

export interface PersonRouteParts extends LiveViewGate {
  readonly handoffs: Pick<Handoffs, "endById" | "store" | "takeById">;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly origins: Pick<RequestOrigins, "clientIpOf">;
  readonly onRefused: (request: IncomingMessage) => void;
}

/** In bytes; the note has at most 2000 characters. */
const maxBodyBytes = 16_384;
const maxNoteCharacters = 2_000;

interface Route {
  readonly Params: { readonly token: string };
}

/** The buttons of a person's page. The token in the path is the only credential. */
export function servePersonRoutes(app: FastifyInstance, parts: PersonRouteParts): void {
  const { handoffs } = parts;
  app.post<Route>("/browser/live/:token/handoff/take", (request, reply) => {
    void reply.header("cache-control", "no-store");
    return recorded(parts, request, { token: request.params.token, action: "take" }, async (id) => {
      await handoffs.takeById(id);
      return { status: "taken" };
    });
  });
  app.post<Route>("/browser/live/:token/handoff/release", (request, reply) => {
    void reply.header("cache-control", "no-store");
    return recorded(parts, request, { token: request.params.token, action: "release" }, async (id, view) => {
      const note = await noteIn(request.raw);
      const end = { status: "released", released_by: view.person?.label ?? "person", note } as const;
      await handoffs.endById(id, end);
      return { status: "released" };
    });
  });
}

async function recorded(
  parts: PersonRouteParts,
  request: FastifyRequest,
  { action, token }: { readonly action: "take" | "release"; readonly token: string },
  work: (handoffId: string, view: AdmittedView) => Promise<object>,
): Promise<object> {
  const beganMs = performance.now();
  const view = await admitted(parts, request.raw, token);
  const { link, person, sessionId } = view;
  let status = 200;
  try {
    if (link?.kind !== "handoff" || person === undefined)
      throw new ServiceError(404, "not_found", "This is a link to a live view, not to a handoff.", {
        hint: "Open it in a browser.",
      });
    return await work(link.id, view);
  } catch (error) {
    status = ServiceError.isInstance(error) ? error.status : 500;
    throw error;
  } finally {
    const row = link?.kind === "handoff" ? await parts.handoffs.store.find(link.id).catch(() => undefined) : undefined;
    parts.recorder.note(
      personNoteOf(request.raw, {
        action,
        sessionId,
        person,
        projectId: row?.project_id ?? null,
        status,
        durationMs: performance.now() - beganMs,
        clientIp: parts.origins.clientIpOf(request.raw),
        requestId: requestIdOf(request.raw.headers),
      }),
    );
  }
}

async function admitted(parts: PersonRouteParts, request: IncomingMessage, token: string): Promise<AdmittedView> {
  try {
    return await admitLiveView(parts, token);
  } catch (error) {
    if (ServiceError.isInstance(error)) parts.onRefused(request);
    throw error;
  }
}

/** Reads the body as text, so that the page needs no preflight and no parser. */
async function noteIn(request: IncomingMessage): Promise<string | null> {
  const bytes = await readBody(request, maxBodyBytes);
  const text = bytes.toString().replaceAll("\0", "").toWellFormed().trim().slice(0, maxNoteCharacters);
  return text === "" ? null : text.toWellFormed();
}
