import { Badge, Button, Card, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { Browser, Replay } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Clapperboard, ExternalLink, Play } from "lucide-react";
import { useState } from "react";
import { replaysQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { atThisOrigin } from "../../base/place.ts";
import { Age, Moment } from "../../parts/moment.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import styles from "./recordings.module.css";

export function RecordingsTab({ browser }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const { data: replays, error, refetch } = useQuery(replaysQuery(shoal, browser.session_id));
  const [played, setPlayed] = useState<string>();
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (replays === undefined) return <Skeleton height={120} aria-label="Reading the recordings" />;
  if (replays.length === 0)
    return (
      <Empty icon={Clapperboard} title="Nothing was recorded">
        {browser.deleted_at === undefined
          ? "The button Record above films the screen until you stop it."
          : "Start a recording while a session runs."}
      </Empty>
    );
  const url = replays.find(({ replay_id }) => replay_id === played)?.replay_view_url;
  return (
    <Stack gap="sm">
      {url !== undefined && (
        <iframe
          className={styles.film}
          src={atThisOrigin(url, replayMarker)}
          title="Recording"
          allow="fullscreen"
          referrerPolicy="no-referrer"
        />
      )}
      {replays.map((replay) => (
        <Recording
          key={replay.replay_id}
          replay={replay}
          play={() => {
            setPlayed(replay.replay_id);
          }}
        />
      ))}
    </Stack>
  );
}

const replayMarker = "/browser/replay/";

function Recording({ replay, play }: { readonly replay: Replay; readonly play: () => void }) {
  const { started_at, finished_at, failure_reason, replay_view_url } = replay;
  const isRunning = finished_at == null && failure_reason === undefined;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <div>
          <Text size="sm" fw={600}>
            {started_at == null ? "Before its first picture" : <Moment at={started_at} />}
          </Text>
          <Text size="sm" c="dimmed">
            {started_at != null && <Age from={started_at} to={finished_at ?? undefined} />} {failure_reason}
          </Text>
        </div>
        <Group gap="xs">
          {isRunning && (
            <Badge color="red" variant="dot" tt="none">
              Recording
            </Badge>
          )}
          {!isRunning && replay_view_url !== undefined && (
            <>
              <Button size="xs" variant="light" leftSection={<Play size={14} aria-hidden />} onClick={play}>
                Play
              </Button>
              <Button
                component="a"
                href={atThisOrigin(replay_view_url, replayMarker)}
                target="_blank"
                rel="noreferrer"
                size="xs"
                variant="default"
                leftSection={<ExternalLink size={14} aria-hidden />}
              >
                Open
              </Button>
            </>
          )}
        </Group>
      </Group>
    </Card>
  );
}
