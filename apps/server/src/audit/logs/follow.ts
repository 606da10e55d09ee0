import type { Endpoint } from "@shoal/contract";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Access } from "../../http/auth/access.ts";
import { createId } from "@shoal/primitives";
import { requestIdOf } from "../../log/request-log.ts";
import { version } from "../../config/version.ts";
import type { AuditNote } from "./entry.ts";

/** The client closed the connection before the answer; nginx uses this number. */
export const clientGone = 499;

const subject = Symbol("audit subject");

export interface Subject {
  readonly endpoint: Endpoint;
  /** `undefined` = authenticated by the token of a session. */
  readonly access: Access | undefined;
  readonly clientIp: string;
}
interface Followed extends IncomingMessage {
  [subject]?: Subject;
}

/** True for operations that change something or use a secret. */
export function isAudited(endpoint: Endpoint): boolean {
  return endpoint.method !== "GET" || endpoint.audited === true;
}

export function markAudited(request: IncomingMessage, about: Subject): void {
  (request as Followed)[subject] = about;
}

export function isMarked(request: IncomingMessage): boolean {
  return (request as Followed)[subject] !== undefined;
}

function header(request: IncomingMessage, name: "host" | "user-agent", maxLength: number): string {
  return request.headers[name]?.slice(0, maxLength) ?? "";
}

const pathOf = ({ url }: IncomingMessage): string => (url?.split("?", 1)[0] ?? "").slice(0, 2048);

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

function strategyOf(access: Access | undefined): string {
  if (access === undefined) return "session_token";
  return access.strategy ?? (access.handoff === undefined ? "api_key" : "sign_in_page");
}

/** Returns `undefined` for a request that is not audited. */
export function noteOf(request: Followed, response: ServerResponse, durationMs: number): AuditNote | undefined {
  const about = request[subject];
  if (about === undefined) return undefined;
  const { access, clientIp, endpoint } = about;
  return {
    ...senderOf(request, access, durationMs),
    project_id: access?.projectId ?? null,
    auth_strategy: strategyOf(access),
    path: pathOf(request),
    route: endpoint.path,
    operation: endpoint.operationId,
    status: response.headersSent ? response.statusCode : clientGone,
    client_ip: clientIp,
    request_id: requestIdOf(request) ?? "",
  };
}

export interface Entrant {
  readonly way: keyof typeof ways;
  readonly sessionId: string;
  /** `undefined` = authenticated by a token in the URL. */
  readonly access: Access | undefined;
  /** The key of the request, or the key that the URL was issued to. */
  readonly keyId: string;
  /** The holder of a link for persons. */
  readonly person?: LinkPerson;
}

export interface LinkPerson {
  readonly linkId: string;
  readonly label: string | null;
}

const ways = {
  "browsers.create": "/browsers",
  "browsers.cdp.connect": "/browsers/{id}/cdp",
  "browsers.webdriver.connect": "/browsers/{id}/webdriver",
  "browsers.process.attach": "/browsers/{id}/process/{process_id}/attach",
  "browsers.liveView.control": "/browsers/{id}/live-view/control",
  "browsers.liveView.watch": "/browsers/{id}/live-view/watch",
} as const;

/** Written at the start of the connection. @param outcome.status - 101 = accepted. */
export function attachNoteOf(
  request: IncomingMessage,
  { access, person, sessionId, way }: Entrant,
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
    ...(person && { user_id: person.linkId, email: person.label ?? "" }),
    project_id: access?.projectId ?? outcome.projectId ?? null,
    auth_strategy: access === undefined && isLive ? "live_view" : strategyOf(access),
    // The path of a live view is a secret.
    path: isLive ? ways[way].replace("{id}", sessionId) : pathOf(request),
    route: ways[way],
    operation: way,
    status: outcome.status,
    client_ip: outcome.clientIp,
    request_id: outcome.requestId,
  };
}

/** For a button on the page of a handoff. */
export function personNoteOf(
  request: IncomingMessage,
  outcome: {
    readonly action: "take" | "release";
    readonly sessionId: string;
    readonly person: LinkPerson | undefined;
    readonly projectId: string | null;
    readonly status: number;
    readonly durationMs: number;
    readonly clientIp: string;
    readonly requestId: string;
  },
): AuditNote {
  const { action, person, sessionId } = outcome;
  const route = `/browsers/{id}/handoff/${action}`;
  return {
    ...senderOf(request, undefined, outcome.durationMs),
    user_id: person?.linkId ?? "",
    email: person?.label ?? "",
    project_id: outcome.projectId,
    auth_strategy: "live_view",
    // The path of the request contains the token.
    path: route.replace("{id}", sessionId),
    route,
    operation: `browsers.handoff.${action}`,
    status: outcome.status,
    client_ip: outcome.clientIp,
    request_id: outcome.requestId,
  };
}

/** For values that a person entered in the form of an item of a vault. */
export function formNoteOf(
  request: IncomingMessage,
  outcome: {
    readonly vaultId: string;
    readonly itemKey: string;
    /** The key that the link was issued to. */
    readonly keyId: string;
    readonly projectId: string;
    readonly status: number;
    readonly durationMs: number;
    readonly clientIp: string;
    readonly requestId: string;
  },
): AuditNote {
  const route = "/vaults/{id_or_name}/items/{key}/form";
  return {
    ...senderOf(request, undefined, outcome.durationMs),
    user_id: outcome.keyId,
    project_id: outcome.projectId,
    auth_strategy: "sign_in_page",
    path: route.replace("{id_or_name}", outcome.vaultId).replace("{key}", () => outcome.itemKey),
    route,
    operation: "vaults.items.enter",
    status: outcome.status,
    client_ip: outcome.clientIp,
    request_id: outcome.requestId,
  };
}

/** For an operation in a session that the service does for an earlier request of this caller. */
export function laterNoteOf(
  access: Access,
  { method, operationId, path }: Pick<Endpoint, "method" | "path"> & { readonly operationId: string },
  sessionId: string,
): AuditNote {
  return {
    ...ownNote({ method, operationId, path }, { status: 200, baseUrl: access.baseUrl }),
    project_id: access.projectId,
    auth_strategy: strategyOf(access),
    user_id: access.key.id,
    email: access.key.created_by_email,
    path: path.replace("{id}", sessionId),
  };
}

/** For an action of the service itself, in the form of an operation. */
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
