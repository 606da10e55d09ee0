import { Badge, Text } from "@mantine/core";
import type { AuthConnection, TimelineEvent } from "@shoal/schemas";
import { History } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { Section } from "../../parts/detail/section.tsx";
import { Moment } from "../../parts/moment.tsx";
import { SessionLink } from "../../parts/links/session-link.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { useList } from "../../parts/table/use-list.ts";

const refreshMs = 5000;
const kinds: Readonly<Record<string, string>> = {
  login: "Login by a person",
  reauth: "Login by the service",
  health_check: "Check",
};
const results: Readonly<Record<string, readonly [color: string, text: string]>> = {
  IN_PROGRESS: ["cyan", "Running"],
  SUCCESS: ["green", "Signed in"],
  AUTHENTICATED: ["green", "Signed in"],
  NEEDS_AUTH: ["orange", "Signed out"],
  FAILED: ["red", "Failed"],
  EXPIRED: ["gray", "Expired"],
  CANCELED: ["gray", "Canceled"],
};

const columns: readonly Column<TimelineEvent>[] = [
  { name: "Time", cell: ({ timestamp }) => <Moment at={timestamp} />, share: 1.2 },
  { name: "Event", cell: ({ type }) => kinds[type] ?? type },
  { name: "Result", cell: (event) => <Result event={event} />, share: 2 },
  { name: "Session", cell: ({ browser_session_id: id }) => id && <SessionLink id={id} />, share: 1.6 },
];

export function Timeline({ connection: { id } }: { readonly connection: AuthConnection }) {
  const { shoal } = useSignedIn();
  const list = useList(
    ["connection-timeline", id],
    (page, options) => shoal.auth.connections.timeline(id, page, options),
    refreshMs,
  );
  return (
    <Section title="Timeline" isPlain>
      <ResourceTable
        label="Timeline"
        list={list}
        idOf={(event) => event.id}
        columns={columns}
        empty={
          <Empty icon={History} title="Nothing has happened yet">
            Logins and checks appear here.
          </Empty>
        }
      />
    </Section>
  );
}

function Result({ event }: { readonly event: TimelineEvent }) {
  const { error_code, error_message, note, status, website_error } = event;
  const [color, text] = results[status] ?? (["gray", status] as const);
  const reasons = [error_message ?? error_code, website_error && `The site shows: ${website_error}`, note];
  return (
    <div>
      <Badge variant="light" color={color} tt="none">
        {text}
      </Badge>
      {reasons.filter(Boolean).map((reason) => (
        <Text key={reason} size="xs" c="dimmed">
          {reason}
        </Text>
      ))}
    </div>
  );
}
