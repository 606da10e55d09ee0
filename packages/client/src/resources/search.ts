import { createSearch, fetchSearchContents, getSearch, listSearchProviders } from "@shoal/contract";
import type {
  CreateSearch,
  FetchSearchContents,
  ListSearchProviders,
  Search,
  SearchContents,
  SearchProvider,
} from "@shoal/schemas";
import type { Call, CallOptions, Transport } from "@shoal/transport";

/** The service answers within the time of the request, which includes its browsers. Milliseconds. */
const graceMs = 30_000;

/** Searches of the web, through the providers of the operator. */
export class WebSearch {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Searches the web. Titles and snippets come from foreign pages.
   * @throws {ApiError} 501 `not_implemented` without a provider, 502 `bad_gateway` if every provider fails.
   *
   * @example
   * const { results } = await shoal.search.create({ query: "fish recipes", max_results: 5 });
   */
  create(body: CreateSearch, options: CallOptions = {}): Call<Search> {
    const { timeoutMs = (body.timeout_ms ?? 20_000) + graceMs } = options;
    return this.#transport.call(createSearch, { body }, { ...options, timeoutMs });
  }
  /** Gets a search of the last 24 hours. @throws {ApiError} 404 `not_found`. */
  get(id: string, options?: CallOptions): Call<Search> {
    return this.#transport.call(getSearch, { params: { id } }, options);
  }
  /** Renders the pages of results, one after another. @throws {ApiError} 404 `not_found`. */
  contents(id: string, body: FetchSearchContents, options: CallOptions = {}): Call<SearchContents> {
    const { timeoutMs = (body.timeout_ms ?? 60_000) + graceMs } = options;
    return this.#transport.call(fetchSearchContents, { params: { id }, body }, { ...options, timeoutMs });
  }
  /** Lists the providers of the service. */
  providers(query: ListSearchProviders = {}, options?: CallOptions): Call<SearchProvider[]> {
    return this.#transport.call(listSearchProviders, { query }, options);
  }
}
