import type { Endpoint } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { type Handler, keyOfAnotherRequest, ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import type { Access } from "../auth/access.ts";
import type { Log } from "../log.ts";
import type { Secrets } from "../secrets.ts";
import { type Claim, claimOf, nameOf, type Outcome, replay, unsealOutcome } from "./claim.ts";
import { createClaimedWork } from "./claimed-work.ts";
import { createRowWork, isRowWork } from "./row-work.ts";

/** How long a repeated request waits for the first one. */
const patienceMs = 30_000;
const pollMs = 100;

/** Makes POSTs safe to repeat: the same `Idempotency-Key` gets the first answer again. */
export interface Idempotency {
  /** Puts the memory before a handler. Requests without the header go straight to it. */
  readonly protect: <E extends Endpoint>(endpoint: E, handler: Handler<E, Access>) => Handler<E, Access>;
  /** Forgets answers past their time. */
  sweep(): Promise<void>;
  /** Writes nothing more. */
  close(): void;
}

/** One try of a request; `undefined` while another one has the key. */
type Attempt = () => Promise<{ readonly value: unknown } | { readonly first: Outcome } | undefined>;

export function createIdempotency(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly retentionMs: number;
  readonly serverId: string;
  readonly region: string;
  readonly log: Log;
}): Idempotency {
  const { query } = parts.database;
  const rowWork = createRowWork(parts);
  const claimedWork = createClaimedWork(parts);
  /** What runs on this server now, so that a repetition need not ask the database. */
  const running = new Map<string, { readonly fingerprint: string; readonly done: Promise<unknown> }>();

  /** The first answer; `undefined` while there is none. */
  async function recall(claim: Claim): Promise<Outcome | undefined> {
    const row = await query
      .selectFrom("idempotency_keys")
      .select(["fingerprint", "status", "response"])
      .where("scope", "=", claim.scope)
      .where("key", "=", claim.key)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    if (row.fingerprint !== claim.fingerprint) throw keyOfAnotherRequest(claim.key);
    return row.status === 0 || row.response === null ? undefined : unsealOutcome(parts.secrets, claim, row.response);
  }

  async function answer(claim: Claim, attempt: Attempt): Promise<unknown> {
    const name = nameOf(claim);
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const mine = running.get(name);
      if (mine === undefined) {
        const trying = attempt();
        running.set(name, { fingerprint: claim.fingerprint, done: trying });
        try {
          const done = await trying;
          if (done !== undefined) return "first" in done ? replay(done.first) : done.value;
        } finally {
          running.delete(name);
        }
      } else {
        if (mine.fingerprint !== claim.fingerprint) throw keyOfAnotherRequest(claim.key);
        await Promise.race([mine.done.catch(() => undefined), delay(Math.max(0, deadline - Date.now()), undefined, { ref: false })]);
      }
      const first = await recall(claim);
      if (first !== undefined) return replay(first);
      if (Date.now() >= deadline) {
        throw new ServiceError(
          409,
          "conflict",
          `The first request with Idempotency-Key ${JSON.stringify(claim.key)} still runs. Repeat this one in a moment.`,
          { retryAfterSeconds: 2 },
        );
      }
      if (mine === undefined) await delay(pollMs);
    }
  }

  return {
    protect(endpoint, handler) {
      const status = Number(Object.keys(endpoint.responses)[0]);
      return ((call) => {
        const claim = claimOf(endpoint, call);
        if (claim === undefined) return handler(call);
        const run = isRowWork(endpoint, call.body, parts.region) ? rowWork : claimedWork.run;
        return answer(claim, () => run(claim, status, () => handler(call)));
        // The stored value is JSON of what this handler once returned.
      }) as typeof handler;
    },
    async sweep() {
      await query
        .deleteFrom("idempotency_keys")
        .where("created_at", "<", new Date(Date.now() - parts.retentionMs).toISOString())
        .execute();
    },
    close: () => {
      claimedWork.close();
    },
  };
}
