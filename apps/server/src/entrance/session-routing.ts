import { contract, type Endpoint } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { ServiceError, type UnknownFields } from "@shoal/router";
import { replyOf, RequestTaken } from "@shoal/router/fastify";
import type { FastifyRequest } from "fastify";
import { Elsewhere } from "../cluster/elsewhere.ts";
import type { ReplicaForwarding } from "../cluster/replica-forwarding.ts";
import type { Access } from "../http/auth/access.ts";
import { accessOf } from "../http/request-facts.ts";
import { sessionTokenIn } from "../http/auth/session-path.ts";
import { neverFound } from "../sessions/browsers/session-errors.ts";
import type { Sessions } from "../sessions/browsers/sessions.ts";
import type { SessionRow } from "../sessions/browsers/session-store.ts";
import type { SignInBrowsers } from "../sessions/live-view/sign-in-browsers.ts";
import type { KeptOf } from "../sessions/downloads/kept-files.ts";
import { forwardOperation } from "../sessions/instance-plane/forward.ts";
import type { SessionSockets } from "../sessions/instance-plane/debugging-port.ts";
import type { ReplayAccess } from "../sessions/replays/handlers.ts";
import type { ReplayAddresses } from "../sessions/replays/replay-address.ts";
import type { SessionFileKind } from "../storage/session-files/session-files.ts";
import type { Secrets } from "../storage/secrets.ts";
import type { Entrance, SessionWay } from "./entrance.ts";

export interface SessionRoutingParts {
  readonly entrance: Entrance;
  readonly sessions: Sessions;
  readonly replicas: Pick<ReplicaForwarding, "handOver" | "isAlone" | "isForwarded">;
  readonly replayAddresses: ReplayAddresses;
  readonly secrets: Pick<Secrets, "signSession">;
  readonly signInBrowsers: Pick<SignInBrowsers, "noteStored">;
  readonly unknownFields: UnknownFields;
}

interface ForwardedTo {
  readonly endpoint: Endpoint;
  readonly access: Access | undefined;
  readonly unknownFields: UnknownFields;
}

interface WantedFiles {
  /** `undefined` if the URL has a token. */
  readonly access: Access | undefined;
  readonly idOrName: string;
  readonly kind: SessionFileKind;
}

/** Operations that need the files of a session, also after its end. */
const readsTelemetry: ReadonlySet<Endpoint> = new Set([
  contract.listTelemetryEvents,
  contract.readLastPicture,
  contract.downloadEvidence,
]);

/** The policy of a key may have replaced a name by an id, so read it after {@link Entrance.enter}. */
function sessionIn(request: FastifyRequest): string {
  return (request.params as Readonly<Record<string, string | undefined>>).id ?? "";
}

/** Admits requests for one session, or forwards them to the server that has it. */
export class SessionRouting {
  readonly #parts: SessionRoutingParts;

  constructor(parts: SessionRoutingParts) {
    this.#parts = parts;
  }

  /** Accepts a key of the project or the token in the URL. @returns `undefined` when another server answers. */
  async instanceFor(request: FastifyRequest, way: SessionWay): Promise<Instance | undefined> {
    const { entrance, sessions } = this.#parts;
    const token = sessionTokenIn(request.raw.url ?? "");
    let access: Access | undefined;
    if (token !== undefined) await entrance.enterWithToken(request, { token, sessionId: sessionIn(request) }, way);
    else if (way.endpoint !== undefined) access = await entrance.enter(request, way.endpoint);
    else {
      const params = request.params as Record<string, string | undefined>;
      const caller = await entrance.authenticate(request);
      access = await entrance.admitConnection(caller, way.connection, params);
    }
    const answer = sessions.instanceOf(access?.projectId, sessionIn(request));
    const found = answer instanceof Promise ? await answer : answer;
    if (!(found instanceof Elsewhere)) return found;
    await this.#handOver(found, request, access);
    return undefined;
  }

  /**
   * Admits the caller of an action in a session of this server to a stored value, and closes the session's code and files to
   * callers without the right to secrets. @returns the project and the id of the session. @throws {ServiceError} 403.
   */
  async admitSecret(request: FastifyRequest, idOrName: string) {
    const { entrance, sessions, signInBrowsers } = this.#parts;
    const named = accessOf(request.raw)?.projectId;
    const sessionId = sessions.isHere(idOrName) ? idOrName : await sessions.idHere(named, idOrName, "recording");
    await entrance.admitSecret(request, sessionId);
    const projectId = sessions.projectOf(sessionId);
    if (projectId === undefined) throw neverFound(idOrName);
    return {
      projectId,
      sessionId,
      close: () => signInBrowsers.noteStored(sessionId),
    };
  }

  /** @throws {RequestTaken} when another server answers. */
  enter(request: FastifyRequest, endpoint: Endpoint): Access | Promise<Access> {
    const { entrance, replicas, sessions } = this.#parts;
    const access = entrance.enter(request, endpoint);
    // The database has handoffs, so a wait for the end survives the server of the session.
    if (endpoint === contract.getHandoff) return access;
    const { id, id_or_name: idOrName = id ?? "" } = request.params as Readonly<Record<string, string | undefined>>;
    if (sessions.isHere(idOrName) || replicas.isAlone() || replicas.isForwarded(request.raw)) return access;
    return this.#enterElsewhere(request, endpoint, { idOrName, access });
  }

