import type { Credential } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { KeySquare, Pencil, Timer } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { CredentialDialog } from "./credential-dialog.tsx";
import { CodeDialog } from "./code-dialog.tsx";

const columns: readonly Column<Credential>[] = [
  {
    name: "Name",
    cell: ({ name }) => <NameCell>{name}</NameCell>,
    share: 1.5,
  },
  { name: "Site", cell: ({ domain }) => domain, share: 1.5 },
  { name: "One-time codes", cell: ({ has_totp_secret }) => (has_totp_secret === true ? "Yes" : "No") },
  { name: "Provider", cell: ({ sso_provider }) => sso_provider ?? "Own form" },
  { name: "Changed", cell: ({ updated_at }) => <Ago at={updated_at} /> },
];

export function CredentialsPage() {
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const [edited, setEdited] = useState<Credential | "new">();
  const [coded, setCoded] = useState<Credential>();
  const close = () => {
    setEdited(undefined);
  };
  return (
    <ListPage
      title="Credentials"
      description="Values that logins enter on sites. The service encrypts them and never shows them again."
      locked={!isAdmin && "The list of credentials"}
      create={{
        label: "New credential",
        run: () => {
          setEdited("new");
        },
      }}
      search="Search by name or site"
      programs={{
        sdk: `await shoal.credentials.create({
  name: "buyer",
  domain: "shop.example.com",
  values: { username: "ada", password: process.env.SHOP_PASSWORD ?? "" },
});`,
        cli: "credentials create --name buyer --domain shop.example.com --value username=ada --value password=- < password.txt",
        curl: { path: "/credentials" },
      }}
    >
      <ResourceList
        label="Credentials"
        queryKey={["credentials", project?.id]}
        read={(request, options) => shoal.credentials.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(credential) => <CredentialMenu credential={credential} edit={setEdited} showCode={setCoded} />}
        empty={{
          icon: KeySquare,
          title: "No credentials",
          text: "Logins store what a person enters, or you create a credential here.",
        }}
      />
      <CredentialDialog
        edited={edited}
        close={close}
        done={() => {
          close();
          void queries.invalidateQueries({ queryKey: ["credentials"] });
        }}
      />
      <CodeDialog
        credential={coded}
        close={() => {
          setCoded(undefined);
        }}
      />
    </ListPage>
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
  const deletion = useDeletion({
    kind: "credential",
    name,
    text: "Connections that use it ask a person at their next login.",
    act: () => shoal.credentials.delete(id),
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
        deletion,
      ]}
    />
  );
}
