import { contract } from "@shoal/contract";
import { connectionOperation } from "@shoal/contract/rights";
import { KeyedMutex } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Regions } from "../../cluster/regions.ts";
import type { Access, Authenticator } from "../../http/auth/access.ts";
import type { KeyScopes } from "../../http/auth/key-scopes.ts";
import { requireNewSession } from "../../http/auth/key-scopes.ts";
import { refuseTwoKeys } from "../../http/auth/connect-address.ts";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { ProjectLookup } from "../../http/auth/project-lookup.ts";
import { refuseWithoutRights } from "../../http/auth/rights.ts";
import type { OverloadGuard } from "../../http/limits/overload-guard.ts";
import type { RateLimits } from "../../http/limits/rate-limits.ts";
import type { Profiles } from "../../resources/profiles/profiles.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { createSession } from "../browsers/handlers.ts";
import { hasEnded } from "../browsers/session-errors.ts";
import type { SessionRow } from "../browsers/session-store.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { type ConnectSettings, readConnectSettings } from "./connect-settings.ts";
import { openTicket } from "./connect-tickets.ts";
import { refuseOtherSettings } from "./joined-session.ts";
import { WaitingLine } from "../waiting/waiting-line.ts";

export interface ConnectDoorParts {
  readonly authenticator: Authenticator;
  readonly issuingKeys: IssuingKeys;
  readonly keyScopes: KeyScopes;
  readonly projects: Pick<ProjectLookup, "find">;
  readonly sessions: Sessions;
  readonly profiles: Pick<Profiles, "get">;
  readonly regions: Pick<Regions, "answer" | "hasOthers" | "own">;
  readonly secrets: Pick<Secrets, "hasSigned">;
  readonly overload: Pick<OverloadGuard, "admitStart">;
  readonly rateLimits: Pick<RateLimits, "admit">;
}

export interface ConnectingClient {
  readonly request: IncomingMessage;
  /** Without the key. */
  readonly url: URL;
  readonly requestId: string;
  /** Aborts when the client goes. */
  readonly signal: AbortSignal;
  /** Called before the session is created, for the audit log. */
  readonly onCreate: (access: Access) => void;
}

export interface ConnectedSession {
  readonly access: Access;
  readonly sessionId: string;
  readonly isCreated: boolean;
}

interface Caller {
  readonly access: Access;
  readonly settings: ConnectSettings;
  /** Of the session that the ticket names. */
  readonly ticketId: string | undefined;
  /** Epoch milliseconds, of the ticket: from then on it joins only sessions that began before. */
  readonly expiresAtMs: number;
}

const ticketSetting = "ticket";
/** Another server may create the session between a look and the insertion. */
const attempts = 2;

/** Creates the session of a client that connects to the service instead of to a session. */
export class ConnectDoor {
  readonly #parts: ConnectDoorParts;
  readonly #line = new WaitingLine();
  /** So that clients that connect at once share one session of their name or ticket. */
  readonly #opening = new KeyedMutex<string>();

  constructor(parts: ConnectDoorParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} the refusal; the reason of `signal` when the client goes. */
  async open(client: ConnectingClient): Promise<ConnectedSession> {
    const { request } = client;
    refuseWebPages(request.headers);
    refuseTwoKeys(request);
    const caller = await this.#callerOf(client);
    const { access, settings, ticketId } = caller;
    refuseWithoutRights(access, contract.createBrowser);
    this.#parts.rateLimits.admit(access.key.id, () => undefined);
    const { projectId } = access;
    if (settings.sessionId !== undefined) {
      const joined = await this.#joined(access, settings.sessionId);
      const { row } = await this.#parts.sessions.get(projectId, joined.sessionId, false);
      return { ...joined, sessionId: row.id };
    }
    const idOrName = settings.create.name ?? ticketId;
    if (idOrName === undefined) return this.#create(client, caller);
    return this.#opening.run(`${projectId} ${idOrName}`, () => this.#joinOrCreate(client, caller, idOrName));
  }

