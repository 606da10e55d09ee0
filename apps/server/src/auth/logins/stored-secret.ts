import { credentialWithoutSites, credentialWithoutValue } from "@shoal/contract/refusals";
import type { OfferedSecret } from "@shoal/instance";
import { type Totp, totpCode } from "@shoal/primitives/totp";
import { ServiceError } from "@shoal/router";
import type { StoredSecret } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import type { Credentials, OpenedCredential } from "../credentials/credentials.ts";
import { typingOrigins } from "./typing-origins.ts";

/** Time that a code stays valid for its way to the site. Milliseconds. */
const leastValidityMs = 5_000;

/** What an instance needs to type a stored value. */
export type ResolvedSecret = Omit<OfferedSecret, "ticket">;
/** Opens a stored value for one action. */
export type OpenSecret = (projectId: string, secret: StoredSecret, signal: AbortSignal) => Promise<ResolvedSecret>;

/** @throws {ServiceError} 404 for an unknown credential or value, 409 for a credential without sites. */
export function createOpenSecret(credentials: Pick<Credentials, "open">): OpenSecret {
  return async (projectId, { credential, field }, signal) => {
    const opened = await credentials.open(projectId, credential);
    const sites = [opened.domain, ...opened.sites];
    const origins = typingOrigins({ sites, ssoProvider: opened.sso_provider ?? undefined });
    if (origins.length === 0) throw ServiceError.of(credentialWithoutSites(credential));
    const value = await valueOf(opened, field, signal);
    if (value === undefined || value === "") throw ServiceError.of(credentialWithoutValue(credential, field));
    return { value, origins: [...origins], credential, sites };
  };
}

/** Opens a credential for headers: those go to its own sites, and not to its sign-in provider. */
export function createOpenForHosts(credentials: Pick<Credentials, "open">) {
  return async (projectId: string, idOrName: string) => {
    const { domain, id, sites, values } = await credentials.open(projectId, idOrName);
    return { id, values, origins: typingOrigins({ sites: [domain, ...sites] }) };
  };
}

async function valueOf({ totp, values }: OpenedCredential, field: string, signal: AbortSignal) {
  if (field === "totp_code" && totp !== undefined) return presentCode(totp, signal);
  return Object.hasOwn(values, field) ? values[field] : undefined;
}

/** Waits for the next code if the present one ends soon. */
export async function presentCode(totp: Totp, signal: AbortSignal): Promise<string> {
  const { code, expiresAt } = totpCode(totp, new Date());
  const validMs = expiresAt.getTime() - Date.now();
  if (validMs >= Math.min(leastValidityMs, totp.period * 500)) return code;
  await delay(validMs + 50, undefined, { signal });
  return totpCode(totp, new Date()).code;
}
