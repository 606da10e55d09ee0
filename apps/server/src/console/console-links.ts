import type { Database } from "@shoal/database";
import { createToken, hashToken } from "./console-token.ts";

const lifetimeMs = 60_000;
/** Afterwards, used and expired links are kept for a time, so that a person learns why a link does not work. */
const keptMs = 24 * 60 * 60_000;
/** Unused links of one key; the oldest become invalid first. */
const maxPerKey = 20;

/** Why a link does not open the console. `ended`: its key was deleted or has expired. */
export type LinkProblem = "used" | "expired" | "ended" | "invalid";

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

  /** Invalidates the code. @returns the id of its key, or why it does not open the console. */
  async redeem(code: string, nowMs: number): Promise<{ readonly keyId: string } | { readonly reason: LinkProblem }> {
    const hash = hashToken("link", code);
    if (hash === undefined) return { reason: "invalid" };
    const now = new Date(nowMs);
    const opened = await this.#query
      .updateTable("console_links")
      .set({ used_at: now })
      .where("code_hash", "=", hash)
      .where("used_at", "is", null)
      .where("expires_at", ">", now.toISOString())
      .returning("key_id")
      .executeTakeFirst();
    if (opened !== undefined) return { keyId: opened.key_id };
    const row = await this.#query
      .selectFrom("console_links")
      .select("used_at")
      .where("code_hash", "=", hash)
      .executeTakeFirst();
    if (row === undefined) return { reason: "invalid" };
    return { reason: row.used_at === null ? "expired" : "used" };
  }

  async sweep(nowMs: number): Promise<void> {
    const oldest = new Date(nowMs - keptMs).toISOString();
    await this.#query.deleteFrom("console_links").where("expires_at", "<=", oldest).execute();
  }
}
