import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import type { PlayerCommand } from "./commands.ts";
import { playerKeys } from "./commands.ts";
import { Controls, speeds } from "./controls.tsx";
import { filmUrl, GrowingFilm } from "./growing-film.ts";
import styles from "./player.module.css";
import { Scrubber } from "./scrubber.tsx";
import { markersOf, type TimedLine } from "./timed-line.ts";
import { Tracks } from "./tracks.tsx";
import { useFilm } from "./use-film.ts";
import { type SkippedIdle, useSkipIdle } from "./idle/use-skip-idle.ts";
import { usePlayerKeys } from "./use-player-keys.ts";

export interface PlayerProps {
  /** Address of the page of the recording; `/film` and `/chapters` are below it. */
  readonly address: string;
  /** Until the film knows its length; while the recording runs, its length so far. */
  readonly lengthSeconds: number;
  /** Of the film so far, while the recording runs. */
  readonly recordedBytes?: number | undefined;
  /** Leaves the film of a running recording. */
  readonly watchLive?: (() => void) | undefined;
  /** Sorted by time. */
  readonly lines: readonly TimedLine[];
  readonly startSeconds: number | undefined;
  readonly linkTo: (seconds: number) => string;
  /** Shown below the lists. */
  readonly notice?: ReactNode;
}

interface GrowingFilmParts {
  readonly film: RefObject<HTMLVideoElement | null>;
  readonly lastPicture: RefObject<HTMLCanvasElement | null>;
  readonly address: string;
  readonly recordedBytes: number | undefined;
  readonly startSeconds: number | undefined;
}

/** Loads the film, and the rest of it while it is recorded. */
function useGrowingFilm({ film, lastPicture, address, recordedBytes, startSeconds }: GrowingFilmParts) {
  const source = useRef<GrowingFilm>(null);
  useEffect(() => {
    if (film.current === null || lastPicture.current === null) return undefined;
    const loading = new GrowingFilm(film.current, lastPicture.current, `${address}/film`);
    source.current = loading;
    return () => {
      loading.close();
    };
  }, [film, lastPicture, address]);
  useEffect(() => {
    source.current?.grow(recordedBytes);
  }, [address, recordedBytes]);
  const seek = useCallback((seconds: number) => {
    source.current?.seek(seconds);
  }, []);
  useEffect(() => {
    if (startSeconds !== undefined) seek(startSeconds);
  }, [seek, startSeconds]);
  const isLoadingMore = useCallback(() => source.current?.isLoadingMore === true, []);
  return { seek, isLoadingMore };
}

/** A film with its chapters, console lines, requests and actions on one timeline. */
export function Player({ address, lines, startSeconds, linkTo, notice, ...recording }: PlayerProps) {
  const { recordedBytes, watchLive } = recording;
  const film = useRef<HTMLVideoElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const lastPicture = useRef<HTMLCanvasElement>(null);
  const { seek, isLoadingMore } = useGrowingFilm({ film, lastPicture, address, recordedBytes, startSeconds });
  const state = useFilm(film, isLoadingMore);
  const lengthSeconds =
    recordedBytes === undefined
      ? (state.lengthSeconds ?? recording.lengthSeconds)
      : Math.max(state.lengthSeconds ?? 0, recording.lengthSeconds);
  const markers = useMemo(() => markersOf(lines, lengthSeconds), [lines, lengthSeconds]);
  const idle = useSkipIdle({
    film,
    lines,
    lengthSeconds: recordedBytes === undefined ? lengthSeconds : undefined,
    seek,
  });
  const run = (command: PlayerCommand) => {
    if (film.current !== null) obey({ film: film.current, stage: stage.current, seek, lengthSeconds, idle }, command);
  };
  const runs = (type: "fullscreen" | "mute" | "toggle") => () => {
    run({ type });
  };
  const toggle = runs("toggle");
  usePlayerKeys(run);
  const hasTracks = lines.length > 0 || notice !== undefined;
  return (
    <div className={`${styles.player} ${hasTracks ? styles.wide : ""}`}>
      <div ref={stage} className={styles.stage}>
        <Screen
          film={film}
          lastPicture={lastPicture}
          address={address}
          starts={startSeconds === undefined}
          toggle={toggle}
        />
        {state.hasFailed && (
          <p className={styles.failure} role="alert">
            This browser cannot play the film. Download it: it is an MP4 file with H.264.
          </p>
        )}
        <Scrubber
          timeSeconds={state.timeSeconds}
          lengthSeconds={lengthSeconds}
          markers={markers}
          skipped={idle.isOn ? idle.parts : []}
          seek={seek}
        />
        <Controls
          state={state}
          lengthSeconds={lengthSeconds}
          downloadUrl={filmUrl(`${address}/film`, recordedBytes)}
          watchLive={watchLive}
          linkTo={linkTo}
          idle={idle}
          toggle={toggle}
          setRate={(rate) => {
            if (film.current !== null) film.current.playbackRate = rate;
          }}
          toggleMute={runs("mute")}
          fullscreen={runs("fullscreen")}
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

interface ScreenProps extends Pick<GrowingFilmParts, "address" | "film" | "lastPicture"> {
  readonly starts: boolean;
  readonly toggle: () => void;
}

function Screen({ film, lastPicture, address, starts, toggle }: ScreenProps) {
  return (
    <div className={styles.screen}>
      <video
        ref={film}
        className={styles.film}
        preload="metadata"
        playsInline
        // Browsers start only silent films. A link to a moment shows its picture.
        muted
        autoPlay={starts && !matchMedia("(prefers-reduced-motion: reduce)").matches}
        onClick={toggle}
      >
        <track kind="chapters" src={`${address}/chapters`} default />
      </video>
      <canvas ref={lastPicture} className={styles.lastPicture} hidden />
    </div>
  );
}

/** The browser may refuse to play, or to leave the page; the state of the film shows it. */
const ignore = (): void => undefined;

interface PlayedFilm {
  readonly film: HTMLVideoElement;
  readonly stage: HTMLElement | null;
  readonly seek: (seconds: number) => void;
  readonly lengthSeconds: number;
  readonly idle: SkippedIdle;
}

function obey({ film, stage, seek, lengthSeconds, idle }: PlayedFilm, command: PlayerCommand): void {
  if (command.type === "toggle") {
    if (film.paused || film.ended) void film.play().catch(ignore);
    else film.pause();
  } else if (command.type === "idle") idle.toggle();
  else if (command.type === "mute") film.muted = !film.muted;
  else if (command.type === "fullscreen") {
    if (document.fullscreenElement === null) void stage?.requestFullscreen().catch(ignore);
    else void document.exitFullscreen().catch(ignore);
  } else if (command.type === "move") seek(film.currentTime + command.seconds);
  else if (command.type === "part") seek(lengthSeconds * command.part);
  else {
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
