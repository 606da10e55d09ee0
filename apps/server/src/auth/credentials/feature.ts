import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { createCredentials } from "./credentials.ts";
import { credentialHandlers } from "./handlers.ts";

export function credentialsFeature({ database, envelopes }: Host) {
  const credentials = createCredentials({ database, envelopes });
  return { provides: credentials, handlers: credentialHandlers(credentials) } satisfies Feature;
}
