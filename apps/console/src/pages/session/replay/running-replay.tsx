import { Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import type { ReactNode } from "react";
import { LiveFrame } from "../../../parts/live-frame.tsx";
import { useNow } from "../../../parts/now.ts";
import { filmClock } from "../../../player/moment.ts";
import styles from "../../../player/player.module.css";
import type { TimedLine } from "../../../player/timed-line.ts";
import { Tracks } from "../../../player/tracks.tsx";

interface RunningReplayProps {
  readonly browser: Browser;
  readonly startedAt: string | undefined;
  readonly lines: readonly TimedLine[];
  readonly notice: ReactNode;
}

/** A recording that runs: the live view, and lists that follow. The film replaces it when the recording ends. */
export function RunningReplay({ browser, startedAt, lines, notice }: RunningReplayProps) {
  const nowMs = useNow();
  const seconds = startedAt === undefined ? 0 : Math.max(0, (nowMs - Date.parse(startedAt)) / 1000);
  return (
    <div className={`${styles.player} ${styles.wide}`}>
      <div className={styles.stage}>
        <LiveFrame
          url={browser.browser_live_view_read_only_url}
          title="Live view of the recorded session"
          placeholder="The session has ended. The film appears when it is complete."
        />
        <Text size="sm" role="timer" aria-live="off">
          {filmClock(seconds)} recorded. The film appears here when the recording has ended.
        </Text>
      </div>
      <Tracks lines={lines} timeSeconds={seconds} seek={() => undefined} empty={notice} />
    </div>
  );
}
