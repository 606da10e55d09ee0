import { Button, Card, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Play, Square } from "lucide-react";
import { Suspense, type SyntheticEvent, useState } from "react";
import { browserQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { lazyPart } from "../../parts/lazy-part.ts";
import { LiveFrame } from "../../parts/live-frame.tsx";
import { Failure } from "../../parts/states.tsx";
import { endings } from "../../base/texts.ts";
import { StatusBadge } from "../../parts/status.tsx";
import type { PageOptionsProps } from "./page-options.tsx";
import { isRequestable, requestOf, type Wanted } from "./wanted.ts";

const PageOptions = lazyPart(() => import("./page-options.tsx"), "PageOptions");
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
    mutationFn: (options: Wanted) => shoal.browsers.create({ timeout_seconds: idleSeconds, ...requestOf(options) }),
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
          <Group align="flex-end" gap="sm" mb="sm">
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
            <Button
              type="submit"
              loading={start.isPending}
              disabled={!isRequestable(wanted)}
              leftSection={<Play size={16} aria-hidden />}
            >
              Start
            </Button>
          </Group>
          <MoreOptions wanted={wanted} setWanted={setWanted} />
        </form>
        {start.error !== null && <Failure error={start.error} />}
        <Preview key={id} id={id} />
      </Stack>
    </Card>
  );
}

/** Loads its fields when it is opened. */
function MoreOptions(props: PageOptionsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <details
        onToggle={(event) => {
          setOpen(event.currentTarget.open);
        }}
      >
        <summary>Place, language and preferences</summary>
        {isOpen && (
          <Suspense fallback={null}>
            <PageOptions {...props} />
          </Suspense>
        )}
      </details>
      {!isOpen && !isRequestable(props.wanted) && (
        <Text size="sm" c="red" role="alert">
          The position is invalid. Open this part to change it.
        </Text>
      )}
    </>
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
