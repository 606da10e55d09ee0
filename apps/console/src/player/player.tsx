import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import type { PlayerCommand } from "./commands.ts";
import { playerKeys } from "./commands.ts";
import { Controls, speeds } from "./controls.tsx";
import styles from "./player.module.css";
import { Scrubber } from "./scrubber.tsx";
import { markersOf, type TimedLine } from "./timed-line.ts";
import { Tracks } from "./tracks.tsx";
import { useFilm } from "./use-film.ts";
import { usePlayerKeys } from "./use-player-keys.ts";

export interface PlayerProps {
  /** Address of the page of the recording; `/film` and `/chapters` are below it. */
  readonly address: string;
  /** Until the film knows its length. */
  readonly lengthSeconds: number;
  /** Sorted by time. */
  readonly lines: readonly TimedLine[];
  readonly startSeconds: number | undefined;
  readonly linkTo: (seconds: number) => string;
  /** Shown below the lists. */
  readonly notice?: ReactNode;
}

/** A film with its chapters, console lines, requests and actions on one timeline. */
export function Player({ address, lengthSeconds: expectedSeconds, lines, startSeconds, linkTo, notice }: PlayerProps) {
  const film = useRef<HTMLVideoElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const state = useFilm(film);
  const lengthSeconds = state.lengthSeconds ?? expectedSeconds;
  const markers = useMemo(() => markersOf(lines, lengthSeconds), [lines, lengthSeconds]);
  const seek = useCallback((seconds: number) => {
    if (film.current !== null) film.current.currentTime = Math.max(0, seconds);
  }, []);
  const run = useCallback((command: PlayerCommand) => {
    if (film.current !== null) obey(film.current, stage.current, command);
  }, []);
  usePlayerKeys(run);
  useEffect(() => {
    if (startSeconds !== undefined) seek(startSeconds);
  }, [seek, startSeconds]);
  const hasTracks = lines.length > 0 || notice !== undefined;
  return (
    <div className={`${styles.player} ${hasTracks ? styles.wide : ""}`}>
      <div ref={stage} className={styles.stage}>
        <video
          ref={film}
          className={styles.film}
          src={`${address}/film`}
          preload="metadata"
          playsInline
          onClick={() => {
            run({ type: "toggle" });
          }}
        >
          <track kind="chapters" src={`${address}/chapters`} default />
        </video>
        {state.hasFailed && (
          <p className={styles.failure} role="alert">
            This browser cannot play the film. Download it: it is an MP4 file with H.264.
          </p>
        )}
        <Scrubber timeSeconds={state.timeSeconds} lengthSeconds={lengthSeconds} markers={markers} seek={seek} />
        <Controls
          state={state}
          lengthSeconds={lengthSeconds}
          downloadUrl={`${address}/film`}
          linkTo={linkTo}
          toggle={() => {
            run({ type: "toggle" });
          }}
          setRate={(rate) => {
            if (film.current !== null) film.current.playbackRate = rate;
          }}
          toggleMute={() => {
            run({ type: "mute" });
          }}
          fullscreen={() => {
            run({ type: "fullscreen" });
          }}
          pictureInPicture={() => void film.current?.requestPictureInPicture().catch(ignore)}
        />
        <KeyList />
      </div>
      {hasTracks && (
        <Tracks
          lines={lines}
          timeSeconds={state.timeSeconds}
          seek={(seconds) => {
            seek(seconds);
            void film.current?.play().catch(ignore);
          }}
          empty={notice}
        />
      )}
    </div>
  );
}

/** The browser may refuse to play, or to leave the page; the state of the film shows it. */
const ignore = (): void => undefined;

function obey(film: HTMLVideoElement, stage: HTMLElement | null, command: PlayerCommand): void {
  if (command.type === "toggle") {
    if (film.paused || film.ended) void film.play().catch(ignore);
    else film.pause();
  } else if (command.type === "mute") film.muted = !film.muted;
  else if (command.type === "fullscreen") {
    if (document.fullscreenElement === null) void stage?.requestFullscreen().catch(ignore);
    else void document.exitFullscreen().catch(ignore);
  } else if (command.type === "move") film.currentTime = Math.max(0, film.currentTime + command.seconds);
  else if (command.type === "part") {
    if (Number.isFinite(film.duration)) film.currentTime = film.duration * command.part;
  } else {
    const next = speeds[speeds.indexOf(film.playbackRate) + command.step];
    if (next !== undefined) film.playbackRate = next;
  }
}

function KeyList() {
  return (
    <details className={styles.keys}>
      <summary>Keyboard</summary>
      <dl>
        {playerKeys.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>{keys}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
