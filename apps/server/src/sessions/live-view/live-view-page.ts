import { liveViewPagePath } from "@shoal/instance";
import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type HtmlPage, htmlPage, refusalPage, refusedLinkPage, sendPage } from "../../http/pages/html-page.ts";
import { type AdmittedView, admitLiveView, type LiveViewGate } from "./live-view-address.ts";

/** The task of the person, for the page. */
export interface ShownHandoff {
  readonly status: string;
  readonly message: string;
  readonly expires_at: string;
}

export interface LiveViewParts extends LiveViewGate {
  /** @returns `undefined` for other links. */
  readonly handoffOf: (view: AdmittedView) => Promise<ShownHandoff | undefined>;
  /** @returns the address of its latest recording, relative to that of the live view; `undefined` without one. */
  readonly recordingOf: (sessionId: string) => Promise<string | undefined>;
  readonly store: {
    find(
      projectId: undefined,
      id: string,
      includeEnded: true,
    ): Promise<{ readonly ended_at: string | null; readonly ended_reason: string | null } | undefined>;
  };
  /** Sites that may embed the page, as in CSP `frame-ancestors`; empty = none. */
  readonly frameAncestors: readonly string[];
  /** Sites that may embed the sign-in page, which embeds live views. */
  readonly signInFrameAncestors: readonly string[];
  readonly onRefused: (request: IncomingMessage) => void;
}

interface ViewState {
  readonly shown:
    | { readonly state: "running"; readonly handoff?: ShownHandoff }
    | { readonly state: "ended"; readonly ended_reason: string | null; readonly recording_url?: string };
  readonly embedders: readonly string[];
}

const endings: Readonly<Record<string, string>> = {
  deleted: "It was deleted.",
  timeout: "It was idle for its timeout.",
  disconnected: "Its last client left.",
  browser_crashed: "Its browser crashed twice.",
  instance_lost: "Its process was lost.",
  server_stopped: "The service was stopped.",
};

export function serveLiveView(
  app: FastifyInstance,
  { handoffOf, recordingOf, store, frameAncestors, signInFrameAncestors, onRefused, ...gate }: LiveViewParts,
): void {
  let loaded: HtmlPage | undefined;

  async function stateOf(request: IncomingMessage, token: string): Promise<ViewState> {
    let access: AdmittedView;
    try {
      access = await admitLiveView(gate, token);
    } catch (error) {
      if (ServiceError.isInstance(error)) onRefused(request);
      throw error;
    }
    const row = await store.find(undefined, access.sessionId, true);
    const embedders = access.isForLogin ? ["self", ...frameAncestors, ...signInFrameAncestors] : frameAncestors;
    if (row?.ended_at !== null) {
      // Links for a person and for a login do not include recordings.
      const isLimited = access.link !== undefined || access.isForLogin;
      const recording_url = isLimited ? undefined : await recordingOf(access.sessionId);
      const ended_reason = row?.ended_reason ?? null;
      return {
        shown: { state: "ended", ended_reason, ...(recording_url !== undefined && { recording_url }) },
        embedders,
      };
    }
    const handoff = await handoffOf(access);
    return { shown: { state: "running", ...(handoff && { handoff }) }, embedders };
  }

  app.get<{ Params: { token: string } }>("/browser/live/:token", { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const { embedders, shown } = await stateOf(request.raw, request.params.token);
      if (shown.state === "ended") {
        const ending = endings[shown.ended_reason ?? ""] ?? "Start a new session.";
        const link =
          shown.recording_url === undefined
            ? ""
            : ` <a href="${shown.recording_url}" target="_blank">Watch its recording</a>`;
        sendPage(reply, 404, refusalPage("The session has ended", ending + link), embedders);
      } else sendPage(reply, 200, (loaded ??= htmlPage(readFileSync(liveViewPagePath, "utf8"))), embedders);
    } catch (error) {
      if (!ServiceError.isInstance(error)) throw error;
      sendPage(reply, error.status, refusedLinkPage(error), frameAncestors);
    }
    return reply;
  });
  app.get<{ Params: { token: string } }>(
    "/browser/live/:token/state",
    { exposeHeadRoute: false },
    async (request, reply) => {
      void reply.header("cache-control", "no-store");
      return (await stateOf(request.raw, request.params.token)).shown;
    },
  );
}
