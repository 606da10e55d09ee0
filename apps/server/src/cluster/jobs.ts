import type { Database } from "@shoal/database";
import { sql } from "kysely";
import type { Log } from "../log/log.ts";

export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
}

/** Runs each job once per interval, with any number of servers. A job that crashes runs again at the next interval. */
export interface Jobs {
  /** Never rejects; a failed job runs again at its next interval. */
  runDue(): Promise<void>;
  close(): Promise<void>;
}

export function startJobs(
  { query }: Database,
  jobs: readonly Job[],
  options: { readonly log: Log; readonly lookEveryMs: number },
): Jobs {
  let running: Promise<void> | undefined;
  let closed = false;

  /** The first server to update the row wins. Uses the clock of the database. */
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
