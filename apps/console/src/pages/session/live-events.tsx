import { Text } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useMemo } from "react";
import { Loading } from "../../parts/states.tsx";
import { useNow } from "../../parts/now.ts";
import { Tracks } from "../../player/tracks.tsx";
import { sessionLines } from "./replay/replay-lines.ts";
import { useEvents } from "./telemetry/use-events.ts";

const nothingYet = (
  <Text size="sm" c="dimmed">
    Console lines, requests and actions appear here when they happen.
  </Text>
);

/** Console lines, requests and actions next to the live view, as they arrive. */
export function LiveEvents({ browser }: { readonly browser: Browser }) {
  const { events, isLoading } = useEvents(browser);
  const nowMs = useNow();
  const startedMs = Date.parse(browser.created_at);
  const lines = useMemo(() => sessionLines(events, startedMs), [events, startedMs]);
  return (
    <Tracks
      lines={lines}
      timeSeconds={(nowMs - startedMs) / 1000}
      empty={lines.length > 0 ? undefined : isLoading ? <Loading label="Loading telemetry" /> : nothingYet}
    />
  );
}
