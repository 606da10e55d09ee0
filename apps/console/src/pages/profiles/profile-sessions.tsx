import { Anchor, Badge, Group, Stack, Text } from "@mantine/core";
import type { Profile } from "@shoal/schemas";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { browsersQuery } from "../../api/browser-queries.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { Section } from "../../parts/detail/section.tsx";
import { Failure, Loading } from "../../parts/states.tsx";

/** Running sessions with the profile. One of them may save to it. */
export function ProfileSessions({ profile }: { readonly profile: Profile }) {
  const { shoal, project } = useSignedIn();
  const query = profile.id;
  const { data, error, refetch } = useInfiniteQuery(browsersQuery(shoal, project?.id, { query }));
  const users = data?.pages.flatMap(({ items }) => items).filter((browser) => browser.profile?.id === profile.id);
  return (
    <Section
      title="Running sessions"
      actions={
        <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" search={{ query, status: "all" }} {...props} />}>
          All sessions with it
        </Anchor>
      }
    >
      {error !== null && (users?.length ?? 0) === 0 && <Failure error={error} retry={() => void refetch()} />}
      {users === undefined && error === null && <Loading />}
      {users?.length === 0 && error === null && (
        <Text size="sm" c="dimmed">
          No running session uses the profile.
        </Text>
      )}
      <Stack gap="xs">
        {users?.map(({ session_id: id, name, profile_save_changes }) => (
          <Group key={id} justify="space-between" wrap="nowrap">
            <Anchor size="sm" truncate renderRoot={(props) => <Link to="/sessions/$id" params={{ id }} {...props} />}>
              {name ?? id}
            </Anchor>
            <Badge variant="light" tt="none" color={profile_save_changes === true ? "cyan" : "gray"}>
              {profile_save_changes === true ? "Saves at its end" : "Reads only"}
            </Badge>
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
