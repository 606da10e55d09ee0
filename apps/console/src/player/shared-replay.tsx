import { useEffect, useMemo } from "react";
import { serviceUrl } from "../base/place.ts";
import { chapterLines } from "./chapter-lines.ts";
import { filmClock, momentIn, momentParameter, replayTitle } from "./moment.ts";
import { Player } from "./player.tsx";
import styles from "./shared-replay.module.css";
import { type SharedInfo, useSharedInfo } from "./shared-info.ts";
import { Tracks } from "./tracks.tsx";

/** The page behind `replay_view_url`. It shows what the token of its address allows, and never uses a sign-in. */
export function SharedReplay({ address }: { readonly address: string }) {
  const { info, problem } = useSharedInfo(address);
  const title = replayTitle(info?.session_name, info?.started_at);
  useEffect(() => {
    document.title = title;
  }, [title]);
  const lines = useMemo(() => chapterLines(info?.marks ?? []), [info]);
  const startSeconds = useMemo(() => momentIn(location), []);
  return (
    <main className={styles.page}>
      <header className={styles.head}>
        <div>
          <h1>{title}</h1>
          <p role="status">{problem ?? (info === undefined ? "Loading…" : noteOf(info))}</p>
        </div>
        {info !== undefined && (
          <a href={consoleAddress(address)} target="_blank" rel="noreferrer">
            Open in the console
          </a>
        )}
      </header>
      {info !== undefined && isPlayable(info) && (
        <Player
          address={address}
          lengthSeconds={lengthOf(info) ?? 0}
          recordedBytes={info.ready ? undefined : info.recorded_bytes}
          lines={lines}
          startSeconds={startSeconds}
          linkTo={(seconds) => `${address}?t=${momentParameter(seconds)}`}
        />
      )}
      {info !== undefined && !isPlayable(info) && lines.length > 0 && (
        <Tracks lines={lines} timeSeconds={-1} seek={() => undefined} />
      )}
    </main>
  );
}

const isPlayable = ({ ready, recorded_bytes }: SharedInfo) => ready || recorded_bytes !== undefined;

function lengthOf({ started_at, finished_at }: SharedInfo): number | undefined {
  return started_at == null || finished_at == null
    ? undefined
    : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;
}

function noteOf(info: SharedInfo): string {
  const { failure_reason, ready, recorded_bytes } = info;
  if (!ready)
    return (failure_reason ?? recorded_bytes === undefined)
      ? "Recording in progress. The film appears here in a moment."
      : "Recording in progress. The film grows until its end.";
  const length = lengthOf(info);
  return [length === undefined ? "" : `${filmClock(length)} long.`, failure_reason ?? ""].join(" ").trim();
}

/** The page of the console with telemetry next to the film. The token names the session and the recording. */
function consoleAddress(address: string): string {
  const [session = "", replay = ""] = new URL(address).pathname.split("/").at(-1)?.split(".") ?? [];
  return `${serviceUrl}/console/sessions/${session}/replays/${replay}`;
}
