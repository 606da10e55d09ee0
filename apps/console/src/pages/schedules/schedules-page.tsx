import { Anchor, Badge, Button, Code, Text } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import type { Schedule } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock, Pause, Play, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { Ago, Moment } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CreateScheduleDialog } from "./create-dialog.tsx";

const refreshMs = 10_000;
const columns: readonly Column<Schedule>[] = [
  {
    name: "Action",
    cell: ({ app_name, action_name, version, origin }) => (
      <div>
        <Text size="sm" fw={600}>
          {app_name} / {action_name}
        </Text>
        <Text size="xs" c="dimmed">
          Version {version}, {origin === "code" ? "declared by the app" : "created by a request"}
        </Text>
      </div>
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
  { name: "Next run", cell: ({ next_run_at: at }) => (at === null ? "None" : <Moment at={at} />) },
  { name: "Last run", cell: (schedule) => <LastRun schedule={schedule} />, share: 1.3 },
];

function LastRun({
  schedule: { last_run_at: at, last_invocation_id: id, last_problem },
}: {
  readonly schedule: Schedule;
}) {
  if (at === undefined) return <>Never</>;
  return (
    <div>
      {id === undefined ? (
        <Ago at={at} />
      ) : (
        <Anchor size="sm" renderRoot={(props) => <Link to="/invocations/$id" params={{ id }} {...props} />}>
          <Ago at={at} />
        </Anchor>
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
  const { app } = useSearch({ from: "/schedules" });
  const navigate = useNavigate({ from: "/schedules" });
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const [isCreating, setCreating] = useState(false);
  const list = useList(
    ["schedules", project?.id, app],
    (page, options) => shoal.schedules.list({ ...page, ...(app !== undefined && { app_name: app }) }, options),
    refreshMs,
  );
  const close = () => {
    setCreating(false);
  };
  return (
    <Page
      title="Schedules"
      description="Times at which the service invokes actions of apps."
      actions={
        canOperate && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New schedule
          </Button>
        )
      }
    >
      <SearchField
        label="Name of an app"
        value={app}
        change={(next) => void navigate({ search: (before) => ({ ...before, app: next }), replace: true })}
      />
      <ResourceTable
        label="Schedules"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate ? (schedule) => <ScheduleMenu schedule={schedule} /> : undefined}
        empty={
          <Empty icon={CalendarClock} title={app === undefined ? "No schedules" : "The app has no schedules"}>
            Create one, or declare it in the code of an action.
          </Empty>
        }
      />
      <ProgramCard
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
      />
      <CreateScheduleDialog
        isOpen={isCreating}
        close={close}
        done={() => {
          close();
          void queries.invalidateQueries({ queryKey: ["schedules"] });
        }}
      />
    </Page>
  );
}

const changes = [["schedules"]];

function ScheduleMenu({ schedule: { id, app_name, action_name, status } }: { readonly schedule: Schedule }) {
  const { shoal } = useSignedIn();
  const name = `${app_name} / ${action_name}`;
  const isActive = status === "active";
  const change = useAction({
    act: () => (isActive ? shoal.schedules.pause(id) : shoal.schedules.resume(id)),
    changes,
  });
  const remove = useAction({
    act: () => shoal.schedules.delete(id),
    told: () => `The schedule of ${name} was deleted.`,
    changes,
  });
  return (
    <RowMenu
      label={`Actions for the schedule of ${name}`}
      actions={[
        { label: isActive ? "Pause" : "Resume", icon: isActive ? Pause : Play, run: change.mutate },
        {
          label: "Delete",
          icon: Trash2,
          isDangerous: true,
          run: remove.mutate,
          confirm: {
            title: `Delete the schedule of ${name}?`,
            text: "Running invocations continue.",
            action: "Delete the schedule",
          },
        },
      ]}
    />
  );
}
