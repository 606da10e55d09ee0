import { type RefObject, useEffect, useMemo, useState } from "react";
import { enteredPart, type IdlePart, idleParts } from "./idle-parts.ts";
import type { TimedLine } from "../timed-line.ts";

export interface SkippedIdle {
  readonly parts: readonly IdlePart[];
  readonly isOn: boolean;
  readonly toggle: () => void;
}

const storedName = "shoal.player.idle";

interface SkipIdleParts {
  readonly film: RefObject<HTMLVideoElement | null>;
  readonly lines: readonly TimedLine[];
  /** `undefined` while the recording runs. */
  readonly lengthSeconds: number | undefined;
  readonly seek: (seconds: number) => void;
}

/** Skips parts without events while the film plays. The browser remembers the choice of the person. */
export function useSkipIdle({ film, lines, lengthSeconds, seek }: SkipIdleParts): SkippedIdle {
  const [isOn, setOn] = useState(() => localStorage.getItem(storedName) !== "played");
  const parts = useMemo(() => idleParts(lines, lengthSeconds), [lines, lengthSeconds]);
  useEffect(() => {
    const { current } = film;
    if (current === null || !isOn) return undefined;
    let before = current.currentTime;
    const move = () => {
      const now = current.currentTime;
      const part = current.paused || current.seeking ? undefined : enteredPart(parts, { before, now });
      before = now;
      if (part !== undefined) seek(part.toSeconds);
    };
    const jump = () => {
      before = current.currentTime;
    };
    current.addEventListener("timeupdate", move);
    current.addEventListener("seeking", jump);
    return () => {
      current.removeEventListener("timeupdate", move);
      current.removeEventListener("seeking", jump);
    };
  }, [film, isOn, parts, seek]);
  const toggle = () => {
    localStorage.setItem(storedName, isOn ? "played" : "skipped");
    setOn(!isOn);
  };
  return { parts, isOn, toggle };
}
