import { Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { type ReactNode, useMemo } from "react";
import { LiveFrame } from "../../../parts/live-frame.tsx";
import { filmClock } from "../../../player/moment.ts";
import styles from "../../../player/player.module.css";
import { Scrubber } from "../../../player/scrubber.tsx";
import { markersOf, type TimedLine } from "../../../player/timed-line.ts";
import { Tracks } from "../../../player/tracks.tsx";

interface RunningReplayProps {
  readonly browser: Browser;
  /** The length so far. */
  readonly lengthSeconds: number;
  readonly lines: readonly TimedLine[];
  readonly notice?: ReactNode;
  /** Shows the film from a moment; `undefined` = no part of it can be played yet. */
  readonly seek: ((seconds: number) => void) | undefined;
}

/** A recording that runs: the live view, and lists that follow. An earlier moment opens the film so far. */
export function RunningReplay({ browser, lengthSeconds, lines, notice, seek }: RunningReplayProps) {
  const markers = useMemo(() => markersOf(lines, lengthSeconds), [lines, lengthSeconds]);
  return (
    <div className={`${styles.player} ${styles.wide}`}>
      <div className={styles.stage}>
        <LiveFrame
          url={browser.browser_live_view_read_only_url}
          title="Live view of the recorded session"
          placeholder="The session has ended. The film appears when it is complete."
        />
        {seek !== undefined && (
          <Scrubber timeSeconds={lengthSeconds} lengthSeconds={lengthSeconds} markers={markers} seek={seek} />
        )}
        <Text size="sm" role="timer" aria-live="off">
          {filmClock(lengthSeconds)} recorded.{" "}
          {seek === undefined ? "The film appears in a moment." : "Choose an earlier moment to see the film so far."}
        </Text>
      </div>
      <Tracks lines={lines} timeSeconds={lengthSeconds} seek={seek} empty={notice} />
    </div>
  );
}
