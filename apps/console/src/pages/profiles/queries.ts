import type { Shoal } from "@shoal/client";
import { queryOptions } from "@tanstack/react-query";

const refreshMs = 5000;

/** Refreshed, because sessions save to the profile when they end. */
export const profileQuery = (shoal: Shoal, id: string) =>
  queryOptions({
    queryKey: ["profiles", "one", id],
    queryFn: async ({ signal }) => shoal.profiles.get(id, { signal }),
    refetchInterval: refreshMs,
  });
