import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { SearchWarning } from "@shoal/schemas";
import { type ProviderParam, providerParams, type SearchProviderClient, type SearchRequest } from "./provider.ts";

/** The clients that a request asks, in order. @throws {ServiceError} 400 for another provider, 501 without one. */
export function chosenClients(
  clients: readonly SearchProviderClient[],
  request: SearchRequest,
): readonly SearchProviderClient[] {
  if (clients.length === 0)
    throw new ServiceError(501, "not_implemented", "This service has no provider for searches.", {
      hint: "The operator sets search_searxng_url, or search_brave_key.",
    });
  const { strategy } = request;
  const named = strategy?.type === "fallback" ? strategy.providers : strategy?.provider && [strategy.provider];
  const chosen =
    named?.map(({ provider }, index) => {
      const client = clients.find(({ slug }) => slug === provider);
      if (client !== undefined) return client;
      const field = strategy?.type === "fallback" ? `providers.${String(index)}` : "provider";
      const limit = clients.map(({ slug }) => slug).join(", ");
      throw ServiceError.of(
        invalid(`body.strategy.${field}.provider`, `provider ${provider} is not configured; configured are ${limit}`, {
          limit,
          hint: "List the providers with search.providers.",
        }),
      );
    }) ?? clients;
  const able = request.strict_params ? withAllParams(chosen, request) : chosen;
  requireShortQuery(able, request);
  return able;
}

/** @throws {ServiceError} 400 if no client takes a question of this length. */
function requireShortQuery(clients: readonly SearchProviderClient[], request: SearchRequest): void {
  const limits = clients.map((client) => client.exceededLimit?.(request));
  const limit = limits.find((one) => one !== undefined);
  if (limit === undefined || limits.includes(undefined)) return;
  const names = clients.map(({ slug }) => slug).join(", ");
  throw ServiceError.of(
    invalid("body.query", `${names} takes at most ${limit}, with the domains`, {
      limit,
      hint: "Shorten the query, name fewer domains, or ask another provider.",
    }),
  );
}

function withAllParams(
  clients: readonly SearchProviderClient[],
  request: SearchRequest,
): readonly SearchProviderClient[] {
  const able = clients.filter((client) => ignoredBy(client, request).length === 0);
  if (able.length > 0) return able;
  const [param] = clients.flatMap((client) => ignoredBy(client, request));
  throw ServiceError.of(
    invalid(`body.${param ?? "strict_params"}`, "no asked provider supports it", {
      hint: "Omit the field, or omit strict_params to get a warning instead.",
    }),
  );
}

function isGiven(request: SearchRequest, param: ProviderParam): boolean {
  // `recency` replaces them.
  if ((param === "start_date" || param === "end_date") && request.recency !== undefined) return false;
  return request[param] !== undefined;
}

/** The given fields that the provider does not support, or whose value it does not know. */
function ignoredBy({ params, unknownValues }: SearchProviderClient, request: SearchRequest): readonly ProviderParam[] {
  const unknown = unknownValues?.(request) ?? [];
  return providerParams.filter(
    (param) => unknown.includes(param) || (params[param].support === "unsupported" && isGiven(request, param)),
  );
}

/** @param found - number of results. */
export function warningsOf(client: SearchProviderClient, request: SearchRequest, found: number): SearchWarning[] {
  const ignored = ignoredBy(client, request).map((param): SearchWarning => {
    const { notes, support } = client.params[param];
    const what = support === "unsupported" ? param : `this ${param}`;
    return {
      code: "unsupported_param",
      message: `${client.slug} does not support ${what}${notes === undefined ? "" : `: ${notes}`}.`,
      param,
      provider: client.slug,
    };
  });
  const isHour = request.recency === "hour" && client.params.recency.notes !== undefined;
  const asDay: SearchWarning = {
    code: "unsupported_param",
    message: `${client.slug} has no period of an hour: these are the results of a day.`,
    param: "recency",
    provider: client.slug,
  };
  const fewer: SearchWarning = {
    code: "fewer_results",
    message: `${client.slug} had ${String(found)} of ${String(request.max_results)} results.`,
    param: "max_results",
    provider: client.slug,
  };
  return [...ignored, ...(isHour ? [asDay] : []), ...(found > 0 && found < request.max_results ? [fewer] : [])];
}
