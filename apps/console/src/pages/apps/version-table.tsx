import { Anchor, Button, Group } from "@mantine/core";
import type { AppVersion } from "@shoal/schemas";
import { Link } from "@tanstack/react-router";
import { Package, Play } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { InvokeDialog } from "./invoke-dialog.tsx";

const columns: readonly Column<AppVersion>[] = [
  {
    name: "App",
    cell: ({ app_name, version }) => <NameCell below={`Version ${version}`}>{app_name}</NameCell>,
  },
  { name: "Actions", cell: ({ actions }) => actions.map(({ name }) => name).join(", "), share: 1.5 },
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

export function VersionTable() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const [invoked, setInvoked] = useState<AppVersion>();
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
      <ResourceList
        label="Apps"
        queryKey={["apps", project?.id]}
        read={(request, options) => shoal.apps.list(request, options)}
        idOf={({ id }) => id}
        columns={canOperate ? [...columns, runColumn] : columns}
        empty={{
          icon: Package,
          title: "No apps",
          text: "Deploy one with shoal deploy. Its versions and actions appear here.",
        }}
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
