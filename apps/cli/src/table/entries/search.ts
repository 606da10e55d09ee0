import type { CommandEntry } from "../../core/types.ts";

const contentHelp = {
  "content.source": "Where texts of pages come from",
  "content.format": "Form of the texts",
  "content.max_chars": "Limit of each text in characters, 100 to 100000",
  "content.max_age_hours": "Accepted age of stored texts in hours; none are stored",
  "content.timeout_ms": "Limit for each page in milliseconds, 1000 to 120000",
  "content.browser": "Browser that reads the pages as an object",
  "content.browser.mode": "How the browser reads pages",
};

export const searchEntries: Readonly<Record<string, CommandEntry>> = {
  "search.create": {
    summary: "Search the web",
    about: "Needs a provider of the operator: --search-searxng-url or --search-brave-key of shoal serve.",
    words: ["search", "create"],
    help: {
      query: "The question",
      country: "Two letters of the country that results are for: de",
      language: "Language of the results: de, pt-BR",
      recency: "Only results of this last period",
      start_date: "Only results since this day: 2026-01-31",
      end_date: "Only results until this day",
      include_domains: "Only results of this domain and its subdomains",
      exclude_domains: "No results of this domain and its subdomains",
      safe_search: "How strictly unsuitable results are left out",
      max_results: "Limit of the results, 1 to 100",
      include_raw: "Also print the entry of the provider for each result",
      strict_params: "Refuse a flag that the provider does not support",
      timeout_ms: "Limit for all providers together in milliseconds, 1000 to 120000",
      content: "Texts of providers as JSON; no provider of the service sends them",
      ...contentHelp,
      strategy: "Providers to ask as an object",
      "strategy.type": "How providers are chosen",
      "strategy.provider": "The provider of --strategy-type pinned as an object",
      "strategy.provider.provider": "The provider of --strategy-type pinned: searxng",
      "strategy.providers": "A provider of --strategy-type fallback as JSON, in order",
      "strategy.fallback_on": "Outcome after which the next provider is asked",
    },
    examples: [
      'shoal search create --search "fish recipes" --max-results 5',
      "shoal search create --search fish -o json",
    ],
  },
  "search.get": {
    summary: "Show a search of the last 24 hours",
    words: ["search", "get"],
    examples: ["shoal search get m3x1p0v2k7c9q5w8z6t4r2yh"],
  },
  "search.contents": {
    summary: "Read the pages of results",
    about: "Renders the pages one after another.",
    words: ["search", "contents"],
    help: {
      result_ids: "Result to read: r1",
      limit: "Read this many results from the first one, 1 to 20",
      content: "How pages are read as JSON",
      ...contentHelp,
      timeout_ms: "Limit for all pages together in milliseconds, 1000 to 300000",
    },
    examples: ["shoal search contents m3x1p0v2k7c9q5w8z6t4r2yh --limit 3"],
  },
  "search.providers": {
    summary: "List the providers of searches",
    words: ["search", "providers"],
    help: { slug: "Only this provider" },
    examples: ["shoal search providers"],
  },
};
