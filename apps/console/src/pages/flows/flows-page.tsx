import { Anchor } from "@mantine/core";
import type { FlowSummary } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Route } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";

const columns: readonly Column<FlowSummary>[] = [
  { name: "Name", cell: (flow) => <FlowName flow={flow} />, share: 2 },
  { name: "Version", cell: ({ version }) => version, share: 0.6 },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function FlowsPage() {
  const { project, shoal } = useSignedIn();
  return (
    <ListPage
      title="Flows"
      description="Actions on pages that the service repeats without a model."
      programs={{
        sdk: `const { flow } = await shoal.flows.record(session_id, { name: "order" });
await shoal.flows.runs.create(flow.id);`,
        cli: "flows record research --name order",
        curl: { method: "POST", path: "/browsers/research/flows", body: { name: "order" } },
      }}
    >
      <ResourceList
        label="Flows"
        queryKey={["flows", project?.id]}
        read={(request, options) => shoal.flows.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        empty={{
          icon: Route,
          title: "No flows",
          text: "Record one from the actions of a session: the program below shows how.",
        }}
      />
    </ListPage>
  );
}

function FlowName({ flow: { id, name, start_url } }: { readonly flow: FlowSummary }) {
  return (
    <NameCell below={start_url}>
      <Anchor inherit renderRoot={(props) => <Link to="/flows/$id" params={{ id }} {...props} />}>
        {name}
      </Anchor>
    </NameCell>
  );
}
