import * as z from "zod/mini";
import { Day, Id, Timestamp } from "../base/common.ts";
import { rule } from "../base/rules.ts";
import { alwaysSent, checked, lazyObject, noNul, openEnum } from "../base/schema.ts";

const ProviderName = () => checked(z.string(), z.regex(/^[a-z0-9_-]{1,40}$/));
const Milliseconds = () => checked(z.int(), z.minimum(1_000), z.maximum(120_000));
const Domains = () =>
  checked(
    z.array(checked(z.string(), z.maxLength(253), z.regex(/^(?:[A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}$/))),
    z.minLength(1),
    z.maxLength(20),
  );

/** A provider of search results. */
export interface SearchProviderChoice extends z.input<typeof SearchProviderChoice> {}
export const SearchProviderChoice = lazyObject(() => ({
  /** Its name, as in `search.providers`. */
  provider: ProviderName(),
}));

/** The providers that a search asks. */
export interface SearchStrategy extends z.input<typeof SearchStrategy> {}
export const SearchStrategy = z.lazy(() =>
  checked(
    z.object({
      /** `auto`: all providers of the service, in its order, until one has results. `pinned`: `provider` alone. `fallback`: `providers`, in this order. */
      type: z._default(z.enum(["auto", "pinned", "fallback"]), "auto"),
      /** The provider of `pinned`. */
      provider: z.optional(SearchProviderChoice),
      /** The providers of `fallback`, each once. */
      providers: z.optional(checked(z.array(SearchProviderChoice), z.minLength(1), z.maxLength(10))),
      /** The results after which the next provider is asked; all of them when absent. */
      fallback_on: z.optional(checked(z.array(z.enum(["error", "timeout", "empty"])), z.maxLength(3))),
    }),
    rule(
      ({ provider, providers, type }) =>
        (type === "pinned") === (provider !== undefined) && (type === "fallback") === (providers !== undefined),
      "type pinned needs provider, type fallback needs providers, and other types take neither",
      {
        keywords: {
          allOf: [
            {
              if: { properties: { type: { const: "pinned" } }, required: ["type"] },
              then: { required: ["provider"] },
              else: { not: { required: ["provider"] } },
            },
            {
              if: { properties: { type: { const: "fallback" } }, required: ["type"] },
              then: { required: ["providers"] },
              else: { not: { required: ["providers"] } },
            },
          ],
        },
      },
    ),
    rule(
      ({ providers = [] }) => new Set(providers.map(({ provider }) => provider)).size === providers.length,
      "each provider must be named once",
      { keywords: { properties: { providers: { uniqueItems: true } } } },
    ),
  ),
);

/** The browser that reads the pages of results. */
export interface SearchContentBrowser extends z.input<typeof SearchContentBrowser> {}
export const SearchContentBrowser = lazyObject(() => ({
  /** Pages are always rendered. */
  mode: z._default(z.enum(["render"]), "render"),
}));

/** How the pages of results are read. */
export interface SearchContentOptions extends z.input<typeof SearchContentOptions> {}
export const SearchContentOptions = lazyObject(() => ({
  /** Where texts come from. `auto` and `browser`: a browser of the project; `provider`: no provider of this service sends them. */
  source: z._default(z.enum(["auto", "provider", "browser"]), "auto"),
  /** The form of the texts. */
  format: z._default(z.enum(["markdown", "text"]), "markdown"),
  /** Limit of each text in characters, 100 to 100,000. */
  max_chars: z._default(checked(z.int(), z.minimum(100), z.maximum(100_000)), 10_000),
  /** Accepted age of a stored text in hours, 0 to 8,760. Shoal stores none: each text is new. */
  max_age_hours: z.optional(checked(z.int(), z.minimum(0), z.maximum(8_760))),
  /** Limit for each page in milliseconds, 1,000 to 120,000. */
  timeout_ms: z._default(Milliseconds(), 15_000),
  /** The browser. */
  browser: z.optional(SearchContentBrowser),
}));

/** Input of `search.create`. */
export interface CreateSearch extends z.input<typeof CreateSearch> {}
export const CreateSearch = z.lazy(() =>
  checked(
    z.object({
      /** The question, 1 to 1,000 characters. */
      query: checked(z.string(), z.minLength(1), z.maxLength(1_000), noNul(), z.regex(/\S/, "must not be blank")),
      /** Two letters of the country that results are for: `de`. */
      country: z.optional(checked(z.string(), z.regex(/^[A-Za-z]{2}$/))),
      /** Language of the results: `de`, `pt-BR`. */
      language: z.optional(checked(z.string(), z.regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}$/))),
      /** Only results of this last period. It replaces `start_date` and `end_date`. */
      recency: z.optional(z.enum(["hour", "day", "week", "month", "year"])),
      /** Only results since this day. */
      start_date: z.optional(Day),
      /** Only results until this day, inclusive. */
      end_date: z.optional(Day),
      /** Only results of these domains and their subdomains, at most 20. */
      include_domains: z.optional(Domains()),
      /** No results of these domains and their subdomains, at most 20. */
      exclude_domains: z.optional(Domains()),
      /** How strictly unsuitable results are left out; the provider decides when absent. */
      safe_search: z.optional(z.enum(["off", "moderate", "strict"])),
      /** Limit of the results, 1 to 100. */
      max_results: z._default(checked(z.int(), z.minimum(1), z.maximum(100)), 10),
      /** Also return the entry of the provider for each result, as `raw`. */
      include_raw: z._default(z.boolean(), false),
      /** Refuse a field that the provider does not support, instead of a warning. */
      strict_params: z._default(z.boolean(), false),
      /** Limit for all providers together in milliseconds, 1,000 to 120,000. */
      timeout_ms: z._default(Milliseconds(), 20_000),
      /** Texts of providers with the results. No provider of this service sends them: use `search.contents` afterwards. */
      content: z.optional(z.union([z.literal(true), SearchContentOptions])),
      /** The providers to ask. */
      strategy: z.optional(SearchStrategy),
    }),
    rule(
      // Days are ISO dates, which sort as text.
      ({ end_date: end, start_date: start }) => start === undefined || end === undefined || start <= end,
      { path: ["start_date"], error: "must not be after end_date" },
      {},
    ),
  ),
);

