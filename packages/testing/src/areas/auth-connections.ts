import type * as endpoints from "@shoal/contract";
import {
  checkIntervalTooShort,
  connectionExists,
  connectionNotFound,
  credentialNotFound,
  invalidDomain,
  providerNotFound,
} from "@shoal/contract/refusals";
import { createId, siteDomain } from "@shoal/primitives";
import { type Handlers, ServiceError } from "@shoal/router";
import type { AuthConnection, CreateAuthConnection, UpdateAuthConnection } from "@shoal/schemas";
import type * as z from "zod/mini";
import { FakeLogins } from "../logins/fake-logins.ts";
import { latestLogin, toTimelineEvent } from "../logins/login-answers.ts";
import type { Access } from "../state/access.ts";
import { holds, pageOf } from "../state/listing.ts";
import type { ConnectionRow, ProfileRow, Store } from "../state/store.ts";

type Request = z.output<typeof CreateAuthConnection> | z.output<typeof UpdateAuthConnection>;
type CredentialOfConnection = Pick<ConnectionRow, "credential" | "credentialSource">;
type ConnectionEndpoints = Pick<
  typeof endpoints,
  | "createAuthConnection"
  | "listAuthConnections"
  | "getAuthConnection"
  | "updateAuthConnection"
  | "deleteAuthConnection"
  | "listTimeline"
>;

function canReauth({
  credential,
  credentialSource,
  logins,
}: ConnectionRow): Pick<AuthConnection, "can_reauth" | "can_reauth_reason"> {
  if (!logins.some(({ state }) => state.status === "SUCCESS"))
    return { can_reauth: false, can_reauth_reason: "no_prior_successful_login" };
  if (credentialSource !== undefined) return { can_reauth: true, can_reauth_reason: "external_credential" };
  if (credential === undefined) return { can_reauth: false, can_reauth_reason: "no_credential" };
  return { can_reauth: true, can_reauth_reason: "viable_plans_found" };
}

function credentialOf({ credential, credentialSource: source }: ConnectionRow): Pick<AuthConnection, "credential"> {
  if (source !== undefined) {
    const { path, provider } = source;
    return { credential: { provider, ...(path === undefined ? { auto: true } : { path }) } };
  }
  return credential === undefined ? {} : { credential: { name: credential.name } };
}

function toConnection(row: ConnectionRow, baseUrl: string): AuthConnection {
  const { checks, domain, id, logins, profile, settings, status } = row;
  const url = logins.findLast(({ state }) => state.status === "SUCCESS")?.state.postLoginUrl;
  return {
    id,
    profile_name: profile.name ?? profile.id,
    domain,
    status,
    ...(checks.length > 0 && { last_auth_check_at: checks.at(-1)?.timestamp }),
    ...credentialOf(row),
    ...canReauth(row),
    ...settings,
    ...(url !== undefined && { post_login_url: url }),
    ...latestLogin(row, baseUrl),
  };
}

function requireDomain(text: string, field: string): string {
  const domain = siteDomain(text);
  if (domain === undefined) throw ServiceError.of(invalidDomain(field));
  return domain;
}

/** As the service without settings. */
const minCheckSeconds = 300;

/** Of the given fields, as answers show them. */
function settingsOf(request: Request): Partial<AuthConnection> {
  const { allowed_domains: domains, browser, health_check_interval: interval } = request;
  if (interval !== undefined && interval < minCheckSeconds)
    throw ServiceError.of(checkIntervalTooShort(interval, minCheckSeconds));
  const telemetry = browser?.telemetry === undefined ? request.browser_telemetry : browser.telemetry;
  const shown = telemetry?.enabled === false ? null : telemetry;
  return {
    ...(request.login_url !== undefined && { login_url: request.login_url }),
    ...(domains !== undefined && {
      allowed_domains: domains.map((text, index) => {
        const field = `body.allowed_domains[${String(index)}]`;
        return text.startsWith("*.") ? `*.${requireDomain(text.slice(2), field)}` : requireDomain(text, field);
      }),
    }),
    ...(interval !== undefined && { health_check_interval: interval }),
    ...(request.health_checks !== undefined && { health_checks: request.health_checks }),
    ...(request.auto_reauth !== undefined && { auto_reauth: request.auto_reauth }),
    ...(request.save_credentials !== undefined && { save_credentials: request.save_credentials }),
    ...(request.record_session !== undefined && { record_session: request.record_session }),
    ...(shown !== undefined && { browser_telemetry: shown }),
  };
}

