import { Badge, Button, Text } from "@mantine/core";
import type { CredentialProvider } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Vault } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { AdminOnly } from "../../parts/access/admin-only.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CreateProviderDialog } from "./create-dialog.tsx";
import { labelOf } from "./kinds.ts";
import { ItemsDialog } from "./items-dialog.tsx";
import { ProviderMenu } from "./provider-menu.tsx";

const columns: readonly Column<CredentialProvider>[] = [
  {
    name: "Name",
    cell: ({ name }) => (
      <Text size="sm" fw={600}>
        {name}
      </Text>
    ),
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
  const isAdmin = useIsAdmin();
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Credential providers"
      description="Password managers that logins read credentials from. Providers with a lower priority are asked first."
      actions={
        isAdmin && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New provider
          </Button>
        )
      }
    >
      {isAdmin ? (
        <Providers
          isCreating={isCreating}
          close={() => {
            setCreating(false);
          }}
        />
      ) : (
        <AdminOnly what="The list of providers" />
      )}
    </Page>
  );
}

function Providers({ isCreating, close }: { readonly isCreating: boolean; readonly close: () => void }) {
  const { project, shoal } = useSignedIn();
  const { query } = useSearch({ from: "/providers" });
  const navigate = useNavigate({ from: "/providers" });
  const queries = useQueryClient();
  const [opened, setOpened] = useState<CredentialProvider>();
  const list = useList(["providers", project?.id, query], (page, options) =>
    shoal.credentialProviders.list({ ...page, ...(query !== undefined && { query }) }, options),
  );
  return (
    <>
      <SearchField
        label="Search by name"
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
      <ResourceTable
        label="Credential providers"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={(provider) => <ProviderMenu provider={provider} showItems={setOpened} />}
        empty={
          <Empty icon={Vault} title={query === undefined ? "No credential providers" : "No provider matches"}>
            Connect a password manager, so that credentials stay there and logins read them when they need them.
          </Empty>
        }
      />
      <CreateProviderDialog
        isOpen={isCreating}
        close={close}
        done={() => {
          close();
          void queries.invalidateQueries({ queryKey: ["providers"] });
        }}
      />
      <ItemsDialog
        provider={opened}
        close={() => {
          setOpened(undefined);
        }}
      />
    </>
  );
}
