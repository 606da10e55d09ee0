import { Anchor, NativeSelect } from "@mantine/core";
import { type Invocation, invocationStatuses } from "@shoal/schemas";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Zap } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { Age, Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";

const refreshMs = 5000;
const columns: readonly Column<Invocation>[] = [
  {
    name: "Action",
    cell: ({ id, app_name, action_name, version }) => (
      <NameCell below={`Version ${version}`}>
        <Anchor inherit renderRoot={(props) => <Link to="/invocations/$id" params={{ id }} {...props} />}>
          {app_name} / {action_name}
        </Anchor>
      </NameCell>
    ),
    share: 2,
  },
  { name: "Status", cell: ({ status }) => <RunStatus status={status} /> },
  { name: "Reason", cell: ({ status_reason }) => status_reason, share: 1.5 },
  { name: "Started", cell: ({ started_at }) => <Ago at={started_at} /> },
  {
    name: "Duration",
    cell: ({ started_at, finished_at }) => <Age from={started_at} to={finished_at ?? undefined} />,
    share: 0.8,
  },
];

export function InvocationsPage() {
  const { project, shoal } = useSignedIn();
  const { deployment, status } = useSearch({ from: "/invocations" });
  const navigate = useNavigate({ from: "/invocations" });
  return (
    <ListPage
      title="Invocations"
      description={deployment === undefined ? "Runs of actions of apps." : `Runs of deployment ${deployment}.`}
      search="Search by app, action or id"
      filters={
        <NativeSelect
          label="Status"
          data={[{ value: "", label: "All" }, ...invocationStatuses]}
          value={status ?? ""}
          onChange={({ currentTarget: { value } }) => {
            const next = invocationStatuses.find((one) => one === value);
            void navigate({ search: (before) => ({ ...before, status: next }), replace: true });
          }}
        />
      }
      programs={{
        sdk: `const failed = await shoal.invocations.list({ status: "failed" });
for (const { id, status_reason } of failed.items) console.log(id, status_reason);`,
        cli: "invocations list --status failed",
        curl: { path: "/invocations?status=failed" },
      }}
    >
      <ResourceList
        label="Invocations"
        queryKey={["invocations", project?.id, status, deployment]}
        read={(request, options) =>
          shoal.invocations.list(
            {
              ...request,
              ...(status !== undefined && { status }),
              ...(deployment !== undefined && { deployment_id: deployment }),
            },
            options,
          )
        }
        refreshMs={refreshMs}
        idOf={({ id }) => id}
        columns={columns}
        isFiltered={status !== undefined || deployment !== undefined}
        empty={{
          icon: Zap,
          title: "No invocations",
          text: "Invoke an action of an app on the page Apps, or from a program.",
        }}
      />
    </ListPage>
  );
}
