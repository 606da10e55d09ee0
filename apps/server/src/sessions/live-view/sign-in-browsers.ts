import { type Endpoint, invokeWebMcpTool } from "@shoal/contract";
import { connectionOperation, type Move, type SessionConnection } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { KeyRow } from "../../http/auth/access.ts";
import { keyMayMoveSecrets } from "../../http/auth/rights.ts";

type Operation = Pick<Endpoint, "moves" | "operationId">;

interface FoundSession {
  readonly id: string;
  readonly ended_at: string | null;
  readonly options: { readonly signs_in?: true; readonly typed_stored?: true };
}

/** `entered`: by a person; `stored`: of a credential. */
export type TypedValue = "entered" | "stored";

/** The kind of value before which a live view ends; `undefined` = it stays. */
export type ViewUntil = "any" | "stored" | undefined;

interface SignInBrowsersParts {
  readonly find: (
    projectId: string | undefined,
    idOrName: string,
    includeEnded: boolean,
  ) => Promise<FoundSession | undefined>;
  /** Stores that an action typed a stored value in a session. */
  readonly keepTyped: (sessionId: string) => Promise<void>;
  /** Whether the session runs on this server, which has its facts in memory. */
  readonly isHere: (sessionId: string) => boolean;
}

/**
 * Closes the browsers of managed logins to callers without the right to secrets, because everything that a login types
 * can be read inside: by CDP, programs, files, telemetry, pictures and recordings. Live views stay open until the login
 * types its first value. Of other sessions, in which an action typed a stored value, it closes programs, custom
 * tools, files and CDP.
 */
export class SignInBrowsers {
  readonly #parts: SignInBrowsersParts;
  /** Whether a session signs in, which never changes. */
  readonly #known = recentlyUsed<boolean>(10_000);
  readonly #typed = recentlyUsed<TypedValue>(100_000);
  /** Sessions whose row has it. */
  readonly #kept = recentlyUsed<true>(10_000);
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(parts: SignInBrowsersParts) {
    this.#parts = parts;
  }

  /**
   * @param operation - what the caller does. Programs, files and protocols of a browser read its fields, so a session in which a
   * stored value was typed for an agent closes them; its pages stay open, because they show dots. Custom tools
   * are programs, which may have been added before.
   * @throws {ServiceError} 403 for the browser of a login.
   */
  async refuse(projectId: string | undefined, idOrName: string, operation?: Operation): Promise<void> {
    const found = await this.#look(projectId, idOrName);
    if (found?.signsIn === true) throw closed(idOrName);
    if (found !== undefined && mayRunPrograms(operation) && (await this.#hasStored(found.id)))
      throw closedToPrograms(idOrName);
  }

  /** The same for a caller without the right to secrets that connects. */
  refuseConnection(way: SessionConnection, projectId: string | undefined, idOrName: string): Promise<void> {
    return this.refuse(projectId, idOrName, connectionOperation(way));
  }

  /** @throws {ServiceError} 403 if the view is closed. @returns when it ends. */
  async admitView(
    { isForLogin, sessionId }: { readonly isForLogin: boolean; readonly sessionId: string },
    key: Pick<KeyRow, "deployment_id" | "isPerson" | "policy">,
  ): Promise<ViewUntil> {
    if (keyMayMoveSecrets(key) && !isForLogin) return undefined;
    if (!(await this.#signsIn(undefined, sessionId))) return undefined;
    const until = isForLogin ? "stored" : "any";
    const isOver = (await this.#parts.find(undefined, sessionId, true))?.ended_at !== null;
    if (isOver || this.#hasPassed(sessionId, until)) throw closed(sessionId);
    return until;
  }

  /** Call before a login or an action types a value. Ends views and connections at once. */
  noteTyped(sessionId: string, kind: TypedValue): void {
    if (this.#typed.get(sessionId) !== "stored") this.#typed.set(sessionId, kind);
    for (const look of this.#watchers.get(sessionId) ?? []) look();
  }

  /**
   * Call before an action types a stored value. The files that its page makes of it outlive the session and its server, so
   * the fact does, too. Rejects if it cannot be stored.
   */
  async noteStored(sessionId: string): Promise<void> {
    this.noteTyped(sessionId, "stored");
    if (this.#kept.get(sessionId) === true) return;
    await this.#parts.keepTyped(sessionId);
    this.#kept.set(sessionId, true);
  }

  /** A fork starts with the values that its parent contains. @returns their kind. */
  noteFork(parentId: string, forkId: string): TypedValue | undefined {
    const typed = this.#typed.get(parentId);
    if (typed !== undefined) this.#typed.set(forkId, typed);
    return typed;
  }

  /** For a state of the session that outlives it. */
  typedIn(sessionId: string): TypedValue | undefined {
    return this.#typed.get(sessionId);
  }

  /** Calls `end` at once, or when the login types a value of this kind. @returns a function that stops it. */
  endView(sessionId: string, until: ViewUntil, end: () => void): () => void {
    const look = () => {
      if (this.#hasPassed(sessionId, until)) end();
    };
    const watchers = this.#watchers.get(sessionId) ?? new Set();
    this.#watchers.set(sessionId, watchers.add(look));
    look();
    return () => {
      watchers.delete(look);
      if (watchers.size === 0 && this.#watchers.get(sessionId) === watchers) this.#watchers.delete(sessionId);
    };
  }

  #hasPassed(sessionId: string, until: ViewUntil): boolean {
    const typed = this.#typed.get(sessionId);
    return until !== undefined && typed !== undefined && (until === "any" || typed === until);
  }

  async #hasStored(sessionId: string): Promise<boolean> {
    const { find, isHere } = this.#parts;
    if (this.#typed.get(sessionId) === "stored") return true;
    // Another server, or an earlier process of this one, may have noted it.
    return !isHere(sessionId) && (await find(undefined, sessionId, true))?.options.typed_stored === true;
  }

  async #signsIn(projectId: string | undefined, idOrName: string): Promise<boolean> {
    return (await this.#look(projectId, idOrName))?.signsIn === true;
  }

  async #look(
    projectId: string | undefined,
    idOrName: string,
  ): Promise<{ readonly id: string; readonly signsIn: boolean } | undefined> {
    const known = this.#known.get(idOrName);
    if (known !== undefined) return { id: idOrName, signsIn: known };
    const row = await this.#parts.find(projectId, idOrName, true);
    if (row === undefined) return undefined;
    const signsIn = row.options.signs_in === true;
    this.#known.set(row.id, signsIn);
    return { id: row.id, signsIn };
  }
}

const readsFields = (move: Move): boolean => move.endsWith(" code") || move.endsWith(" files");

/** The service does not know which tools are custom ones. `browsers.tools.call` has the pages' own. */
function mayRunPrograms({ moves, operationId }: Operation = { operationId: "" }): boolean {
  return operationId === invokeWebMcpTool.operationId || moves?.some(readsFields) === true;
}

function closedToPrograms(sessionId: string): ServiceError {
  return new ServiceError(
    403,
    "forbidden",
    `A stored value was typed in browser ${sessionId}, and programs, custom tools, files and CDP could read it. They are open to administrators only.`,
    { hint: "Go on with browsers.act, browsers.observe and browsers.read, or with a new session." },
  );
}

function closed(sessionId: string): ServiceError {
  return new ServiceError(
    403,
    "forbidden",
    `Browser ${sessionId} signs in for a connection, and secrets can be read in it. Only administrators can look into it.`,
    { hint: "Follow the login with auth.connections.follow; its profile is ready when it has succeeded." },
  );
}