export function authConnectionHandlers(store: Store): Handlers<ConnectionEndpoints, Access> {
  const logins = new FakeLogins(store);
  const ofProject = (projectId: string) => store.connections.filter((row) => row.projectId === projectId);

  function existing(projectId: string, id: string): ConnectionRow {
    const found = ofProject(projectId).find((row) => row.id === id);
    if (found === undefined) throw ServiceError.of(connectionNotFound(id));
    return found;
  }

  function credentialIn(projectId: string, { credential }: Request): CredentialOfConnection | undefined {
    if (credential === undefined) return undefined;
    const { name = "", path, provider } = credential;
    const isNamed = (row: { readonly name: string; readonly projectId: string }, wanted: string) =>
      row.projectId === projectId && row.name === wanted;
    if (provider !== undefined) {
      if (!store.credentialProviders.some((row) => isNamed(row, provider)))
        throw ServiceError.of(providerNotFound("body.credential.provider", provider));
      return { credential: undefined, credentialSource: { provider, path } };
    }
    const found = store.credentials.find((row) => isNamed(row, name));
    if (found === undefined) throw ServiceError.of(credentialNotFound(name));
    return { credential: found, credentialSource: undefined };
  }

  function profileNamed(projectId: string, name: string): ProfileRow {
    const found = store.profiles.find((row) => row.projectId === projectId && row.name === name);
    if (found !== undefined) return found;
    const row: ProfileRow = {
      id: createId(),
      projectId,
      name,
      createdAt: new Date().toISOString(),
      updatedAt: undefined,
      lastUsedAt: undefined,
      webBotAuth: undefined,
      location: undefined,
      conditions: undefined,
    };
    store.profiles.push(row);
    return row;
  }

  return {
    createAuthConnection: ({ body, context: { baseUrl, projectId } }) => {
      const domain = requireDomain(body.domain, "body.domain");
      const { record_session, save_credentials } = body;
      const defaults = { allowed_domains: [], health_check_interval: 3600, browser_telemetry: null };
      const settings = { ...defaults, ...settingsOf(body), record_session, save_credentials };
      const credential = credentialIn(projectId, body) ?? { credential: undefined, credentialSource: undefined };
      const taken = ofProject(projectId).find((row) => row.profile.name === body.profile_name && row.domain === domain);
      if (taken !== undefined) throw ServiceError.of(connectionExists(body.profile_name, domain, taken.id));
      const row: ConnectionRow = {
        id: createId(),
        projectId,
        profile: profileNamed(projectId, body.profile_name),
        domain,
        ...credential,
        status: "NEEDS_AUTH",
        logins: [],
        checks: [],
        isExpired: false,
        settings,
      };
      store.connections.push(row);
      return toConnection(row, baseUrl);
    },
    listAuthConnections: ({ query: { domain, profile_name: profile, query: part, ...window }, context }) => {
      const found = ofProject(context.projectId).filter(
        (row) =>
          (domain === undefined || row.domain === siteDomain(domain)) &&
          (profile === undefined || row.profile.name === profile) &&
          (part === undefined || row.id === part || holds(row.domain, part) || holds(row.profile.name, part)),
      );
      return pageOf(found.reverse(), window, (row) => toConnection(row, context.baseUrl));
    },
    getAuthConnection: ({ params, context }) => toConnection(existing(context.projectId, params.id), context.baseUrl),
    updateAuthConnection: ({ params, body, context: { baseUrl, projectId } }) => {
      const row = existing(projectId, params.id);
      const credential = credentialIn(projectId, body);
      const { login_url: loginUrl, ...settings } = { ...row.settings, ...settingsOf(body) };
      row.settings = { ...settings, ...(loginUrl !== undefined && loginUrl !== "" && { login_url: loginUrl }) };
      Object.assign(row, credential);
      return toConnection(row, baseUrl);
    },
    deleteAuthConnection: ({ params, context }) => {
      const row = existing(context.projectId, params.id);
      logins.cancel(row);
      store.connections.splice(store.connections.indexOf(row), 1);
    },
    listTimeline: ({ params, query, context }) => {
      const { type, ...window } = query;
      const { checks, logins } = existing(context.projectId, params.id);
      const events = [...checks.toReversed(), ...logins.map(toTimelineEvent).reverse()].sort((one, other) =>
        other.timestamp.localeCompare(one.timestamp),
      );
      return pageOf(
        type === undefined ? events : events.filter((event) => event.type === type),
        window,
        (event) => event,
      );
    },
  };
}
