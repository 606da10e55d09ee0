import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Access, Authenticator, KeyRow } from "../http/auth/access.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { answerHeadersOfServer, type Forwarding, headersForServer, relay, replicaHeader } from "../http/relay.ts";
import { sessionTokenIn } from "../http/auth/session-path.ts";
import type { RequestHead, RequestOrigins } from "../http/request-origin.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import type { Peers } from "./peers.ts";
import type { ReplicaTrust } from "./replica-trust.ts";

export interface ReplicaForwarding {
  /** That server audits the request. @throws {ServiceError} 401 for an invalid header. */
  isForwarded(request: IncomingMessage): boolean;
  isAlone(): boolean;
  /**
   * The request's body must be unread. @param access - `undefined` if the URL has a session token.
   * @returns once the other server's answer has begun; the rest follows in the background.
   * @throws {ServiceError} 503 when the other server does not answer, or forwarded the request itself.
   */
  handOver(elsewhere: Elsewhere, forwarding: Forwarding, access: Access | undefined): Promise<void>;
  /**
   * Opens a connection for an upgrade. Returns the path and headers to send there. @param as.path - instead of the
   * request's own.
   */
  connect(
    elsewhere: Elsewhere,
    request: IncomingMessage,
    as: { readonly access: Access | undefined; readonly path?: string },
  ): Promise<{ readonly socket: Duplex; readonly path: string; readonly headers: Readonly<Record<string, string>> }>;
}

export function createReplicaForwarding(parts: {
  readonly peers: Peers;
  readonly trust: ReplicaTrust;
  readonly origins: RequestOrigins;
}): ReplicaForwarding {
  const { peers, trust, origins } = parts;
  const isForwarded = (request: IncomingMessage) =>
    request.headers[replicaHeader] !== undefined && trust.read(request) !== undefined;

  /** Two servers must not forward a request back and forth. @throws {ServiceError} 503 */
  function refuseForwarded(elsewhere: Elsewhere, request: IncomingMessage): void {
    if (isForwarded(request))
      throw elsewhere.toError(
        "Another server forwarded this request, but the session is not here. Repeat the request.",
      );
  }
  const vouchedFor = (request: RequestHead, access: Access | undefined) => ({
    access,
    baseUrl: access?.baseUrl ?? origins.baseUrlOf(request),
    clientIp: origins.clientIpOf(request),
  });

  return {
    isForwarded,
    isAlone: () => peers.isAlone,
    async handOver(elsewhere, forwarding, access) {
      const { raw } = forwarding.request;
      const { serverId } = elsewhere;
      refuseForwarded(elsewhere, raw);
      const path = raw.url ?? "/";
      const vouched = vouchedFor(raw, access);
      // With a token in the URL, these headers may belong to a website.
      const keepsCredentials = sessionTokenIn(path) !== undefined;
      const headers = { request: headersForServer(raw.headers, keepsCredentials), answer: answerHeadersOfServer };
      await relay(forwarding, headers, (init, body) => peers.request(serverId, { ...init, path, vouched }, body));
    },
    async connect(elsewhere, request, { access, path = origins.pathInside(request) }) {
      const { serverId } = elsewhere;
      refuseForwarded(elsewhere, request);
      const socket = await peers.connect(serverId);
      return {
        socket,
        path,
        headers: { [replicaHeader]: peers.vouch(serverId, { method: "GET", path }, vouchedFor(request, access)) },
      };
    },
  };
}

/** @param keys - by id. */
export function trustingReplicas(
  authenticator: Authenticator,
  trust: ReplicaTrust,
  keys: Pick<ReadCache<KeyRow>, "get">,
): Authenticator {
  async function withPolicy(access: Access): Promise<Access> {
    const policy = (await keys.get(access.key.id))?.policy;
    if (policy === undefined)
      throw new ServiceError(401, "unauthorized", `The API key ${access.key.id} of a forwarded request was deleted.`);
    return { ...access, key: { ...access.key, policy } };
  }

  return {
    ...authenticator,
    authenticate(request, options) {
      if (request.headers[replicaHeader] === undefined) return authenticator.authenticate(request, options);
      const vouched = trust.read(request);
      const access = vouched?.access;
      if (access === undefined)
        throw new ServiceError(401, "unauthorized", "The request was forwarded without the access of its caller.", {
          hint: "Send a valid key to one of the servers.",
        });
      return vouched?.hasPolicy === true ? withPolicy(access) : access;
    },
    countRefused: (request) => {
      authenticator.countRefused(request);
    },
    baseUrlOf: (request) => trust.read(request)?.baseUrl ?? authenticator.baseUrlOf(request),
  };
}
