import { Badge } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { CredentialProvider } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Vault } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { CreateProviderDialog } from "./create-dialog.tsx";
import { labelOf } from "./kinds.ts";
import { ItemsDialog } from "./items-dialog.tsx";
import { ProviderMenu } from "./provider-menu.tsx";

const columns: readonly Column<CredentialProvider>[] = [
  {
    name: "Name",
    cell: ({ name }) => <NameCell>{name}</NameCell>,
    share: 1.5,
  },
  { name: "Kind", cell: ({ provider_type }) => labelOf(provider_type), share: 1.5 },
  {
    name: "Status",
    cell: ({ enabled }) => (
      <Badge variant="light" color={enabled ? "green" : "gray"} tt="none">
        {enabled ? "Enabled" : "Disabled"}
      </Badge>
    ),
  },
  { name: "Priority", cell: ({ priority }) => priority, share: 0.6 },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function ProvidersPage() {
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const [isCreating, creating] = useDisclosure();
  const [opened, setOpened] = useState<CredentialProvider>();
  return (
    <ListPage
      title="Credential providers"
      description="Password managers that logins read credentials from. Providers with a lower priority are asked first."
      locked={!isAdmin && "The list of providers"}
      create={{ label: "New provider", run: creating.open }}
      search="Search by name"
      programs={{
        sdk: `const provider = await shoal.credentialProviders.create({
  name: "company",
  provider_type: "vault",
  settings: { address: "https://vault.example.com:8200" },
  token: process.env.VAULT_TOKEN ?? "",
});
await shoal.credentialProviders.test(provider.id);`,
        // The token comes from the standard input, because command lines are visible to other programs.
        cli: `credential-providers create --name company --provider-type vault --setting address=https://vault.example.com:8200 --token - < token.txt`,
        curl: { path: "/org/credential_providers" },
      }}
    >
      <ResourceList
        label="Credential providers"
        queryKey={["providers", project?.id]}
        read={(request, options) => shoal.credentialProviders.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(provider) => <ProviderMenu provider={provider} showItems={setOpened} />}
        empty={{
          icon: Vault,
          title: "No credential providers",
          text: "Connect a password manager, so that credentials stay there and logins read them when they need them.",
        }}
      />
      <CreateProviderDialog
        isOpen={isCreating}
        close={creating.close}
        done={() => {
          creating.close();
          void queries.invalidateQueries({ queryKey: ["providers"] });
        }}
      />
      <ItemsDialog
        provider={opened}
        close={() => {
          setOpened(undefined);
        }}
      />
    </ListPage>
  );
}
