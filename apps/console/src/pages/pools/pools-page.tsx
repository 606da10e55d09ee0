import { Anchor } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { BrowserPool } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { PoolDialog } from "./pool-dialog.tsx";
import { PoolMenu } from "./pool-menu.tsx";

const refreshMs = 5000;

const columns: readonly Column<BrowserPool>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <NameCell>
        <Anchor inherit renderRoot={(props) => <Link to="/pools/$id" params={{ id }} {...props} />}>
          {name ?? id}
        </Anchor>
      </NameCell>
    ),
    share: 2,
  },
  { name: "Waiting", cell: ({ available_count }) => available_count },
  { name: "Leased", cell: ({ acquired_count }) => acquired_count },
  { name: "Size", cell: ({ browser_pool_config: { size } }) => size },
  { name: "Created", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export function PoolsPage() {
  const { project, shoal } = useSignedIn();
  const canOperate = useCanOperate();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Pools"
      description="Browsers that wait for sessions, so that a program gets one at once."
      create={canOperate && { label: "New pool", run: creating.open }}
      search="Search by name or id"
      programs={{
        sdk: `await shoal.browserPools.create({ name: "search", size: 2 });
await using browser = await shoal.browserPools.acquire("search");`,
        cli: "browser-pools create --name search --size 2\nshoal browser-pools acquire search",
        curl: { method: "POST", path: "/browser_pools", body: { name: "search", size: 2 } },
      }}
    >
      <ResourceList
        label="Pools"
        queryKey={["pools", project?.id]}
        read={(request, options) => shoal.browserPools.list(request, options)}
        refreshMs={refreshMs}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate && ((pool) => <PoolMenu pool={pool} />)}
        empty={{
          icon: Layers,
          title: "No pools",
          text: "Create one to keep browsers with the same settings ready.",
        }}
      />
      <PoolDialog
        isOpen={isCreating}
        close={creating.close}
        done={({ id }) => {
          void queries.invalidateQueries({ queryKey: ["pools"] });
          void navigate({ to: "/pools/$id", params: { id } });
        }}
      />
    </ListPage>
  );
}
