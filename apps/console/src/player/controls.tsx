import {
  Check,
  Download,
  FastForward,
  Link2,
  Maximize,
  Pause,
  PictureInPicture2,
  Play,
  Radio,
  Volume2,
  VolumeX,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { filmClock } from "./moment.ts";
import { idleSeconds } from "./idle/idle-parts.ts";
import styles from "./player.module.css";
import type { FilmState } from "./use-film.ts";
import type { SkippedIdle } from "./idle/use-skip-idle.ts";

export const speeds: readonly number[] = [0.25, 0.5, 1, 1.5, 2, 4, 8];
const copiedMs = 1500;

interface ControlsProps {
  readonly state: FilmState;
  readonly lengthSeconds: number;
  readonly downloadUrl: string;
  readonly watchLive: (() => void) | undefined;
  /** The address of a moment. */
  readonly linkTo: (seconds: number) => string;
  readonly idle: SkippedIdle;
  readonly toggle: () => void;
  readonly setRate: (rate: number) => void;
  readonly toggleMute: () => void;
  readonly fullscreen: () => void;
  readonly pictureInPicture: () => void;
}

export function Controls({ state, lengthSeconds, downloadUrl, watchLive, linkTo, idle, ...run }: ControlsProps) {
  const { isMuted, isPlaying, rate, timeSeconds } = state;
  return (
    <div className={styles.controls}>
      <Control label={isPlaying ? "Pause" : "Play"} run={run.toggle}>
        {isPlaying ? <Pause size={18} aria-hidden /> : <Play size={18} aria-hidden />}
      </Control>
      <span className={styles.time}>
        {filmClock(timeSeconds)} / {filmClock(lengthSeconds)}
      </span>
      {watchLive !== undefined && (
        <Control label="Back to the live view" run={watchLive}>
          <Radio size={18} aria-hidden />
        </Control>
      )}
      <span className={styles.space} />
      {idle.parts.length > 0 && <SkipIdle {...idle} />}
      <select
        className={styles.speed}
        aria-label="Speed"
        value={rate}
        onChange={({ currentTarget: { value } }) => {
          run.setRate(Number(value));
        }}
      >
        {speeds.map((speed) => (
          <option key={speed} value={speed}>
            {speed} ×
          </option>
        ))}
      </select>
      <Control label={isMuted ? "Turn the sound on" : "Mute"} run={run.toggleMute}>
        {isMuted ? <VolumeX size={18} aria-hidden /> : <Volume2 size={18} aria-hidden />}
      </Control>
      <CopyLink address={() => linkTo(timeSeconds)} />
      <a className={styles.button} href={downloadUrl} download aria-label="Download" title="Download">
        <Download size={18} aria-hidden />
      </a>
      {document.pictureInPictureEnabled && (
        <Control label="Picture in picture" run={run.pictureInPicture}>
          <PictureInPicture2 size={18} aria-hidden />
        </Control>
      )}
      <Control label="Full screen" run={run.fullscreen}>
        <Maximize size={18} aria-hidden />
      </Control>
    </div>
  );
}

function SkipIdle({ parts, isOn, toggle }: SkippedIdle) {
  return (
    <button type="button" className={styles.choice} aria-pressed={isOn} onClick={toggle}>
      <FastForward size={14} aria-hidden /> Skip idle time{" "}
      <span className={styles.count}>{filmClock(idleSeconds(parts))}</span>
    </button>
  );
}

interface ControlProps {
  readonly label: string;
  readonly run: () => void;
  readonly children: ReactNode;
}

function Control({ label, run, children }: ControlProps) {
  return (
    <button type="button" className={styles.button} aria-label={label} title={label} onClick={run}>
      {children}
    </button>
  );
}

function CopyLink({ address }: { readonly address: () => string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(address());
    setCopied(true);
    setTimeout(() => {
      setCopied(false);
    }, copiedMs);
  };
  return (
    <Control label={isCopied ? "Copied" : "Copy a link to this moment"} run={() => void copy()}>
      {isCopied ? <Check size={18} aria-hidden /> : <Link2 size={18} aria-hidden />}
    </Control>
  );
}
