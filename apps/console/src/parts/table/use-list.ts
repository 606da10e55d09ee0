import type { ItemPage } from "@shoal/transport";
import { keepPreviousData, type QueryKey, useInfiniteQuery } from "@tanstack/react-query";

const pageSize = 50;

interface Paging {
  readonly limit: number;
  readonly offset: number;
}

/** A list that was read in part. */
export interface List<Item> {
  /** `undefined` until the first page is here. */
  readonly items: readonly Item[] | undefined;
  readonly error: Error | null;
  readonly hasMore: boolean;
  readonly isReadingMore: boolean;
  readonly readMore: () => void;
  readonly refetch: () => void;
}

/**
 * Reads a list page by page.
 *
 * @param key - names the list; include the project and the filters.
 */
export function useList<Item>(
  key: QueryKey,
  read: (paging: Paging, options: { readonly signal: AbortSignal }) => PromiseLike<ItemPage<Item>>,
  refreshMs?: number,
): List<Item> {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) => read({ limit: pageSize, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page) => page.nextOffset,
    // Rows stay while a changed filter is read.
    placeholderData: keepPreviousData,
    // Each refresh reads all loaded pages.
    refetchInterval: ({ state }) => refreshMs !== undefined && refreshMs * Math.max(1, state.data?.pages.length ?? 1),
  });
  return {
    items: data?.pages.flatMap(({ items }) => items),
    error,
    hasMore: hasNextPage,
    isReadingMore: isFetchingNextPage,
    readMore: () => void fetchNextPage(),
    refetch: () => void refetch(),
  };
}
