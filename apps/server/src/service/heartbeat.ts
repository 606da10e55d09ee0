import type { Database } from "@shoal/database";
import { sql } from "kysely";
import type { Log } from "../log.ts";

const beatMs = 10_000;
/** A server that has been silent for so long is gone, and its sessions with it. */
const silenceSeconds = 60;

/** Tells other servers that this one lives, and ends the sessions of those that do not. */
export interface Heartbeat {
  stop(): Promise<void>;
}

/** Registers the server, then repeats every 10 s; the sessions of servers that have been silent for 60 s end as `instance_lost`. */
export async function startHeartbeat({ query }: Database, serverId: string, log: Log): Promise<Heartbeat> {
  async function beat(): Promise<void> {
    const now = sql<string>`now()`;
    await query.insertInto("servers").values({ id: serverId }).onConflict((conflict) => conflict.column("id").doUpdateSet({ heartbeat_at: now })).execute();
    const silent = query.selectFrom("servers").select("id").where(sql<boolean>`heartbeat_at < now() - make_interval(secs => ${silenceSeconds})`);
    const { numUpdatedRows } = await query
      .updateTable("sessions")
      .set({ ended_at: now, ended_reason: "instance_lost" })
      .where("ended_at", "is", null)
      .where("server_id", "in", silent)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) log.warn({ sessions: Number(numUpdatedRows) }, "sessions of silent servers were ended as instance_lost");
  }

  await beat();
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = beat().catch((error: unknown) => {
      log.warn({ err: error }, "the heartbeat could not be written");
    });
  }, beatMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
      await query.deleteFrom("servers").where("id", "=", serverId).execute();
    },
  };
}