  async #callerOf({ request, url }: ConnectingClient): Promise<Caller> {
    const { authenticator, issuingKeys, projects, secrets } = this.#parts;
    const query = new URLSearchParams(url.searchParams);
    const signed = query.get(ticketSetting);
    query.delete(ticketSetting);
    if (signed === null) {
      const access = await authenticator.authenticate(request);
      return { access, settings: readConnectSettings(query), ticketId: undefined, expiresAtMs: Infinity };
    }
    const ticket = this.#countingRefused(request, () => openTicket(secrets, signed));
    const key = await issuingKeys.require(ticket.keyId);
    const project = await projects.find(ticket.projectId);
    if (project?.status !== "active")
      throw new ServiceError(404, "project_not_found", "The project of this address was archived or deleted.");
    const merged = new URLSearchParams(ticket.query);
    const [added] = [...query].find(([name, value]) => merged.get(name) !== value) ?? [];
    if (added !== undefined) await this.#requireKeyToo(request, ticket.keyId, added);
    // Some clients add the settings of the address that they were given.
    for (const [name, value] of query) merged.set(name, value);
    return {
      access: { key, projectId: project.id, namedProjectId: project.id, baseUrl: authenticator.baseUrlOf(request) },
      settings: readConnectSettings(merged),
      ticketId: ticket.sessionId,
      expiresAtMs: ticket.expiresAtMs,
    };
  }

  /** A ticket opens the session that it was issued for: other settings need its key. @throws {ServiceError} 400 or 401. */
  async #requireKeyToo(request: IncomingMessage, keyId: string, setting: string): Promise<void> {
    if (request.headers.authorization !== undefined) {
      const { key } = await this.#parts.authenticator.authenticate(request);
      if (key.id === keyId) return;
    }
    throw new ServiceError(400, "bad_request", "the ticket was issued with another value, or without one", {
      field: setting.slice(0, 100),
      hint: "Request /json/version with this setting, or send the key too.",
    });
  }

  #countingRefused<Result>(request: IncomingMessage, check: () => Result): Result {
    try {
      return check();
    } catch (error) {
      if (ServiceError.isInstance(error)) this.#parts.authenticator.countRefused(request);
      throw error;
    }
  }

  async #joinOrCreate(client: ConnectingClient, caller: Caller, idOrName: string): Promise<ConnectedSession> {
    const { access, expiresAtMs, settings, ticketId } = caller;
    for (let attempt = 1; ; attempt += 1) {
      client.signal.throwIfAborted();
      const row = await this.#find(access.projectId, idOrName);
      const isOver = expiresAtMs < Date.now();
      if (row !== undefined && !(isOver && row.id !== ticketId && Date.parse(row.created_at) > expiresAtMs)) {
        const joined = await this.#joined(access, row.id);
        if (row.ended_at !== null) throw hasEnded(row.id, row.ended_reason, row.ended_at);
        if (settings.create.name !== undefined) await refuseOtherSettings(settings.create, row, this.#parts.profiles);
        return joined;
      }
      if (isOver)
        throw new ServiceError(401, "unauthorized", "The ticket of this address has expired.", {
          hint: "Request /json/version again.",
        });
      try {
        return await this.#create(client, caller);
      } catch (error) {
        const isTaken = ServiceError.isInstance(error) && error.code === "conflict";
        if (!isTaken || attempt === attempts) throw error;
      }
    }
  }

  async #joined(caller: Access, idOrName: string): Promise<ConnectedSession> {
    const params = { id: idOrName };
    const access = await this.#parts.keyScopes.admit(caller, connectionOperation("browsers.cdp.connect"), params);
    return { access, sessionId: params.id, isCreated: false };
  }

  async #find(projectId: string, idOrName: string): Promise<SessionRow | undefined> {
    try {
      return (await this.#parts.sessions.get(projectId, idOrName, true)).row;
    } catch (error) {
      if (ServiceError.isInstance(error) && error.status === 404) return undefined;
      throw error;
    }
  }

  async #create(client: ConnectingClient, { access, settings, ticketId }: Caller): Promise<ConnectedSession> {
    const { overload, regions, sessions } = this.#parts;
    const { request, requestId, signal } = client;
    client.onCreate(access);
    const body = await requireNewSession(access, settings.create, this.#parts.keyScopes.objects);
    const call = { context: access, headers: request.headers, requestId, signal, body };
    const wishes = { apiKeyId: access.key.id, ...(ticketId !== undefined && { id: ticketId }) };
    const untilMs = performance.now() + settings.waitMs;
    const { session_id: sessionId } = await this.#line.take(access.projectId, { signal, untilMs }, () => {
      overload.admitStart();
      return createSession({ sessions, regions }, call, {
        wishes,
        show: ({ row }) => Promise.resolve({ session_id: row.id }),
      });
    });
    return { access, sessionId, isCreated: true };
  }
}

/** Programs send no `Origin`. A page that knows an address must not drive its browser. */
function refuseWebPages({ origin }: IncomingHttpHeaders): void {
  if (origin === undefined) return;
  throw new ServiceError(403, "forbidden", `Pages of ${JSON.stringify(origin.slice(0, 200))} may not connect.`, {
    hint: "Connect with a program, which sends no Origin header, or use the cdp_ws_url of a session.",
  });
}
