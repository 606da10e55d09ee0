import { Button } from "@mantine/core";
import type { Browser } from "@shoal/schemas";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Circle, CircleStop } from "lucide-react";
import { replaysQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { tell, tellFailure } from "../../parts/notices.ts";

export function RecordButton({ browser }: { readonly browser: Browser }) {
  const { session_id: id } = browser;
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const { data: replays } = useQuery(replaysQuery(shoal, id));
  const running = replays?.find(
    ({ by_default, finished_at, failure_reason }) =>
      by_default !== true && finished_at == null && failure_reason === undefined,
  );
  const change = useMutation({
    mutationFn: async () => {
      if (running === undefined) await shoal.browsers.replays.start(id, {});
      else await shoal.browsers.replays.stop(id, running.replay_id);
    },
    onSuccess: () => {
      tell(running === undefined ? "The recording has started." : "The recording has stopped.");
    },
    onError: tellFailure,
    onSettled: () => queries.invalidateQueries({ queryKey: ["replays", id] }),
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={
        running === undefined ? (
          <Circle size={14} aria-hidden color="var(--mantine-color-red-7)" />
        ) : (
          <CircleStop size={14} aria-hidden color="var(--mantine-color-red-7)" />
        )
      }
      loading={change.isPending}
      onClick={() => {
        change.mutate();
      }}
    >
      {running === undefined ? "Record" : "Stop recording"}
    </Button>
  );
}