/** One result of a search. Its texts come from foreign pages. */
export interface SearchResult extends z.output<typeof SearchResult> {}
export const SearchResult = lazyObject(() => ({
  /** Identifier within the search. */
  id: z.string(),
  /** Position, from 1. */
  rank: z.int(),
  /** Address of the page: http or https. */
  url: z.string(),
  /** Title, without markup, at most 500 characters. */
  title: z.optional(z.string()),
  /** Part of the page, without markup, at most 2,000 characters. */
  snippet: z.optional(z.string()),
  /** Further parts of the page, at most 5. */
  additional_snippets: z.optional(z.array(z.string())),
  /** When the page was published, as the provider writes it. */
  published_date: z.optional(z.string()),
  /** Name of the site or of the search engine. */
  source: z.optional(z.string()),
  /** The entry of the provider as JSON text, at most 8,000 characters; with `include_raw`, in the answer of `search.create` alone. */
  raw: z.optional(z.string()),
}));

/** One question to a provider. */
export interface SearchAttempt extends z.output<typeof SearchAttempt> {}
export const SearchAttempt = lazyObject(() => ({
  /** Name of the provider. */
  provider: z.string(),
  /** How it ended. */
  outcome: openEnum("success", "empty", "error", "timeout"),
  /** Milliseconds. */
  duration_ms: z.int(),
  /** What failed: `http_429`, `invalid_answer`, `unreachable`, `timeout`. */
  error_code: z.optional(z.string()),
  /** Whether the same question may succeed later. */
  retryable: z.optional(z.boolean()),
}));

/** A field without the whole effect. */
export interface SearchWarning extends z.output<typeof SearchWarning> {}
export const SearchWarning = lazyObject(() => ({
  /** The kind of warning. */
  code: openEnum("unsupported_param", "fewer_results"),
  /** A sentence. */
  message: z.string(),
  /** The field. */
  param: z.optional(z.string()),
  /** The provider. */
  provider: z.optional(z.string()),
}));

/** What a search used. */
export interface SearchUsage extends z.output<typeof SearchUsage> {}
export const SearchUsage = lazyObject(() => ({
  /** Requests to providers. */
  provider_requests: z.int(),
  /** Pages that a browser rendered. */
  rendered_pages: z.int(),
}));

/** A search and its results. */
export interface Search extends z.output<typeof Search> {}
export const Search = lazyObject(() => ({
  /** Stable identifier. */
  id: Id,
  /** The question. */
  query: z.string(),
  /** The provider of the results. */
  provider: z.string(),
  /** The results, best first. */
  results: z.array(SearchResult),
  /** The questions to providers, in order. */
  attempts: z.array(SearchAttempt),
  /** Fields without the whole effect. */
  warnings: z.array(SearchWarning),
  /** What it used. */
  usage: SearchUsage,
  /** When it is deleted: 24 hours after the search. */
  expires_at: Timestamp,
}));

