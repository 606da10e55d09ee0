import type { InstanceSleep } from "@shoal/placement";
import { connectionOperation } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import { refuseAmbiguousHost, requestIdOf } from "@shoal/router/fastify";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { attachNoteOf, clientGone, type Entrant } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import { Elsewhere } from "../../cluster/elsewhere.ts";
import type { ReplicaForwarding } from "../../cluster/replica-forwarding.ts";
import type { Access, Authenticator } from "../../http/auth/access.ts";
import { isConnectAddress, isPlaywrightAddress, takeKey } from "../../http/auth/connect-address.ts";
import type { IssuingKeys } from "../../http/auth/issuing-keys.ts";
import type { KeyScopes } from "../../http/auth/key-scopes.ts";
import { keyMayMoveSecrets, mayMoveSecrets, refuseRole } from "../../http/auth/rights.ts";
import { requireSessionToken } from "../../http/auth/session-token.ts";
import type { RateLimits } from "../../http/limits/rate-limits.ts";
import type { RequestOrigins } from "../../http/request-origin.ts";
import type { Log } from "../../log/log.ts";
import { explainOutage } from "../../storage/errors/outages.ts";
import type { Secrets } from "../../storage/secrets.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { noAnswer } from "../instance-plane/no-answer.ts";
import {
  type AdmittedView,
  admitAccess,
  type LiveViewAddresses,
  type LoginWaits,
  type PersonLinks,
} from "../live-view/live-view-address.ts";
import type { SignInBrowsers } from "../live-view/sign-in-browsers.ts";
import { admittedTarget, type LiveViewTarget, liveViewTarget } from "../live-view/live-view-socket.ts";
import type { ConnectDoor } from "../connect/connect-door.ts";
import { admitPlaywrightClient } from "../connect/playwright-client.ts";
import { WaitingClient } from "../connect/waiting-client.ts";
import { ClientLink, type ClientLinkParts } from "./client-link.ts";
import { closeAt } from "./close-at.ts";
import { closeOf } from "./close-reason.ts";
import type { OpenSockets } from "./open-sockets.ts";
import { isClientOf, isPlaywrightSocket, playwrightTarget, socketIn, wayTo } from "./socket-paths.ts";
import { splice } from "./splice.ts";
import { refuseUpgrade } from "./upgrade-refusal.ts";
import { openWebSocket, withIgnoredFields } from "./websocket-handshake.ts";

interface Inner {
  readonly socket: Duplex;
  readonly sessionId: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Absent if the instance runs on another server. */
  readonly sleep?: InstanceSleep;
  /** The client's URL expires at this time. */
  readonly untilMs?: number;
  /** The connection ends when the login does not wait any more. */
  readonly isForLogin?: boolean;
  /** The connection ends when the rights of its link change. */
  readonly view?: AdmittedView;
  /** CDP and BiDi: the session may end when the last one leaves. */
  readonly isClient?: boolean;
  /** Bytes that the client sent while it waited. */
  readonly early?: Buffer;
  /** The caller has no right to secrets: the connection ends when one is typed. */
  readonly isLimited?: boolean;
  /** Options of the client that had no effect, for the answer. */
  readonly ignored?: readonly string[];
}

const switchingProtocols = 101;
const created = 200;
/** A restarting browser needs time before it accepts a connection. */
const instanceTimeoutMs = 45_000;
/** Longer than {@link instanceTimeoutMs}, because the other server waits for its instance. */
const serverTimeoutMs = 60_000;

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
  readonly enter: (entrant: Entrant) => void;
  /** Only the first call counts. */
  readonly note: (status: number) => void;
}

export interface UpgradeParts {
  readonly connectDoor: Pick<ConnectDoor, "open">;
  readonly sessions: Sessions;
  readonly secrets: Pick<Secrets, "verifySession">;
  readonly issuingKeys: IssuingKeys;
  readonly keyScopes: KeyScopes;
  readonly authenticator: Authenticator;
  readonly rateLimits: Pick<RateLimits, "admit">;
  readonly origins: RequestOrigins;
  readonly liveViews: LiveViewAddresses;
  readonly loginWaits: LoginWaits;
  readonly persons: PersonLinks;
  readonly signInBrowsers: Pick<SignInBrowsers, "admitView" | "endView" | "refuseConnection">;
  readonly replicas: ReplicaForwarding;
  readonly recorder: Pick<AuditRecorder, "note">;
  readonly sockets: OpenSockets;
  /** Longest silence of a client, which includes missing answers to pings. */
  readonly timeoutMs: number;
  readonly log: Log;
}

