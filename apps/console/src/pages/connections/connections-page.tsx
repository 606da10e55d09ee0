import { Anchor, Button, Text } from "@mantine/core";
import type { AuthConnection } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { ConnectionStatus } from "./connection-status.tsx";
import { CreateConnectionDialog } from "./create-dialog.tsx";

const refreshMs = 5000;
const columns: readonly Column<AuthConnection>[] = [
  {
    name: "Site",
    cell: ({ id, domain }) => (
      <Anchor size="sm" fw={600} renderRoot={(props) => <Link to="/connections/$id" params={{ id }} {...props} />}>
        {domain}
      </Anchor>
    ),
    share: 1.5,
  },
  { name: "Profile", cell: ({ profile_name }) => profile_name },
  { name: "Status", cell: (connection) => <ConnectionStatus connection={connection} /> },
  {
    name: "Last check",
    cell: ({ last_auth_check_at: at }) => (at === undefined ? "Never" : <Ago at={at} />),
  },
  { name: "Signs in alone", cell: ({ can_reauth }) => (can_reauth === true ? "Yes" : "No"), share: 0.8 },
];

export function ConnectionsPage() {
  const { project, shoal } = useSignedIn();
  const { query } = useSearch({ from: "/connections" });
  const navigate = useNavigate({ from: "/connections" });
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const [isCreating, setCreating] = useState(false);
  const list = useList(
    ["connections", project?.id, query],
    (page, options) => shoal.auth.connections.list({ ...page, ...(query !== undefined && { query }) }, options),
    refreshMs,
  );
  return (
    <Page
      title="Connections"
      description="Sign-ins of profiles to sites, which the service keeps alive."
      actions={
        canOperate && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New connection
          </Button>
        )
      }
    >
      <SearchField
        label="Search by site or profile"
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
      <ResourceTable
        label="Connections"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        empty={
          <Empty icon={Plug} title={query === undefined ? "No connections" : "No connection matches"}>
            <Text inherit>Create one, and sign in once. Sessions with its profile are then signed in.</Text>
          </Empty>
        }
      />
      <ProgramCard
        programs={{
          sdk: `const connection = await shoal.auth.connections.create({
  domain: "example.com",
  profile_name: "buyer",
});
const { hosted_url } = await shoal.auth.connections.login(connection.id);`,
          cli: "auth connections create --domain example.com --profile-name buyer",
          curl: {
            method: "POST",
            path: "/auth/connections",
            body: { domain: "example.com", profile_name: "buyer" },
          },
        }}
      />
      <CreateConnectionDialog
        isOpen={isCreating}
        close={() => {
          setCreating(false);
        }}
        done={({ id }) => {
          void queries.invalidateQueries({ queryKey: ["connections"] });
          void navigate({ to: "/connections/$id", params: { id } });
        }}
      />
    </Page>
  );
}
