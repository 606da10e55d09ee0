import { type RefObject, useEffect, useState } from "react";

export interface FilmState {
  readonly timeSeconds: number;
  /** `undefined` until the film knows it. */
  readonly lengthSeconds: number | undefined;
  readonly isPlaying: boolean;
  readonly isMuted: boolean;
  readonly rate: number;
  readonly hasFailed: boolean;
}

const drawMs = 100;
const changes = [
  "durationchange",
  "ended",
  "error",
  "pause",
  "play",
  "ratechange",
  "seeked",
  "seeking",
  "timeupdate",
  "volumechange",
];

const initial: FilmState = {
  timeSeconds: 0,
  lengthSeconds: undefined,
  isPlaying: false,
  isMuted: false,
  rate: 1,
  hasFailed: false,
};

function stateOf(film: HTMLVideoElement): FilmState {
  return {
    timeSeconds: film.currentTime,
    lengthSeconds: Number.isFinite(film.duration) ? film.duration : undefined,
    isPlaying: !film.paused && !film.ended,
    isMuted: film.muted,
    rate: film.playbackRate,
    hasFailed: film.error !== null,
  };
}

/**
 * The state of a video element, read ten times a second while it plays.
 * @param isLoadingMore - the state stays as it was while this returns true.
 */
export function useFilm(film: RefObject<HTMLVideoElement | null>, isLoadingMore: () => boolean): FilmState {
  const [state, setState] = useState(initial);
  useEffect(() => {
    const { current } = film;
    if (current === null) return undefined;
    const read = () => {
      if (current.error !== null || !isLoadingMore()) setState(stateOf(current));
    };
    for (const name of changes) current.addEventListener(name, read);
    const timer = setInterval(() => {
      if (!current.paused) read();
    }, drawMs);
    return () => {
      clearInterval(timer);
      for (const name of changes) current.removeEventListener(name, read);
    };
  }, [film, isLoadingMore]);
  return state;
}
