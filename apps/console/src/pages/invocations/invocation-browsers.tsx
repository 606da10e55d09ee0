import { Button, Group, Stack, Text } from "@mantine/core";
import type { Invocation } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Section } from "../../parts/detail/section.tsx";
import { SessionLink } from "../../parts/links/session-link.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { Failure } from "../../parts/states.tsx";
import { isRunning } from "./is-running.ts";

const refreshMs = 3000;

/** Running sessions that the invocation started. */
export function InvocationBrowsers({ invocation }: { readonly invocation: Invocation }) {
  const { id } = invocation;
  const { shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const { data, error } = useQuery({
    queryKey: ["invocation-browsers", id],
    queryFn: async ({ signal }) => shoal.invocations.listBrowsers(id, { signal }),
    refetchInterval: isRunning(invocation) ? refreshMs : false,
  });
  const end = useAction({
    act: () => shoal.invocations.deleteBrowsers(id),
    told: () => "The sessions have ended.",
    changes: [["invocation-browsers"]],
  });
  const browsers = data?.browsers ?? [];
  return (
    <Section title="Browsers" isPlain>
      <Stack gap="xs">
        {error !== null && <Failure error={error} />}
        {data?.browsers.length === 0 && error === null && (
          <Text size="sm" c="dimmed">
            None of its browsers is running.
          </Text>
        )}
        {browsers.map((browser) => (
          <Group key={browser.session_id} gap="sm">
            <SessionLink id={browser.session_id} name={browser.name ?? undefined} />
            <StatusBadge browser={browser} />
          </Group>
        ))}
        {canOperate && browsers.length > 0 && (
          <Button
            size="xs"
            variant="default"
            loading={end.isPending}
            onClick={() => {
              end.mutate();
            }}
            style={{ alignSelf: "flex-start" }}
          >
            End these browsers
          </Button>
        )}
      </Stack>
    </Section>
  );
}
