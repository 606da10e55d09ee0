import { Anchor, Text } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { Age } from "../../parts/moment.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import styles from "./session-grid.module.css";
import type { SessionListProps } from "./session-table.tsx";
import tableStyles from "./session-table.module.css";
import { Thumbnail } from "./thumbnail.tsx";

const minCardWidth = 240;
const gap = 14;
/** Name, status and address below the picture. */
const textHeight = 64;
const pictureRatio = 10 / 16;

/** Cards with pictures. Only the visible rows are drawn. */
export function SessionGrid({ browsers, hasMore, loadMore }: SessionListProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const { ref: measured, width } = useElementSize();
  const columns = Math.max(1, Math.floor((width + gap) / (minCardWidth + gap)));
  const cardWidth = (width - gap * (columns - 1)) / columns;
  const rowHeight = Math.round(cardWidth * pictureRatio) + textHeight + gap;
  const count = Math.ceil(browsers.length / columns);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    overscan: 1,
  });
  useEffect(() => {
    rows.measure();
  }, [rows, rowHeight]);
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= count - 2) loadMore();
  }, [hasMore, last, count, loadMore]);
  return (
    <div
      ref={viewport}
      className={`${tableStyles.viewport} ${styles.viewport}`}
      tabIndex={0}
      role="group"
      aria-label="Pictures of sessions"
    >
      <div
        ref={measured}
        role="list"
        aria-label="Sessions"
        className={styles.rows}
        style={{ height: rows.getTotalSize() }}
      >
        {width > 0 &&
          visible.flatMap(({ index: row, start }) =>
            browsers.slice(row * columns, (row + 1) * columns).map((browser, column) => (
              <div
                key={browser.session_id}
                role="listitem"
                className={styles.card}
                style={{
                  width: cardWidth,
                  height: rowHeight - gap,
                  transform: `translate(${column * (cardWidth + gap)}px, ${start}px)`,
                }}
              >
                <Card browser={browser} />
              </div>
            )),
          )}
      </div>
    </div>
  );
}

function Card({ browser }: { readonly browser: Browser }) {
  const { created_at, deleted_at, name, page_url, session_id: id } = browser;
  return (
    <>
      <Thumbnail browser={browser} />
      <div className={styles.texts}>
        <div className={styles.facts}>
          <Anchor
            fw={600}
            size="sm"
            truncate
            className={styles.name}
            renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}
          >
            {name ?? id}
          </Anchor>
          <StatusBadge browser={browser} />
        </div>
        <Text size="xs" c="dimmed" truncate>
          <Age from={created_at} to={deleted_at} />
          {page_url !== undefined && `, ${page_url}`}
        </Text>
      </div>
    </>
  );
}
