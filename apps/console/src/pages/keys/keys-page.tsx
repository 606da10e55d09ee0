import { Badge, Button, Code, Text } from "@mantine/core";
import "@mantine/core/styles/Code.css";
import type { ApiKey, CreatedApiKey } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { KeyRound, Plus, RotateCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { SecretDialog } from "../../parts/forms/secret-dialog.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { useNow } from "../../parts/now.ts";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { NoMatch } from "../../parts/table/no-match.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CreateDialog } from "./create-dialog.tsx";

const columns: readonly Column<ApiKey>[] = [
  { name: "Name", cell: (key) => <KeyName apiKey={key} />, share: 2 },
  { name: "Key", cell: ({ masked_key }) => <Code>{masked_key}</Code>, share: 1.5 },
  { name: "Project", cell: ({ project_name }) => project_name ?? "All projects" },
  { name: "Last use", cell: ({ last_used_at: at }) => (at === undefined ? "Never" : <Ago at={at} />) },
  { name: "Expires", cell: ({ expires_at }) => <Expiry at={expires_at} /> },
];

export function KeysPage() {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [created, setCreated] = useState<CreatedApiKey>();
  const [isCreating, setCreating] = useState(false);
  const { query } = useSearch({ from: "/keys" });
  const navigate = useNavigate({ from: "/keys" });
  const list = useList(["keys", query], (page, options) => shoal.apiKeys.list({ ...page, query }, options));
  const show = (key: CreatedApiKey) => {
    setCreating(false);
    setCreated(key);
    void queries.invalidateQueries({ queryKey: ["keys"] });
  };
  return (
    <Page
      title="API keys"
      description="Keys authenticate programs. The service stores their hashes only."
      actions={
        <Button
          leftSection={<Plus size={16} aria-hidden />}
          onClick={() => {
            setCreating(true);
          }}
        >
          New key
        </Button>
      }
    >
      <SearchField
        label="Search by name, creator or project"
        value={query}
        change={(value) => void navigate({ search: (before) => ({ ...before, query: value }), replace: true })}
      />
      <ResourceTable
        label="API keys"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={(key) => <KeyMenu apiKey={key} show={show} />}
        empty={
          query === undefined ? (
            <Empty icon={KeyRound} title="No API keys">
              Create one for each program, so that you can replace them separately.
            </Empty>
          ) : (
            <NoMatch />
          )
        }
      />
      <ProgramCard
        programs={{
          sdk: 'const { key } = await shoal.apiKeys.create({ name: "order-agent", days_to_expire: 90 });',
          cli: "api-keys create --name order-agent --days-to-expire 90",
          curl: { method: "POST", path: "/org/api_keys", body: { name: "order-agent", days_to_expire: 90 } },
        }}
      />
      <CreateDialog
        isOpen={isCreating}
        close={() => {
          setCreating(false);
        }}
        done={show}
      />
      <SecretDialog
        secret={created?.key}
        title="Your new key"
        text="Copy the key now. The service stores only its hash, so it cannot be shown again."
        close={() => {
          setCreated(undefined);
        }}
      />
    </Page>
  );
}

function KeyName({ apiKey: { name, created_by, created_at } }: { readonly apiKey: ApiKey }) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        by {created_by.name ?? created_by.email}, <Ago at={created_at} />
      </Text>
    </div>
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
  const remove = useAction({
    act: () => shoal.apiKeys.delete(id),
    told: () => `Key ${name} was deleted.`,
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
        {
          label: "Delete",
          icon: Trash2,
          isDangerous: true,
          run: remove.mutate,
          confirm: {
            title: `Delete key ${name}?`,
            text: "Programs with this key stop working at once. Live views and consoles that it opened end.",
            action: "Delete the key",
          },
        },
      ]}
    />
  );
}
