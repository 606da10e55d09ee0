import type { OtlpDestination } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Pencil, RadioTower } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { DestinationDialog } from "./destination-dialog.tsx";

const columns: readonly Column<OtlpDestination>[] = [
  {
    name: "Name",
    cell: ({ name, description }) => <NameCell below={description}>{name}</NameCell>,
  },
  { name: "Address", cell: ({ endpoint }) => endpoint, share: 2 },
  { name: "Secret headers", cell: ({ headers }) => Object.keys(headers).join(", ") },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} />, share: 0.8 },
];

export function DestinationsPage() {
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const [edited, setEdited] = useState<OtlpDestination | "new">();
  const close = () => {
    setEdited(undefined);
  };
  return (
    <ListPage
      title="Telemetry destinations"
      description="OpenTelemetry receivers that sessions send their telemetry to."
      locked={!isAdmin && "The list of destinations"}
      create={{
        label: "New destination",
        run: () => {
          setEdited("new");
        },
      }}
      search="Search by name"
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
    >
      <ResourceList
        label="Telemetry destinations"
        queryKey={["telemetry-destinations", project?.id]}
        read={(request, options) => shoal.telemetry.destinations.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(destination) => <DestinationMenu destination={destination} edit={setEdited} />}
        empty={{
          icon: RadioTower,
          title: "No destinations",
          text: "Create one, and name it in the telemetry of a session, to see its pages and requests in your own system.",
        }}
      />
      <DestinationDialog
        edited={edited}
        close={close}
        done={() => {
          close();
          void queries.invalidateQueries({ queryKey: ["telemetry-destinations"] });
        }}
      />
    </ListPage>
  );
}

interface DestinationMenuProps {
  readonly destination: OtlpDestination;
  readonly edit: (destination: OtlpDestination) => void;
}

function DestinationMenu({ destination, edit }: DestinationMenuProps) {
  const { id, name } = destination;
  const { shoal } = useSignedIn();
  const deletion = useDeletion({
    kind: "destination",
    name,
    text: "Its headers are deleted. A destination that running sessions use cannot be deleted.",
    act: () => shoal.telemetry.destinations.delete(id),
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
        deletion,
      ]}
    />
  );
}
