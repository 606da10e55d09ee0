import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { refuseAmbiguousHost, requestIdOf } from "@shoal/router/fastify";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { attachNoteOf, clientGone, type Entrant } from "../audit-logs/follow.ts";
import type { AuditRecorder } from "../audit-logs/recorder.ts";
import type { Access, Authenticator } from "../auth/access.ts";
import type { IssuingKeys } from "../auth/issuing-keys.ts";
import type { KeyConnection } from "../auth/key-watch.ts";
import { requireSessionToken } from "../instance-plane/session-token.ts";
import type { LiveViewAddresses } from "../live-view/live-view-address.ts";
import { type LiveViewTarget, liveViewTarget } from "../live-view/live-view-socket.ts";
import type { Log } from "../log.ts";
import type { RequestOrigins } from "../public-url/request-origin.ts";
import { explainOutage } from "../outages.ts";
import type { ReplicaForwarding } from "../replicas/replica-forwarding.ts";
import type { Secrets } from "../secrets.ts";
import { ClientLink } from "./client-link.ts";
import { closeOf } from "./close-reason.ts";
import { noAnswer } from "./session-errors.ts";
import type { Sessions } from "./sessions.ts";
import { splice } from "./splice.ts";
import { refuseUpgrade } from "./upgrade-refusal.ts";
import { openWebSocket } from "./websocket-handshake.ts";

/** Where a connection goes on, and what its request says there. */
interface Inner {
  readonly socket: Duplex;
  readonly sessionId: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** When the address expires that it was opened with, epoch milliseconds. */
  readonly untilMs?: number;
}

/** Close code of a WebSocket whose API key is no longer valid: policy violation. */
const invalidKeyCode = 1008;
const switchingProtocols = 101;
/** A browser that starts again takes its time before it accepts a connection. */
const instanceTimeoutMs = 45_000;
/** The other server waits for its instance. */
const serverTimeoutMs = 60_000;

/** A connection that is to be taken. */
interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly requestId: string;
  readonly enter: (entrant: Entrant) => void;
  /** Only the first call counts. */
  readonly note: (status: number) => void;
}

/** A connection from its first byte to its end. */
interface OpenConnection {
  /** Whether another server handed it over. */
  isForwarded?: boolean;
  /** The API key that it depends on. Absent where another server handed the connection over: that server sees to the key. */
  keyId?: string;
  /** Present once it is a WebSocket. */
  link?: ClientLink;
}

/** Takes WebSocket connections to sessions: `/browsers/{id}/cdp?jwt=…`, those of live views, and `/browsers/{id}/process/{process_id}/attach` with the same token, or with an API key. */
export interface UpgradeRoutes {
  /** Connections that are open. */
  count(): number;
  /** Connections that depend on an API key that this server checks. */
  keyConnections(): Iterable<KeyConnection>;
  /** Ends every open connection. */
  close(): void;
}

