import type { OutboundRule } from "@shoal/placement";
import { braveCountry, braveLanguage } from "./brave-codes.ts";
import { type SearchProviderClient, type SearchRequest, withDomains } from "./provider.ts";

const pages = 10;
const ofPage = 20;
const periods = { hour: "pd", day: "pd", week: "pw", month: "pm", year: "py" } as const;
const limits = { characters: 400, words: 50 } as const;
/** Before the first page of the web. */
const firstDay = "1990-01-01";

const pageSize = ({ max_results: most }: SearchRequest): number => Math.min(ofPage, most);

/** @see {@link https://api-dashboard.search.brave.com/app/documentation/web-search/query | Parameters of Brave's web search} */
export function brave(
  { address, key, now }: { readonly address: string; readonly key: string; readonly now: () => Date },
  rule: OutboundRule,
): SearchProviderClient {
  const freshness = ({ end_date: end, recency, start_date: start }: SearchRequest): string | undefined => {
    if (recency !== undefined) return periods[recency];
    if (start === undefined && end === undefined) return undefined;
    return `${start ?? firstDay}to${end ?? now().toISOString().slice(0, 10)}`;
  };
  return {
    slug: "brave",
    form: "brave",
    maxResults: 100,
    rule,
    params: {
      country: { support: "native", notes: "only the countries of its list" },
      language: { support: "native", notes: "only the languages of its list" },
      recency: { support: "native", notes: "hour counts as day" },
      start_date: { support: "native" },
      end_date: { support: "native" },
      include_domains: { support: "emulated", notes: "as site: in the query, and by the address of each result" },
      exclude_domains: { support: "emulated", notes: "as -site: in the query, and by the address of each result" },
      safe_search: { support: "native" },
      max_results: { support: "native", notes: `pages of ${String(ofPage)}` },
      include_raw: { support: "native" },
      content: { support: "unsupported", notes: "use search.contents afterwards" },
    },
    unknownValues: ({ country, language }) => [
      ...(country !== undefined && braveCountry(country) === undefined ? (["country"] as const) : []),
      ...(language !== undefined && braveLanguage(language) === undefined ? (["language"] as const) : []),
    ],
    exceededLimit: (request) => {
      const question = withDomains(request).trim();
      const isWithin = question.length <= limits.characters && question.split(/\s+/).length <= limits.words;
      return isWithin ? undefined : `${String(limits.characters)} characters and ${String(limits.words)} words`;
    },
    pageSize,
    pageOf: (request, page) => {
      if (page >= pages) return undefined;
      const { safe_search: safe } = request;
      const country = request.country && braveCountry(request.country);
      const language = request.language && braveLanguage(request.language);
      const fresh = freshness(request);
      const url = new URL(`${address.replace(/\/$/, "")}/res/v1/web/search`);
      url.search = new URLSearchParams({
        q: withDomains(request),
        // The same on every page: `offset` counts pages of this size.
        count: String(pageSize(request)),
        offset: String(page),
        ...(country !== undefined && { country }),
        ...(language !== undefined && { search_lang: language }),
        ...(fresh !== undefined && { freshness: fresh }),
        ...(safe !== undefined && { safesearch: safe }),
      }).toString();
      return { url, headers: { accept: "application/json", "x-subscription-token": key } };
    },
  };
}
