import { setTimeout as delay } from "node:timers/promises";
import { askGateway } from "./ask-gateway.ts";

/** A connection that a rule of the session or its project refused. */
export interface EgressRefusal {
  readonly seq: number;
  /** `host:port`. */
  readonly target: string;
  readonly source: "session" | "project";
  readonly list: "allow" | "deny" | "allowed_hosts";
  readonly rule?: string;
  readonly count: number;
  readonly age_ms: number;
}

/** The gateway answers earlier. */
const timeoutMs = 60_000;
const retryMs = 500;

/** Calls `listener` with the gateway's refusals from now on. Returns a function that ends it. */
export function watchRefusals(egressPath: string, listener: (refusal: EgressRefusal) => void): () => void {
  const stopped = new AbortController();
  void follow(egressPath, listener, stopped.signal);
  return () => {
    stopped.abort();
  };
}

async function follow(
  egressPath: string,
  listener: (refusal: EgressRefusal) => void,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = performance.now();
  let after = 0;
  while (!signal.aborted) {
    try {
      const path = `/refusals?after=${String(after)}`;
      const found = await askGateway<EgressRefusal>(egressPath, { path, timeoutMs, signal });
      const now = performance.now();
      for (const refusal of found) {
        after = refusal.seq;
        if (now - refusal.age_ms >= beganMs) listener(refusal);
      }
    } catch {
      // The gateway closes connections at its limits, and when the proxy changes.
      await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
