import { Badge, Button, Card, Group, Skeleton, Stack, Text } from "@mantine/core";
import type { Browser, Replay } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clapperboard, Download, Play, Radio } from "lucide-react";
import { replaysQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { atThisOrigin } from "../../base/place.ts";
import { CopyIcon } from "../../parts/code.tsx";
import { Age, Moment } from "../../parts/moment.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { HowToKeep } from "./how-to-keep.tsx";

export function RecordingsTab({ browser }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const { data: replays, error, refetch } = useQuery(replaysQuery(shoal, browser.session_id));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (replays === undefined) return <Skeleton height={120} aria-label="Reading the recordings" />;
  if (replays.length === 0)
    return (
      <Empty icon={Clapperboard} title="Nothing was recorded">
        {browser.deleted_at === undefined
          ? "The button Record above films the screen until you stop it."
          : "No recording was made, or the retention of its recordings has ended. "}
        {browser.deleted_at !== undefined && <HowToKeep start="Start one while a session runs" />}
      </Empty>
    );
  return (
    <Stack gap="sm">
      {replays.map((replay) => (
        <Recording key={replay.replay_id} id={browser.session_id} replay={replay} />
      ))}
    </Stack>
  );
}

function Recording({ id, replay }: { readonly id: string; readonly replay: Replay }) {
  const { by_default, finished_at, failure_reason, marks = [], replay_id, replay_view_url, started_at } = replay;
  const isRunning = finished_at == null && failure_reason === undefined;
  return (
    <Card withBorder padding="sm">
      <Group justify="space-between">
        <div>
          <Text size="sm" fw={600}>
            {started_at == null ? "Before its first picture" : <Moment at={started_at} />}
          </Text>
          <Text size="sm" c="dimmed">
            {started_at != null && <Age from={started_at} to={finished_at ?? undefined} />}
            {marks.length > 0 && `, ${marks.length} ${marks.length === 1 ? "chapter" : "chapters"}`} {failure_reason}
          </Text>
        </div>
        <Group gap="xs">
          {isRunning && (
            <Badge color="red" variant="dot" tt="none">
              {by_default === true ? "Recording until the end" : "Recording"}
            </Badge>
          )}
          <Button
            size="xs"
            variant="light"
            leftSection={isRunning ? <Radio size={14} aria-hidden /> : <Play size={14} aria-hidden />}
            renderRoot={(props) => (
              <Link to="/sessions/$id/replays/$replay" params={{ id, replay: replay_id }} {...props} />
            )}
          >
            {isRunning ? "Follow" : "Play"}
          </Button>
          {!isRunning && replay_view_url !== undefined && (
            <Button
              component="a"
              href={`${atThisOrigin(replay_view_url, "/browser/replay/")}/film`}
              download={`${id}-${replay_id}.mp4`}
              size="xs"
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
            >
              Download
            </Button>
          )}
          {replay_view_url !== undefined && (
            <CopyIcon value={replay_view_url} label="Copy a link that plays the recording without signing in" />
          )}
        </Group>
      </Group>
    </Card>
  );
}
