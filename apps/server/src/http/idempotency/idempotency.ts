import type { Database } from "@shoal/database";
import { type IdempotencyStore, keyOfAnotherRequest, ServiceError } from "@shoal/router";
import { setTimeout as delay } from "node:timers/promises";
import pTimeout from "p-timeout";
import type { Access } from "../auth/access.ts";
import type { Log } from "../../log/log.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { type Claim, isPastRetention, nameOf, type Outcome, replay, unsealOutcome } from "./claim.ts";
import { ClaimedWork } from "./claimed-work.ts";
import { createRowWork, isRowWork } from "./row-work.ts";

const patienceMs = 30_000;
const pollMs = 100;

export interface Idempotency extends IdempotencyStore<Access> {
  sweep(): Promise<void>;
  close(): void;
}

/** `undefined` while another request holds the key. */
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
  const claimedWork = new ClaimedWork(parts);
  /** Requests in progress on this server, so that a repetition needs no query. */
  const running = new Map<string, { readonly fingerprint: string; readonly done: Promise<unknown> }>();

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
    const deadline = performance.now() + patienceMs;
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
        const done = mine.done.catch(() => undefined);
        await pTimeout(done, { milliseconds: Math.max(1, deadline - performance.now()), fallback: () => undefined });
      }
      const first = await recall(claim);
      if (first !== undefined) return replay(first);
      if (performance.now() >= deadline) {
        throw new ServiceError(
          409,
          "conflict",
          `The first request with Idempotency-Key ${JSON.stringify(claim.key)} still runs.`,
          { hint: "Repeat this one in a moment.", retryAfterSeconds: 2 },
        );
      }
      if (mine === undefined) await delay(pollMs);
    }
  }

  return {
    answer({ call, endpoint, fingerprint, key }, handle) {
      const claim: Claim = { scope: call.context.key.id, key, fingerprint };
      const status = Number(Object.keys(endpoint.responses)[0]);
      const work = isRowWork(endpoint, call.body, parts.region)
        ? () => rowWork(claim, status, () => handle())
        : () => claimedWork.run(claim, status, () => handle());
      return answer(claim, work);
    },
    fingerprintOf: ({ projectId }) => projectId,
    async sweep() {
      await query.deleteFrom("idempotency_keys").where(isPastRetention(parts.retentionMs)).execute();
    },
    close: () => {
      claimedWork.close();
    },
  };
}
