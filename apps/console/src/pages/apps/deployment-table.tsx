import { Anchor } from "@mantine/core";
import type { Deployment } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { Ago } from "../../parts/moment.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";

const refreshMs = 5000;
const columns: readonly Column<Deployment>[] = [
  {
    name: "Deployment",
    cell: ({ id }) => (
      <NameCell>
        <Anchor inherit renderRoot={(props) => <Link to="/deployments/$id" params={{ id }} {...props} />}>
          {id}
        </Anchor>
      </NameCell>
    ),
    share: 1.5,
  },
  { name: "Status", cell: ({ status }) => <RunStatus status={status} /> },
  { name: "Entry point", cell: ({ entrypoint_rel_path }) => entrypoint_rel_path },
  { name: "Source", cell: ({ source_type, source_url }) => source_url ?? source_type ?? "file", share: 1.5 },
  { name: "Created", cell: ({ created_at }) => <Ago at={created_at} />, share: 0.8 },
];

export function DeploymentTable() {
  const { project, shoal } = useSignedIn();
  return (
    <ResourceList
      label="Deployments"
      queryKey={["deployments", project?.id]}
      read={(request, options) => shoal.deployments.list(request, options)}
      refreshMs={refreshMs}
      idOf={({ id }) => id}
      columns={columns}
      empty={{
        icon: Rocket,
        title: "No deployments",
        text: "Deploy an app with shoal deploy. Its build and its state appear here.",
      }}
    />
  );
}
