import type { Endpoint } from "@shoal/contract";
import type { Handler } from "../handler/handler.ts";
import { IdempotencyMemory } from "../operation/idempotency-memory.ts";
import { repeatable } from "../operation/idempotency.ts";

/** Wraps typed handlers with one memory, like a router. */
export function remembering(now?: () => number) {
  const memory = new IdempotencyMemory<undefined>(now && { now });
  return {
    wrap: <E extends Endpoint>(endpoint: E, handler: Handler<E>) => repeatable(endpoint, handler, memory),
  };
}
