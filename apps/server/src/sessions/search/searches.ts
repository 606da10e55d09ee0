import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { Search, SearchProvider } from "@shoal/schemas";
import { createTokenBuckets, type TokenBuckets } from "../../http/limits/token-buckets.ts";
import { isStorable } from "../../http/paging.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import { storableText } from "../../storage/storable-text.ts";
import { ask, type Asked, type AskParts } from "./ask.ts";
import { chosenClients, warningsOf } from "./chosen.ts";
import type { SearchProviderClient, SearchRequest } from "./provider.ts";

export interface SearchesParts {
  readonly database: Database;
  readonly parsing: Pick<ParsePool, "run">;
  /** In the order of `auto`. */
  readonly clients: readonly SearchProviderClient[];
  /** For one project; read at each search, 0 = no limit. */
  readonly perMinute: () => number;
}

const keptMs = 24 * 60 * 60 * 1000;
const maxQuery = 1_000;
/** The newest searches of a project. */
const maxKept = 1_000;

/** Searches of projects: asks providers, and keeps the answers for a day. */
export class Searches {
  readonly #parts: SearchesParts;
  readonly #rates: TokenBuckets;

  constructor(parts: SearchesParts) {
    this.#parts = parts;
    this.#rates = createTokenBuckets(parts.perMinute);
  }

  /** @throws {ServiceError} 400, 429, 501, 502. */
  async create(projectId: string, request: SearchRequest, signal: AbortSignal): Promise<Search> {
    const clients = chosenClients(this.#parts.clients, request);
    this.#admit(projectId);
    const all = await this.#askInTurn(clients, request, { owner: projectId, signal });
    const [client, asked] = all.findLast(([, { attempt }]) => attempt.outcome === "success") ??
      all.findLast(([, { attempt }]) => attempt.outcome === "empty") ?? [undefined, undefined];
    if (client === undefined) throw allFailed(all.map(([, one]) => one));
    const createdAt = new Date();
    const search: Search = {
      id: createId(),
      query: storableText(request.query, maxQuery),
      provider: client.slug,
      results: asked.results.map((result, index) => ({ id: `r${String(index + 1)}`, rank: index + 1, ...result })),
      attempts: all.map(([, { attempt }]) => attempt),
      warnings: warningsOf(client, request, asked.results.length),
      usage: { provider_requests: all.reduce((sum, [, { requests }]) => sum + requests, 0), rendered_pages: 0 },
      expires_at: new Date(createdAt.getTime() + keptMs).toISOString(),
    };
    await this.#keep(projectId, search, createdAt);
    return search;
  }

  async #keep(projectId: string, search: Search, createdAt: Date): Promise<void> {
    const { query } = this.#parts.database;
    const { expires_at: expiresAt, id } = search;
    // Entries of providers are large; only the search itself returns them.
    const kept: Search = { ...search, results: search.results.map(({ raw: _raw, ...result }) => result) };
    const row = {
      id,
      project_id: projectId,
      answer: JSON.stringify(kept),
      created_at: createdAt,
      expires_at: expiresAt,
    };
    await query.insertInto("searches").values(row).execute();
    const older = query
      .selectFrom("searches")
      .select("id")
      .where("project_id", "=", projectId)
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .offset(maxKept);
    await query.deleteFrom("searches").where("id", "in", older).execute();
  }

  /** @throws {ServiceError} 404 for an unknown, foreign or expired one. */
  async get(projectId: string, id: string): Promise<Search> {
    const row = isStorable(id)
      ? await this.#parts.database.query
          .selectFrom("searches")
          .select("answer")
          .where("project_id", "=", projectId)
          .where("id", "=", id)
          .where("expires_at", ">", new Date().toISOString())
          .executeTakeFirst()
      : undefined;
    // This class wrote it.
    if (row !== undefined) return row.answer as Search;
    throw new ServiceError(404, "not_found", `Search ${id} was not found in this project.`, {
      hint: "Searches are kept for 24 hours, the newest 1,000 of a project. Search again with search.create.",
    });
  }

  providers(slug?: string): SearchProvider[] {
    return this.#parts.clients
      .filter((client) => slug === undefined || client.slug === slug)
      .map(({ maxResults, params, slug: name }) => ({
        slug: name,
        max_results_cap: maxResults,
        params,
        content: { inline: false, post_hoc: true, freshness_control: false },
      }));
  }

  async clean(): Promise<void> {
    await this.#parts.database.query
      .deleteFrom("searches")
      .where("expires_at", "<=", new Date().toISOString())
      .execute();
  }

  #admit(projectId: string): void {
    const nowMs = performance.now();
    const allowance = this.#rates.look(projectId, nowMs);
    if (allowance !== undefined && allowance.waitMs > 0) {
      const seconds = Math.max(1, Math.ceil(allowance.waitMs / 1000));
      throw new ServiceError(
        429,
        "rate_limited",
        `This project may search ${String(allowance.limit)} times a minute, and has done so.`,
        {
          limit: allowance.limit,
          hint: `Wait ${String(seconds)} s, or ask the operator to raise search_per_minute.`,
          retryAfterSeconds: seconds,
        },
      );
    }
    this.#rates.take(projectId, nowMs);
  }

  async #askInTurn(
    clients: readonly SearchProviderClient[],
    request: SearchRequest,
    parts: Pick<AskParts, "owner" | "signal">,
  ): Promise<(readonly [SearchProviderClient, Asked])[]> {
    const untilMs = performance.now() + request.timeout_ms;
    const { parsing } = this.#parts;
    const goesOnAfter: readonly string[] = request.strategy?.fallback_on ?? ["error", "timeout", "empty"];
    const all: (readonly [SearchProviderClient, Asked])[] = [];
    for (const [index, client] of clients.entries()) {
      if (client.exceededLimit?.(request) !== undefined) {
        all.push([client, tooLong(client)]);
        continue;
      }
      // A silent provider leaves time for the others.
      const timeoutMs = Math.round((untilMs - performance.now()) / (clients.length - index));
      if (timeoutMs <= 0) break;
      const asked = await ask(client, request, { ...parts, parsing, timeoutMs });
      all.push([client, asked]);
      if (!goesOnAfter.includes(asked.attempt.outcome)) break;
    }
    return all;
  }
}

const tooLong = ({ slug }: SearchProviderClient): Asked => ({
  results: [],
  attempt: { provider: slug, outcome: "error", duration_ms: 0, error_code: "query_too_long", retryable: false },
  requests: 0,
});

function allFailed(all: readonly Asked[]): ServiceError {
  const reasons = all.map(({ attempt: { error_code: code = "error", provider } }) => `${provider}: ${code}`).join(", ");
  const isWorthARetry = all.some(({ attempt }) => attempt.retryable === true);
  return new ServiceError(502, "bad_gateway", `No provider answered the search (${reasons}).`, {
    hint: isWorthARetry ? "Try again later." : "Ask the operator to check the settings that begin with search_.",
  });
}
