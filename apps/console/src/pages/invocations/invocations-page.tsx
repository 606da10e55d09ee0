import { Anchor, Group, NativeSelect, Text } from "@mantine/core";
import { type Invocation, invocationStatuses } from "@shoal/schemas";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Zap } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { RunStatus } from "../../parts/links/run-status.tsx";
import { Age, Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";

const refreshMs = 5000;
const columns: readonly Column<Invocation>[] = [
  {
    name: "Action",
    cell: ({ id, app_name, action_name, version }) => (
      <div>
        <Anchor size="sm" fw={600} renderRoot={(props) => <Link to="/invocations/$id" params={{ id }} {...props} />}>
          {app_name} / {action_name}
        </Anchor>
        <Text size="xs" c="dimmed">
          Version {version}
        </Text>
      </div>
    ),
    share: 2,
  },
  { name: "Status", cell: ({ status }) => <RunStatus status={status} /> },
  { name: "Reason", cell: ({ status_reason }) => status_reason ?? "None", share: 1.5 },
  { name: "Started", cell: ({ started_at }) => <Ago at={started_at} /> },
  {
    name: "Duration",
    cell: ({ started_at, finished_at }) => <Age from={started_at} to={finished_at ?? undefined} />,
    share: 0.8,
  },
];

export function InvocationsPage() {
  const { project, shoal } = useSignedIn();
  const { deployment, query, status } = useSearch({ from: "/invocations" });
  const navigate = useNavigate({ from: "/invocations" });
  const list = useList(
    ["invocations", project?.id, query, status, deployment],
    (page, options) =>
      shoal.invocations.list(
        {
          ...page,
          ...(query !== undefined && { query }),
          ...(status !== undefined && { status }),
          ...(deployment !== undefined && { deployment_id: deployment }),
        },
        options,
      ),
    refreshMs,
  );
  const isFiltered = query !== undefined || status !== undefined || deployment !== undefined;
  return (
    <Page
      title="Invocations"
      description={deployment === undefined ? "Runs of actions of apps." : `Runs of deployment ${deployment}.`}
    >
      <Group gap="sm" align="flex-end">
        <NativeSelect
          label="Status"
          data={[{ value: "", label: "All" }, ...invocationStatuses]}
          value={status ?? ""}
          onChange={({ currentTarget: { value } }) => {
            const next = invocationStatuses.find((one) => one === value);
            void navigate({ search: (before) => ({ ...before, status: next }), replace: true });
          }}
        />
        <SearchField
          label="Search by app, action or id"
          value={query}
          change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
        />
      </Group>
      <ResourceTable
        label="Invocations"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        empty={
          <Empty icon={Zap} title={isFiltered ? "No invocation matches" : "No invocations"}>
            {isFiltered ? "Change the filters." : "Invoke an action of an app on the page Apps, or from a program."}
          </Empty>
        }
      />
    </Page>
  );
}