export function serveUpgrades(
  server: Server,
  parts: {
    readonly sessions: Sessions;
    readonly secrets: Pick<Secrets, "verifySession">;
    readonly issuingKeys: IssuingKeys;
    readonly authenticator: Authenticator;
    readonly origins: RequestOrigins;
    readonly liveViews: LiveViewAddresses;
    readonly replicas: ReplicaForwarding;
    readonly recorder: Pick<AuditRecorder, "note">;
    /** How long a client may send nothing, not even the answer to a ping. */
    readonly timeoutMs: number;
    readonly log: Log;
  },
): UpgradeRoutes {
  const { sessions, issuingKeys, authenticator, origins, liveViews, replicas, recorder, timeoutMs, log } = parts;
  const open = new Map<Duplex, OpenConnection>();

  /** Looks for the session's instance here, or else has the server that has it take the connection. */
  async function reach(
    request: IncomingMessage,
    session: { readonly projectId?: string; readonly id: string; readonly access?: Access },
    path: string,
  ): Promise<Inner> {
    let instance: Instance;
    try {
      instance = await sessions.instanceOf(session.projectId, session.id);
    } catch (error) {
      return { ...(await replicas.connect(error, request, session.access)), sessionId: session.id, timeoutMs: serverTimeoutMs };
    }
    return { socket: await instance.connect(), sessionId: session.id, path, headers: {}, timeoutMs: instanceTimeoutMs };
  }

  /** @param enter - told who has been let in, before anything else can go wrong. */
  async function innerFor(url: URL, request: IncomingMessage, enter: (entrant: Entrant) => void): Promise<Inner> {
    const live = await liveViewOf(url, request);
    if (live !== undefined) {
      const { isControl, keyId, sessionId } = live;
      await refuseInvalid(request, () => issuingKeys.require(keyId));
      enter({ way: isControl ? "browsers.liveView.control" : "browsers.liveView.watch", sessionId, access: undefined, keyId });
      return { ...(await reach(request, { id: live.sessionId }, live.path)), untilMs: live.untilMs };
    }
    const [, id, target] =
      /^\/browsers\/([^/]+)\/(cdp|webdriver|devtools\/(?:browser(?:\/[\w-]{1,100})?|page\/\w{1,100})|process\/[\w-]{1,255}\/attach)$/.exec(
        url.pathname,
      ) ?? [];
    if (id === undefined || target === undefined) {
      throw new ServiceError(404, "not_found", `There is no WebSocket at ${url.pathname}. Connect to the cdp_ws_url of a session.`);
    }
    const token = url.searchParams.get("jwt");
    const isAttach = target.startsWith("process/");
    const way = isAttach ? "browsers.process.attach" : target === "webdriver" ? "browsers.webdriver.connect" : "browsers.cdp.connect";
    if (token === null && (request.headers.authorization !== undefined || replicas.isForwarded(request))) {
      const access = await authenticator.authenticate(request);
      enter({ way, sessionId: id, access, keyId: access.key.id });
      return reach(request, { projectId: access.projectId, id, access }, `/${target}`);
    }
    const keyId = await refuseInvalid(request, () => requireSessionToken(parts, token ?? "", id));
    enter({ way, sessionId: id, access: undefined, keyId });
    return reach(request, { id }, `/${target}`);
  }

  const liveViewOf = (url: URL, request: IncomingMessage): Promise<LiveViewTarget | undefined> =>
    refuseInvalid(request, () => liveViewTarget(url, liveViews));

  /** Runs a check of a token and counts the refusal of an invalid one. */
  async function refuseInvalid<Result>(request: IncomingMessage, check: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await check();
    } catch (error) {
      if (ServiceError.isInstance(error)) authenticator.countRefused(request);
      throw error;
    }
  }

  /** Looks after a WebSocket from now on. @param to.sent - what its instance has sent already. */
  function followClient(socket: Duplex, to: { readonly inner: Duplex; readonly sent: Buffer; readonly requestId: string }): void {
    const connection = open.get(socket);
    if (connection === undefined) return;
    const { inner, requestId, sent } = to;
    const onTimeout = (): void => {
      log.info({ request_id: requestId, websocket_timeout_seconds: timeoutMs / 1000 }, "a WebSocket client that answered no ping was disconnected");
    };
    connection.link = new ClientLink({ client: socket, inner, sent, timeoutMs, onTimeout });
  }

  /** Tells a client why its connection ends, where the instance has not. */
  async function endClient(socket: Duplex, sessionId: string): Promise<void> {
    if (socket.writableEnded || socket.destroyed) return;
    const reason = await sessions.endingOf(sessionId);
    const link = open.get(socket)?.link;
    if (link === undefined) socket.end();
    else link.endAfterInstance(...closeOf(reason));
  }

  async function upgrade({ enter, head, note, request, requestId, socket }: Upgrade): Promise<void> {
    refuseAmbiguousHost(request);
    const {
      socket: inner,
      sessionId,
      untilMs,
      ...ask
    } = await innerFor(new URL(origins.pathInside(request), "http://shoal.invalid"), request, enter);
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
    const accepted = await openWebSocket(inner, { ...ask, request, headers: { ...ask.headers, "x-request-id": requestId } });
    // With the client's connection, that of the instance was ended.
    if (inner.destroyed) {
      note(clientGone);
      return;
    }
    socket.off("close", endInner);
    note(switchingProtocols);
    socket.write(accepted.head);
    if (accepted.rest.length > 0) socket.write(accepted.rest);
    if (head.length > 0) inner.write(head);
    splice(socket, inner, () => endClient(socket, sessionId));
    followClient(socket, { inner, sent: accepted.rest, requestId });
    if (untilMs === undefined) return;
    const expiry = setTimeout(() => socket.destroy(), untilMs - Date.now()).unref();
    socket.once("close", () => {
      clearTimeout(expiry);
    });
  }

  function onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const requestId = requestIdOf(request.headers);
    const connection: OpenConnection = {};
    open.set(socket, connection);
    socket.on("close", () => open.delete(socket));
    // Until the sockets are joined nobody else listens, and an unheard error would end the process.
    socket.on("error", () => socket.destroy());
    const beganMs = performance.now();
    let entrant: Entrant | undefined;
    /** One entry of the audit log for each connection, as it begins; of one that another server hands on, that server has made it. */
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
      // Once, because the check throws for a header that no server sent, and for one that has become old.
      connection.isForwarded = replicas.isForwarded(request);
      if (!connection.isForwarded) connection.keyId = who.keyId;
      entrant = who;
    };
    upgrade({ enter, head, note, request, requestId, socket }).catch((failure: unknown) => {
      const error = explainOutage(failure);
      const known = ServiceError.isInstance(error) ? error : noAnswer(error);
      log.debug({ request_id: requestId, status: known.status, code: known.code, ...(known !== error && { err: error }) }, "upgrade refused");
      note(socket.destroyed ? clientGone : known.status);
      if (socket.destroyed) return;
      refuseUpgrade(socket, known, requestId);
    });
  }

  server.on("upgrade", onUpgrade);
  return {
    count: () => open.size,
    *keyConnections() {
      for (const [socket, { keyId, link }] of open) {
        if (keyId === undefined) continue;
        yield {
          keyId,
          end(problem) {
            if (link === undefined) socket.destroy();
            else link.close(invalidKeyCode, problem);
          },
        };
      }
    },
    close() {
      for (const [socket, { link }] of open) {
        if (link === undefined) socket.destroy();
        else link.close(...closeOf("server_stopped"));
      }
    },
  };
}
