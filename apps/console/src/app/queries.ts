import { ApiError } from "@shoal/client";
import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { sessionQuery } from "../api/console-session.ts";
import { isUnreachable } from "../base/unreachable.ts";

/** An ended console session shows the sign-in page, on the same address. */
function signOutOn(error: unknown): void {
  if (ApiError.isInstance(error) && error.status === 401) queries.setQueryData(sessionQuery.queryKey, null);
}

/** The session tells whether the service is down, for the whole page. */
function askSessionOn(error: unknown): void {
  if (isUnreachable(error)) void queries.refetchQueries({ queryKey: sessionQuery.queryKey }, { cancelRefetch: false });
}

export const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey }) => {
      signOutOn(error);
      if (queryKey[0] !== sessionQuery.queryKey[0]) askSessionOn(error);
    },
  }),
  mutationCache: new MutationCache({ onError: signOutOn }),
  // The transport of @shoal/client repeats failed requests.
  defaultOptions: { queries: { retry: false, refetchOnWindowFocus: true } },
});
