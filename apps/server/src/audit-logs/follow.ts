import type { contract, Endpoint } from "@shoal/contract";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../auth/access.ts";
import { createId } from "../ids.ts";
import { requestIdOf } from "../request-log.ts";
import type { AuditNote } from "./entry.ts";

/** Operations that read a secret, or much of what people did: their use is noted although they change nothing. */
const secretUses: ReadonlySet<string> = new Set<(typeof contract)[keyof typeof contract]["operationId"]>([
  "auditLogs.exportChunk",
  "credentialProviders.listItems",
  "credentials.totpCode",
  "profiles.download",
]);

const subject = Symbol("audit subject");

/** Who asks what, known once the key was checked; on the request itself, as its id is. */
export interface Subject {
  readonly endpoint: Endpoint;
  /** `undefined` = by the token of a session. */
  readonly access: Access | undefined;
  readonly clientIp: string;
}
interface Followed extends IncomingMessage {
  [subject]?: Subject;
}

/** Whether calls of an operation are noted: those that change something, and those that use a secret. */
export function isAudited(endpoint: Endpoint): boolean {
  return endpoint.method !== "GET" || secretUses.has(endpoint.operationId);
}

/** Says who asks for what, as soon as that is known. */
export function markAudited(request: IncomingMessage, about: Subject): void {
  (request as Followed)[subject] = about;
}

function header(request: IncomingMessage, name: "host" | "user-agent", maxLength: number): string {
  return request.headers[name]?.slice(0, maxLength) ?? "";
}

/** The note on a request whose answer has ended; `undefined` when it is not one that is noted. */
export function noteOf(request: Followed, response: ServerResponse, durationMs: number): AuditNote | undefined {
  const about = request[subject];
  if (about === undefined) return undefined;
  const { access, clientIp, endpoint } = about;
  return {
    id: createId(),
    at: new Date(Date.now() - durationMs).toISOString(),
    project_id: access?.projectId ?? null,
    auth_strategy: access === undefined ? "session_token" : "api_key",
    user_id: access?.key.id ?? "",
    email: access?.key.created_by_email ?? "",
    method: request.method ?? "",
    path: (request.url?.split("?", 1)[0] ?? "").slice(0, 2048),
    route: endpoint.path,
    operation: endpoint.operationId,
    // The client went away before there was an answer, for which nginx has this number.
    status: response.headersSent ? response.statusCode : 499,
    duration_ms: Math.round(durationMs),
    domain: header(request, "host", 255),
    client_ip: clientIp,
    user_agent: header(request, "user-agent", 512),
    request_id: requestIdOf(request) ?? "",
  };
}
