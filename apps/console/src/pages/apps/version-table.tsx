import { Anchor, Button, Group, Text } from "@mantine/core";
import type { AppVersion } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Package, Play } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { InvokeDialog } from "./invoke-dialog.tsx";

const columns: readonly Column<AppVersion>[] = [
  {
    name: "App",
    cell: ({ app_name, version }) => (
      <div>
        <Text size="sm" fw={600}>
          {app_name}
        </Text>
        <Text size="xs" c="dimmed">
          Version {version}
        </Text>
      </div>
    ),
  },
  { name: "Actions", cell: ({ actions }) => actions.map(({ name }) => name).join(", ") || "None", share: 1.5 },
  {
    name: "Deployment",
    cell: ({ deployment: id }) => (
      <Anchor size="sm" renderRoot={(props) => <Link to="/deployments/$id" params={{ id }} {...props} />}>
        {id}
      </Anchor>
    ),
    share: 1.3,
  },
];

export function VersionTable({ query }: { readonly query: string | undefined }) {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const [invoked, setInvoked] = useState<AppVersion>();
  const list = useList(["apps", project?.id, query], (page, options) =>
    shoal.apps.list({ ...page, ...(query !== undefined && { query }) }, options),
  );
  const runColumn: Column<AppVersion> = {
    name: "Run",
    cell: (app) => (
      <Group>
        <Button
          size="compact-sm"
          variant="light"
          leftSection={<Play size={14} aria-hidden />}
          aria-label={`Invoke an action of ${app.app_name}, version ${app.version}`}
          disabled={app.actions.length === 0}
          onClick={() => {
            setInvoked(app);
          }}
        >
          Invoke
        </Button>
      </Group>
    ),
    share: 0.7,
  };
  return (
    <>
      <ResourceTable
        label="Apps"
        list={list}
        idOf={({ id }) => id}
        columns={canOperate ? [...columns, runColumn] : columns}
        empty={
          <Empty icon={Package} title={query === undefined ? "No apps" : "No app matches"}>
            Deploy one with shoal deploy. Its versions and actions appear here.
          </Empty>
        }
      />
      <InvokeDialog
        app={invoked}
        close={() => {
          setInvoked(undefined);
        }}
      />
    </>
  );
}
