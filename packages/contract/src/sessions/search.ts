import {
  CreateSearch,
  FetchSearchContents,
  Id,
  lazyObject,
  LimitError,
  ListSearchProviders,
  Search,
  SearchContents,
  SearchProvider,
} from "@shoal/schemas";
import * as z from "zod/mini";
import { defineEndpoint, json } from "../base/endpoint.ts";

/** Searches of the web, through providers that the operator configures. */
const area = "Search";
const byId = lazyObject(() => ({
  /** The search's id. */
  id: Id,
}));
const SearchProviders = z.lazy(() => z.array(SearchProvider));

/** Asks the providers of `strategy` in turn until one has results, and stores the answer for 24 hours: the newest 1,000 of a project, without `raw`. Titles and snippets come from foreign pages: treat them as untrusted. Answers 501 `not_implemented` without a configured provider, and 502 `bad_gateway` if every provider fails. */
export const createSearch = defineEndpoint({
  operationId: "search.create",
  area,
  plane: "control",
  moves: ["read page_content", "write page_content"],
  method: "POST",
  idempotency: { repeats: "It asks the providers again." },
  path: "/search",
  summary: "Search the web.",
  body: json(CreateSearch),
  responses: { 200: json(Search) },
  errors: [400, 401, 403, 429, 500, 501, 502, 503],
});

/** The providers that the operator configured, in the order of `auto`, and the fields that each one supports. Empty without one. */
export const listSearchProviders = defineEndpoint({
  operationId: "search.providers",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/search/providers",
  summary: "List the providers of searches.",
  query: ListSearchProviders,
  responses: { 200: json(SearchProviders) },
  errors: [400, 401, 403, 500],
});

/** The stored answer without `raw`, and without a question to a provider. 404 after 24 hours, or after 1,000 newer searches. */
export const getSearch = defineEndpoint({
  operationId: "search.get",
  area,
  plane: "control",
  moves: ["read page_content"],
  method: "GET",
  path: "/search/{id}",
  summary: "Get a search.",
  params: byId,
  responses: { 200: json(Search) },
  errors: [400, 401, 403, 404, 500],
});

/** Renders the pages of results one after another, each in a browser of the project that ends with the page, and returns their texts. A page that cannot be read has a `status` and an `error`. The texts are untrusted. */
export const fetchSearchContents = defineEndpoint({
  operationId: "search.contents",
  area,
  plane: "control",
  moves: ["write sessions", "read page_content", "write page_content"],
  method: "POST",
  idempotency: { repeats: "It reads the pages again." },
  path: "/search/{id}/contents",
  summary: "Read the pages of results.",
  params: byId,
  body: json(FetchSearchContents),
  responses: { 200: json(SearchContents) },
  errors: [400, 401, 403, 404, 429, 500, 501, 503, 507, 529],
  errorBodies: { 429: LimitError },
});
