import type { OperationsOf } from "@shoal/contract";
import {
  browserNotFound,
  handoffActive,
  handoffNotFound,
  liveViewLinkNotFound,
  tooManyLiveViewLinks,
} from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Handoff, LiveViewLink } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type { Access } from "../state/access.ts";
import { announceHandoff, endHandoff } from "../state/handoffs.ts";
import { pageOf } from "../state/listing.ts";
import type { SessionRow, Store } from "../state/store.ts";
import { runningSession } from "../areas/browsers.ts";

const maxLinks = 100;
const pollMs = 20;

function expireDue(store: Store, session: SessionRow): void {
  const latest = session.handoffs.at(-1);
  if (latest !== undefined && Date.parse(latest.expires_at) <= Date.now())
    endHandoff(store, session, { status: "expired" });
}

/** Nothing pauses, because no browser runs. `endHandoff` of the fake acts as the person. */
export function handoffHandlers(store: Store): Handlers<OperationsOf<"browsers.handoff">, Access> {
  function existing(projectId: string, idOrName: string): SessionRow {
    const found = store.findSession(projectId, idOrName);
    if (found === undefined) throw ServiceError.of(browserNotFound(idOrName));
    expireDue(store, found);
    return found;
  }
  function latest(projectId: string, idOrName: string, handoffId?: string): Handoff {
    const session = existing(projectId, idOrName);
    const found =
      handoffId === undefined ? session.handoffs.at(-1) : session.handoffs.find(({ id }) => id === handoffId);
    if (found === undefined) throw ServiceError.of(handoffNotFound(session.id));
    return found;
  }
  return {
    requestHandoff({ body, context, params }) {
      const session = runningSession(store, context.projectId, params.id);
      expireDue(store, session);
      if (session.handoffs.at(-1)?.ended_at === null) throw ServiceError.of(handoffActive(session.id));
      const now = Date.now();
      const handoff: Handoff = {
        id: createId(),
        session_id: session.id,
        status: "requested",
        message: body.message,
        on_automation: body.on_automation,
        label: body.label ?? null,
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + body.timeout_seconds * 1000).toISOString(),
        taken_at: null,
        taken_by: null,
        ended_at: null,
        released_by: null,
        note: null,
      };
      session.handoffs.push(handoff);
      announceHandoff(store.webhooks, session, handoff);
      return shown(handoff, context);
    },
    async getHandoff({ context, params, query, signal }) {
      const until = performance.now() + query.wait_seconds * 1000;
      for (;;) {
        const handoff = latest(context.projectId, params.id, query.handoff_id);
        if (handoff.ended_at !== null || performance.now() >= until) return shown(handoff, context);
        await delay(pollMs, undefined, { signal });
      }
    },
    releaseHandoff({ body, context, params }) {
      const handoff = latest(context.projectId, params.id);
      const end = { status: "released", released_by: "program", note: body.note ?? null } as const;
      endHandoff(store, existing(context.projectId, params.id), end);
      return shown(handoff, context);
    },
    cancelHandoff({ context, params }) {
      const handoff = latest(context.projectId, params.id);
      endHandoff(store, existing(context.projectId, params.id), { status: "canceled" });
      return shown(handoff, context);
    },
  };
}

export function liveViewLinkHandlers(store: Store): Handlers<OperationsOf<"browsers.liveViewLinks">, Access> {
  const valid = (session: SessionRow): LiveViewLink[] =>
    session.links.filter(({ expires_at }) => Date.parse(expires_at) > Date.now());
  return {
    createLiveViewLink({ body, context, params }) {
      const session = runningSession(store, context.projectId, params.id);
      if (valid(session).length >= maxLinks) throw ServiceError.of(tooManyLiveViewLinks(maxLinks));
      const now = Date.now();
      const link: LiveViewLink = {
        id: createId(),
        session_id: session.id,
        scope: body.scope,
        label: body.label ?? null,
        created_at: new Date(now).toISOString(),
        expires_at: new Date(now + body.expires_in_seconds * 1000).toISOString(),
      };
      session.links.push(link);
      return { ...link, url: `${context.baseUrl}/browser/live/${session.id}.${link.id}` };
    },
    listLiveViewLinks({ context, params, query }) {
      const session = runningSession(store, context.projectId, params.id);
      return pageOf(valid(session).reverse(), query, (link) => link);
    },
    deleteLiveViewLink({ context, params }) {
      const session = runningSession(store, context.projectId, params.id);
      const index = session.links.findIndex(({ id }) => id === params.link_id);
      if (index === -1) throw ServiceError.of(liveViewLinkNotFound(params.link_id));
      session.links.splice(index, 1);
    },
  };
}

function shown(handoff: Handoff, { baseUrl }: Access): Handoff {
  if (handoff.ended_at !== null) return { ...handoff };
  return { ...handoff, url: `${baseUrl}/browser/live/${handoff.session_id}.${handoff.id}` };
}
