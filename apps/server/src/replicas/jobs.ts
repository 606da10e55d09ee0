import type { Database } from "@shoal/database";
import { sql } from "kysely";
import type { Log } from "../log.ts";

/** Work that one server does for all. */
export interface Job {
  /** The same on every server. */
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/** Does each job once in its time, whatever the number of servers. A server that dies over one does it the next time, or another does. */
export interface Jobs {
  /** Does what is due, one after another. Never rejects: a job that fails is tried again when it is due again. */
  runDue(): Promise<void>;
  /** Waits for what runs. */
  close(): Promise<void>;
}

/** @param options.lookEveryMs - how often due ones are looked for. */
export function startJobs({ query }: Database, jobs: readonly Job[], options: { readonly log: Log; readonly lookEveryMs: number }): Jobs {
  let running: Promise<void> | undefined;
  let closed = false;

  /** Whether the job is this server's to do now. The database's clock counts, and the row is whoever's writes it first. */
  async function take({ name, everyMs }: Job): Promise<boolean> {
    const now = sql<string>`clock_timestamp()`;
    const taken = await query
      .insertInto("jobs")
      .values({ name, ran_at: now })
      .onConflict((conflict) =>
        conflict
          .column("name")
          .doUpdateSet({ ran_at: now })
          .where(sql<boolean>`jobs.ran_at <= clock_timestamp() - make_interval(secs => ${everyMs / 1000})`),
      )
      .returning("name")
      .executeTakeFirst();
    return taken !== undefined;
  }

  async function run(): Promise<void> {
    for (const job of jobs) {
      if (closed) return;
      try {
        if (await take(job)) await job.run();
      } catch (error) {
        options.log.warn({ job: job.name, err: error }, "a regular job failed");
      }
    }
  }

  const runDue = (): Promise<void> =>
    (running ??= run().finally(() => {
      running = undefined;
    }));
  const timer = setInterval(() => void runDue(), options.lookEveryMs);
  return {
    runDue,
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
    },
  };
}
