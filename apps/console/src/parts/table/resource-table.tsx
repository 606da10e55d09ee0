import { Button, Center, Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { breakable } from "../../base/breakable.tsx";
import { Failure } from "../states.tsx";
import styles from "./resource-table.module.css";
import type { List } from "./use-list.ts";

export interface Column<Item> {
  readonly name: string;
  /** Missing values: `undefined`, `null`, `false` or an empty text. */
  readonly cell: (item: Item) => ReactNode;
  /** Share of the width on wide screens. Default 1. */
  readonly share?: number;
}

interface ResourceTableProps<Item> {
  /** What the rows are, for assistive technology: `API keys`. */
  readonly label: string;
  readonly list: List<Item>;
  readonly idOf: (item: Item) => string;
  readonly columns: readonly Column<Item>[];
  /** Actions of a row. Without it, the table has no column for them. */
  readonly menu?: ((item: Item) => ReactNode) | undefined;
  /** Shown in place of a table without rows. */
  readonly empty: ReactNode;
}

/** A list with its states: loading, failure, empty, rows, more pages. In narrow places, rows are cards. */
export function ResourceTable<Item>(props: ResourceTableProps<Item>) {
  const { label, list, empty } = props;
  const { items, error, hasMore, isReadingMore, readMore, refetch } = list;
  return (
    <>
      {error !== null && <Failure error={error} retry={refetch} />}
      {items === undefined && error === null && <RowsSkeleton label={label} />}
      {items?.length === 0 && error === null && <div className={styles.frame}>{empty}</div>}
      {items !== undefined && items.length > 0 && <Rows {...props} items={items} />}
      {hasMore && (
        <Center>
          <Button variant="default" loading={isReadingMore} onClick={readMore}>
            More
          </Button>
        </Center>
      )}
    </>
  );
}

const rowHeight = 53;
const overscan = 20;

/** Draws only rows near the visible part of the page; the roles make it a table for assistive technology. */
function Rows<Item>({
  label,
  items,
  list: { hasMore },
  idOf,
  columns,
  menu,
}: ResourceTableProps<Item> & { readonly items: readonly Item[] }) {
  const body = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    setOffset(body.current?.offsetTop ?? 0);
  }, []);
  const rows = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: offset,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : idOf(item);
    },
  });
  const tracks = columns.map(({ share = 1 }) => `minmax(0, ${share}fr)`);
  const width = { "--columns": [...tracks, ...(menu === undefined ? [] : ["40px"])].join(" ") } as CSSProperties;
  return (
    <div
      className={styles.frame}
      style={width}
      role="table"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : items.length + 1}
    >
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={`${styles.row} ${styles.head}`}>
          {columns.map(({ name }) => (
            <div key={name} role="columnheader">
              {name}
            </div>
          ))}
          {menu !== undefined && (
            <div role="columnheader">
              <VisuallyHidden>Actions</VisuallyHidden>
            </div>
          )}
        </div>
      </div>
      <div ref={body} role="rowgroup" className={styles.rows} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const item = items[index];
          return (
            item !== undefined && (
              <div
                key={key}
                ref={rows.measureElement}
                data-index={index}
                role="row"
                aria-rowindex={index + 2}
                className={styles.row}
                style={{ transform: `translateY(${start - offset}px)` }}
              >
                {columns.map(({ name, cell }) => (
                  <div key={name} role="cell" className={styles.cell} data-name={name}>
                    <div className={styles.value}>{shown(cell(item))}</div>
                  </div>
                ))}
                {menu !== undefined && (
                  <div role="cell" className={`${styles.cell} ${styles.menu}`}>
                    {menu(item)}
                  </div>
                )}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

/** All lists mark missing values in the same way. */
function shown(value: ReactNode): ReactNode {
  if (typeof value === "string" && value !== "") return breakable(value);
  if (value !== undefined && value !== null && value !== false && value !== "") return value;
  return (
    <Text inherit component="span" c="dimmed">
      <span aria-hidden>–</span>
      <VisuallyHidden>None</VisuallyHidden>
    </Text>
  );
}

function RowsSkeleton({ label }: { readonly label: string }) {
  return (
    <Stack gap={8} role="status" aria-label={`Loading: ${label}`}>
      {Array.from({ length: 6 }, (_, row) => (
        <Skeleton key={row} height={rowHeight - 8} />
      ))}
    </Stack>
  );
}
