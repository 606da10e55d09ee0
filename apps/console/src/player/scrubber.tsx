import { filmClock } from "./moment.ts";
import type { IdlePart } from "./idle/idle-parts.ts";
import type { Marker } from "./timed-line.ts";
import styles from "./player.module.css";

interface ScrubberProps {
  readonly timeSeconds: number;
  readonly lengthSeconds: number;
  readonly markers: readonly Marker[];
  /** Shown as skipped. */
  readonly skipped?: readonly IdlePart[];
  readonly seek: (seconds: number) => void;
}

/** The position in the film. Marks show errors, navigations, actions and chapters; hatched parts are skipped. */
export function Scrubber({ timeSeconds, lengthSeconds, markers, skipped = [], seek }: ScrubberProps) {
  return (
    <div className={styles.scrubber}>
      <div className={styles.markers} aria-hidden>
        {skipped.map(({ fromSeconds, toSeconds }) => (
          <span
            key={`idle ${fromSeconds}`}
            className={styles.skipped}
            data-skipped
            title={`Idle for ${filmClock(toSeconds - fromSeconds)}`}
            style={{
              left: `${(fromSeconds / lengthSeconds) * 100}%`,
              width: `${((toSeconds - fromSeconds) / lengthSeconds) * 100}%`,
            }}
          />
        ))}
        {markers.map(({ kind, place, title }) => (
          <span
            key={`${kind} ${place}`}
            className={styles.marker}
            data-marker={kind}
            title={title}
            style={{ left: `${place * 100}%` }}
          />
        ))}
      </div>
      <input
        type="range"
        className={styles.range}
        min={0}
        max={lengthSeconds}
        step="any"
        value={Math.min(timeSeconds, lengthSeconds)}
        onChange={({ currentTarget: { valueAsNumber } }) => {
          seek(valueAsNumber);
        }}
        aria-label="Position in the film"
        aria-valuetext={`${filmClock(timeSeconds)} of ${filmClock(lengthSeconds)}`}
      />
    </div>
  );
}
