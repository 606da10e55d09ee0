import type { Endpoint } from "@shoal/contract";
import type { Database } from "@shoal/database";
import { type Handler, type HandlerCall, isLasting, isStatusReply, keyOfAnotherRequest, readIdempotencyKey, ServiceError, withStatus } from "@shoal/router";
import type { ErrorBody } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Access } from "../auth/access.ts";
import type { Log } from "../log.ts";
import type { Secrets } from "../secrets.ts";

/** A request that holds a key longer than this is given up. One whose server died frees its key as soon as that is noticed. */
const leaseMs = 120_000;
/** How long a repeated request waits for the first one. */
const patienceMs = 30_000;
const pollMs = 100;

/** Makes POSTs safe to repeat: the same `Idempotency-Key` gets the first answer again. */
export interface Idempotency {
  /** Puts the memory before a handler. Requests without the header go straight to it. */
  protect<E extends Endpoint>(endpoint: E, handler: Handler<E, Access>): Handler<E, Access>;
  /** Forgets answers past their time. */
  sweep(): Promise<void>;
}

interface Claim {
  readonly scope: string;
  readonly key: string;
  readonly fingerprint: string;
}

type Outcome =
  | { readonly status: number; readonly value: unknown; /** The handler chose the status itself. */ readonly chosen?: { readonly retryAfterSeconds?: number } }
  | { readonly status: number; readonly error: ErrorBody };

function outcomeOf(result: unknown, status: number): Outcome {
  if (!isStatusReply(result)) return { status, value: result };
  const { retryAfterSeconds, value } = result;
  return { status: result.status, value, chosen: retryAfterSeconds === undefined ? {} : { retryAfterSeconds } };
}

function conflict(key: string, message: string): ServiceError {
  return new ServiceError(409, "idempotency_conflict", `Idempotency-Key ${JSON.stringify(key)} ${message}`);
}

/** What of a call tells one request from another. */
type AnyCall = Pick<HandlerCall<Endpoint, Access>, "params" | "query" | "headers" | "context"> & { readonly body: unknown };

function claimOf(endpoint: Endpoint, call: AnyCall): Claim | undefined {
  const key = readIdempotencyKey(call.headers["idempotency-key"]);
  if (key === undefined) return undefined;
  const { context } = call;
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([endpoint.operationId, context.projectId, call.params, call.query, call.body ?? null]))
    .digest("base64url");
  // Bound to the API key: another caller must not be shown an answer that holds a secret.
  return { scope: context.key.id, key, fingerprint };
}

