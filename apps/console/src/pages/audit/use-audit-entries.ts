import type { AuditLogEntry } from "@shoal/schemas";
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import type { List } from "../../parts/table/use-list.ts";
import type { AuditQuery } from "./filters.ts";

const pageSize = 100;

/** The list has page tokens instead of offsets. */
export function useAuditEntries(query: AuditQuery): List<AuditLogEntry> {
  const { shoal, project } = useSignedIn();
  const list = useInfiniteQuery({
    queryKey: ["audit", project?.id, query],
    queryFn: ({ pageParam, signal }) =>
      shoal.auditLogs.list(
        { ...query, limit: pageSize, ...(pageParam !== "" && { page_token: pageParam }) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: (page) => page.nextPageToken,
    placeholderData: keepPreviousData,
  });
  return {
    items: list.data?.pages.flatMap(({ items }) => items),
    error: list.error,
    hasMore: list.hasNextPage,
    isReadingMore: list.isFetchingNextPage,
    readMore: () => void list.fetchNextPage(),
    refetch: () => void list.refetch(),
  };
}
