import { Button, Card, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type InfiniteData, useInfiniteQuery, type UseInfiniteQueryResult } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { AppWindow, Plus, SearchX } from "lucide-react";
import { Suspense, useEffect, useMemo, useState } from "react";
import type { Browser } from "@shoal/schemas";
import { browsersQuery } from "../../api/browser-queries.ts";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { lazyPart } from "../../parts/lazy-part.ts";
import { Page } from "../../parts/page.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { EndSessions } from "./end-sessions.tsx";
import { Filters } from "./session-filters.tsx";
import { NewSession } from "./new-session.tsx";
import { maxSorted, type SessionOrder, sorted } from "./session-order.ts";
import { SessionTable, SessionTableSkeleton } from "./session-table.tsx";

type SessionPages = UseInfiniteQueryResult<InfiniteData<{ readonly items: readonly Browser[] }>>;

const SessionGrid = lazyPart(() => import("./session-grid.tsx"), "SessionGrid");

export function SessionsPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const navigate = useNavigate({ from: "/sessions" });
  const { status = "active", query, pool, tag, view, sort } = useSearch({ from: "/sessions" });
  const filters = { status, query, pool, tag };
  const list = useInfiniteQuery(browsersQuery(shoal, project?.id, filters));
  const { browsers, isCut } = useSorted(list, view === "grid" ? undefined : sort);
  const { chosen, select, clear } = useChoice(browsers);
  const [ending, setEnding] = useState<readonly Browser[]>();
  const [isCreating, creating] = useDisclosure();
  const shown = {
    hasMore: list.hasNextPage,
    loadMore: () => {
      if (!list.isFetching && !list.isError) void list.fetchNextPage();
    },
  };
  return (
    <Page
      title="Sessions"
      description="Browsers of this project. The list refreshes automatically."
      actions={
        canOperate && (
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={creating.open}>
            New session
          </Button>
        )
      }
    >
      <Filters {...filters} />
      {view !== "grid" && <Chosen chosen={chosen} end={setEnding} clear={clear} />}
      {list.error !== null && <Failure error={list.error} retry={() => void list.refetch()} />}
      {browsers === undefined && list.error === null && <SessionTableSkeleton />}
      {browsers?.length === 0 && list.error === null && (
        <NoSessions isFiltered={[query, pool, tag].some((filter) => filter !== undefined)} status={status} />
      )}
      {browsers !== undefined && browsers.length > 0 && (
        <Suspense fallback={<SessionTableSkeleton />}>
          {view === "grid" ? (
            <SessionGrid browsers={browsers} {...shown} />
          ) : (
            <SessionTable
              browsers={browsers}
              {...shown}
              selected={canOperate ? new Set(chosen.map(({ session_id }) => session_id)) : undefined}
              select={select}
              end={(browser) => {
                setEnding([browser]);
              }}
              order={sort}
              setOrder={(order) => void navigate({ search: (before) => ({ ...before, sort: order }), replace: true })}
            />
          )}
        </Suspense>
      )}
      {isCut && (
        <Text size="sm" c="dimmed">
          The newest {maxSorted} sessions are sorted; older ones follow unsorted. Filters make the list shorter.
        </Text>
      )}
      <NewSession isOpen={isCreating} close={creating.close} />
      <EndSessions
        sessions={ending}
        close={() => {
          setEnding(undefined);
        }}
        done={(ids) => {
          select(ids, false);
        }}
      />
    </Page>
  );
}

/** The running sessions that the person has selected. */
function useChoice(browsers: readonly Browser[] | undefined) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen =
    browsers?.filter(({ deleted_at, session_id: id }) => deleted_at === undefined && selected.has(id)) ?? [];
  const select = (ids: readonly string[], isSelected: boolean) => {
    const others = (before: ReadonlySet<string>) => [...before].filter((id) => !ids.includes(id));
    setSelected((before) => new Set([...others(before), ...(isSelected ? ids : [])]));
  };
  const clear = () => {
    setSelected(new Set());
  };
  return { chosen, select, clear };
}

/** An order needs all sessions, so the pages after the first are read at once. */
function useSorted(list: SessionPages, sort: SessionOrder | undefined) {
  const loaded = useMemo(() => list.data?.pages.flatMap(({ items }) => items), [list.data]);
  const count = loaded?.length ?? 0;
  const readsMore = sort !== undefined && list.hasNextPage && !list.isError && count < maxSorted;
  const { fetchNextPage, isFetching } = list;
  useEffect(() => {
    if (readsMore && !isFetching) void fetchNextPage();
  }, [readsMore, isFetching, fetchNextPage]);
  const nowMs = list.dataUpdatedAt;
  const browsers = useMemo(
    () => loaded && [...sorted(loaded.slice(0, maxSorted), sort, nowMs), ...loaded.slice(maxSorted)],
    [loaded, sort, nowMs],
  );
  return { browsers, isCut: sort !== undefined && (count > maxSorted || (count === maxSorted && list.hasNextPage)) };
}

interface ChosenProps {
  readonly chosen: readonly Browser[];
  readonly end: (browsers: readonly Browser[]) => void;
  readonly clear: () => void;
}

function Chosen({ chosen, end, clear }: ChosenProps) {
  if (chosen.length === 0) return null;
  return (
    <Group gap="sm" role="region" aria-label="Selected sessions">
      <Text size="sm" fw={600} role="status">
        {chosen.length} selected
      </Text>
      <Button
        size="xs"
        variant="light"
        color="red"
        onClick={() => {
          end(chosen);
        }}
      >
        End {chosen.length === 1 ? "the session" : `${chosen.length} sessions`}
      </Button>
      <Button size="xs" variant="subtle" color="gray" onClick={clear}>
        Clear the selection
      </Button>
    </Group>
  );
}

function NoSessions({ isFiltered, status }: { readonly isFiltered: boolean; readonly status: string }) {
  const canOperate = useCanOperate();
  return (
    <Card withBorder>
      {isFiltered ? (
        <Empty icon={SearchX} title="No session matches">
          Change the filters, or show sessions of every status.
        </Empty>
      ) : (
        <Empty icon={AppWindow} title={status === "deleted" ? "No session has ended yet" : "No session is running"}>
          <Text size="sm" inherit>
            {canOperate ? "Start one with “New session”, or from a program." : "Programs start sessions."}
          </Text>
        </Empty>
      )}
    </Card>
  );
}
