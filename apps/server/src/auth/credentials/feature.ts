import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { Credentials } from "./credentials.ts";
import { credentialHandlers } from "./handlers.ts";

export function credentialsFeature({ database, envelopes }: Host) {
  const credentials = new Credentials({ database, envelopes });
  return { provides: credentials, handlers: credentialHandlers(credentials) } satisfies Feature;
}
