import { liveViewPagePath } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import type { IssuingKeys } from "../auth/issuing-keys.ts";
import type { SessionStore } from "../browsers/session-store.ts";
import { type HtmlPage, htmlPage, refusalPage, sendPage } from "../html/html-page.ts";
import type { LiveViewAddresses } from "./live-view-address.ts";

export interface LiveViewParts {
  readonly addresses: LiveViewAddresses;
  readonly issuingKeys: IssuingKeys;
  readonly store: Pick<SessionStore, "find">;
  /** Sites that may show the page in a frame, as CSP's `frame-ancestors` names them; empty = none. */
  readonly frameAncestors: readonly string[];
  /** Called for an address that opens nothing, before it is refused. */
  readonly onRefused: (request: IncomingMessage) => void;
}

const endings: Readonly<Record<string, string>> = {
  deleted: "It was deleted.",
  timeout: "Nobody used it for its timeout.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "The program that ran it was lost.",
  server_stopped: "The service was stopped.",
};

/** Serves the page of live views, and what it asks for beside the WebSocket: whether its session still runs. */
export function serveLiveView(app: FastifyInstance, { addresses, issuingKeys, store, frameAncestors, onRefused }: LiveViewParts): void {
  let loaded: HtmlPage | undefined;

  async function stateOf(
    request: IncomingMessage,
    token: string,
  ): Promise<{ readonly state: "running" } | { readonly state: "ended"; readonly ended_reason: string | null }> {
    let sessionId: string;
    try {
      const access = addresses.open(token);
      await issuingKeys.require(access.keyId);
      ({ sessionId } = access);
    } catch (error) {
      if (ServiceError.isInstance(error)) onRefused(request);
      throw error;
    }
    const row = await store.find(undefined, sessionId, true);
    return row?.ended_at !== null ? { state: "ended", ended_reason: row?.ended_reason ?? null } : { state: "running" };
  }

  app.get<{ Params: { token: string } }>("/browser/live/:token", { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const state = await stateOf(request.raw, request.params.token);
      if (state.state === "ended")
        sendPage(reply, 404, refusalPage("The session has ended", endings[state.ended_reason ?? ""] ?? "Start another one."), frameAncestors);
      else sendPage(reply, 200, (loaded ??= htmlPage(readFileSync(liveViewPagePath, "utf8"))), frameAncestors);
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      sendPage(reply, error.status, refusalPage("This address opens nothing", error.message), frameAncestors);
    }
    return reply;
  });
  app.get<{ Params: { token: string } }>("/browser/live/:token/state", { exposeHeadRoute: false }, async (request, reply) => {
    void reply.header("cache-control", "no-store");
    return stateOf(request.raw, request.params.token);
  });
}