export function createIdempotency(parts: { readonly database: Database; readonly secrets: Secrets; readonly retentionMs: number; readonly serverId: string; readonly log: Log }): Idempotency {
  const { database, secrets, retentionMs, serverId, log } = parts;
  const { query } = database;
  /** What runs on this server now, so that a repetition need not ask the database. */
  const running = new Map<string, { readonly fingerprint: string; readonly done: Promise<unknown> }>();

  const purpose = (claim: Claim) => `${claim.scope}\0${claim.key}\0${claim.fingerprint}`;
  const at = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();

  /** Makes the key this request's own. @returns its moment, which names this claim; `undefined` when another holds it. */
  async function take({ scope, key, fingerprint }: Claim): Promise<string | undefined> {
    const created_at = new Date().toISOString();
    const taken = await query
      .insertInto("idempotency_keys")
      .values({ scope, key, fingerprint, status: 0, response: null, created_at, server_id: serverId })
      .onConflict((conflicting) =>
        conflicting
          .columns(["scope", "key"])
          .doUpdateSet({ fingerprint, status: 0, response: null, created_at, server_id: serverId })
          .where((where) =>
            where.or([
              where("idempotency_keys.created_at", "<", at(retentionMs)),
              where.and([where("idempotency_keys.status", "=", 0), where("idempotency_keys.created_at", "<", at(leaseMs)), where("idempotency_keys.fingerprint", "=", fingerprint)]),
            ]),
          ),
      )
      .returning("key")
      .executeTakeFirst();
    return taken && created_at;
  }

  async function remember(claim: Claim, since: string, outcome: Outcome): Promise<void> {
    await query
      .updateTable("idempotency_keys")
      .set({ status: outcome.status, response: secrets.seal(JSON.stringify(outcome), purpose(claim)) })
      .where("scope", "=", claim.scope)
      .where("key", "=", claim.key)
      .where("created_at", "=", since)
      .execute();
  }

  async function release(claim: Claim, since: string): Promise<void> {
    await query.deleteFrom("idempotency_keys").where("scope", "=", claim.scope).where("key", "=", claim.key).where("created_at", "=", since).where("status", "=", 0).execute();
  }

  /** The first answer; `undefined` while there is none. */
  async function recall(claim: Claim): Promise<Outcome | undefined> {
    const row = await query.selectFrom("idempotency_keys").select(["fingerprint", "status", "response"]).where("scope", "=", claim.scope).where("key", "=", claim.key).executeTakeFirst();
    if (row === undefined) return undefined;
    if (row.fingerprint !== claim.fingerprint) throw keyOfAnotherRequest(claim.key);
    if (row.status === 0 || row.response === null) return undefined;
    const text = secrets.unseal(row.response, purpose(claim));
    if (text === undefined) throw conflict(claim.key, "belongs to an answer that this server cannot read: its secret_key has changed. Look whether the request took effect, and use a new key.");
    return JSON.parse(text) as Outcome;
  }

  function replay(outcome: Outcome): unknown {
    if (!("error" in outcome)) return outcome.chosen === undefined ? outcome.value : withStatus(outcome.status, outcome.value, outcome.chosen);
    const { code, message, details, ...fields } = outcome.error;
    throw new ServiceError(outcome.status, code, message, { fields, ...(details && { details }) });
  }

  async function run(claim: Claim, since: string, status: number, handle: () => unknown): Promise<unknown> {
    let value: unknown;
    try {
      value = await handle();
    } catch (error) {
      await (isLasting(error) ? remember(claim, since, { status: error.status, error: error.toBody() }) : release(claim, since)).catch((failure: unknown) => {
        log.warn({ err: failure }, "an idempotency key could not be settled");
      });
      throw error;
    }
    // Before the answer goes out: a client that loses it may ask again at once.
    await remember(claim, since, outcomeOf(value, status)).catch((failure: unknown) => {
      log.warn({ err: failure }, "an answer could not be kept for its idempotency key");
    });
    return value;
  }

  async function answer(claim: Claim, status: number, handle: () => unknown): Promise<unknown> {
    const name = `${claim.scope}\0${claim.key}`;
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const mine = running.get(name);
      if (mine === undefined) {
        const attempt = (async () => {
          const since = await take(claim);
          return since === undefined ? undefined : { value: await run(claim, since, status, handle) };
        })();
        running.set(name, { fingerprint: claim.fingerprint, done: attempt });
        try {
          const done = await attempt;
          if (done !== undefined) return done.value;
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
        throw new ServiceError(409, "conflict", `The first request with Idempotency-Key ${JSON.stringify(claim.key)} still runs. Repeat this one in a moment.`, { retryAfterSeconds: 2 });
      }
      if (mine === undefined) await delay(pollMs);
    }
  }

  return {
    protect(endpoint, handler) {
      const status = Number(Object.keys(endpoint.responses)[0]);
      return ((call) => {
        const claim = claimOf(endpoint, call);
        return claim === undefined ? handler(call) : answer(claim, status, () => handler(call));
        // The stored value is JSON of what this handler once returned.
      }) as typeof handler;
    },
    async sweep() {
      await query.deleteFrom("idempotency_keys").where("created_at", "<", at(retentionMs)).execute();
    },
  };
}
