import { Anchor } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { AuthConnection } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { ConnectionStatus } from "./connection-status.tsx";
import { CreateConnectionDialog } from "./create-dialog.tsx";

const refreshMs = 5000;
const columns: readonly Column<AuthConnection>[] = [
  {
    name: "Site",
    cell: ({ id, domain }) => (
      <NameCell>
        <Anchor inherit renderRoot={(props) => <Link to="/connections/$id" params={{ id }} {...props} />}>
          {domain}
        </Anchor>
      </NameCell>
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
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canOperate = useCanOperate();
  const [isCreating, creating] = useDisclosure();
  return (
    <ListPage
      title="Connections"
      description="Sign-ins of profiles to sites, which the service keeps alive."
      create={canOperate && { label: "New connection", run: creating.open }}
      search="Search by site or profile"
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
    >
      <ResourceList
        label="Connections"
        queryKey={["connections", project?.id]}
        read={(request, options) => shoal.auth.connections.list(request, options)}
        refreshMs={refreshMs}
        idOf={({ id }) => id}
        columns={columns}
        empty={{
          icon: Plug,
          title: "No connections",
          text: "Create one, and sign in once. Sessions with its profile are then signed in.",
        }}
      />
      <CreateConnectionDialog
        isOpen={isCreating}
        close={creating.close}
        done={({ id }) => {
          void queries.invalidateQueries({ queryKey: ["connections"] });
          void navigate({ to: "/connections/$id", params: { id } });
        }}
      />
    </ListPage>
  );
}
