import { Anchor, Badge, Code, Text } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import { useDisclosure } from "@mantine/hooks";
import type { Schedule } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CalendarClock, Pause, Play } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Ago, Moment } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { CreateScheduleDialog } from "./create-dialog.tsx";

const refreshMs = 10_000;
const columns: readonly Column<Schedule>[] = [
  {
    name: "Action",
    cell: ({ flow_id: flow, version, origin, ...target }) => (
      <NameCell
        below={
          flow === undefined
            ? `Version ${version ?? ""}, ${origin === "code" ? "declared by the app" : "created by a request"}`
            : "Flow"
        }
      >
        {flow === undefined ? (
          targetOf(target)
        ) : (
          <Anchor inherit renderRoot={(props) => <Link to="/flows/$id" params={{ id: flow }} {...props} />}>
            {flow}
          </Anchor>
        )}
      </NameCell>
    ),
    share: 1.5,
  },
  {
    name: "Times",
    cell: ({ cron, time_zone }) => (
      <div>
        <Code>{cron}</Code>
        <Text size="xs" c="dimmed">
          {time_zone}
        </Text>
      </div>
    ),
  },
  {
    name: "Status",
    cell: ({ status }) => (
      <Badge variant="light" color={status === "active" ? "green" : "gray"} tt="none">
        {status === "active" ? "Active" : "Paused"}
      </Badge>
    ),
    share: 0.7,
  },
  { name: "Next run", cell: ({ next_run_at: at }) => at !== null && <Moment at={at} /> },
  { name: "Last run", cell: (schedule) => <LastRun schedule={schedule} />, share: 1.3 },
];

function targetOf({ action_name, app_name, flow_id }: Pick<Schedule, "action_name" | "app_name" | "flow_id">): string {
  return flow_id ?? `${app_name ?? ""} / ${action_name ?? ""}`;
}

function LastRun({ schedule }: { readonly schedule: Schedule }) {
  const {
    flow_id: flow,
    last_flow_run_id: run,
    last_invocation_id: invocation,
    last_problem,
    last_run_at: at,
  } = schedule;
  if (at === undefined) return <>Never</>;
  const ago = <Ago at={at} />;
  return (
    <div>
      {invocation !== undefined ? (
        <Anchor size="sm" renderRoot={(props) => <Link to="/invocations/$id" params={{ id: invocation }} {...props} />}>
          {ago}
        </Anchor>
      ) : flow !== undefined && run !== undefined ? (
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/flows/$id/runs/$run" params={{ id: flow, run }} {...props} />}
        >
          {ago}
        </Anchor>
      ) : (
        ago
      )}
      {last_problem !== undefined && (
        <Text size="xs" c="dimmed">
          {last_problem}
        </Text>
      )}
    </div>
  );
}

export function SchedulesPage() {
  const { project, shoal } = useSignedIn();
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Schedules"
      description="Times at which the service invokes actions of apps, or runs flows."
      create={canOperate && { label: "New schedule", run: creating.open }}
      search="Name of an app"
      programs={{
        sdk: `await shoal.schedules.create({
  app_name: "shop",
  action_name: "report",
  cron: "0 9 * * 1-5",
  time_zone: "Europe/Berlin",
});`,
        cli: `schedules create --app-name shop --action-name report --cron "0 9 * * 1-5" --time-zone Europe/Berlin`,
        curl: {
          method: "POST",
          path: "/schedules",
          body: { app_name: "shop", action_name: "report", cron: "0 9 * * 1-5", time_zone: "Europe/Berlin" },
        },
      }}
    >
      <ResourceList
        label="Schedules"
        queryKey={["schedules", project?.id]}
        read={({ query, ...page }, options) =>
          shoal.schedules.list({ ...page, ...(query !== undefined && { app_name: query }) }, options)
        }
        refreshMs={refreshMs}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate && ((schedule) => <ScheduleMenu schedule={schedule} />)}
        empty={{
          icon: CalendarClock,
          title: "No schedules",
          text: "Create one, or declare it in the code of an action.",
        }}
      />
      <CreateScheduleDialog
        isOpen={isCreating}
        close={creating.close}
        done={() => {
          creating.close();
          void queries.invalidateQueries({ queryKey: ["schedules"] });
        }}
      />
    </ListPage>
  );
}

const changes = [["schedules"]];

function ScheduleMenu({ schedule }: { readonly schedule: Schedule }) {
  const { id, status } = schedule;
  const { shoal } = useSignedIn();
  const name = targetOf(schedule);
  const isActive = status === "active";
  const change = useAction({
    act: () => (isActive ? shoal.schedules.pause(id) : shoal.schedules.resume(id)),
    changes,
  });
  const deletion = useDeletion({
    kind: "schedule",
    name,
    text: "Running invocations continue.",
    act: () => shoal.schedules.delete(id),
    changes,
  });
  return (
    <RowMenu
      label={`Actions for the schedule of ${name}`}
      actions={[{ label: isActive ? "Pause" : "Resume", icon: isActive ? Pause : Play, run: change.mutate }, deletion]}
    />
  );
}
