import type { Database } from "@shoal/database";

/** Logins that wait for an action outside of the form, as the live view sees them. */
export class WaitingLogins {
  readonly #database: Pick<Database, "onChange" | "query">;

  constructor(database: Pick<Database, "onChange" | "query">) {
    this.#database = database;
  }

  async isWaiting(sessionId: string): Promise<boolean> {
    const row = await this.#database.query
      .selectFrom("auth_flows")
      .select("id")
      .where("session_id", "=", sessionId)
      .where("status", "=", "IN_PROGRESS")
      .where("step", "=", "AWAITING_EXTERNAL_ACTION")
      .executeTakeFirst();
    return row !== undefined;
  }

  /** @returns a function that stops the calls. */
  onChange(listener: () => void): () => void {
    return this.#database.onChange((change) => {
      if (change === undefined || change.table === "auth_flows") listener();
    });
  }
}
