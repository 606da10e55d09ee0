import { Button, Text } from "@mantine/core";
import type { Credential } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { KeySquare, Pencil, Plus, Timer, Trash2 } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { AdminOnly } from "../../parts/access/admin-only.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CredentialDialog } from "./credential-dialog.tsx";
import { CodeDialog } from "./code-dialog.tsx";

const columns: readonly Column<Credential>[] = [
  {
    name: "Name",
    cell: ({ name }) => (
      <Text size="sm" fw={600}>
        {name}
      </Text>
    ),
    share: 1.5,
  },
  { name: "Site", cell: ({ domain }) => domain, share: 1.5 },
  { name: "One-time codes", cell: ({ has_totp_secret }) => (has_totp_secret === true ? "Yes" : "No") },
  { name: "Provider", cell: ({ sso_provider }) => sso_provider ?? "Own form" },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function CredentialsPage() {
  const isAdmin = useIsAdmin();
  const [edited, setEdited] = useState<Credential | "new">();
  return (
    <Page
      title="Credentials"
      description="Values that logins enter on sites. The service encrypts them and never shows them again."
      actions={
        isAdmin && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setEdited("new");
            }}
          >
            New credential
          </Button>
        )
      }
    >
      {isAdmin ? <Credentials edited={edited} edit={setEdited} /> : <AdminOnly what="The list of credentials" />}
    </Page>
  );
}

interface CredentialsProps {
  readonly edited: Credential | "new" | undefined;
  readonly edit: (credential: Credential | undefined) => void;
}

function Credentials({ edited, edit }: CredentialsProps) {
  const { project, shoal } = useSignedIn();
  const { query } = useSearch({ from: "/credentials" });
  const navigate = useNavigate({ from: "/credentials" });
  const queries = useQueryClient();
  const [coded, setCoded] = useState<Credential>();
  const list = useList(["credentials", project?.id, query], (page, options) =>
    shoal.credentials.list({ ...page, ...(query !== undefined && { query }) }, options),
  );
  return (
    <>
      <SearchField
        label="Search by name or site"
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
      <ResourceTable
        label="Credentials"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={(credential) => <CredentialMenu credential={credential} edit={edit} showCode={setCoded} />}
        empty={
          <Empty icon={KeySquare} title={query === undefined ? "No credentials" : "No credential matches"}>
            Logins store what a person enters, or you create a credential here.
          </Empty>
        }
      />
      <CredentialDialog
        edited={edited}
        close={() => {
          edit(undefined);
        }}
        done={() => {
          edit(undefined);
          void queries.invalidateQueries({ queryKey: ["credentials"] });
        }}
      />
      <CodeDialog
        credential={coded}
        close={() => {
          setCoded(undefined);
        }}
      />
    </>
  );
}

interface CredentialMenuProps {
  readonly credential: Credential;
  readonly edit: (credential: Credential) => void;
  readonly showCode: (credential: Credential) => void;
}

function CredentialMenu({ credential, edit, showCode }: CredentialMenuProps) {
  const { id, name, has_totp_secret } = credential;
  const { shoal } = useSignedIn();
  const remove = useAction({
    act: () => shoal.credentials.delete(id),
    told: () => `The credential ${name} was deleted.`,
    changes: [["credentials"]],
  });
  return (
    <RowMenu
      label={`Actions for credential ${name}`}
      actions={[
        {
          label: "Change",
          icon: Pencil,
          run: () => {
            edit(credential);
          },
        },
        ...(has_totp_secret === true
          ? [
              {
                label: "Show a one-time code",
                icon: Timer,
                run: () => {
                  showCode(credential);
                },
              },
            ]
          : []),
        {
          label: "Delete",
          icon: Trash2,
          isDangerous: true,
          run: remove.mutate,
          confirm: {
            title: `Delete the credential ${name}?`,
            text: "Connections that use it ask a person at their next login.",
            action: "Delete the credential",
          },
        },
      ]}
    />
  );
}
