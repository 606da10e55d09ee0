import type { ItemPage } from "@shoal/transport";
import type { QueryKey } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { Empty } from "../states.tsx";
import { NoMatch } from "./no-match.tsx";
import { type Column, ResourceTable } from "./resource-table.tsx";
import { useList } from "./use-list.ts";

interface ListRequest {
  readonly limit: number;
  readonly offset: number;
  /** The search of the page. Absent without one. */
  readonly query?: string;
}

interface ResourceListProps<Item> {
  /** What the rows are, for assistive technology: `API keys`. */
  readonly label: string;
  /** Names the list. Include the project and the filters; the search is added. */
  readonly queryKey: QueryKey;
  readonly read: (request: ListRequest, options: { readonly signal: AbortSignal }) => PromiseLike<ItemPage<Item>>;
  readonly refreshMs?: number;
  readonly idOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  readonly menu?: ((item: Item) => ReactNode) | false;
  /** Filters other than the search leave out rows. Default `false`. */
  readonly isFiltered?: boolean;
  readonly empty: { readonly icon: LucideIcon; readonly title: string; readonly text?: ReactNode };
}

/** The table of a list page. It reads its rows with the search in the address. */
export function ResourceList<Item>({
  queryKey,
  read,
  refreshMs,
  isFiltered = false,
  menu = false,
  empty,
  ...table
}: ResourceListProps<Item>) {
  const { query } = useSearch({ strict: false });
  const list = useList(
    [...queryKey, query],
    (paging, options) => read({ ...paging, ...(query !== undefined && { query }) }, options),
    refreshMs,
  );
  return (
    <ResourceTable
      {...table}
      list={list}
      menu={menu === false ? undefined : menu}
      empty={
        query !== undefined || isFiltered ? (
          <NoMatch />
        ) : (
          <Empty icon={empty.icon} title={empty.title}>
            {empty.text}
          </Empty>
        )
      }
    />
  );
}
