import { Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import styles from "./virtual-lines.module.css";

interface VirtualLinesProps<Line> {
  readonly lines: readonly Line[];
  readonly keyOf: (line: Line, index: number) => string | number;
  readonly render: (line: Line) => ReactNode;
  readonly label: string;
  readonly height: number;
}

const nearEndPixels = 40;

/** A long list of which only the visible lines are drawn. It follows new lines while it is at its end. Lists without lines are filtered ones. */
export function VirtualLines<Line>({ lines, keyOf, render, label, height }: VirtualLinesProps<Line>) {
  const viewport = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => height,
    overscan: 12,
  });
  useEffect(() => {
    if (isFollowing && lines.length > 0) rows.scrollToIndex(lines.length - 1, { align: "end" });
  }, [isFollowing, lines.length, rows]);
  if (lines.length === 0)
    return (
      <Text size="sm" c="dimmed" py="lg" ta="center">
        Nothing matches.
      </Text>
    );
  return (
    <div
      ref={viewport}
      className={styles.viewport}
      role="log"
      aria-label={label}
      aria-live="off"
      tabIndex={0}
      onScroll={({ currentTarget: { clientHeight, scrollHeight, scrollTop } }) => {
        setFollowing(scrollHeight - scrollTop - clientHeight < nearEndPixels);
      }}
    >
      <div className={styles.lines} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          return (
            line !== undefined && (
              <div
                key={keyOf(line, index)}
                data-index={index}
                ref={rows.measureElement}
                className={styles.line}
                style={{ transform: `translateY(${start}px)` }}
              >
                {render(line)}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
