import { ApiError, type Shoal } from "@shoal/client";
import type { Browser, ListBrowsers } from "@shoal/schemas";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";

const pageSize = 100;
const refreshMs = 5000;

export interface SessionFilters extends Pick<ListBrowsers, "status" | "query" | "pool"> {
  /** `key=value` or `key`. */
  readonly tag?: string | undefined;
}

function queryOf({ status, query, pool, tag }: SessionFilters): ListBrowsers {
  const [name = "", ...value] = (tag ?? "").split("=");
  return {
    ...(status !== undefined && { status }),
    ...(query !== undefined && query !== "" && { query }),
    ...(pool !== undefined && { pool }),
    ...(name !== "" && value.length > 0 && { tags: { [name]: value.join("=") } }),
  };
}

export const browsersQuery = (shoal: Shoal, project: string | undefined, filters: SessionFilters) =>
  infiniteQueryOptions({
    queryKey: ["browsers", project, filters],
    queryFn: ({ pageParam, signal }) =>
      shoal.browsers.list({ ...queryOf(filters), limit: pageSize, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextOffset,
    // Each refresh reads all loaded pages, so a long list is refreshed less often.
    refetchInterval: ({ state }) => refreshMs * Math.max(1, state.data?.pages.length ?? 1),
  });

export const browserQuery = (shoal: Shoal, id: string) =>
  queryOptions<Browser>({
    queryKey: ["browser", id],
    queryFn: ({ signal }) => shoal.browsers.get(id, { include_deleted: true }, { signal }),
    refetchInterval: ({ state }) => (state.data?.deleted_at === undefined ? refreshMs : false),
  });

export const replaysQuery = (shoal: Shoal, id: string) =>
  queryOptions({
    queryKey: ["replays", id],
    queryFn: async ({ signal }) => shoal.browsers.replays.list(id, { signal }),
    refetchInterval: refreshMs,
  });

/** Downloads of a page in {@link keptDownloadsQuery}. */
export const mostDownloads = 100;

/** Of an ended session. */
export const keptDownloadsQuery = (shoal: Shoal, id: string) =>
  queryOptions({
    queryKey: ["kept-downloads", id],
    queryFn: ({ signal }) =>
      shoal.browsers.downloads.list(id, { limit: mostDownloads }, { signal }).then(
        ({ items }) => items,
        (error: unknown) => {
          if (ApiError.isInstance(error) && error.status === 404) return "not kept" as const;
          throw error;
        },
      ),
  });
