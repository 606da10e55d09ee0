import { Badge, Code } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import { useDisclosure } from "@mantine/hooks";
import type { ApiKey, CreatedApiKey } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { KeyRound, RotateCw } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { SecretDialog } from "../../parts/forms/secret-dialog.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { useNow } from "../../parts/now.ts";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { CreateDialog } from "./create-dialog.tsx";

const columns: readonly Column<ApiKey>[] = [
  { name: "Name", cell: (key) => <KeyName apiKey={key} />, share: 2 },
  { name: "Key", cell: ({ masked_key }) => <Code>{masked_key}</Code>, share: 1.5 },
  { name: "Project", cell: ({ project_name }) => project_name ?? "All projects" },
  { name: "Rights", cell: (key) => <Rights apiKey={key} /> },
  { name: "Last use", cell: ({ last_used_at: at }) => (at === undefined ? "Never" : <Ago at={at} />) },
  { name: "Expires", cell: ({ expires_at }) => <Expiry at={expires_at} /> },
];

export function KeysPage() {
  const { shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const [created, setCreated] = useState<CreatedApiKey>();
  const [isCreating, creating] = useDisclosure();
  const show = (key: CreatedApiKey) => {
    creating.close();
    setCreated(key);
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <ListPage
      title="API keys"
      description="Keys authenticate programs. The service stores their hashes only."
      locked={!isAdmin && "The list of keys"}
      create={{ label: "New key", run: creating.open }}
      search="Search by name, creator or project"
      programs={{
        sdk: 'const { key } = await shoal.apiKeys.create({ name: "order-agent", days_to_expire: 90 });',
        cli: "api-keys create --name order-agent --expires-in 90d",
        curl: { method: "POST", path: "/org/api_keys", body: { name: "order-agent", days_to_expire: 90 } },
      }}
    >
      <ResourceList
        label="API keys"
        queryKey={["keys"]}
        read={(request, options) => shoal.apiKeys.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(key) => <KeyMenu apiKey={key} show={show} />}
        empty={{
          icon: KeyRound,
          title: "No API keys",
          text: "Create one for each program, so that you can replace them separately.",
        }}
      />
      <CreateDialog isOpen={isCreating} close={creating.close} done={show} />
      <SecretDialog
        secret={created?.key}
        title="Your new key"
        text="Copy the key now. The service stores only its hash, so it cannot be shown again."
        close={() => {
          setCreated(undefined);
        }}
      />
    </ListPage>
  );
}

function KeyName({ apiKey: { name, created_by, created_at } }: { readonly apiKey: ApiKey }) {
  const creator = created_by.name ?? created_by.email;
  return (
    <NameCell
      below={
        <>
          by {creator}, <Ago at={created_at} />
        </>
      }
    >
      {name}
    </NameCell>
  );
}

function Rights({ apiKey: { policy } }: { readonly apiKey: ApiKey }) {
  if (policy === undefined) return <>Everything</>;
  const lines = policy.statements.map(({ action, resource }) => `${action} on ${resource}`);
  const [first] = policy.statements;
  const role = policy.statements.length === 1 ? /^role:(\w+)$/.exec(first?.action ?? "")?.[1] : undefined;
  return (
    <span title={lines.join("\n")}>
      {role ??
        (lines.length === 0 ? "Nothing" : `${String(lines.length)} ${lines.length === 1 ? "statement" : "statements"}`)}
    </span>
  );
}

function Expiry({ at }: { readonly at: string | null }) {
  const now = useNow();
  if (at === null) return <>Never</>;
  return Date.parse(at) > now ? (
    <Moment at={at} />
  ) : (
    <Badge color="gray" variant="light" tt="none">
      Expired
    </Badge>
  );
}

interface KeyMenuProps {
  readonly apiKey: ApiKey;
  readonly show: (key: CreatedApiKey) => void;
}

function KeyMenu({ apiKey: { id, name }, show }: KeyMenuProps) {
  const { shoal } = useSignedIn();
  const rotate = useAction({ act: () => shoal.apiKeys.rotate(id), done: show, changes: [] });
  const deletion = useDeletion({
    kind: "key",
    name,
    text: "Programs with this key stop working at once. Live views and consoles that it opened end.",
    act: () => shoal.apiKeys.delete(id),
    changes: [["keys"]],
  });
  return (
    <RowMenu
      label={`Actions for key ${name}`}
      actions={[
        {
          label: "Rotate",
          icon: RotateCw,
          run: rotate.mutate,
          confirm: {
            title: `Rotate key ${name}?`,
            text: "You get a new key. The old one works for seven more days.",
            action: "Rotate the key",
          },
        },
        deletion,
      ]}
    />
  );
}
