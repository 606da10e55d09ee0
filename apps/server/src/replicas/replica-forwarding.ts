import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Access, Authenticator } from "../auth/access.ts";
import { SessionElsewhere } from "../browsers/session-errors.ts";
import { answerHeadersOfServer, type Forwarding, headersForServer, relay } from "../instance-plane/forward.ts";
import { sessionTokenIn } from "../instance-plane/session-token.ts";
import type { RequestHead, RequestOrigins } from "../public-url/request-origin.ts";
import type { Peers } from "./peers.ts";
import { replicaHeader, type ReplicaTrust } from "./replica-trust.ts";

/** Hands requests to the server that has their session. */
export interface ReplicaForwarding {
  /**
   * Whether another server has sent this request on: it has written down who asked what, and it is not sent on again.
   *
   * @throws {ServiceError} 401 when the request says so and no server has.
   */
  isForwarded(request: IncomingMessage): boolean;
  /** Whether no other server is known: nothing can be elsewhere then that can be reached. */
  isAlone(): boolean;
  /**
   * Hands a request over where a session was looked for and is elsewhere. The body of the request must not have been read yet.
   *
   * @param access - on whose behalf; `undefined` where the token of a session in the address tells.
   * @returns once the other server's answer has begun; what is left of it follows by itself.
   * @throws `error` itself where it is another one; {@link ServiceError} 503 when the other server does not answer.
   */
  handOver(error: unknown, forwarding: Forwarding, access: Access | undefined): Promise<void>;
  /** Likewise, for an upgrade: a connection to the other server and the line that the request's head gets. */
  connect(
    error: unknown,
    request: IncomingMessage,
    access: Access | undefined,
  ): Promise<{ readonly socket: Duplex; readonly path: string; readonly headers: Readonly<Record<string, string>> }>;
}

export function createReplicaForwarding(parts: {
  readonly peers: Peers;
  readonly trust: ReplicaTrust;
  readonly origins: RequestOrigins;
}): ReplicaForwarding {
  const { peers, trust, origins } = parts;
  const isForwarded = (request: IncomingMessage) => request.headers[replicaHeader] !== undefined && trust.read(request) !== undefined;

  /** @throws what is not for another server to answer. */
  function serverIn(error: unknown, request: IncomingMessage): string {
    if (!(error instanceof SessionElsewhere)) throw error;
    if (isForwarded(request))
      throw new ServiceError(
        503,
        "server_unreachable",
        `${error.message} It was looked for on this server because another one said that it is here. Repeat the request.`,
        { retryAfterSeconds: 1 },
      );
    return error.serverId;
  }
  const vouchedFor = (request: RequestHead, access: Access | undefined) => ({
    access,
    baseUrl: access?.baseUrl ?? origins.baseUrlOf(request),
    clientIp: origins.clientIpOf(request),
  });

  return {
    isForwarded,
    isAlone: () => peers.isAlone,
    async handOver(error, forwarding, access) {
      const { raw } = forwarding.request;
      const serverId = serverIn(error, raw);
      const path = raw.url ?? "/";
      const vouched = vouchedFor(raw, access);
      // With the token in the address, these fields may be for a site.
      const keepsCredentials = sessionTokenIn(path) !== undefined;
      const headers = { request: headersForServer(raw.headers, keepsCredentials), answer: answerHeadersOfServer };
      await relay(forwarding, headers, (init, body) => peers.request(serverId, { ...init, path, vouched }, body));
    },
    async connect(error, request, access) {
      const serverId = serverIn(error, request);
      const path = origins.pathInside(request);
      const socket = await peers.connect(serverId);
      return { socket, path, headers: { [replicaHeader]: peers.vouch(serverId, { method: "GET", path }, vouchedFor(request, access)) } };
    },
  };
}

/** Takes the word of another server for who asks, where it has sent a request on; all others show their key. */
export function trustingReplicas(authenticator: Authenticator, trust: ReplicaTrust): Authenticator {
  return {
    ...authenticator,
    authenticate(request, options) {
      if (request.headers[replicaHeader] === undefined) return authenticator.authenticate(request, options);
      const access = trust.read(request)?.access;
      if (access === undefined)
        throw new ServiceError(401, "unauthorized", "The request was sent on without its sender's access. Send a valid key to one of the servers.");
      return access;
    },
    countRefused: (request) => {
      authenticator.countRefused(request);
    },
    baseUrlOf: (request) => trust.read(request)?.baseUrl ?? authenticator.baseUrlOf(request),
  };
}
