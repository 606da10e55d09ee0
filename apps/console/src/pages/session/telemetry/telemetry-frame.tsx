import { Button, Stack, Text } from "@mantine/core";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Radio } from "lucide-react";
import type { ReactNode } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";
import { tellFailure } from "../../../parts/notices.ts";
import { Empty, Failure, Loading } from "../../../parts/states.tsx";
import { HowToKeep } from "../how-to-keep.tsx";
import { maxEvents, useEvents } from "./use-events.ts";

/** Categories that the pages show. */
const shownCategories = [
  "console",
  "network",
  "page",
  "interaction",
  "control",
  "platform",
  "connection",
  "system",
] as const;

interface TelemetryFrameProps {
  readonly browser: Browser;
  readonly category: "console" | "network" | undefined;
  /** @param all - events of all categories. */
  readonly children: (events: readonly TelemetryEnvelope[], all: readonly TelemetryEnvelope[]) => ReactNode;
}

/** Reads the telemetry of a session. Shows how to turn it on, and why it is empty. */
export function TelemetryFrame({ browser, category, children }: TelemetryFrameProps) {
  const { events, isLoading, error, isCut } = useEvents(browser);
  const shown = category === undefined ? events : events.filter(({ event }) => event.category === category);
  const captured = browser.telemetry?.browser;
  const isOn =
    category === undefined
      ? Object.values(captured ?? {}).some((one) => one?.enabled === true)
      : captured?.[category]?.enabled === true;
  return (
    <Stack gap="sm">
      {error !== undefined && <Failure error={error} />}
      {isCut && (
        <Text size="sm" c="dimmed">
          The page shows the newest {maxEvents} events. The command `shoal browsers telemetry events` lists all.
        </Text>
      )}
      {shown.length > 0 && children(shown, events)}
      {shown.length === 0 && isLoading && <Loading label="Reading telemetry" />}
      {shown.length === 0 && !isLoading && error === undefined && (
        <NoEvents browser={browser} isOn={isOn} what={category ?? "telemetry"} />
      )}
    </Stack>
  );
}

interface NoEventsProps {
  readonly browser: Browser;
  readonly isOn: boolean;
  readonly what: string;
}

function NoEvents({ browser, isOn, what }: NoEventsProps) {
  const { session_id: id, deleted_at } = browser;
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const turnOn = useMutation({
    mutationFn: () =>
      shoal.browsers.update(id, {
        telemetry: { browser: Object.fromEntries(shownCategories.map((name) => [name, { enabled: true }])) },
      }),
    onError: tellFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ["browser", id] }),
  });
  if (deleted_at !== undefined)
    return (
      <Empty icon={Radio} title={isOn ? `No ${what} events are stored` : `The session did not capture ${what} events`}>
        {isOn ? (
          "None happened, or their retention has ended."
        ) : (
          <HowToKeep
            start={`Create sessions with telemetry of ${what === "telemetry" ? "some category" : `the category ${what}`}`}
          />
        )}
      </Empty>
    );
  if (isOn)
    return (
      <Empty icon={Radio} title="Waiting for the first event">
        Events appear here when they happen.
      </Empty>
    );
  return (
    <Empty icon={Radio} title={`The session does not capture ${what} events`}>
      <p>Its telemetry leaves them out. You can change it while the session runs.</p>
      {canOperate && (
        <Button
          variant="light"
          loading={turnOn.isPending}
          onClick={() => {
            turnOn.mutate();
          }}
        >
          Capture events from now on
        </Button>
      )}
    </Empty>
  );
}
