import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import { createHmac, hash, hkdfSync, timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";
import type { Access } from "../http/auth/access.ts";
import { roles } from "@shoal/contract/rights";
import { replicaHeader } from "../http/relay.ts";

/** Includes clock differences between servers. */
const lifetimeSeconds = 60;
/** A longer path is signed by its hash: twice in the head, it would exceed Node's limit of 16 KiB. */
const maxSignedPathLength = 1024;

export interface Vouched {
  /** `undefined` = the URL contains the token of a session. */
  readonly access: Access | undefined;
  readonly baseUrl: string;
  readonly clientIp: string;
}

/** What another server says of a request. */
export interface VouchedHere extends Vouched {
  /** The key has a policy, which the claims do not contain. */
  readonly hasPolicy: boolean;
}

/** The proof includes the address, so that another program cannot relay a proof. */
export interface ProvenServer {
  readonly id: string;
  readonly address: string;
}

export interface ReplicaTrust {
  /** Equal on servers with equal secrets; does not reveal them. */
  readonly check: Buffer;
  /** The signature is valid for this method, path and caller only. */
  vouch(to: string, request: { readonly method: string; readonly path: string }, vouched: Vouched): string;
  /**
   * `undefined` for a request of a client.
   * @throws {ServiceError} 401 when the claims are too old, for another server or request, or not signed by a server of
   * this database.
   */
  read(request: Pick<IncomingMessage, "headers" | "method" | "url">): VouchedHere | undefined;
  /** @param nonce - chosen by the connecting server, used once. */
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
        deployment_id: z.nullable(z.string()),
        expiresAtMs: z.nullable(z.number()),
        /** The receiving server reads the policy, which may be long. */
        hasPolicy: z.optional(z.literal(true)),
      }),
      projectId: z.string(),
      named: z.optional(z.string()),
      viewerUrl: z.optional(z.string()),
      role: z.optional(z.enum(roles)),
      strategy: z.optional(z.enum(["dashboard", "oauth"])),
    }),
  ),
});

function keyOf({ hasPolicy: _, expiresAtMs, ...key }: NonNullable<z.output<typeof Claims>["access"]>["key"]) {
  return { ...key, expiresAtMs: expiresAtMs ?? Infinity };
}

function signedPath(path: string): string {
  return path.length <= maxSignedPathLength ? path : `sha256:${hash("sha256", path, "base64url")}`;
}

function refused(why: string): ServiceError {
  return new ServiceError(
    401,
    "unauthorized",
    `The header ${replicaHeader} is reserved for requests between servers: ${why}`,
  );
}

/** @param serverSecret - from the settings of each server, so that access to the database is not enough. */
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
      const { key, projectId, namedProjectId, role, strategy, viewerUrl } = access ?? {};
      const claims: z.input<typeof Claims> = {
        to,
        method,
        path: signedPath(path),
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
                deployment_id: key.deployment_id,
                expiresAtMs: Number.isFinite(key.expiresAtMs) ? key.expiresAtMs : null,
                ...(key.policy !== undefined && { hasPolicy: true }),
              },
              projectId,
              ...(namedProjectId !== undefined && { named: namedProjectId }),
              ...(viewerUrl !== undefined && { viewerUrl }),
              ...(role !== undefined && { role }),
              ...(strategy !== undefined && { strategy }),
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
      if (!equal(mac, macOf(vouching, text)))
        throw refused("it is not signed by a server of this database, or the secret differs.");
      const { access, at, baseUrl, clientIp, ...claims } = Claims.parse(
        JSON.parse(Buffer.from(text, "base64url").toString()),
      );
      if (claims.to !== serverId) throw refused(`it is for server ${claims.to}, not ${serverId}.`);
      if (claims.method !== method || claims.path !== signedPath(url ?? ""))
        throw refused("it is for another request.");
      if (Math.abs(Date.now() / 1000 - at) > lifetimeSeconds)
        throw refused(`it is more than ${String(lifetimeSeconds)} s old. Synchronize the clocks of the servers.`);
      return {
        baseUrl,
        clientIp,
        access: access && {
          baseUrl,
          projectId: access.projectId,
          namedProjectId: access.named,
          ...(access.viewerUrl !== undefined && { viewerUrl: access.viewerUrl }),
          ...(access.role !== undefined && { role: access.role }),
          ...(access.strategy !== undefined && { strategy: access.strategy }),
          key: keyOf(access.key),
        },
        hasPolicy: access?.key.hasPolicy === true,
      };
    },
    prove: proofFor,
    isProof: (server, nonce, proof) => proof !== undefined && equal(proof, proofFor(server, nonce)),
  };
}
