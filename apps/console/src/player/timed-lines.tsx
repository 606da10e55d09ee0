import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import { breakable } from "../base/breakable.tsx";
import { filmClock } from "./moment.ts";
import styles from "./player.module.css";
import { currentIndex, type TimedLine } from "./timed-line.ts";

interface TimedLinesProps {
  readonly lines: readonly TimedLine[];
  readonly label: string;
  readonly timeSeconds: number;
  readonly seek: ((seconds: number) => void) | undefined;
}

const lineHeight = 32;
/** The list follows the film again this long after the person scrolled it. */
const restMs = 4000;

/** Lines of the film. The line of the present moment is marked and in view; a click moves the film. */
export function TimedLines({ lines, label, timeSeconds, seek }: TimedLinesProps) {
  const viewport = useRef<HTMLDivElement>(null);
  const scrolledAtMs = useRef(0);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => lineHeight,
    overscan: 10,
  });
  const present = currentIndex(lines, timeSeconds);
  useEffect(() => {
    if (Date.now() - scrolledAtMs.current > restMs) rows.scrollToIndex(Math.max(0, present), { align: "center" });
  }, [present, lines.length, rows]);
  const scrolled = () => {
    scrolledAtMs.current = Date.now();
  };
  return (
    <div
      ref={viewport}
      className={styles.lines}
      tabIndex={0}
      role="group"
      aria-label={`${label} list`}
      onWheel={scrolled}
      onTouchMove={scrolled}
    >
      <div role="list" aria-label={label} style={{ position: "relative", height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => {
          const line = lines[index];
          return (
            line !== undefined && (
              <div
                key={line.key}
                role="listitem"
                data-index={index}
                ref={rows.measureElement}
                className={styles.item}
                style={{ transform: `translateY(${start}px)` }}
              >
                <ShownLine line={line} isPresent={index === present} seek={seek} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

interface ShownLineProps {
  readonly line: TimedLine;
  readonly isPresent: boolean;
  readonly seek: ((seconds: number) => void) | undefined;
}

/** A button, if a click moves the film. */
function ShownLine({ line: { atSeconds, isError, kind, note, text }, isPresent, seek }: ShownLineProps) {
  const attributes = {
    className: styles.line,
    "data-kind": kind,
    "data-error": isError === true ? "" : undefined,
    "aria-current": isPresent ? ("true" as const) : undefined,
  };
  const content = (
    <>
      <time className={styles.at}>{filmClock(atSeconds)}</time>
      <span className={styles.text} title={text}>
        {breakable(text)}
      </span>
      {note !== undefined && <span className={styles.note}>{note}</span>}
    </>
  );
  if (seek === undefined) return <div {...attributes}>{content}</div>;
  return (
    <button
      type="button"
      {...attributes}
      onClick={() => {
        seek(atSeconds);
      }}
    >
      {content}
    </button>
  );
}
