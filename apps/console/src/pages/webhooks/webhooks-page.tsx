import { Anchor, Button, Text } from "@mantine/core";
import type { Webhook } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { AdminOnly } from "../../parts/access/admin-only.tsx";
import { SecretDialog } from "../../parts/forms/secret-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { ProgramCard } from "../../parts/program-card.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { SearchField } from "../../parts/table/search-field.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { CreateWebhookDialog } from "./webhook-dialogs.tsx";
import { WebhookMenu } from "./webhook-menu.tsx";
import { typesText, WebhookStatus } from "./webhook-status.tsx";

const columns: readonly Column<Webhook>[] = [
  { name: "Address", cell: (webhook) => <Address webhook={webhook} />, share: 2 },
  { name: "Status", cell: (webhook) => <WebhookStatus webhook={webhook} /> },
  { name: "Events", cell: ({ event_types }) => typesText(event_types), share: 1.5 },
  { name: "Created", cell: ({ created_at }) => <Ago at={created_at} />, share: 0.8 },
];

export function WebhooksPage() {
  const isAdmin = useIsAdmin();
  const [isCreating, setCreating] = useState(false);
  return (
    <Page
      title="Webhooks"
      description="Addresses that receive signed events of this project."
      actions={
        isAdmin && (
          <Button
            leftSection={<Plus size={16} aria-hidden />}
            onClick={() => {
              setCreating(true);
            }}
          >
            New webhook
          </Button>
        )
      }
    >
      {isAdmin ? (
        <Webhooks
          isCreating={isCreating}
          close={() => {
            setCreating(false);
          }}
        />
      ) : (
        <AdminOnly what="Webhooks" />
      )}
    </Page>
  );
}

function Webhooks({ isCreating, close }: { readonly isCreating: boolean; readonly close: () => void }) {
  const { project, shoal } = useSignedIn();
  const { query } = useSearch({ from: "/webhooks" });
  const navigate = useNavigate({ from: "/webhooks" });
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const list = useList(["webhooks", project?.id, query], (page, options) =>
    shoal.webhooks.list({ ...page, ...(query !== undefined && { query }) }, options),
  );
  return (
    <>
      <SearchField
        label="Search by address or description"
        value={query}
        change={(next) => void navigate({ search: (before) => ({ ...before, query: next }), replace: true })}
      />
      <ResourceTable
        label="Webhooks"
        list={list}
        idOf={({ id }) => id}
        columns={columns}
        menu={(webhook) => <WebhookMenu webhook={webhook} showSecret={setSecret} />}
        empty={
          <Empty icon={WebhookIcon} title={query === undefined ? "No webhooks" : "No webhook matches"}>
            Create one, so that a program learns of events without asking again and again.
          </Empty>
        }
      />
      <ProgramCard
        programs={{
          sdk: `const { secret } = await shoal.webhooks.create({
  url: "https://example.com/hooks",
  event_types: ["auth.needs_human"],
});`,
          cli: "webhooks create --url https://example.com/hooks --event-types auth.needs_human",
          curl: {
            method: "POST",
            path: "/webhooks",
            body: { url: "https://example.com/hooks", event_types: ["auth.needs_human"] },
          },
        }}
      />
      <CreateWebhookDialog
        isOpen={isCreating}
        close={close}
        done={(webhook) => {
          close();
          setSecret(webhook.secret);
          void queries.invalidateQueries({ queryKey: ["webhooks"] });
        }}
      />
      <WebhookSecret
        secret={secret}
        close={() => {
          setSecret(undefined);
        }}
      />
    </>
  );
}

function Address({ webhook: { id, url, description } }: { readonly webhook: Webhook }) {
  return (
    <div>
      <Anchor
        size="sm"
        fw={600}
        renderRoot={(props) => <Link to="/webhooks/$id" params={{ id }} {...props} />}
        style={{ overflowWrap: "anywhere" }}
      >
        {url}
      </Anchor>
      {description !== undefined && description !== "" && (
        <Text size="xs" c="dimmed">
          {description}
        </Text>
      )}
    </div>
  );
}

export function WebhookSecret({ secret, close }: { readonly secret: string | undefined; readonly close: () => void }) {
  return (
    <SecretDialog
      secret={secret}
      title="Signing secret"
      text="Copy the secret now. Your program verifies the signature of each event with it. It cannot be shown again."
      close={close}
    />
  );
}
