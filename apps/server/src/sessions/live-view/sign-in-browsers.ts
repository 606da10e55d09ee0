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
  readonly options: { readonly signs_in?: true };
}

/** `entered`: by a person; `stored`: of a credential. */
export type TypedValue = "entered" | "stored";

/** The kind of value before which a live view ends; `undefined` = it stays. */
export type ViewUntil = "any" | "stored" | undefined;

type Find = (
  projectId: string | undefined,
  idOrName: string,
  includeEnded: boolean,
) => Promise<FoundSession | undefined>;

/**
 * Closes the browsers of managed logins to callers without the right to secrets, because everything that a login types
 * can be read inside: by CDP, programs, files, telemetry, pictures and recordings. Live views stay open until the login
 * types its first value. Of other sessions, in which an action typed a stored value, it closes programs, custom
 * tools, files and CDP.
 */
export class SignInBrowsers {
  readonly #find: Find;
  /** Whether a session signs in, which never changes. */
  readonly #known = recentlyUsed<boolean>(10_000);
  readonly #typed = recentlyUsed<TypedValue>(100_000);
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(find: Find) {
    this.#find = find;
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
    if (found !== undefined && this.#typed.get(found.id) === "stored" && mayRunPrograms(operation))
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
    const isOver = (await this.#find(undefined, sessionId, true))?.ended_at !== null;
    if (isOver || this.#hasPassed(sessionId, until)) throw closed(sessionId);
    return until;
  }

  /** Call before a login or an action types a value. Ends views and connections at once. */
  noteTyped(sessionId: string, kind: TypedValue): void {
    if (this.#typed.get(sessionId) !== "stored") this.#typed.set(sessionId, kind);
    for (const look of this.#watchers.get(sessionId) ?? []) look();
  }

  /** A fork starts with the values that its parent contains. */
  noteFork(parentId: string, forkId: string): void {
    const typed = this.#typed.get(parentId);
    if (typed !== undefined) this.#typed.set(forkId, typed);
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

  async #signsIn(projectId: string | undefined, idOrName: string): Promise<boolean> {
    return (await this.#look(projectId, idOrName))?.signsIn === true;
  }

  async #look(
    projectId: string | undefined,
    idOrName: string,
  ): Promise<{ readonly id: string; readonly signsIn: boolean } | undefined> {
    const known = this.#known.get(idOrName);
    if (known !== undefined) return { id: idOrName, signsIn: known };
    const row = await this.#find(projectId, idOrName, true);
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
