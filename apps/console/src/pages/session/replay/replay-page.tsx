import { Skeleton, Text } from "@mantine/core";
import type { Browser, Replay } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { Clapperboard } from "lucide-react";
import { useMemo, useState } from "react";
import { browserQuery, replaysQuery } from "../../../api/browser-queries.ts";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { atThisOrigin } from "../../../base/place.ts";
import { momentText } from "../../../base/texts.ts";
import { useNow } from "../../../parts/now.ts";
import { type Crumb, Page } from "../../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { filmClock, momentParameter, parseMoment, replayTitle } from "../../../player/moment.ts";
import { Player } from "../../../player/player.tsx";
import { useSharedInfo } from "../../../player/shared-info.ts";
import { maxEvents, useEvents } from "../telemetry/use-events.ts";
import { replayLines } from "./replay-lines.ts";
import { RunningReplay } from "./running-replay.tsx";

function trailOf(id: string, name: string | undefined): readonly Crumb[] {
  return [
    { label: "Sessions", to: "/sessions" },
    { label: name ?? id, to: "/sessions/$id", params: { id }, search: { tab: "recordings" } },
  ];
}

/** A recording with the telemetry of its session on one timeline. */
export function ReplayPage() {
  const { id, replay: replayId } = useParams({ from: "/sessions/$id/replays/$replay" });
  const { shoal } = useSignedIn();
  const session = useQuery(browserQuery(shoal, id));
  const replays = useQuery(replaysQuery(shoal, id));
  const browser = session.data;
  const replay = replays.data?.find(({ replay_id }) => replay_id === replayId);
  const error = session.error ?? replays.error;
  if (browser !== undefined && replay !== undefined) return <Loaded browser={browser} replay={replay} />;
  return (
    <Page title="Recording" trail={trailOf(id, browser?.name)}>
      {error !== null ? (
        <Failure error={error} retry={() => void Promise.all([session.refetch(), replays.refetch()])} />
      ) : browser !== undefined && replays.data !== undefined ? (
        <Empty icon={Clapperboard} title="Recording not found">
          It was deleted: recordings are kept for a limited time.
        </Empty>
      ) : (
        <Skeleton height={480} aria-label="Loading the recording" />
      )}
    </Page>
  );
}

interface LoadedProps {
  readonly browser: Browser;
  readonly replay: Replay;
}

/** Telemetry of the last pictures arrives after them. */
const afterEndMs = 1000;
/** Recordings without a picture have no window of time. */
const noWindow = { since: "1970-01-01T00:00:00Z", until: "1970-01-01T00:00:01Z" };

function Loaded({ browser, replay }: LoadedProps) {
  const { failure_reason, finished_at, started_at } = replay;
  const isRunning = finished_at == null;
  const canOperate = useCanOperate();
  const title = replayTitle(browser.name ?? undefined, started_at);
  const { error, events, isCut, isLoading } = useEvents(
    browser,
    started_at == null
      ? noWindow
      : {
          since: started_at,
          until: isRunning ? undefined : new Date(Date.parse(finished_at) + afterEndMs).toISOString(),
        },
  );
  const lines = useMemo(() => replayLines(events, replay), [events, replay]);
  const lengthMs = started_at == null || isRunning ? 0 : Date.parse(finished_at) - Date.parse(started_at);
  const notice = isLoading ? (
    <Loading label="Loading telemetry" />
  ) : (
    noticeOf({ browser, isCut, isEmpty: canOperate && error === undefined && events.length === 0 })
  );
  return (
    <Page
      trail={trailOf(browser.session_id, browser.name)}
      title={title}
      windowTitle={[browser.name ?? browser.session_id, started_at == null ? "recording" : momentText(started_at)].join(
        ", ",
      )}
      description={[isRunning ? "Recording in progress." : `${filmClock(lengthMs / 1000)} long.`, failure_reason ?? ""]
        .join(" ")
        .trim()}
    >
      {error !== undefined && <Failure error={error} />}
      <Film browser={browser} replay={replay} lines={lines} notice={notice} />
    </Page>
  );
}

interface FilmProps extends LoadedProps, Pick<Parameters<typeof Player>[0], "lines" | "notice"> {}

/** The film, or the live view of a running recording until the person chooses a moment of the film so far. */
function Film({ browser, replay, ...shown }: FilmProps) {
  const { replay_view_url = "", started_at, finished_at } = replay;
  const { t } = useSearch({ from: "/sessions/$id/replays/$replay" });
  const [startSeconds, start] = useState(() => parseMoment(t === undefined ? undefined : String(t)));
  const [isLive, setLive] = useState(finished_at == null && startSeconds === undefined);
  const nowMs = useNow();
  const address = atThisOrigin(replay_view_url, "/browser/replay/");
  const isRunning = finished_at == null;
  const { info } = useSharedInfo(isRunning ? address : undefined);
  const endMs = isRunning ? nowMs : Date.parse(finished_at);
  const lengthSeconds = started_at == null ? 0 : Math.max(0, (endMs - Date.parse(started_at)) / 1000);
  const recordedBytes = isRunning && info?.ready !== true ? info?.recorded_bytes : undefined;
  if (isRunning && (isLive || (recordedBytes === undefined && info?.ready !== true)))
    return (
      <RunningReplay
        {...shown}
        browser={browser}
        lengthSeconds={lengthSeconds}
        seek={
          recordedBytes === undefined
            ? undefined
            : (seconds) => {
                start(seconds);
                setLive(false);
              }
        }
      />
    );
  return (
    <Player
      {...shown}
      address={address}
      lengthSeconds={lengthSeconds}
      recordedBytes={recordedBytes}
      watchLive={
        isRunning
          ? () => {
              setLive(true);
            }
          : undefined
      }
      startSeconds={startSeconds}
      linkTo={(seconds) => {
        const link = new URL(location.href);
        link.searchParams.set("t", momentParameter(seconds));
        return link.href;
      }}
    />
  );
}

interface NoticeParts {
  readonly browser: Browser;
  readonly isCut: boolean;
  readonly isEmpty: boolean;
}

function noticeOf({ browser, isCut, isEmpty }: NoticeParts) {
  if (isCut)
    return (
      <Text size="sm" c="dimmed">
        The page shows the newest {maxEvents} events. The command `shoal browsers telemetry events` lists all.
      </Text>
    );
  if (!isEmpty) return undefined;
  return (
    <Text size="sm" c="dimmed">
      {browser.deleted_at === undefined
        ? "No telemetry of this recording. Turn it on in the tab Events of the session to see console lines, requests and actions here."
        : "No telemetry of this recording is stored: the session did not capture it, or its retention has ended."}
    </Text>
  );
}
