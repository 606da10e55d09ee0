import { anySignal } from "@shoal/primitives";
import { readAtMost } from "@shoal/primitives/node";
import type { SearchAttempt } from "@shoal/schemas";
import { ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import { guardedRequest } from "../../host/guarded-request.ts";
import { ParseFailure, type ParsePool } from "../../storage/parsing/parse-pool.ts";
import {
  BadSearchAnswer,
  type FoundResult,
  type FoundResults,
  maxAnswerBytes,
  tooLarge,
} from "../../storage/parsing/search-answer.ts";
import { isWithinDomains, type SearchProviderClient, type SearchRequest } from "./provider.ts";

export interface Asked {
  readonly results: readonly FoundResult[];
  readonly attempt: SearchAttempt;
  /** Sent to the provider. */
  readonly requests: number;
}

export interface AskParts {
  readonly parsing: Pick<ParsePool, "run">;
  /** The project, whose answers are read one after another. */
  readonly owner: string;
  /** Of the caller. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** An answer of the provider that is not a list of results. */
class RefusedSearch extends Error {
  override readonly name = "RefusedSearch";
  readonly status: number;
  constructor(status: number) {
    super(`The provider answered ${String(status)}.`);
    this.status = status;
  }
}

/** Reads pages of the provider until there are enough results. A problem after the first page ends the reading. */
export async function ask(client: SearchProviderClient, request: SearchRequest, parts: AskParts): Promise<Asked> {
  const startedMs = performance.now();
  const timeUp = AbortSignal.timeout(parts.timeoutMs);
  const signal = anySignal([parts.signal, timeUp]);
  const found = new Map<string, FoundResult>();
  const seen = new Set<string>();
  let requests = 0;
  const asked = (outcome: Pick<SearchAttempt, "outcome" | "error_code" | "retryable">): Asked => ({
    results: [...found.values()].slice(0, Math.min(request.max_results, client.maxResults)),
    attempt: { provider: client.slug, ...outcome, duration_ms: Math.round(performance.now() - startedMs) },
    requests,
  });
  try {
    for (let page = 0; found.size < request.max_results; page += 1) {
      const next = client.pageOf(request, page);
      if (next === undefined) break;
      requests += 1;
      const { entries, results } = await readPage(client, next, { ...parts, signal, withRaw: request.include_raw });
      const before = seen.size;
      for (const result of results) {
        if (!seen.has(result.url) && isWithinDomains(result.url, request)) found.set(result.url, result);
        seen.add(result.url);
      }
      if (seen.size === before || entries < (client.pageSize?.(request) ?? 0)) break;
    }
  } catch (error) {
    parts.signal.throwIfAborted();
    if (ServiceError.isInstance(error)) throw error;
    if (found.size === 0) return asked(failureOf(error, timeUp.aborted));
  }
  return asked({ outcome: found.size === 0 ? "empty" : "success" });
}

async function readPage(
  { form, rule }: SearchProviderClient,
  { headers, url }: { readonly url: URL; readonly headers: Readonly<Record<string, string>> },
  { owner, parsing, signal, withRaw }: Pick<AskParts, "owner" | "parsing" | "signal"> & { readonly withRaw: boolean },
): Promise<FoundResults> {
  const answer = await guardedRequest(rule, url, { headers, signal });
  const { statusCode: status = 0 } = answer;
  try {
    if (status !== 200) throw new RefusedSearch(status);
    // Before the pool: a provider that stalls must not occupy one of its workers.
    const content = await readAtMost(answer, maxAnswerBytes);
    if (content === undefined) throw tooLarge();
    return await parsing.run("searchAnswer", { form, withRaw }, { owner, signal, source: Readable.from([content]) });
  } finally {
    answer.destroy();
  }
}

function failureOf(error: unknown, isTimeUp: boolean): Pick<SearchAttempt, "outcome" | "error_code" | "retryable"> {
  if (isTimeUp) return { outcome: "timeout", error_code: "timeout", retryable: true };
  if (error instanceof RefusedSearch) {
    const { status } = error;
    return { outcome: "error", error_code: `http_${String(status)}`, retryable: status === 429 || status >= 500 };
  }
  if (error instanceof ParseFailure || error instanceof BadSearchAnswer)
    return { outcome: "error", error_code: "invalid_answer", retryable: false };
  return { outcome: "error", error_code: "unreachable", retryable: true };
}
