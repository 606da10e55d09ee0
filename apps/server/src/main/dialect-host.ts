import { contract } from "@shoal/contract";
import type { DialectHost } from "../dialects/kit/mount-dialect.ts";
import type { Host } from "../host/host.ts";
import type { OpenedFeatures } from "./features.ts";

/** The parts of the service that interfaces of other services use. */
export function dialectHost({ config }: Host, opened: OpenedFeatures, handlers: DialectHost["handlers"]): DialectHost {
  const { entrance, features, routing, signer } = opened;
  const { sessions, rules } = features.sessions.provides;
  return {
    contract,
    entrance,
    handlers,
    routing,
    sessions,
    signer,
    policyObjects: features.apiKeys.provides.policyObjects,
    idempotency: features.idempotency.provides,
    unknownFields: config.unknown_fields,
    downloads: features.downloads.provides,
    renders: features.render.provides,
    replays: features.replays.provides.store,
    filmUrl: features.replays.provides.filmUrl,
    sharedLink: features.liveViews.provides.sharedLink,
    extensions: features.extensions.provides,
    usualConcurrency: () => rules.limits.perProject,
  };
}
