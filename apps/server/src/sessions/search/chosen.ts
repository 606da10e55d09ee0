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
  return request.strict_params ? withAllParams(chosen, request) : chosen;
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
  if (param === "content") return request.content !== undefined && request.content !== false;
  // `recency` replaces them.
  if ((param === "start_date" || param === "end_date") && request.recency !== undefined) return false;
  return request[param] !== undefined;
}

/** The given fields that the provider does not support. */
function ignoredBy({ params }: SearchProviderClient, request: SearchRequest): readonly ProviderParam[] {
  return providerParams.filter((param) => params[param].support === "unsupported" && isGiven(request, param));
}

export function warningsOf(client: SearchProviderClient, request: SearchRequest): SearchWarning[] {
  const ignored = ignoredBy(client, request).map((param): SearchWarning => {
    const { notes } = client.params[param];
    return {
      code: "unsupported_param",
      message: `${client.slug} does not support ${param}${notes === undefined ? "" : `: ${notes}`}.`,
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
  return isHour ? [...ignored, asDay] : ignored;
}
