import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";
import type { Access } from "../auth/access.ts";

/** Carries what one server vouches for to another. */
export const replicaHeader = "x-shoal-replica";
/** A request is on its way for less than this; servers' clocks may be this far apart. */
const lifetimeSeconds = 60;

/** What the server that a client reached says of the client's request. */
export interface Vouched {
  /** On whose behalf it is; `undefined` = the token of a session in its address tells. */
  readonly access: Access | undefined;
  /** As {@link Access.baseUrl}. */
  readonly baseUrl: string;
  readonly clientIp: string;
}

/** A server, and where it is reached: what answers at its address must not be able to have the server itself prove for it from elsewhere. */
export interface ProvenServer {
  readonly id: string;
  readonly address: string;
}

/** What servers over one database prove to one another. */
export interface ReplicaTrust {
  /** The same on servers whose secrets are the same, and no help to find them. */
  readonly check: Buffer;
  /** Vouches for one request to one server: its method, its path and whom it is for. No other request can be made of it. */
  vouch(to: string, request: { readonly method: string; readonly path: string }, vouched: Vouched): string;
  /**
   * What was vouched for; `undefined` where nothing was, so that it comes from a client.
   *
   * @throws {ServiceError} 401 when it is not for this server, not for this request, too old, or not from a server of this database.
   */
  read(request: Pick<IncomingMessage, "headers" | "method" | "url">): Vouched | undefined;
  /**
   * What a server answers to show that it is the one that it is taken for.
   *
   * @param nonce - of the asker, never used before.
   */
  prove(server: ProvenServer, nonce: string): string;
  isProof(server: ProvenServer, nonce: string, proof: string | undefined): boolean;
}

const Claims = z.object({
  to: z.string(),
  method: z.string(),
  path: z.string(),
  /** Seconds since 1970. */
  at: z.number(),
  baseUrl: z.string(),
  clientIp: z.string(),
  access: z.optional(
    z.object({
      key: z.object({
        id: z.string(),
        name: z.string(),
        project_id: z.nullable(z.string()),
        created_by_email: z.string(),
        expiresAtMs: z.nullable(z.number()),
      }),
      projectId: z.string(),
      named: z.optional(z.string()),
    }),
  ),
});

function refused(why: string): ServiceError {
  return new ServiceError(401, "unauthorized", `The header ${replicaHeader} is for requests between the servers of an installation: ${why}`);
}

/** @param secret - kept in the database that the servers share. @param serverSecret - what each was given, so that the database alone opens nothing. */
export function createReplicaTrust(secret: Uint8Array, serverSecret: string, serverId: string): ReplicaTrust {
  const derive = (use: string) => Buffer.from(hkdfSync("sha256", serverSecret, secret, use, 32));
  const vouching = derive("requests between servers");
  const proving = derive("proofs of servers");
  const macOf = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest("base64url");
  const equal = (one: string, other: string) => {
    const [given, expected] = [Buffer.from(one), Buffer.from(other)];
    return given.length === expected.length && timingSafeEqual(given, expected);
  };
  const proofFor = ({ id, address }: ProvenServer, nonce: string) => macOf(proving, `${id}\n${address}\n${nonce}`);

  return {
    check: derive("whether secrets are the same"),
    vouch(to, { method, path }, { access, baseUrl, clientIp }) {
      const { key, projectId, namedProjectId } = access ?? {};
      const claims: z.input<typeof Claims> = {
        to,
        method,
        path,
        at: Math.floor(Date.now() / 1000),
        baseUrl,
        clientIp,
        ...(key !== undefined &&
          projectId !== undefined && {
            access: {
              key: {
                id: key.id,
                name: key.name,
                project_id: key.project_id,
                created_by_email: key.created_by_email,
                expiresAtMs: Number.isFinite(key.expiresAtMs) ? key.expiresAtMs : null,
              },
              projectId,
              ...(namedProjectId !== undefined && { named: namedProjectId }),
            },
          }),
      };
      const text = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${text}.${macOf(vouching, text)}`;
    },
    read({ headers, method, url }) {
      const header = headers[replicaHeader];
      if (header === undefined) return undefined;
      const [text = "", mac = ""] = String(header).split(".", 2);
      if (!equal(mac, macOf(vouching, text))) throw refused("this one is not of a server of this database, or its secret is another.");
      const { access, at, baseUrl, clientIp, ...claims } = Claims.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
      if (claims.to !== serverId) throw refused(`this one is for server ${claims.to}, not for ${serverId}.`);
      if (claims.method !== method || claims.path !== url) throw refused("this one is for another request.");
      if (Math.abs(Date.now() / 1000 - at) > lifetimeSeconds)
        throw refused(`this one is more than ${String(lifetimeSeconds)} s old. Set the clocks of the servers.`);
      return {
        baseUrl,
        clientIp,
        access: access && {
          baseUrl,
          projectId: access.projectId,
          namedProjectId: access.named,
          key: { ...access.key, expiresAtMs: access.key.expiresAtMs ?? Infinity },
        },
      };
    },
    prove: proofFor,
    isProof: (server, nonce, proof) => proof !== undefined && equal(proof, proofFor(server, nonce)),
  };
}
