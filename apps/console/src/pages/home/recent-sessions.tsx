import { Anchor, Group, Skeleton, Stack, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AppWindow } from "lucide-react";
import { browsersQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { Empty, Failure } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";

const shownSessions = 5;

export function RecentSessions() {
  const { project, shoal } = useSignedIn();
  const { data, error, refetch } = useInfiniteQuery(browsersQuery(shoal, project?.id, {}));
  const isEmpty = data?.pages.every(({ items }) => items.length === 0) ?? true;
  if (error !== null && isEmpty) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined)
    return (
      <Stack gap="xs">
        {[1, 2, 3].map((row) => (
          <Skeleton key={row} height={36} />
        ))}
      </Stack>
    );
  const browsers = data.pages.flatMap(({ items }) => items).slice(0, shownSessions);
  if (isEmpty)
    return (
      <Empty icon={AppWindow} title="No session is running">
        Start one above, or from a program.
      </Empty>
    );
  return (
    <Stack gap={0}>
      {browsers.map((browser) => (
        <Group key={browser.session_id} justify="space-between" py={8} wrap="nowrap">
          <Anchor
            size="sm"
            truncate
            renderRoot={(props) => <Link to="/sessions/$id" params={{ id: browser.session_id }} {...props} />}
          >
            {browser.name ?? browser.session_id}
          </Anchor>
          <Group gap="md" wrap="nowrap">
            <Text size="sm" c="dimmed" visibleFrom="xs">
              <Ago at={browser.created_at} />
            </Text>
            <StatusBadge browser={browser} />
          </Group>
        </Group>
      ))}
    </Stack>
  );
}