/** CDP, live views and terminals, with the session's token or an API key. */
export class SessionUpgrades {
  readonly #parts: UpgradeParts;

  constructor(parts: UpgradeParts) {
    this.#parts = parts;
  }

  serve(server: Server): void {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.#onUpgrade(request, socket, head);
    });
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { log, origins, recorder, replicas, sessions, sockets } = this.#parts;
    const requestId = requestIdOf(request.headers);
    const connection = sockets.add(socket);
    // Until the sockets are joined, an unhandled error would end the process.
    socket.on("error", () => socket.destroy());
    const beganMs = performance.now();
    const path = origins.pathInside(request);
    const isPlain = isConnectAddress(path) || isPlaywrightSocket(path);
    takeKey(request, path);
    let entrant: Entrant | undefined;
    /** Writes one audit entry for each connection; the forwarding server writes that of a forwarded one. */
    const note = (status: number): void => {
      const who = entrant;
      entrant = undefined;
      if (who === undefined || connection.isForwarded === true) return;
      recorder.note(
        attachNoteOf(request, who, {
          status,
          projectId: sessions.projectOf(who.sessionId),
          durationMs: performance.now() - beganMs,
          clientIp: origins.clientIpOf(request),
          requestId,
        }),
      );
    };
    const enter = (who: Entrant): void => {
      // Read once: the check throws for a forged header, and for an expired one.
      connection.isForwarded = replicas.isForwarded(request);
      if (!connection.isForwarded) connection.keyId = who.keyId;
      entrant = who;
    };
    this.#upgrade({ enter, head, note, request, requestId, socket }).catch((failure: unknown) => {
      const error = explainOutage(failure);
      const known = ServiceError.isInstance(error) ? error : noAnswer(error);
      log.debug(
        { request_id: requestId, status: known.status, code: known.code, ...(known !== error && { err: error }) },
        "upgrade refused",
      );
      note(socket.destroyed ? clientGone : known.status);
      if (!socket.destroyed) refuseUpgrade(socket, known, { requestId, isPlain });
    });
  }

  async #upgrade(upgrade: Upgrade): Promise<void> {
    const { enter, head, note, request, requestId, socket } = upgrade;
    refuseAmbiguousHost(request);
    const url = new URL(this.#parts.origins.pathInside(request), "http://shoal.invalid");
    const found = await (isConnectAddress(url.pathname)
      ? this.#innerOfNew(url, upgrade)
      : this.#innerFor(url, request, enter));
    const { socket: inner, sessionId, sleep, untilMs, isForLogin = false, view, isClient, early, ...rest } = found;
    const { ignored = [], isLimited, ...ask } = rest;
    if (socket.destroyed) {
      inner.destroy();
      note(clientGone);
      return;
    }
    inner.on("error", () => inner.destroy());
    const endInner = (): void => {
      inner.destroy();
    };
    socket.once("close", endInner);
    const accepted = await openWebSocket(inner, {
      ...ask,
      request,
      headers: { ...ask.headers, "x-request-id": requestId },
    });
    if (inner.destroyed) {
      note(clientGone);
      return;
    }
    socket.off("close", endInner);
    note(switchingProtocols);
    socket.write(withIgnoredFields(accepted.head, ignored));
    if (accepted.rest.length > 0) socket.write(accepted.rest);
    if (head.length > 0) inner.write(head);
    if (early !== undefined && early.length > 0) inner.write(early);
    if (isClient === true) socket.once("close", this.#parts.sessions.enterClient(sessionId));
    splice(socket, inner, () => this.#endClient(socket, sessionId));
    this.#followClient(socket, { inner, sent: accepted.rest, requestId, ...(sleep && { sleep }) });
    const until = view?.until ?? (isLimited === true ? "any" : undefined);
    if (until !== undefined)
      socket.once(
        "close",
        this.#parts.signInBrowsers.endView(sessionId, until, () => {
          inner.destroy();
          socket.destroy();
        }),
      );
    if (isForLogin) this.#endWithLogin(socket, sessionId);
    if (view?.person !== undefined) this.#endWithLink(socket, view);
    if (untilMs !== undefined) closeAt(socket, untilMs);
  }

  #endWithLogin(socket: Duplex, sessionId: string): void {
    const { log, loginWaits } = this.#parts;
    const look = () => {
      loginWaits.isWaiting(sessionId).then(
        (isWaiting) => {
          if (!isWaiting) socket.destroy();
        },
        (error: unknown) => {
          log.debug({ session_id: sessionId, err: error }, "the login of a live view could not be read");
          socket.destroy();
        },
      );
    };
    socket.once("close", loginWaits.onChange(look));
    // It may have changed while the connection was set up.
    look();
  }

  /** Also when a person takes control: the page connects again, with more rights. */
  #endWithLink(socket: Duplex, view: AdmittedView): void {
    const { log, persons } = this.#parts;
    const look = () => {
      persons.find(view).then(
        (person) => {
          if (person?.mode !== view.mode) socket.destroy();
        },
        (error: unknown) => {
          if (!ServiceError.isInstance(error)) log.debug({ err: error }, "the link of a live view could not be read");
          socket.destroy();
        },
      );
    };
    socket.once("close", persons.onChange(view.person?.linkId ?? "", look));
    // It may have changed while the connection was set up.
    look();
  }

  /** @param enter - called once the caller is authenticated, before anything else can fail. */
  async #innerFor(url: URL, request: IncomingMessage, enter: (entrant: Entrant) => void): Promise<Inner> {
    const { authenticator, issuingKeys, keyScopes, loginWaits, persons, rateLimits, replicas, signInBrowsers } =
      this.#parts;
    const asked = await this.#liveViewOf(url, request);
    if (asked !== undefined) {
      const view = await this.#refuseInvalid(request, () =>
        admitAccess({ issuingKeys, keyScopes, logins: loginWaits, persons, signInBrowsers }, asked),
      );
      const { expiresAtMs: untilMs, isControl, isForLogin, keyId, path, sessionId } = admittedTarget(asked, view);
      const way = isControl ? "browsers.liveView.control" : "browsers.liveView.watch";
      enter({ way, sessionId, access: undefined, keyId, ...(view.person && { person: view.person }) });
      return { ...(await this.#reach(request, { id: sessionId }, path)), untilMs, isForLogin, view };
    }
    const { id, target } = socketIn(url.pathname);
    if (id === undefined || target === undefined)
      throw new ServiceError(404, "not_found", `No WebSocket exists at ${url.pathname}.`, {
        hint: "Connect to the cdp_ws_url of a session.",
      });
    const way = wayTo(target);
    const isForwarded = replicas.isForwarded(request);
    // The server that forwards it has checked the client.
    const isPlaywright = target === playwrightTarget && !isForwarded;
    const { ignored } = isPlaywright ? admitPlaywrightClient(request.headers, url, { isNew: false }) : { ignored: [] };
    const token = url.searchParams.get("jwt");
    const { authorization } = request.headers;
    if (token === null && (authorization !== undefined || isForwarded)) {
      const params = { id };
      const caller = await authenticator.authenticate(request);
      if (!isForwarded) rateLimits.admit(caller.key.id, () => undefined);
      const access = await keyScopes.admit(caller, connectionOperation(way), params);
      refuseRole(access, "operator", way);
      const isLimited = !mayMoveSecrets(access);
      if (isLimited) await signInBrowsers.refuseConnection(way, access.projectId, params.id);
      enter({ way, sessionId: params.id, access, keyId: access.key.id });
      const there = await this.#reach(request, { projectId: access.projectId, id: params.id, access }, `/${target}`);
      return { ...there, isClient: isClientOf(target), ignored, isLimited };
    }
    const keyId = await this.#refuseInvalid(request, () => requireSessionToken(this.#parts, token ?? "", id));
    const key = await issuingKeys.require(keyId);
    await keyScopes.requireSession(key, connectionOperation(way), id);
    const isLimited = !keyMayMoveSecrets(key);
    if (isLimited) await signInBrowsers.refuseConnection(way, undefined, id);
    enter({ way, sessionId: id, access: undefined, keyId });
    const there = await this.#reach(request, { id }, `/${target}`);
    return { ...there, isClient: isClientOf(target), ignored, isLimited };
  }

  /** For an address without a session, which creates one or joins it by its name. */
  async #innerOfNew(url: URL, { enter, note, request, requestId, socket }: Upgrade): Promise<Inner> {
    const { connectDoor, sessions, signInBrowsers } = this.#parts;
    const isPlaywright = isPlaywrightAddress(url.pathname);
    const { ignored } = isPlaywright ? admitPlaywrightClient(request.headers, url, { isNew: true }) : { ignored: [] };
    const target = isPlaywright ? playwrightTarget : "cdp";
    const waiting = new WaitingClient(socket);
    const { signal } = waiting;
    const enterAs = (way: Entrant["way"], sessionId: string, access: Access): void => {
      enter({ way, sessionId, access, keyId: access.key.id });
    };
    try {
      const onCreate = (access: Access): void => {
        enterAs("browsers.create", "", access);
      };
      const opened = await connectDoor.open({ request, requestId, url, signal, onCreate });
      const { access, isCreated, sessionId } = opened;
      const { projectId } = access;
      if (isCreated) note(created);
      else if (!mayMoveSecrets(access))
        await signInBrowsers.refuseConnection("browsers.cdp.connect", projectId, sessionId);
      enterAs("browsers.cdp.connect", sessionId, access);
      if (isCreated && signal.aborted) await sessions.delete(projectId, sessionId).catch(() => undefined);
      const outerPath = `/browsers/${sessionId}/${target}`;
      const there = await this.#reach(request, { projectId, id: sessionId, access, outerPath }, `/${target}`);
      return { ...there, isClient: true, early: waiting.release(), ignored, isLimited: !mayMoveSecrets(access) };
    } catch (error) {
      waiting.release();
      throw error;
    }
  }

  async #reach(
    request: IncomingMessage,
    session: {
      readonly projectId?: string;
      readonly id: string;
      readonly access?: Access;
      /** Where another server has the session, instead of the path of the request. */
      readonly outerPath?: string;
    },
    path: string,
  ): Promise<Inner> {
    const sessionId = session.id;
    const found = await this.#parts.sessions.instanceOf(session.projectId, sessionId);
    if (!(found instanceof Elsewhere)) {
      const { sleep } = found;
      return { socket: await found.connect(), sessionId, path, headers: {}, timeoutMs: instanceTimeoutMs, sleep };
    }
    const { access, outerPath } = session;
    const there = await this.#parts.replicas.connect(found, request, {
      access,
      ...(outerPath !== undefined && { path: outerPath }),
    });
    return { ...there, sessionId, timeoutMs: serverTimeoutMs };
  }

  #liveViewOf(url: URL, request: IncomingMessage): Promise<LiveViewTarget | undefined> {
    return this.#refuseInvalid(request, () => liveViewTarget(url, this.#parts.liveViews));
  }

  /** Counts an invalid token against the client's address. */
  async #refuseInvalid<Result>(request: IncomingMessage, check: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await check();
    } catch (error) {
      if (ServiceError.isInstance(error)) this.#parts.authenticator.countRefused(request);
      throw error;
    }
  }

  /** @param to.sent - bytes that the instance has already sent. */
  #followClient(
    socket: Duplex,
    to: Pick<ClientLinkParts, "inner" | "sent" | "sleep"> & { readonly requestId: string },
  ): void {
    const { log, sockets, timeoutMs } = this.#parts;
    const connection = sockets.get(socket);
    if (connection === undefined) return;
    const { requestId, ...parts } = to;
    const onTimeout = (): void => {
      log.info(
        { request_id: requestId, websocket_timeout_seconds: timeoutMs / 1000 },
        "a WebSocket client that answered no ping was disconnected",
      );
    };
    connection.link = new ClientLink({ client: socket, ...parts, timeoutMs, onTimeout });
  }

  /** Sends the client the reason why its session ended, if the instance did not. */
  async #endClient(socket: Duplex, sessionId: string): Promise<void> {
    if (socket.writableEnded || socket.destroyed) return;
    // A close frame of the instance already contains the reason: the client need not wait for the session's end.
    const isExplained = this.#parts.sockets.get(socket)?.link?.isClosedByInstance === true;
    const reason = isExplained ? undefined : await this.#parts.sessions.endingOf(sessionId);
    const link = this.#parts.sockets.get(socket)?.link;
    if (link === undefined) socket.end();
    else link.endAfterInstance(...closeOf(reason));
  }
}
