import { ApiError } from "@shoal/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { sessionQuery } from "../api/console-session.ts";

/** An ended console session shows the sign-in page, on the same address. */
function signOutOn(error: unknown): void {
  if (ApiError.isInstance(error) && error.status === 401) queries.setQueryData(sessionQuery.queryKey, null);
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: signOutOn }),
  mutationCache: new MutationCache({ onError: signOutOn }),
  // The transport of @shoal/client repeats failed requests.
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true } },
});
