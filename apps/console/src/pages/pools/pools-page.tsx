import { Anchor, Button } from "@mantine/core";
import type { BrowserPool } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Layers, Plus } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { NoMatch } from "../../parts/table/no-match.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { PoolDialog } from "./pool-dialog.tsx";
import { PoolMenu } from "./pool-menu.tsx";

const refreshMs = 5000;

const columns: readonly Column<BrowserPool>[] = [
  {
    name: "Name",
    cell: ({ id, name }) => (
      <Anchor fw={600} size="sm" renderRoot={(props) => <Link to="/pools/$id" params={{ id }} {...props} />}>
        {name ?? id}
      </Anchor>
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
  const { query } = useSearch({ from: "/pools" });
  const navigate = useNavigate({ from: "/pools" });
  const [isCreating, setCreating] = useState(false);
  const list = useList(
    ["pools", project?.id, query],
    (page, options) => shoal.browserPools.list({ ...page, query }, options),
    refreshMs,
  );
  return (
    <Page
      title="Pools"
      description="Browsers that wait for sessions, so that a program gets one at once."
      actions={
        canOperate && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New pool
          </Button>
        )
      }
    >
      <SearchField
        label="Search by name or id"
        value={query}
        change={(value) => void navigate({ search: (before) => ({ ...before, query: value }), replace: true })}
      />
      <ResourceTable
        label="Pools"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={canOperate ? (pool) => <PoolMenu pool={pool} /> : undefined}
        empty={
          query === undefined ? (
            <Empty icon={Layers} title="No pools">
              Create one to keep browsers with the same settings ready.
            </Empty>
          ) : (
            <NoMatch />
          )
        }
      />
      <ProgramCard
        programs={{
          sdk: `await shoal.browserPools.create({ name: "search", size: 2 });
await using browser = await shoal.browserPools.acquire("search");`,
          cli: "browser-pools create --name search --size 2\nshoal browser-pools acquire search",
          curl: { method: "POST", path: "/browser_pools", body: { name: "search", size: 2 } },
        }}
      />
      <PoolDialog
        isOpen={isCreating}
        close={() => {
          setCreating(false);
        }}
        done={({ id }) => {
          void queries.invalidateQueries({ queryKey: ["pools"] });
          void navigate({ to: "/pools/$id", params: { id } });
        }}
      />
    </Page>
  );
}
