import { ServiceError } from "@shoal/router";
import { recentlyUsed } from "../../storage/recently-used.ts";
import type { KeyRow } from "../../http/auth/access.ts";
import { keyMayMoveSecrets } from "../../http/auth/rights.ts";

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
 * types its first value.
 */
export class SignInBrowsers {
  readonly #find: Find;
  /** Whether a session signs in, which never changes. */
  readonly #known = recentlyUsed<boolean>(10_000);
  readonly #typed = recentlyUsed<TypedValue>(10_000);
  readonly #watchers = new Map<string, Set<() => void>>();

  constructor(find: Find) {
    this.#find = find;
  }

  /** @throws {ServiceError} 403 for the browser of a login. */
  async refuse(projectId: string | undefined, idOrName: string): Promise<void> {
    if (await this.#signsIn(projectId, idOrName)) throw closed(idOrName);
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

  /** Call before a login types a value. Ends views at once. */
  noteTyped(sessionId: string, kind: TypedValue): void {
    if (this.#typed.get(sessionId) !== "stored") this.#typed.set(sessionId, kind);
    for (const look of this.#watchers.get(sessionId) ?? []) look();
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
    const known = this.#known.get(idOrName);
    if (known !== undefined) return known;
    const row = await this.#find(projectId, idOrName, true);
    if (row === undefined) return false;
    const signsIn = row.options.signs_in === true;
    this.#known.set(row.id, signsIn);
    return signsIn;
  }
}

function closed(sessionId: string): ServiceError {
  return new ServiceError(
    403,
    "forbidden",
    `Browser ${sessionId} signs in for a connection, and secrets can be read in it. Only administrators can look into it.`,
    { hint: "Follow the login with auth.connections.follow; its profile is ready when it has succeeded." },
  );
}
