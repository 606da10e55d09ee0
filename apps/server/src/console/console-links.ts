import type { Database } from "@shoal/database";
import { createToken, hashToken } from "./console-token.ts";

const lifetimeMs = 60_000;
/** Unused links of one key; the oldest become invalid first. */
const maxPerKey = 20;

/** One-time links with which a person opens the console without typing a key. */
export class ConsoleLinks {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  async issue(keyId: string, nowMs: number): Promise<{ readonly code: string; readonly expiresAtMs: number }> {
    const code = createToken("link");
    const expiresAtMs = nowMs + lifetimeMs;
    await this.#query
      .insertInto("console_links")
      .values({
        code_hash: hashToken("link", code) ?? Buffer.of(),
        key_id: keyId,
        created_at: new Date(nowMs),
        expires_at: new Date(expiresAtMs),
      })
      .execute();
    await this.#query
      .deleteFrom("console_links")
      .where("code_hash", "in", (rows) =>
        rows
          .selectFrom("console_links")
          .select("code_hash")
          .where("key_id", "=", keyId)
          .orderBy("created_at", "desc")
          .orderBy("code_hash")
          .offset(maxPerKey),
      )
      .execute();
    return { code, expiresAtMs };
  }

  /** Invalidates the code. @returns the id of its key; `undefined` for an unknown, used or expired code. */
  async redeem(code: string, nowMs: number): Promise<string | undefined> {
    const hash = hashToken("link", code);
    if (hash === undefined) return undefined;
    const row = await this.#query
      .deleteFrom("console_links")
      .where("code_hash", "=", hash)
      .returning(["key_id", "expires_at"])
      .executeTakeFirst();
    return row === undefined || Date.parse(row.expires_at) <= nowMs ? undefined : row.key_id;
  }

  async sweep(nowMs: number): Promise<void> {
    await this.#query.deleteFrom("console_links").where("expires_at", "<=", new Date(nowMs).toISOString()).execute();
  }
}
