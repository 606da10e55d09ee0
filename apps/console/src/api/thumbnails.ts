import type { Shoal } from "@shoal/client";
import { queryOptions } from "@tanstack/react-query";
import { blobOf } from "./blob.ts";

const maxAtOnce = 4;
const refreshMs = 10_000;
const keptMs = 60_000;
const picture = { format: "jpeg", quality: 45, max_width: 400 } as const;
/** The service does not count the request as use of the session, so that a watched list does not keep sessions alive. */
const passive = { "x-shoal-passive": "1" };

let running = 0;
const waiting: (() => void)[] = [];

/** Limits pictures at once: each one costs its browser a capture. */
async function inTurn<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (running >= maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

/** A small picture of the front page. It is not refreshed while the page of the console is hidden. */
export const thumbnailQuery = (shoal: Shoal, id: string) =>
  queryOptions({
    queryKey: ["thumbnail", id],
    queryFn: ({ signal }) =>
      inTurn(signal, async () =>
        blobOf(await shoal.browsers.screenshot(id, picture, { signal, headers: passive, maxRetries: 0 }), "image/jpeg"),
      ),
    staleTime: refreshMs,
    gcTime: keptMs,
    refetchInterval: refreshMs,
    refetchOnWindowFocus: true,
  });
