import type { Contract, createLiveViewLink } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import type { Handler, Handlers, UnknownFields } from "@shoal/router";
import type { ErrorBody } from "@shoal/schemas";
import type { FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { dialectNames } from "../../config/settings/operation.ts";
import type { Access } from "../../http/auth/access.ts";
import type { Extensions } from "../../resources/extensions/extensions.ts";
import type { SessionSigner } from "../../sessions/browsers/handlers.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { DownloadStore } from "../../sessions/downloads/download-store.ts";
import type { Renders } from "../../sessions/render/renders.ts";
import type { ReplayStore } from "../../sessions/replays/replay-store.ts";
import type { SessionFileKind } from "../../storage/session-files/session-files.ts";
import type { NativeCalls } from "./native-calls.ts";

export type DialectName = (typeof dialectNames)[number];

/** What handlers of dialects use in addition to the operations of this service. */
export interface DialectParts {
  readonly sessions: Sessions;
  readonly signer: SessionSigner;
  readonly downloads: Pick<DownloadStore, "list" | "read" | "retentionHours">;
  readonly replays: ReplayStore;
  /** The address of a film for a program without a key. */
  readonly filmUrl: (sessionId: string, replayId: string, baseUrl: string) => string;
  /** `createLiveViewLink`, whose addresses for repeated requests share a link. */
  readonly sharedLink: Handler<typeof createLiveViewLink, Access>;
  readonly renders: Pick<Renders, "render">;
  readonly extensions: Pick<Extensions, "upload">;
  /** Sessions that a project without an own limit may run at once. */
  readonly usualConcurrency: () => number;
}

/** The admitted caller of a request. */
export interface DialectCaller {
  readonly request: FastifyRequest;
  readonly access: Access;
  readonly calls: NativeCalls;
}

/** An operation that the dialect knows and this service does not have. */
export interface MissingOperation {
  /** Without the prefix; `/v1/agents` is also every path below it. */
  readonly path: string;
  /** A sentence: names the missing function and the next step. */
  readonly reason: string;
}

/** A request about a running session. */
export interface SessionCommand {
  readonly id: string;
  readonly instance: Instance;
  readonly request: FastifyRequest;
}

/** Requests about running sessions that go to their instances, byte for byte. Their address is the right to the session. */
export interface SessionCommands {
  /** Below `/browsers/{id}`. DELETE of this path ends the session. */
  readonly path: string;
  /** The answer to DELETE. */
  readonly ended: object;
  /** Commands that the service answers in JSON, by method and path below `path`: `GET /files`. */
  readonly answers: Readonly<Record<string, (command: SessionCommand) => Promise<Readable | object>>>;
}

/** The interface of another service: its endpoints as data, and their translation into operations of this one. */
export interface Dialect<C extends Contract = Contract> {
  /** Its paths begin with `/NAME`. */
  readonly name: DialectName;
  readonly title: string;
  /** The header with the API key, in lower case. Absent if clients send it in the address, which the entrance reads. */
  readonly keyHeader?: string;
  /** Requests with `keyHeader` whose path begins so need no prefix. */
  readonly rootPath?: string;
  /** Paths that only its clients use, without the prefix. The group is the path inside. */
  readonly ownPaths?: RegExp;
  /** The header that names the project, in lower case. */
  readonly projectHeader?: string;
  /** Clients without a project send this as its name. */
  readonly noProject?: string;
  /** Headers with keys for further services, in lower case. They are removed before anything reads the request. */
  readonly foreignSecrets: readonly string[];
  /** The start of paths that this service answers itself, as without the prefix. */
  readonly nativePath?: string;
  /** Paths without the prefix. */
  readonly contract: C;
  /** The start of paths that are about the session `{id}`. */
  readonly sessionPath?: string;
  /** Changes a path before it is routed. @param path - without the prefix, with its query. */
  readonly rewritePath?: (path: string) => string;
  /** The files of an ended session that an endpoint reads. */
  readonly files: Readonly<Partial<Record<keyof C, SessionFileKind>>>;
  readonly handlers: (parts: DialectParts) => Handlers<C, DialectCaller>;
  readonly missing: readonly MissingOperation[];
  /** Constant answers to GET by path, which need no key. */
  readonly documents?: Readonly<Record<string, object>>;
  readonly commands?: SessionCommands;
  /** Absent: the setting of the service. */
  readonly unknownFields?: UnknownFields;
  /** @param path - without the prefix; of commands, below the session. */
  readonly errorBody: (error: ErrorBody, status: number, path: string) => object;
  /** Values of `WWW-Authenticate` for a 401. Absent: `Bearer`. */
  readonly challenges?: (path: string, headers: IncomingHttpHeaders) => readonly string[];
}

/** Checks that every endpoint has a handler. */
export function defineDialect<C extends Contract>(dialect: Dialect<C>): Dialect {
  // The mount calls each handler with the requests of its endpoint only.
  return dialect as unknown as Dialect;
}
