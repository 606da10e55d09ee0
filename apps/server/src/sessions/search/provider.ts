import type { createSearch, CheckedRequestOf } from "@shoal/contract";
import type { SearchParamSupport } from "@shoal/schemas";
import type { OutboundRule } from "@shoal/placement";
import type { SearchAnswerForm } from "../../storage/parsing/search-answer.ts";

export type SearchRequest = CheckedRequestOf<typeof createSearch>["body"];

/** Fields whose effect depends on the provider. */
export const providerParams = [
  "country",
  "language",
  "recency",
  "start_date",
  "end_date",
  "include_domains",
  "exclude_domains",
  "safe_search",
  "max_results",
  "include_raw",
  "content",
] as const;
export type ProviderParam = (typeof providerParams)[number];

/** A service that answers searches. */
export interface SearchProviderClient {
  readonly slug: string;
  readonly form: SearchAnswerForm;
  readonly maxResults: number;
  readonly params: Readonly<Record<ProviderParam, SearchParamSupport>>;
  /** Connects to its address alone. */
  readonly rule: OutboundRule;
  /** Given fields whose values the provider does not know; they are not sent. */
  readonly unknownValues?: (request: SearchRequest) => readonly ProviderParam[];
  /** The limit that the question with its domains exceeds; `undefined` within it. */
  readonly exceededLimit?: (request: SearchRequest) => string | undefined;
  /** Fewer entries than this end the pages; absent: only a page without new results does. */
  readonly pageSize?: (request: SearchRequest) => number;
  /** The request for one page of results, from 0; `undefined` after its last one. */
  readonly pageOf: (
    request: SearchRequest,
    page: number,
  ) => { readonly url: URL; readonly headers: Readonly<Record<string, string>> } | undefined;
}

/** The question with the operator `site:`, which search engines know. */
export function withDomains({
  exclude_domains: without = [],
  include_domains: within = [],
  query,
}: SearchRequest): string {
  const included = within.map((domain) => `site:${domain}`).join(" OR ");
  return [query, within.length > 1 ? `(${included})` : included, ...without.map((domain) => `-site:${domain}`)]
    .filter((part) => part !== "")
    .join(" ");
}

/** Whether a result is within the domains of the request; engines may ignore the operator. */
export function isWithinDomains(
  url: string,
  { exclude_domains: without = [], include_domains: within }: SearchRequest,
) {
  const { hostname } = new URL(url);
  // A final dot names the same host.
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  const isOf = (domain: string): boolean => {
    const name = domain.toLowerCase();
    return host === name || host.endsWith(`.${name}`);
  };
  return (within === undefined || within.some(isOf)) && !without.some(isOf);
}
