import { setTimeout as delay } from "node:timers/promises";

/** How long a store may take to take a part, or to begin its answer. */
const answerWithinMs = 120_000;
const waitsMs = [200, 1000] as const;

async function once(input: Parameters<typeof fetch>[0], init: Parameters<typeof fetch>[1]): Promise<Response> {
  const patience = new AbortController();
  const timer = setTimeout(() => {
    patience.abort(new Error(`no answer within ${String(answerWithinMs / 1000)} s`));
  }, answerWithinMs);
  try {
    // Elsewhere a signature does not hold.
    return await fetch(input, { ...init, redirect: "manual", signal: patience.signal });
  } finally {
    // From here on the body may take as long as who reads it.
    clearTimeout(timer);
  }
}

/** `fetch` for a store: it waits for the answer's head no longer than two minutes, and asks again, twice, when there is none or the store has too much to do. */
export async function fetchFromStore(input: Parameters<typeof fetch>[0], init?: Parameters<typeof fetch>[1]): Promise<Response> {
  for (const waitMs of waitsMs) {
    try {
      const response = await once(input, init);
      if (response.status < 500 && response.status !== 429) return response;
      // 501 stays so.
      if (response.status === 501) return response;
      await response.body?.cancel();
    } catch {
      // What the last try says counts.
    }
    await delay(waitMs);
  }
  return once(input, init);
}
