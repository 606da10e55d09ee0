import { Button, Text } from "@mantine/core";
import type { OtlpDestination } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Pencil, Plus, RadioTower, Trash2 } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { AdminOnly } from "../../parts/access/admin-only.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { DestinationDialog } from "./destination-dialog.tsx";

const columns: readonly Column<OtlpDestination>[] = [
  {
    name: "Name",
    cell: ({ name, description }) => (
      <div>
        <Text size="sm" fw={600}>
          {name}
        </Text>
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      </div>
    ),
  },
  { name: "Address", cell: ({ endpoint }) => endpoint, share: 2 },
  { name: "Secret headers", cell: ({ headers }) => Object.keys(headers).join(", ") || "None" },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} />, share: 0.8 },
];

export function DestinationsPage() {
  const isAdmin = useIsAdmin();
  const [edited, setEdited] = useState<OtlpDestination | "new">();
  return (
    <Page
      title="Telemetry destinations"
      description="OpenTelemetry receivers that sessions send their telemetry to."
      actions={
        isAdmin && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setEdited("new");
            }}
          >
            New destination
          </Button>
        )
      }
    >
      {isAdmin ? <Destinations edited={edited} edit={setEdited} /> : <AdminOnly what="The list of destinations" />}
    </Page>
  );
}

interface DestinationsProps {
  readonly edited: OtlpDestination | "new" | undefined;
  readonly edit: (destination: OtlpDestination | undefined) => void;
}

function Destinations({ edited, edit }: DestinationsProps) {
  const { project, shoal } = useSignedIn();
  const { query } = useSearch({ from: "/telemetry" });
  const navigate = useNavigate({ from: "/telemetry" });
  const queries = useQueryClient();
  const list = useList(["telemetry-destinations", project?.id, query], (page, options) =>
    shoal.telemetry.destinations.list({ ...page, ...(query !== undefined && { query }) }, options),
  );
  return (
    <>
      <SearchField
        label="Search by name"
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
      <ResourceTable
        label="Telemetry destinations"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={(destination) => <DestinationMenu destination={destination} edit={edit} />}
        empty={
          <Empty icon={RadioTower} title={query === undefined ? "No destinations" : "No destination matches"}>
            Create one, and name it in the telemetry of a session, to see its pages and requests in your own system.
          </Empty>
        }
      />
      <ProgramCard
        programs={{
          sdk: `await shoal.telemetry.destinations.create({
  name: "collector",
  endpoint: "https://otlp.example.com",
  headers: { Authorization: \`Bearer \${process.env.OTLP_TOKEN}\` },
});`,
          cli: `telemetry destinations create --name collector --endpoint https://otlp.example.com`,
          curl: {
            method: "POST",
            path: "/telemetry/destinations",
            body: { name: "collector", endpoint: "https://otlp.example.com" },
          },
        }}
      />
      <DestinationDialog
        edited={edited}
        close={() => {
          edit(undefined);
        }}
        done={() => {
          edit(undefined);
          void queries.invalidateQueries({ queryKey: ["telemetry-destinations"] });
        }}
      />
    </>
  );
}

interface DestinationMenuProps {
  readonly destination: OtlpDestination;
  readonly edit: (destination: OtlpDestination) => void;
}

function DestinationMenu({ destination, edit }: DestinationMenuProps) {
  const { id, name } = destination;
  const { shoal } = useSignedIn();
  const remove = useAction({
    act: () => shoal.telemetry.destinations.delete(id),
    told: () => `The destination ${name} was deleted.`,
    changes: [["telemetry-destinations"]],
  });
  return (
    <RowMenu
      label={`Actions for destination ${name}`}
      actions={[
        {
          label: "Change",
          icon: Pencil,
          run: () => {
            edit(destination);
          },
        },
        {
          label: "Delete",
          icon: Trash2,
          isDangerous: true,
          run: remove.mutate,
          confirm: {
            title: `Delete the destination ${name}?`,
            text: "Its headers are deleted. A destination that running sessions use cannot be deleted.",
            action: "Delete the destination",
          },
        },
      ]}
    />
  );
}
