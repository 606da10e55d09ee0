import { Anchor } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Webhook } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { breakable } from "../../base/breakable.tsx";
import { SecretDialog } from "../../parts/forms/secret-dialog.tsx";
import { Ago } from "../../parts/moment.tsx";
import { ListPage } from "../../parts/table/list-page.tsx";
import { NameCell } from "../../parts/table/name-cell.tsx";
import { ResourceList } from "../../parts/table/resource-list.tsx";
import type { Column } from "../../parts/table/resource-table.tsx";
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
  const { project, shoal } = useSignedIn();
  const isAdmin = useIsAdmin();
  const queries = useQueryClient();
  const [isCreating, creating] = useDisclosure();
  const [secret, setSecret] = useState<string>();
  return (
    <ListPage
      title="Webhooks"
      description="Addresses that receive signed events of this project."
      locked={!isAdmin && "The list of webhooks"}
      create={{ label: "New webhook", run: creating.open }}
      search="Search by address or description"
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
    >
      <ResourceList
        label="Webhooks"
        queryKey={["webhooks", project?.id]}
        read={(request, options) => shoal.webhooks.list(request, options)}
        idOf={({ id }) => id}
        columns={columns}
        menu={(webhook) => <WebhookMenu webhook={webhook} showSecret={setSecret} />}
        empty={{
          icon: WebhookIcon,
          title: "No webhooks",
          text: "Create one, so that a program learns of events without asking again and again.",
        }}
      />
      <CreateWebhookDialog
        isOpen={isCreating}
        close={creating.close}
        done={(webhook) => {
          creating.close();
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
    </ListPage>
  );
}

function Address({ webhook: { id, url, description } }: { readonly webhook: Webhook }) {
  return (
    <NameCell below={description}>
      <Anchor inherit renderRoot={(props) => <Link to="/webhooks/$id" params={{ id }} {...props} />}>
        {breakable(url)}
      </Anchor>
    </NameCell>
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
