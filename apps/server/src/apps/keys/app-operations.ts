import { contract, type Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { KeyRow } from "../../http/auth/access.ts";

/** Areas that apps work in. Others administrate: keys, projects, deployments, stored secrets, the audit log. */
const areas: ReadonlySet<string> = new Set([
  "Apps",
  "Browsers",
  "Browser Pools",
  "Browser Replays",
  "Browser Telemetry",
  "Extensions",
  "Invocations",
  "Managed Auth",
  "Profiles",
  "Proxies",
]);
const reads: ReadonlySet<Endpoint> = new Set<Endpoint>([
  contract.getAuthContext,
  contract.getDeployment,
  contract.listDeployments,
]);

/** A changed proxy could read the logins of others; see `refuseReadingProxy`. */
const withheld: ReadonlySet<Endpoint> = new Set<Endpoint>([
  contract.createProxy,
  contract.updateProxy,
  contract.deleteProxy,
]);

/** Whether the key of a deployment may call the operation. */
export function mayApp(endpoint: Endpoint): boolean {
  if (withheld.has(endpoint)) return false;
  return endpoint.plane === "instance" || areas.has(endpoint.area) || reads.has(endpoint);
}

/** @throws {ServiceError} 403 `forbidden` for the key of a deployment and an operation that apps do not need. */
export function refuseApp({ deployment_id }: Pick<KeyRow, "deployment_id">, endpoint: Endpoint): void {
  if (deployment_id === null || mayApp(endpoint)) return;
  throw new ServiceError(
    403,
    "forbidden",
    `The key of deployment ${deployment_id} cannot call ${endpoint.operationId}. Pass another key to the app in env_vars.`,
  );
}
