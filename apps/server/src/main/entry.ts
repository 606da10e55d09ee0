import type { Placement } from "@shoal/placement";
import type { AuditRecorder } from "../audit/logs/recorder.ts";
import type { SignInLinks } from "../auth/sign-in-links/sign-in-links.ts";
import { consoleFeature } from "../console/feature.ts";
import type { People } from "../console/people.ts";
import { Entrance } from "../entrance/entrance.ts";
import { idempotencyFeature } from "../entrance/idempotency.ts";
import type { limitsFeature } from "../entrance/limits.ts";
import { requestsFeature } from "../entrance/requests.ts";
import { SessionRouting } from "../entrance/session-routing.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import { KeyAuthenticator } from "../http/auth/access.ts";
import { mcpFeature } from "../mcp/feature.ts";
import type { ResourceFeatures } from "../resources/features.ts";
import type { SessionFeatures } from "../sessions/features.ts";
import type { LiveViewAddresses, LoginWaits } from "../sessions/live-view/live-view-address.ts";
import type { ReplayAddresses } from "../sessions/replays/replay-address.ts";
import { connectFeature } from "../sessions/connect/feature.ts";
import { socketsFeature } from "../sessions/sockets/feature.ts";
import type { Traffic } from "./traffic.ts";

interface EntryNeeds {
  readonly contentUrl: string | undefined;
  readonly signInLinks: SignInLinks;
  readonly limits: ReturnType<typeof limitsFeature>["provides"];
  readonly liveViews: LiveViewAddresses;
  readonly loginWaits: LoginWaits;
  readonly onEnd: NonNullable<Feature["requestEnded"]>;
  readonly people: People;
  readonly placement: Placement;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly replayAddresses: ReplayAddresses;
  readonly resources: ResourceFeatures;
  readonly sessions: SessionFeatures;
  readonly traffic: Traffic;
}

/** The ways into the service: requests with a key, the console, MCP and sockets. @throws {StartError} */
export function openEntry(host: Host, needs: EntryNeeds) {
  const { contentUrl, signInLinks, limits, liveViews, loginWaits, recorder, replayAddresses, traffic } = needs;
  const { config, isStopping, secrets } = host;
  const { localUrl, origins, ownRequests } = traffic;
  const { issuingKeys, keys, keysById, keyScopes, keyUses, lookup } = needs.resources.apiKeys.provides;
  const { cluster, liveViews: views, sessions: core } = needs.sessions;
  const { sessions, signInBrowsers } = core.provides;
  const { forwarding: replicas, replicas: servers } = cluster.provides;
  const keyed = new KeyAuthenticator({
    keys,
    projects: lookup,
    origins,
    limits: limits.rateLimits,
    onUse: (keyId) => {
      keyUses.note(keyId);
    },
  });
  const { people } = needs;
  const console = consoleFeature(host, { contentUrl, keyed, keysById, origins, ownRequests, people, projects: lookup });
  const authenticator = servers.trusting(console.provides, keysById);
  const shared = { authenticator, issuingKeys, keyScopes, origins, replicas, secrets, sessions, signInBrowsers };
  const entrance = new Entrance({ ...shared, ...limits, signInLinks, isDraining: isStopping });
  const connect = connectFeature(host, {
    ...shared,
    ...limits,
    profiles: needs.resources.profiles.provides.profiles,
    projects: lookup,
    regions: servers.regions,
  });
  return {
    entrance,
    routing: new SessionRouting({ ...shared, entrance, replayAddresses, unknownFields: config.unknown_fields }),
    features: {
      requests: requestsFeature(host, {
        boxes: traffic.boxes,
        inFlight: traffic.inFlight,
        origins,
        contentUrl,
        replicas,
        placement: needs.placement,
        onEnd: needs.onEnd,
        draining: () => (sessions.isDraining ? sessions.count() : undefined),
      }),
      idempotency: idempotencyFeature(host),
      connect,
      console,
      mcp: mcpFeature(host, { localUrl, origins, ownRequests, replicas }),
      sockets: socketsFeature(host, {
        ...shared,
        rateLimits: limits.rateLimits,
        connectDoor: connect.provides,
        liveViews,
        loginWaits,
        persons: views.provides.persons,
        recorder,
        sockets: traffic.sockets,
      }),
    },
  };
}
