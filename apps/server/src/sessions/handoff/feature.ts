import type { FastifyInstance } from "fastify";
import type { IncomingMessage } from "node:http";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import type { Entering } from "../../host/entering.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import type { SessionStore } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { LiveViewAddresses, LiveViewGate } from "../live-view/live-view-address.ts";
import { type LiveViewParts, serveLiveView } from "../live-view/live-view-page.ts";
import { handoffHandlers, liveViewLinkHandlers, sharedLinkHandler, shownHandoff } from "./handlers.ts";
import type { HandoffGate } from "./handoff-gate.ts";
import { Handoffs } from "./handoffs.ts";
import { LiveViewLinks } from "./live-view-links.ts";
import { servePersonRoutes } from "./person-routes.ts";
import { StoredPersonLinks } from "./person-links.ts";

interface HandoffNeeds extends Pick<LiveViewParts, "recordingOf">, Omit<LiveViewGate, "addresses" | "persons"> {
  readonly addresses: LiveViewAddresses;
  readonly gate: HandoffGate;
  readonly origins: RequestOrigins;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly sessions: Sessions;
  readonly store: SessionStore;
}

const noHandoff = Promise.resolve(undefined);

/** Handoffs to persons, links to live views, and the live view itself with its buttons. */
export function liveViewsFeature({ cleanup, config, database, log }: Host, needs: HandoffNeeds) {
  const { addresses, gate, sessions, store } = needs;
  const handoffs = new Handoffs({ database, gate, sessions, sessionStore: store, log });
  cleanup.add("the handoffs to persons", () => {
    handoffs.close();
  });
  const links = new LiveViewLinks({ database, sessions });
  const persons = new StoredPersonLinks({ handoffs, links });
  return {
    provides: { handoffs, persons, sharedLink: sharedLinkHandler(links, addresses) },
    handlers: { ...handoffHandlers(handoffs, addresses), ...liveViewLinkHandlers(links, addresses) },
    serve(app: FastifyInstance, entering: Entering) {
      const onRefused = (request: IncomingMessage): void => {
        entering.countRefused(request);
      };
      serveLiveView(app, {
        ...needs,
        persons,
        frameAncestors: config.live_view_frame_ancestors,
        signInFrameAncestors: config.sign_in_frame_ancestors,
        handoffOf: ({ link }) =>
          link?.kind === "handoff" ? handoffs.store.find(link.id).then(shownHandoff) : noHandoff,
        onRefused,
      });
      servePersonRoutes(app, { ...needs, persons, handoffs, onRefused });
    },
    jobs: [
      {
        name: "expired links and old handoffs",
        async run() {
          await links.sweep();
          await handoffs.store.sweep();
        },
      },
    ],
  } satisfies Feature;
}
