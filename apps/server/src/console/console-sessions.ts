import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { createToken, hashToken } from "./console-token.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** The end of a session without regard to use. */
export const maxSessionMs = 12 * hourMs;
const idleMs = hourMs;
/** The time of the last use is stored once a minute at most. */
const touchMs = minuteMs;
/** Sessions of one key or person; the oldest end first. */
const maxPerHolder = 100;

/** Signed in with a key, or by the OpenID Connect provider. */
export type Holder = { readonly keyId: string } | { readonly userId: string; readonly refreshToken?: Buffer };

export interface ConsoleSession {
  readonly id: string;
  readonly holder: Holder;
  /** The provider confirmed the person at this time. */
  readonly checkedAtMs: number;
  /** The end without further use. */
  readonly expiresAtMs: number;
}

/** Sessions of persons in the console. Requests read the row itself, so that sign-out is immediate on every server. */
export class ConsoleSessions {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** Returns the token for the cookie, which is not stored. @param lifetimeMs - at most {@link maxSessionMs}. */
  async begin(
    holder: Holder,
    nowMs: number,
    lifetimeMs: number = maxSessionMs,
  ): Promise<{ readonly token: string; readonly session: ConsoleSession }> {
    const token = createToken("session");
    const id = createId();
    const now = new Date(nowMs);
    await this.#query
      .insertInto("console_sessions")
      .values({
        id,
        token_hash: hashToken("session", token) ?? Buffer.of(),
        ...("keyId" in holder
          ? { key_id: holder.keyId }
          : { key_id: null, user_id: holder.userId, refresh_token: holder.refreshToken ?? null }),
        checked_at: now,
        created_at: now,
        last_used_at: now,
        expires_at: new Date(nowMs + lifetimeMs),
      })
      .execute();
    await this.#endOldest(holder);
    return { token, session: { id, holder, checkedAtMs: nowMs, expiresAtMs: nowMs + Math.min(idleMs, lifetimeMs) } };
  }

  /** Extends the session. @returns `undefined` for an unknown, ended or idle session. */
  async find(token: string, nowMs: number): Promise<ConsoleSession | undefined> {
    const hash = hashToken("session", token);
    if (hash === undefined) return undefined;
    const row = await this.#query
      .selectFrom("console_sessions")
      .select(["id", "key_id", "user_id", "refresh_token", "checked_at", "last_used_at", "expires_at"])
      .where("token_hash", "=", hash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const [endsMs, usedMs] = [Date.parse(row.expires_at), Date.parse(row.last_used_at)];
    if (endsMs <= nowMs || usedMs + idleMs <= nowMs) return undefined;
    if (usedMs + touchMs <= nowMs) await this.#touch(row.id, nowMs);
    return {
      id: row.id,
      holder:
        row.key_id === null
          ? { userId: row.user_id ?? "", ...(row.refresh_token && { refreshToken: row.refresh_token }) }
          : { keyId: row.key_id },
      checkedAtMs: Date.parse(row.checked_at),
      expiresAtMs: Math.min(endsMs, nowMs + idleMs),
    };
  }

  /**
   * Claims the next check of a person, so that one request asks the provider.
   * @returns false if another request has claimed it.
   */
  async claimCheck(id: string, checkedAtMs: number, nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#query
      .updateTable("console_sessions")
      .set({ checked_at: new Date(nowMs) })
      .where("id", "=", id)
      .where("checked_at", "=", new Date(checkedAtMs).toISOString())
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async storeRefreshToken(id: string, refreshToken: Buffer): Promise<void> {
    await this.#query
      .updateTable("console_sessions")
      .set({ refresh_token: refreshToken })
      .where("id", "=", id)
      .execute();
  }

  async endById(id: string): Promise<void> {
    await this.#query.deleteFrom("console_sessions").where("id", "=", id).execute();
  }

  async end(token: string): Promise<void> {
    const hash = hashToken("session", token);
    if (hash !== undefined) await this.#query.deleteFrom("console_sessions").where("token_hash", "=", hash).execute();
  }

  async sweep(nowMs: number): Promise<void> {
    await this.#query
      .deleteFrom("console_sessions")
      .where((where) =>
        where.or([
          where("expires_at", "<=", new Date(nowMs).toISOString()),
          where("last_used_at", "<=", new Date(nowMs - idleMs).toISOString()),
        ]),
      )
      .execute();
  }

  async #touch(id: string, nowMs: number): Promise<void> {
    await this.#query
      .updateTable("console_sessions")
      .set({ last_used_at: new Date(nowMs) })
      .where("id", "=", id)
      .execute();
  }

  async #endOldest(holder: Holder): Promise<void> {
    await this.#query
      .deleteFrom("console_sessions")
      .where("id", "in", (rows) =>
        rows
          .selectFrom("console_sessions")
          .select("id")
          .where((where) =>
            "keyId" in holder ? where("key_id", "=", holder.keyId) : where("user_id", "=", holder.userId),
          )
          .orderBy("created_at", "desc")
          .orderBy("id")
          .offset(maxPerHolder),
      )
      .execute();
  }
}
