import { Checkbox, Skeleton, Stack, UnstyledButton } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { Browser } from "@shoal/schemas";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useRef } from "react";
import { SessionRow } from "./session-row.tsx";
import type { SessionOrder } from "./session-order.ts";
import styles from "./session-table.module.css";

const rowHeight = 57;
const overscan = 8;

export interface SessionListProps {
  readonly browsers: readonly Browser[];
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

interface SessionTableProps extends SessionListProps {
  /** Ids of running sessions. `undefined` = the role cannot end sessions. */
  readonly selected: ReadonlySet<string> | undefined;
  readonly select: (ids: readonly string[], isSelected: boolean) => void;
  readonly end: (browser: Browser) => void;
  readonly order: SessionOrder | undefined;
  readonly setOrder: (order: SessionOrder | undefined) => void;
}

const columns: readonly { readonly name: string; readonly order?: SessionOrder }[] = [
  { name: "Session", order: "name" },
  { name: "Address" },
  { name: "Status" },
  { name: "Age", order: "age" },
  { name: "Last use", order: "use" },
  { name: "Labels" },
];
const classOf = (name: string) => styles[name.split(" ")[0]?.toLowerCase() ?? ""];

/** Draws only the visible rows; the roles make it a table for assistive technology. */
export function SessionTable({ selected, select, end, order, setOrder, ...list }: SessionTableProps) {
  const { browsers, hasMore, loadMore } = list;
  const viewport = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: browsers.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= browsers.length - overscan) loadMore();
  }, [hasMore, last, browsers.length, loadMore]);
  const running = browsers.filter(({ deleted_at }) => deleted_at === undefined).map(({ session_id }) => session_id);
  return (
    <div className={styles.frame} role="table" aria-label="Sessions" aria-rowcount={hasMore ? -1 : browsers.length + 1}>
      <div role="rowgroup">
        <HeadRow running={running} selected={selected} select={select} order={order} setOrder={setOrder} />
      </div>
      <div ref={viewport} className={styles.viewport} role="rowgroup" tabIndex={0} aria-label="Rows">
        <div style={{ height: rows.getTotalSize(), position: "relative" }} role="presentation">
          {visible.map(({ index, start }) => {
            const browser = browsers[index];
            return (
              browser !== undefined && (
                <SessionRow
                  key={browser.session_id}
                  browser={browser}
                  index={index}
                  offset={start}
                  isSelected={selected?.has(browser.session_id)}
                  select={select}
                  end={end}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface HeadRowProps extends Pick<SessionTableProps, "order" | "select" | "selected" | "setOrder"> {
  readonly running: readonly string[];
}

function HeadRow({ running, selected, select, order, setOrder }: HeadRowProps) {
  return (
    <div role="row" aria-rowindex={1} className={`${styles.row} ${styles.head}`}>
      <div role="columnheader" className={styles.choice}>
        <span className={styles.hidden}>Selection</span>
        {selected !== undefined && running.length > 0 && (
          <Checkbox
            size="xs"
            aria-label="Select all running sessions of the list"
            checked={selected.size > 0 && running.every((id) => selected.has(id))}
            indeterminate={selected.size > 0 && !running.every((id) => selected.has(id))}
            onChange={({ currentTarget: { checked } }) => {
              select(running, checked);
            }}
          />
        )}
      </div>
      {columns.map((column) => (
        <Head key={column.name} {...column} isSorted={order === column.order} setOrder={setOrder} />
      ))}
      <div role="columnheader" className={styles.actions}>
        <span className={styles.hidden}>Actions</span>
      </div>
    </div>
  );
}

interface HeadProps {
  readonly name: string;
  readonly order?: SessionOrder;
  readonly isSorted: boolean;
  readonly setOrder: (order: SessionOrder | undefined) => void;
}

function Head({ name, order, isSorted, setOrder }: HeadProps) {
  const className = classOf(name);
  if (order === undefined)
    return (
      <div role="columnheader" className={className}>
        {name}
      </div>
    );
  const direction = order === "name" ? "ascending" : "descending";
  return (
    <div role="columnheader" className={className} aria-sort={isSorted ? direction : "none"}>
      <UnstyledButton
        className={styles.sort}
        title={isSorted ? "Show the newest first" : `Sort by ${name.toLowerCase()}`}
        onClick={() => {
          setOrder(isSorted ? undefined : order);
        }}
      >
        {name}
        {isSorted && (order === "name" ? <ArrowUp size={14} aria-hidden /> : <ArrowDown size={14} aria-hidden />)}
      </UnstyledButton>
    </div>
  );
}

export function SessionTableSkeleton() {
  return (
    <Stack gap={8} role="status" aria-label="Loading" aria-busy>
      {Array.from({ length: 8 }, (_, row) => (
        <Skeleton key={row} height={rowHeight - 8} />
      ))}
    </Stack>
  );
}
