import { request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** A connection that a rule of the session or its project refused. */
export interface EgressRefusal {
  readonly seq: number;
  /** `host:port`. */
  readonly target: string;
  readonly source: "session" | "project";
  readonly list: "allow" | "deny";
  readonly rule?: string;
  readonly count: number;
  readonly age_ms: number;
}

/** The gateway answers earlier. */
const timeoutMs = 60_000;
const retryMs = 500;
const maxBytes = 256 * 1024;

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
      const found = await ask(egressPath, after, signal);
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

function ask(socketPath: string, after: number, signal: AbortSignal): Promise<readonly EgressRefusal[]> {
  return new Promise((resolve, reject) => {
    const path = `/refusals?after=${String(after)}`;
    const options = {
      socketPath,
      path,
      agent: false,
      timeout: timeoutMs,
      headers: { host: "egress" },
      signal,
    } as const;
    const request = httpRequest(options, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => {
        text += piece;
        if (text.length > maxBytes) request.destroy();
      });
      answer.on("end", () => {
        try {
          // The gateway is trusted: it belongs to the service.
          resolve(JSON.parse(text) as readonly EgressRefusal[]);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      answer.on("error", reject);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", reject);
    request.end();
  });
}