  async #enterElsewhere(
    request: FastifyRequest,
    endpoint: Endpoint,
    { idOrName, access }: { readonly idOrName: string; readonly access: Access | Promise<Access> },
  ): Promise<Access> {
    const known = await access;
    // Of an ended session, other operations need the database alone.
    const kind = readsTelemetry.has(endpoint) ? "telemetry" : undefined;
    const place = await this.#parts.sessions.locate(known.projectId, idOrName, kind);
    if (!(place instanceof Elsewhere)) return known;
    try {
      await this.#handOver(place, request, known);
    } catch (failure) {
      if (endpoint === contract.getBrowser) return known;
      throw failure;
    }
    throw new RequestTaken();
  }

  /**
   * For a request whose path is not of an operation. @param kind - of the files that it needs, also after the end.
   * @throws {RequestTaken} when another server answers.
   */
  async requireHere(
    request: FastifyRequest,
    access: Access,
    { idOrName, kind }: { readonly idOrName: string; readonly kind: SessionFileKind | undefined },
  ): Promise<void> {
    const { replicas, sessions } = this.#parts;
    if (sessions.isHere(idOrName) || replicas.isAlone() || replicas.isForwarded(request.raw)) return;
    const place = await sessions.locate(access.projectId, idOrName, kind);
    if (!(place instanceof Elsewhere)) return;
    await this.#handOver(place, request, access);
    throw new RequestTaken();
  }

  async replaysFor(request: FastifyRequest, endpoint: Endpoint): Promise<ReplayAccess> {
    const { entrance, replayAddresses, sessions } = this.#parts;
    const token = sessionTokenIn(request.raw.url ?? "");
    const base = entrance.baseUrlOf(request);
    const answers = (sessionId: string, projectId: string | undefined, scope: string | undefined): ReplayAccess => ({
      sessionId,
      projectId,
      instance: () => sessions.instanceHere(scope, sessionId),
      viewUrl: (replayId) => replayAddresses.of(sessionId, replayId, base),
    });
    if (token === undefined) {
      const access = await entrance.enter(request, endpoint);
      const idOrName = sessionIn(request);
      const { id: sessionId } = await this.#placeHere(request, { access, idOrName, kind: "recording" });
      return answers(sessionId, access.projectId, access.projectId);
    }
    const id = sessionIn(request);
    await entrance.enterWithToken(request, { token, sessionId: id }, { endpoint });
    await this.requireFilesHere(request, id);
    return answers(id, sessions.projectOf(id), undefined);
  }

  /** @throws {RequestTaken} when the instance or another server answers. */
  async downloadsFor(request: FastifyRequest, endpoint: Endpoint): Promise<KeptOf> {
    const { entrance, sessions, unknownFields } = this.#parts;
    const token = sessionTokenIn(request.raw.url ?? "");
    let access: Access | undefined;
    if (token === undefined) access = await entrance.enter(request, endpoint);
    else await entrance.enterWithToken(request, { token, sessionId: sessionIn(request) }, { endpoint });
    const id = sessionIn(request);
    const forwarded = { endpoint, access, unknownFields };
    if (sessions.isHere(id)) await this.#forwardToInstance(request, id, forwarded);
    const place = await this.#placeHere(request, { access, idOrName: id, kind: "download" });
    if (place.ended_at === null) await this.#forwardToInstance(request, place.id, forwarded);
    return { sessionId: place.id, projectId: place.project_id };
  }

  /** @throws {RequestTaken} when the instance answers. Returns if the session ends at this moment. */
  async #forwardToInstance(
    request: FastifyRequest,
    sessionId: string,
    { access, endpoint, unknownFields }: ForwardedTo,
  ): Promise<void> {
    let instance: Instance;
    try {
      instance = await this.#parts.sessions.instanceHere(access?.projectId, sessionId);
    } catch (error) {
      if (ServiceError.isInstance(error) && error.status === 404) return;
      throw error;
    }
    await forwardOperation(instance, sessionId, { endpoint, request, reply: replyOf(request), unknownFields });
    throw new RequestTaken();
  }

  /** @throws {RequestTaken} when another server has the session's files, and answers. */
  async requireFilesHere(request: FastifyRequest, sessionId: string): Promise<void> {
    if (!this.#parts.sessions.isHere(sessionId) && !this.#parts.replicas.isAlone())
      await this.#placeHere(request, { access: undefined, idOrName: sessionId, kind: "recording" });
  }

  async socketsOf(request: FastifyRequest, sessionId: string): Promise<SessionSockets> {
    const { entrance, secrets, sessions } = this.#parts;
    const base = entrance.baseUrlOf(request).replace(/^http/, "ws");
    const token = sessionTokenIn(request.raw.url ?? "");
    if (token !== undefined) return { url: `${base}/browsers/${sessionId}`, token, sessionId };
    // A second authentication would count the request twice.
    const { key, projectId } = accessOf(request.raw) ?? (await entrance.authenticate(request));
    const { row } = await sessions.get(projectId, sessionId, false);
    return { url: `${base}/browsers/${row.id}`, token: secrets.signSession(row.id, key.id), sessionId: row.id };
  }

  async #placeHere(request: FastifyRequest, { access, idOrName, kind }: WantedFiles): Promise<SessionRow> {
    const place = await this.#parts.sessions.locate(access?.projectId, idOrName, kind);
    if (place === undefined) throw neverFound(idOrName);
    if (!(place instanceof Elsewhere)) return place;
    await this.#handOver(place, request, access);
    throw new RequestTaken();
  }

  #handOver(place: Elsewhere, request: FastifyRequest, access: Access | undefined): Promise<void> {
    return this.#parts.replicas.handOver(place, { request, reply: replyOf(request) }, access);
  }
}
