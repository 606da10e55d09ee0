import { type ReactNode, useMemo, useState } from "react";
import styles from "./player.module.css";
import { type TimedLine, type TrackKind, trackKinds } from "./timed-line.ts";
import { TimedLines } from "./timed-lines.tsx";

const labels: Readonly<Record<TrackKind, string>> = {
  chapter: "Chapters",
  console: "Console",
  network: "Network",
  action: "Actions",
};

interface TracksProps {
  readonly lines: readonly TimedLine[];
  readonly timeSeconds: number;
  /** Moves the film to a line. Absent without a film. */
  readonly seek?: ((seconds: number) => void) | undefined;
  /** Shown when a list is empty. */
  readonly empty?: ReactNode;
}

/** The lists next to the film: one for each kind of line, and all together. */
export function Tracks({ lines, timeSeconds, seek, empty }: TracksProps) {
  const [chosen, setChosen] = useState<TrackKind>();
  const [words, setWords] = useState("");
  const kinds = trackKinds.filter((kind) => lines.some((line) => line.kind === kind));
  const only = kinds.length === 1 ? kinds[0] : chosen;
  const shown = useMatching(lines, only, words.trim().toLowerCase());
  const label = only === undefined ? "Everything" : labels[only];
  return (
    <section className={styles.tracks} aria-label="What happened">
      {kinds.length === 1 ? (
        <h2 className={styles.heading}>{label}</h2>
      ) : (
        <div className={styles.kinds} role="group" aria-label="Shown lines">
          <Choice
            label="Everything"
            count={lines.length}
            isOn={only === undefined}
            choose={setChosen}
            kind={undefined}
          />
          {kinds.map((kind) => (
            <Choice
              key={kind}
              label={labels[kind]}
              count={lines.filter((line) => line.kind === kind).length}
              isOn={only === kind}
              choose={setChosen}
              kind={kind}
            />
          ))}
        </div>
      )}
      {lines.length > 10 && (
        <input
          className={styles.find}
          type="search"
          value={words}
          placeholder="Find"
          aria-label="Find in the list"
          onChange={({ currentTarget: { value } }) => {
            setWords(value);
          }}
        />
      )}
      {shown.length === 0 && lines.length > 0 ? (
        <p className={styles.empty}>No line matches.</p>
      ) : (
        lines.length > 0 && <TimedLines key={label} lines={shown} label={label} timeSeconds={timeSeconds} seek={seek} />
      )}
      {empty}
    </section>
  );
}

function useMatching(lines: readonly TimedLine[], only: TrackKind | undefined, words: string): readonly TimedLine[] {
  return useMemo(
    () =>
      lines.filter(
        ({ kind, text }) =>
          (only === undefined || kind === only) && (words === "" || text.toLowerCase().includes(words)),
      ),
    [lines, only, words],
  );
}

interface ChoiceProps {
  readonly kind: TrackKind | undefined;
  readonly label: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly choose: (kind: TrackKind | undefined) => void;
}

function Choice({ kind, label, count, isOn, choose }: ChoiceProps) {
  return (
    <button
      type="button"
      className={styles.choice}
      aria-pressed={isOn}
      onClick={() => {
        choose(kind);
      }}
    >
      {label} <span className={styles.count}>{count}</span>
    </button>
  );
}
