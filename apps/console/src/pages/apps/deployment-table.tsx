import { Anchor } from "@mantine/core";
import type { Deployment } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Rocket } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { useList } from "../../parts/table/use-list.ts";

const refreshMs = 5000;
const columns: readonly Column<Deployment>[] = [
  {
    name: "Deployment",
    cell: ({ id }) => (
      <Anchor size="sm" fw={600} renderRoot={(props) => <Link to="/deployments/$id" params={{ id }} {...props} />}>
        {id}
      </Anchor>
    ),
    share: 1.5,
  },
  { name: "Status", cell: ({ status }) => <RunStatus status={status} /> },
  { name: "Entry point", cell: ({ entrypoint_rel_path }) => entrypoint_rel_path ?? "None" },
  { name: "Source", cell: ({ source_type, source_url }) => source_url ?? source_type ?? "file", share: 1.5 },
  { name: "Created", cell: ({ created_at }) => <Ago at={created_at} />, share: 0.8 },
];

export function DeploymentTable({ query }: { readonly query: string | undefined }) {
  const { project, shoal } = useSignedIn();
  const list = useList(
    ["deployments", project?.id, query],
    (page, options) => shoal.deployments.list({ ...page, ...(query !== undefined && { query }) }, options),
    refreshMs,
  );
  return (
    <ResourceTable
      label="Deployments"
      list={list}
      idOf={({ id }) => id}
      columns={columns}
      empty={
        <Empty icon={Rocket} title={query === undefined ? "No deployments" : "No deployment matches"}>
          Deploy an app with shoal deploy. Its build and its state appear here.
        </Empty>
      }
    />
  );
}
