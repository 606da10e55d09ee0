import { findChromium } from "@shoal/placement";
import type { FastifyInstance } from "fastify";
import type { Entering } from "../../host/entering.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { ConnectDoor, type ConnectDoorParts } from "./connect-door.ts";
import { serveDiscovery } from "./discovery.ts";

/** Sessions for clients that know the address of the service alone. */
export function connectFeature({ config, secrets }: Host, needs: Omit<ConnectDoorParts, "secrets">) {
  return {
    provides: new ConnectDoor({ ...needs, secrets }),
    serve(app: FastifyInstance, entering: Entering) {
      serveDiscovery(app, {
        authenticate: (request) => entering.authenticate(request),
        baseUrlOf: (request) => needs.authenticator.baseUrlOf(request.raw),
        browserVersion: () => browserVersion(config.chromium),
        secrets,
      });
    },
  } satisfies Feature;
}

async function browserVersion(executable: string | undefined): Promise<string | undefined> {
  try {
    return (await findChromium(executable === undefined ? {} : { executable }))?.version;
  } catch {
    // The browsers of other machines have another.
    return undefined;
  }
}
