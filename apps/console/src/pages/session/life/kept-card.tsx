import { Anchor, Card, Table, Text, Title } from "@mantine/core";
import { ApiError } from "@shoal/client";
import type { Browser } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { replaysQuery } from "../../../api/browser-queries.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { momentText } from "../../../base/texts.ts";
import { Failure } from "../../../parts/states.tsx";
import type { SessionTab } from "../tabs.ts";

const dayMs = 86_400_000;
const most = 100;
const counted = (count: number, one: string, many: string) =>
  count === 0 ? `No ${many}` : count >= most ? `${most} ${many} or more` : `${count} ${count === 1 ? one : many}`;

/** The things of an ended session that the service keeps or deletes. */
export function KeptCard({ browser }: { readonly browser: Browser }) {
  const { session_id: id, created_at, profile, profile_save_changes } = browser;
  const { shoal, project } = useSignedIn();
  const replays = useQuery(replaysQuery(shoal, id));
  const downloads = useQuery({
    queryKey: ["kept-downloads", id],
    queryFn: ({ signal }) =>
      shoal.browsers.downloads.list(id, { limit: most }, { signal }).then(
        ({ items }) => items.length,
        (error: unknown) => {
          if (ApiError.isInstance(error) && error.status === 404) return "not kept" as const;
          throw error;
        },
      ),
  });
  const telemetry = useQuery({
    queryKey: ["kept-telemetry", id],
    queryFn: async ({ signal }) =>
      (await shoal.browsers.telemetry.events(id, { since: created_at, limit: 1 }, { signal })).items.length,
  });
  const days = useQuery({
    queryKey: ["replay-retention", project?.id],
    queryFn: async ({ signal }) =>
      (await shoal.organization.entitlements.get({ signal })).features.browser_replays.retention_days,
    staleTime: Infinity,
  });
  const error = replays.error ?? telemetry.error ?? downloads.error;
  const films = replays.data?.filter(({ finished_at }) => finished_at != null) ?? [];
  const filmUntil = untilOf(
    films.map(({ finished_at }) => Date.parse(finished_at ?? created_at)),
    days.data,
  );
  return (
    <Card withBorder padding="lg">
      <Title order={2} size="h4" mb="sm">
        Kept after the end
      </Title>
      {error !== null && <Failure error={error} />}
      <Table verticalSpacing={6} layout="fixed">
        <Table.Tbody>
          <Row name="Recordings" tab={films.length > 0 ? "recordings" : undefined}>
            {replays.data === undefined ? "…" : `${counted(films.length, "recording", "recordings")}${filmUntil}`}
          </Row>
          <Row name="Telemetry" tab={telemetry.data === 1 ? "events" : undefined}>
            {telemetry.data === undefined
              ? "…"
              : telemetry.data === 1
                ? "Kept until the retention of the service ends"
                : "None: it was not captured, or its retention has ended"}
          </Row>
          <Row name="Downloads">
            {downloads.data === undefined
              ? "…"
              : downloads.data === "not kept"
                ? "Deleted: the service keeps downloads only if its operator has set it"
                : `${counted(downloads.data, "file", "files")}, until the retention of the service ends`}
          </Row>
          <Row name="Audit log">Who started, changed and ended it, for administrators</Row>
          <Row name="Profile">
            {profile === undefined
              ? "It had no profile: its cookies are deleted"
              : profile_save_changes === true
                ? `Its cookies and storage were saved to ${profile.name ?? profile.id}`
                : "Its cookies were not saved to the profile"}
          </Row>
          <Row name="Deleted">Files, processes, terminals, and the logs of its programs</Row>
        </Table.Tbody>
      </Table>
    </Card>
  );
}

/** The first deletion: the oldest recording goes first. */
function untilOf(finishedMs: readonly number[], days: number | undefined): string {
  if (finishedMs.length === 0 || days === undefined) return "";
  return days === 0 ? ", without an end" : `, until ${momentText(Math.min(...finishedMs) + days * dayMs)}`;
}

interface RowProps {
  readonly name: string;
  readonly tab?: SessionTab | undefined;
  readonly children: ReactNode;
}

function Row({ name, tab, children }: RowProps) {
  return (
    <Table.Tr>
      <Table.Th w="30%" fw={500}>
        {name}
      </Table.Th>
      <Table.Td>
        <Text size="sm">
          {children}{" "}
          {tab !== undefined && (
            <Anchor
              size="sm"
              renderRoot={(props) => <Link to="." search={(before: object) => ({ ...before, tab })} {...props} />}
            >
              Open
            </Anchor>
          )}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}
