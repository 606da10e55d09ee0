import { ActionIcon, Anchor, Badge, Group, Skeleton, Stack, Text, Tooltip } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Square } from "lucide-react";
import { useEffect, useRef } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Age, Ago } from "../../parts/moment.tsx";
import { tell, tellFailure } from "../../parts/notices.ts";
import { StatusBadge } from "../../parts/status.tsx";
import styles from "./session-table.module.css";

const rowHeight = 57;
const overscan = 8;

export interface SessionListProps {
  readonly browsers: readonly Browser[];
  readonly hasMore: boolean;
  readonly loadMore: () => void;
}

/** Draws only the visible rows; the roles make it a table for assistive technology. */
export function SessionTable({ browsers, hasMore, loadMore }: SessionListProps) {
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
  return (
    <div className={styles.frame} role="table" aria-label="Sessions" aria-rowcount={hasMore ? -1 : browsers.length + 1}>
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={`${styles.row} ${styles.head}`}>
          {["Session", "Status", "Age", "Last use", "Labels", "Actions"].map((name) => (
            <div key={name} role="columnheader" className={styles[name.split(" ")[0]?.toLowerCase() ?? ""]}>
              {name === "Actions" ? <span className={styles.hidden}>{name}</span> : name}
            </div>
          ))}
        </div>
      </div>
      <div ref={viewport} className={styles.viewport} role="rowgroup" tabIndex={0} aria-label="Rows">
        <div style={{ height: rows.getTotalSize(), position: "relative" }} role="presentation">
          {visible.map(({ index, start }) => {
            const browser = browsers[index];
            return (
              browser !== undefined && <Row key={browser.session_id} browser={browser} index={index} offset={start} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  readonly browser: Browser;
  readonly index: number;
  readonly offset: number;
}

function Row({ browser, index, offset }: RowProps) {
  const { session_id: id, name, created_at, deleted_at, pool, tags = {} } = browser;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={styles.row}
      style={{ transform: `translateY(${offset}px)`, position: "absolute" }}
    >
      <div role="cell" className={styles.session}>
        <Anchor
          fw={600}
          size="sm"
          truncate
          display="block"
          renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}
        >
          {name ?? id}
        </Anchor>
        {name !== undefined && (
          <Text size="xs" c="dimmed" ff="monospace" truncate>
            {id}
          </Text>
        )}
      </div>
      <div role="cell" className={styles.status}>
        <StatusBadge browser={browser} />
      </div>
      <div role="cell" className={styles.age}>
        <Age from={created_at} to={deleted_at} />
      </div>
      <div role="cell" className={styles.last}>
        <LastUse browser={browser} />
      </div>
      <div role="cell" className={styles.labels}>
        <Group gap={4} wrap="nowrap">
          {pool !== undefined && (
            <Badge variant="outline" tt="none" size="sm">
              {pool.name ?? "pool"}
            </Badge>
          )}
          {Object.entries(tags)
            .slice(0, 3)
            .map(([key, value]) => (
              <Badge key={key} variant="light" color="gray" tt="none" size="sm">
                {key}={value}
              </Badge>
            ))}
        </Group>
      </div>
      <div role="cell" className={styles.actions}>
        {deleted_at === undefined && <EndButton id={id} name={name ?? id} />}
      </div>
    </div>
  );
}

function LastUse({ browser }: { readonly browser: Browser }) {
  const { deleted_at, expires_at, timeout_seconds } = browser;
  if (deleted_at !== undefined) return <Ago at={deleted_at} />;
  if (expires_at === undefined) return <>now</>;
  return <Ago at={new Date(Date.parse(expires_at) - timeout_seconds * 1000).toISOString()} />;
}

function EndButton({ id, name }: { readonly id: string; readonly name: string }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const end = useMutation({
    mutationFn: () => shoal.browsers.delete(id),
    onSuccess: () => {
      tell(`Session ${name} has ended.`);
    },
    onError: tellFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ["browsers"] }),
  });
  if (!canOperate) return null;
  return (
    <Tooltip label="End the session">
      <ActionIcon
        variant="subtle"
        color="red"
        loading={end.isPending}
        onClick={() => {
          end.mutate();
        }}
        aria-label={`End session ${name}`}
      >
        <Square size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
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
