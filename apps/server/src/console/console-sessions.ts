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
/** Sessions of one key; the oldest end first. */
const maxPerKey = 100;

export interface ConsoleSession {
  readonly id: string;
  readonly keyId: string;
  /** The end without further use. */
  readonly expiresAtMs: number;
}

/** Sessions of persons in the console. Requests read the row itself, so that sign-out is immediate on every server. */
export class ConsoleSessions {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  /** Returns the token for the cookie, which is not stored. */
  async begin(keyId: string, nowMs: number): Promise<{ readonly token: string; readonly session: ConsoleSession }> {
    const token = createToken("session");
    const id = createId();
    await this.#query
      .insertInto("console_sessions")
      .values({
        id,
        token_hash: hashToken("session", token) ?? Buffer.of(),
        key_id: keyId,
        created_at: new Date(nowMs),
        last_used_at: new Date(nowMs),
        expires_at: new Date(nowMs + maxSessionMs),
      })
      .execute();
    await this.#endOldest(keyId);
    return { token, session: { id, keyId, expiresAtMs: nowMs + idleMs } };
  }

  /** Extends the session. @returns `undefined` for an unknown, ended or idle session. */
  async find(token: string, nowMs: number): Promise<ConsoleSession | undefined> {
    const hash = hashToken("session", token);
    if (hash === undefined) return undefined;
    const row = await this.#query
      .selectFrom("console_sessions")
      .select(["id", "key_id", "last_used_at", "expires_at"])
      .where("token_hash", "=", hash)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const [endsMs, usedMs] = [Date.parse(row.expires_at), Date.parse(row.last_used_at)];
    if (endsMs <= nowMs || usedMs + idleMs <= nowMs) return undefined;
    if (usedMs + touchMs <= nowMs) await this.#touch(row.id, nowMs);
    return { id: row.id, keyId: row.key_id, expiresAtMs: Math.min(endsMs, nowMs + idleMs) };
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

  async #endOldest(keyId: string): Promise<void> {
    await this.#query
      .deleteFrom("console_sessions")
      .where("id", "in", (rows) =>
        rows
          .selectFrom("console_sessions")
          .select("id")
          .where("key_id", "=", keyId)
          .orderBy("created_at", "desc")
          .orderBy("id")
          .offset(maxPerKey),
      )
      .execute();
  }
}
