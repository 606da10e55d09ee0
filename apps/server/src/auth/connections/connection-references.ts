import {
  containsNul,
  credentialNotFound,
  invalidDomain,
  providerNotFound,
  regionUnavailable,
} from "@shoal/contract/refusals";
import { createId, siteDomain } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateAuthConnection, ErrorDetail, StartLogin, UpdateAuthConnection } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { Regions } from "../../cluster/regions.ts";
import type { Proxies } from "../../resources/proxies/proxies.ts";
import type { TelemetryDestinations } from "../../resources/telemetry-destinations/destinations.ts";
import { categoriesForLater } from "../../sessions/telemetry/categories.ts";
import { chooseDestination } from "../../sessions/telemetry/export/choice.ts";
import { isStorable } from "../../http/paging.ts";
import type { Credentials } from "../credentials/credentials.ts";
import type { ConnectionRow } from "./connection-row.ts";
import type { CredentialLookup } from "../providers/credential-lookup.ts";

type Request =
  | z.output<typeof CreateAuthConnection>
  | z.output<typeof UpdateAuthConnection>
  | (z.output<typeof StartLogin> & { readonly [Field in keyof z.output<typeof UpdateAuthConnection>]?: undefined });

export interface ReferenceParts {
  readonly credentials: Pick<Credentials, "get">;
  /** By their names, which may be the operator's. */
  readonly providers: Pick<CredentialLookup, "has">;
  readonly destinations: Pick<TelemetryDestinations, "choose">;
  readonly proxies: Pick<Proxies, "choose" | "get">;
  readonly regions: Pick<Regions, "names">;
}

/** @throws {ServiceError} 400 */
export function requireDomain(text: string, field: string): string {
  const domain = siteDomain(text);
  if (domain === undefined) throw ServiceError.of(invalidDomain(field));
  return domain;
}

function allowedDomain(text: string, index: number): string {
  const field = `body.allowed_domains[${String(index)}]`;
  // `*.` allows every subdomain.
  return text.startsWith("*.") ? `*.${requireDomain(text.slice(2), field)}` : requireDomain(text, field);
}

async function credentialOf(
  { credentials, providers }: ReferenceParts,
  projectId: string,
  credential: Request["credential"],
) {
  if (credential === undefined) return {};
  const { name = "", path = null, provider } = credential;
  if (!isStorable(path ?? undefined)) throw ServiceError.of(containsNul("body.credential.path"));
  if (provider !== undefined) {
    if (!isStorable(provider) || !(await providers.has(projectId, provider)))
      throw ServiceError.of(providerNotFound("body.credential.provider", provider));
    return { credential_id: null, credential_provider: provider, credential_path: path };
  }
  const found = await credentials.get(projectId, name);
  if (found.name !== name) throw ServiceError.of(credentialNotFound(name));
  return { credential_id: found.id, credential_provider: null, credential_path: null };
}

async function proxyOf({ proxies }: ReferenceParts, projectId: string, proxy: ProxyChoice | undefined) {
  if (proxy === undefined) return {};
  if (proxy.mode !== undefined) return { proxy_id: null, proxy_mode: proxy.mode };
  const { shown } = await proxies.choose(projectId, proxy, createId());
  return { proxy_id: shown.id ?? null, proxy_mode: null };
}

/**
 * A proxy with its own certificates reads everything that a browser sends, so only a caller with the right to
 * secrets may connect one with stored values.
 * @throws {ServiceError} 403
 */
export async function refuseReadingProxy(
  { proxies }: ReferenceParts,
  {
    credential_id,
    credential_provider,
    project_id,
    proxy_id,
  }: Pick<ConnectionRow, "credential_id" | "credential_provider" | "project_id" | "proxy_id">,
): Promise<void> {
  if (proxy_id === null || (credential_id === null && credential_provider === null)) return;
  const { config } = await proxies.get(project_id, proxy_id);
  if (config === undefined || !("has_ca_bundle" in config) || config.has_ca_bundle !== true) return;
  throw new ServiceError(
    403,
    "forbidden",
    "The proxy has a ca_bundle, so it can read stored credentials. Only an administrator can use both in one connection.",
    { hint: "Use another proxy, or ask an administrator." },
  );
}

