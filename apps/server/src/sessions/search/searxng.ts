import type { OutboundRule } from "@shoal/placement";
import { type SearchProviderClient, withDomains } from "./provider.ts";

const pages = 5;
const safeSearch = { off: "0", moderate: "1", strict: "2" } as const;

/** @see {@link https://docs.searxng.org/dev/search_api.html | Search API of SearXNG} */
export function searxng(address: string, rule: OutboundRule): SearchProviderClient {
  return {
    slug: "searxng",
    form: "searxng",
    maxResults: 100,
    rule,
    params: {
      country: { support: "unsupported" },
      language: { support: "native" },
      recency: { support: "native", notes: "hour counts as day" },
      start_date: { support: "unsupported" },
      end_date: { support: "unsupported" },
      include_domains: { support: "emulated", notes: "as site: in the query, and by the address of each result" },
      exclude_domains: { support: "emulated", notes: "as -site: in the query, and by the address of each result" },
      safe_search: { support: "native" },
      max_results: { support: "emulated", notes: `at most ${String(pages)} pages` },
      include_raw: { support: "native" },
      content: { support: "unsupported", notes: "use search.contents afterwards" },
    },
    pageOf: (request, page) => {
      if (page >= pages) return undefined;
      const { language, recency, safe_search: safe } = request;
      const url = new URL(`${address.replace(/\/$/, "")}/search`);
      url.search = new URLSearchParams({
        q: withDomains(request),
        format: "json",
        pageno: String(page + 1),
        ...(language !== undefined && { language }),
        ...(recency !== undefined && { time_range: recency === "hour" ? "day" : recency }),
        ...(safe !== undefined && { safesearch: safeSearch[safe] }),
      }).toString();
      return { url, headers: { accept: "application/json" } };
    },
  };
}
