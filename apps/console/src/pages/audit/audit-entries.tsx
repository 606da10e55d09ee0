import { Anchor, Badge, Modal, Text } from "@mantine/core";
import type { AuditLogEntry } from "@shoal/schemas";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { durationText } from "../../base/texts.ts";
import { Details } from "../../parts/detail/details.tsx";
import { Moment } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { type AuditQuery, strategies, strategyLabels } from "./filters.ts";
import { useAuditEntries } from "./use-audit-entries.ts";

const idOf = ({ event_id, timestamp, request_id }: AuditLogEntry) => event_id ?? `${timestamp} ${request_id ?? ""}`;

/** The person, the id of the key, or the kind of address that needs neither. */
function actorOf({ auth_strategy, email, user_id }: AuditLogEntry): string {
  const strategy = strategies.find((one) => one === auth_strategy);
  return email || user_id || (strategy === undefined ? auth_strategy : strategyLabels[strategy]);
}

/** `GET` would be the method of a handshake. */
const requestOf = ({ method, path, status }: AuditLogEntry): string =>
  `${status === 101 ? "Connection to" : method} ${path}`;

const columns: readonly Column<AuditLogEntry>[] = [
  { name: "Time", cell: ({ timestamp }) => <Moment at={timestamp} />, share: 1.8 },
  {
    name: "Actor",
    cell: (entry) => (
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {actorOf(entry)}
      </Text>
    ),
    share: 1.2,
  },
  { name: "Action", cell: (entry) => <Action entry={entry} />, share: 3 },
  { name: "Answer", cell: ({ status }) => <AnswerBadge status={status} />, share: 0.6 },
  { name: "Address", cell: ({ client_ip }) => client_ip },
];

export function AuditEntries({ query }: { readonly query: AuditQuery }) {
  const list = useAuditEntries(query);
  const { entry: shownId } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const shown = list.items?.find((entry) => idOf(entry) === shownId);
  return (
    <>
      <ResourceTable
        label="Audit log"
        list={list}
        idOf={idOf}
        columns={columns}
        empty={
          <Empty icon={SearchX} title="No entry matches">
            Choose a longer period, or remove filters.
          </Empty>
        }
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => void navigate({ search: (before) => ({ ...before, entry: undefined }), replace: true })}
        title={shown === undefined ? "" : `Entry ${shown.sequence ?? ""}`}
        size="lg"
      >
        {shown !== undefined && <EntryDetails entry={shown} />}
      </Modal>
    </>
  );
}

function Action({ entry }: { readonly entry: AuditLogEntry }) {
  const navigate = useNavigate({ from: "/audit" });
  const { operation } = entry;
  return (
    <div>
      <Anchor
        component="button"
        size="sm"
        ta="start"
        onClick={() => void navigate({ search: (before) => ({ ...before, entry: idOf(entry) }) })}
      >
        {operation ?? requestOf(entry)}
      </Anchor>
      <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {requestOf(entry)}
      </Text>
    </div>
  );
}

function AnswerBadge({ status }: { readonly status: number }) {
  const color = status >= 500 ? "red" : status >= 400 ? "orange" : "gray";
  return (
    <Badge variant="light" color={color} tt="none">
      {status}
    </Badge>
  );
}

function EntryDetails({ entry }: { readonly entry: AuditLogEntry }) {
  const { auth_strategy, client_ip, domain, duration_ms, event_id, operation } = entry;
  return (
    <Details
      rows={[
        ["Time", <Moment key="time" at={entry.timestamp} />],
        ["Actor", actorOf(entry)],
        ["Id of the actor", entry.user_id],
        ["Signed in with", auth_strategy],
        ["Operation", operation],
        ["Request", requestOf(entry)],
        ["Route", entry.route],
        ["Project", entry.project_id],
        ["Answer", entry.status],
        ["Duration", durationText(duration_ms)],
        ["Address", client_ip],
        ["Host", domain],
        ["User agent", entry.user_agent],
        ["Request id", entry.request_id],
        ["Sequence", entry.sequence],
        ["Event id", event_id],
      ]}
    />
  );
}