/** Input of `search.contents`. */
export interface FetchSearchContents extends z.input<typeof FetchSearchContents> {}
export const FetchSearchContents = z.lazy(() =>
  checked(
    z.object({
      /** Results to read, at most 20, in this order. Give either this or `limit`. */
      result_ids: z.optional(
        checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.minLength(1), z.maxLength(20)),
      ),
      /** Read this many results from the first one, 1 to 20. */
      limit: z.optional(checked(z.int(), z.minimum(1), z.maximum(20))),
      /** How pages are read; `true` is the same as no options. */
      content: z.optional(z.union([z.literal(true), SearchContentOptions])),
      /** Limit for all pages together in milliseconds, 1,000 to 300,000. */
      timeout_ms: z._default(checked(z.int(), z.minimum(1_000), z.maximum(300_000)), 60_000),
    }),
    rule(
      ({ limit, result_ids: ids }) => (limit === undefined) !== (ids === undefined),
      "give exactly one of result_ids and limit",
      { exactlyOne: ["result_ids", "limit"] },
    ),
  ),
);

/** Why a page was not read. */
export interface SearchContentError extends z.output<typeof SearchContentError> {}
export const SearchContentError = lazyObject(() => ({
  /** The code of the error. */
  code: z.string(),
  /** A sentence. */
  message: z.string(),
  /** Whether another try may succeed. */
  retryable: z.boolean(),
}));

/** The page of one result. */
export interface SearchContent extends z.output<typeof SearchContent> {}
export const SearchContent = lazyObject(() => ({
  /** The result. */
  result_id: z.string(),
  /** Its address. */
  url: z.string(),
  /** How it ended; `text` is there with `ok` alone. */
  status: openEnum("ok", "unavailable", "blocked", "timeout", "unsupported_type", "extraction_failed", "error"),
  /** The text of the page. */
  text: z.optional(z.string()),
  /** Whether the text was cut. */
  truncated: z.optional(z.boolean()),
  /** How it was read. */
  method: z.optional(openEnum("provider", "browser_curl", "browser_render")),
  /** Address after redirects. */
  final_url: z.optional(z.string()),
  /** HTTP status of the page. */
  http_status: z.optional(z.int()),
  /** Form of the text. */
  format: z.optional(openEnum("markdown", "text")),
  /** When it was read. */
  fetched_at: z.optional(Timestamp),
  /** Whether a stored text was used: never. */
  cache_status: z.optional(openEnum("miss", "hit")),
  /** Why the text is missing. */
  error: z.optional(SearchContentError),
}));

/** The pages of results. */
export interface SearchContents extends z.output<typeof SearchContents> {}
export const SearchContents = lazyObject(() => ({
  /** The search. */
  search_id: Id,
  /** One entry for each result, in order. */
  contents: z.array(SearchContent),
  /** What it used. */
  usage: SearchUsage,
  /** Fields without the whole effect. */
  warnings: z.array(SearchWarning),
}));

/** Query of `search.providers`. */
export interface ListSearchProviders extends z.input<typeof ListSearchProviders> {}
export const ListSearchProviders = lazyObject(() => ({
  /** Only this provider. */
  slug: z.optional(ProviderName()),
}));

/** How a provider treats one field of a search. */
export interface SearchParamSupport extends z.output<typeof SearchParamSupport> {}
export const SearchParamSupport = lazyObject(() => ({
  /** `native`: the provider applies it. `emulated`: Shoal does. `unsupported`: it has no effect. */
  support: openEnum("native", "emulated", "unsupported"),
  /** Limits. */
  notes: z.optional(z.string()),
}));

/** Texts that a provider sends. */
export interface SearchProviderContent extends z.output<typeof SearchProviderContent> {}
export const SearchProviderContent = lazyObject(() => ({
  /** With the results. */
  inline: z.boolean(),
  /** After the search. */
  post_hoc: z.boolean(),
  /** Of a chosen age. */
  freshness_control: z.boolean(),
}));

/** A provider that this service asks. */
export interface SearchProvider extends z.output<typeof SearchProvider> {}
export const SearchProvider = lazyObject(() => ({
  /** Its name. */
  slug: z.string(),
  /** Results of one search at most. */
  max_results_cap: z.int(),
  /** Support of each field. */
  params: alwaysSent(z.record(z.string(), SearchParamSupport)),
  /** Texts of pages. */
  content: SearchProviderContent,
}));
