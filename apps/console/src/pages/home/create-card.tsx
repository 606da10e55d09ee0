import { Button, Card, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play, Square } from "lucide-react";
import { type SyntheticEvent, useState } from "react";
import { browserQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { LiveFrame } from "../../parts/live-frame.tsx";
import { Failure } from "../../parts/states.tsx";
import { endings, StatusBadge } from "../../parts/status.tsx";
import type { Wanted } from "./programs.ts";

const idleSeconds = 600;

interface CreateCardProps {
  readonly wanted: Wanted;
  readonly setWanted: (wanted: Wanted) => void;
}

/** Starts a session and shows it. */
export function CreateCard({ wanted, setWanted }: CreateCardProps) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [id, setId] = useState<string>();
  const start = useMutation({
    mutationFn: ({ name, start_url }: Wanted) =>
      shoal.browsers.create({
        timeout_seconds: idleSeconds,
        ...(name !== "" && { name }),
        ...(start_url !== "" && { start_url }),
      }),
    onSuccess({ session_id }) {
      setId(session_id);
      void queries.invalidateQueries({ queryKey: ["browsers"] });
    },
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    start.mutate(wanted);
  };
  return (
    <Card withBorder padding="lg">
      <Stack gap="md">
        <div>
          <Title order={2} size="h4">
            Start a browser
          </Title>
          <Text size="sm" c="dimmed">
            A real Chromium with its own files and network exit. It ends after ten minutes without use.
          </Text>
        </div>
        <form onSubmit={submit}>
          <Group align="flex-end" gap="sm">
            <TextInput
              label="Start page"
              value={wanted.start_url}
              onChange={(event) => {
                setWanted({ ...wanted, start_url: event.currentTarget.value });
              }}
              style={{ flex: "2 1 220px" }}
              maxLength={8192}
            />
            <TextInput
              label="Name"
              placeholder="optional"
              value={wanted.name}
              onChange={(event) => {
                setWanted({ ...wanted, name: event.currentTarget.value });
              }}
              style={{ flex: "1 1 140px" }}
              maxLength={255}
            />
            <Button type="submit" loading={start.isPending} leftSection={<Play size={16} aria-hidden />}>
              Start
            </Button>
          </Group>
        </form>
        {start.error !== null && <Failure error={start.error} />}
        <Preview key={id} id={id} />
      </Stack>
    </Card>
  );
}

function Preview({ id }: { readonly id: string | undefined }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const { data: browser } = useQuery({ ...browserQuery(shoal, id ?? ""), enabled: id !== undefined });
  const end = useMutation({
    mutationFn: () => shoal.browsers.delete(id ?? ""),
    onSettled: () => queries.invalidateQueries({ queryKey: ["browser", id] }),
  });
  if (id === undefined || browser === undefined)
    return <LiveFrame url={undefined} title="Live view" placeholder="The browser appears here." />;
  const isEnded = browser.deleted_at !== undefined;
  return (
    <Stack gap="sm">
      <LiveFrame
        url={isEnded ? undefined : browser.browser_live_view_url}
        title="Live view of the new session"
        placeholder={`The session has ended. ${endings[browser.ended_reason ?? ""] ?? ""}`}
      />
      <Group justify="space-between">
        <Group gap="sm">
          <StatusBadge browser={browser} />
          <Text size="sm" ff="monospace">
            {browser.name ?? browser.session_id}
          </Text>
        </Group>
        <Group gap="xs">
          <Button
            size="xs"
            variant="light"
            renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}
          >
            Open the session
          </Button>
          {!isEnded && (
            <Button
              size="xs"
              variant="default"
              leftSection={<Square size={14} aria-hidden />}
              loading={end.isPending}
              onClick={() => {
                end.mutate();
              }}
            >
              End
            </Button>
          )}
        </Group>
      </Group>
      {end.error !== null && <Failure error={end.error} />}
    </Stack>
  );
}
