import type { contract, Endpoint } from "@shoal/contract";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../auth/access.ts";
import { createId } from "../ids.ts";
import { requestIdOf } from "../request-log.ts";
import { version } from "../version.ts";
import type { AuditNote } from "./entry.ts";

/** Operations that read a secret, or much of what people did: their use is noted although they change nothing. */
const secretUses: ReadonlySet<string> = new Set<(typeof contract)[keyof typeof contract]["operationId"]>([
  "auditLogs.exportChunk",
  "credentialProviders.listItems",
  "credentials.totpCode",
  "profiles.download",
  "profiles.storageState.get",
]);

/** Status of what nobody waited for. */
export const clientGone = 499;

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

const pathOf = ({ url }: IncomingMessage): string => (url?.split("?", 1)[0] ?? "").slice(0, 2048);

/** When something was asked for, by whom, with what. */
function senderOf(request: IncomingMessage, access: Access | undefined, durationMs: number) {
  return {
    id: createId(),
    at: new Date(Date.now() - durationMs).toISOString(),
    user_id: access?.key.id ?? "",
    email: access?.key.created_by_email ?? "",
    method: request.method ?? "",
    duration_ms: Math.round(durationMs),
    domain: header(request, "host", 255),
    user_agent: header(request, "user-agent", 512),
  };
}

/** The note on a request whose answer has ended; `undefined` when it is not one that is noted. */
export function noteOf(request: Followed, response: ServerResponse, durationMs: number): AuditNote | undefined {
  const about = request[subject];
  if (about === undefined) return undefined;
  const { access, clientIp, endpoint } = about;
  return {
    ...senderOf(request, access, durationMs),
    project_id: access?.projectId ?? null,
    auth_strategy: access === undefined ? "session_token" : "api_key",
    path: pathOf(request),
    route: endpoint.path,
    operation: endpoint.operationId,
    // The client went away before there was an answer, for which nginx has this number.
    status: response.headersSent ? response.statusCode : clientGone,
    client_ip: clientIp,
    request_id: requestIdOf(request) ?? "",
  };
}

/** Who has been let in to a session by a connection that stays, a WebSocket. */
export interface Entrant {
  readonly way: keyof typeof ways;
  readonly sessionId: string;
  /** `undefined` = by a token in the address. */
  readonly access: Access | undefined;
  /** The API key that the connection depends on: the one sent, or the one that the address was handed out to. */
  readonly keyId: string;
}

/** Ways into a session, by their names as operations. */
const ways = {
  "browsers.cdp.connect": "/browsers/{id}/cdp",
  "browsers.webdriver.connect": "/browsers/{id}/webdriver",
  "browsers.process.attach": "/browsers/{id}/process/{process_id}/attach",
  "browsers.liveView.control": "/browsers/{id}/live-view/control",
  "browsers.liveView.watch": "/browsers/{id}/live-view/watch",
} as const;

/**
 * The note on such a connection, as it begins.
 *
 * @param outcome.status - 101 where it was taken.
 * @param outcome.projectId - of the session, where that is known.
 */
export function attachNoteOf(
  request: IncomingMessage,
  { access, sessionId, way }: Entrant,
  outcome: {
    readonly status: number;
    readonly projectId: string | undefined;
    readonly durationMs: number;
    readonly clientIp: string;
    readonly requestId: string;
  },
): AuditNote {
  const isLive = way.startsWith("browsers.liveView.");
  return {
    ...senderOf(request, access, outcome.durationMs),
    project_id: access?.projectId ?? outcome.projectId ?? null,
    auth_strategy: access !== undefined ? "api_key" : isLive ? "live_view" : "session_token",
    // The address of a live view is a secret itself.
    path: isLive ? ways[way].replace("{id}", sessionId) : pathOf(request),
    route: ways[way],
    operation: way,
    status: outcome.status,
    client_ip: outcome.clientIp,
    request_id: outcome.requestId,
  };
}

/** The note on something that the service did by itself, as if by a request to an operation. */
export function ownNote(
  { method, operationId, path }: Pick<Endpoint, "method" | "path"> & { readonly operationId: string },
  outcome: { readonly status: number; readonly baseUrl: string },
): AuditNote {
  return {
    id: createId(),
    at: new Date().toISOString(),
    project_id: null,
    auth_strategy: "service",
    user_id: "shoal",
    email: "",
    method,
    path,
    route: path,
    operation: operationId,
    status: outcome.status,
    duration_ms: 0,
    domain: new URL(outcome.baseUrl).host,
    client_ip: "",
    user_agent: `shoal/${version}`,
    request_id: "",
  };
}