type ProxyChoice = NonNullable<NonNullable<Request["browser"]>["proxy"]>;

/** @throws {ServiceError} 400 for a region without a server, 501 if some servers are in another one. */
function requireOnlyRegion({ regions: { names } }: ReferenceParts, region: string | undefined): void {
  if (region === undefined || (names.length === 1 && names[0] === region)) return;
  if (!names.includes(region))
    throw ServiceError.of({ ...regionUnavailable(region, names), field: "body.browser.region" });
  throw new ServiceError(501, "not_implemented", "logins and checks of connections run on servers of every region", {
    field: "body.browser.region",
    limit: names.join(", "),
    hint: "Omit the field.",
  });
}

/** Names the place of telemetry in errors that name `body.telemetry`. */
function inPlace(error: unknown, place: string): unknown {
  if (!ServiceError.isInstance(error)) return error;
  const { code, details, field, fields, hint, limit, problem, retryAfterSeconds, status } = error;
  const renamed = (text: string): string => text.replace(/^body\.telemetry\b/, place);
  const located = ({ field: at, message, ...data }: ErrorDetail): ErrorDetail => ({
    ...data,
    ...(at !== undefined && { field: renamed(at) }),
    ...(message !== undefined && { message: renamed(message) }),
  });
  return new ServiceError(status, code, renamed(problem), {
    ...{ limit, hint, cause: error },
    ...(field !== undefined && { field: renamed(field) }),
    ...(fields && { fields }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(details && { details: details.map((detail) => located(detail)) }),
  });
}

async function telemetryOf(
  { destinations }: ReferenceParts,
  projectId: string,
  { field, telemetry }: { readonly field: string; readonly telemetry: Request["browser_telemetry"] },
) {
  if (telemetry === undefined) return {};
  if (telemetry === null || telemetry.enabled === false) return { browser_telemetry: null };
  const choose = async (): Promise<string | null> => {
    // Refuses at once what every login would refuse.
    categoriesForLater(telemetry, undefined);
    return chooseDestination(destinations, projectId, telemetry, null);
  };
  const id = await choose().catch((error: unknown) => {
    throw inPlace(error, field);
  });
  const { export: _export, ...captured } = telemetry;
  return {
    browser_telemetry: JSON.stringify({
      ...captured,
      // By its id, which a new name does not change.
      ...(id !== null && { export: { otlp: { enabled: true, destination: { id } } } }),
    }),
  };
}

/**
 * The columns of the given fields, after a check of everything that they name. Absent fields have none.
 * @throws {ServiceError} 400, 404, 501
 */
export async function columnsOf(parts: ReferenceParts, projectId: string, request: Request) {
  const { browser } = request;
  requireOnlyRegion(parts, browser?.region);
  const isInBrowser = browser?.telemetry !== undefined;
  const [credential, proxy, telemetry] = await Promise.all([
    credentialOf(parts, projectId, request.credential),
    proxyOf(parts, projectId, browser?.proxy ?? request.proxy),
    telemetryOf(parts, projectId, {
      field: isInBrowser ? "body.browser.telemetry" : "body.browser_telemetry",
      telemetry: isInBrowser ? browser.telemetry : request.browser_telemetry,
    }),
  ]);
  return {
    ...credential,
    ...proxy,
    ...telemetry,
    ...(request.login_url !== undefined && { login_url: request.login_url === "" ? null : request.login_url }),
    ...(request.allowed_domains !== undefined && {
      allowed_domains: JSON.stringify(request.allowed_domains.map(allowedDomain)),
    }),
    ...(browser?.stealth !== undefined && { stealth: browser.stealth }),
    ...(request.health_check_interval !== undefined && { health_check_interval: request.health_check_interval }),
    ...(request.health_checks !== undefined && { health_checks: request.health_checks }),
    ...(request.auto_reauth !== undefined && { auto_reauth: request.auto_reauth }),
    ...(request.save_credentials !== undefined && { save_credentials: request.save_credentials }),
    ...(request.record_session !== undefined && { record_session: request.record_session }),
  };
}
