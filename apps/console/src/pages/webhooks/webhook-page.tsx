import { Alert } from "@mantine/core";
import type { Webhook } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { RoleOnly } from "../../parts/access/role-only.tsx";
import { DetailPage } from "../../parts/detail/detail-page.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { Page } from "../../parts/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { WebhookMenu } from "./webhook-menu.tsx";
import { WebhookStatus } from "./webhook-status.tsx";
import { WebhookSecret } from "./webhooks-page.tsx";

export function WebhookPage() {
  const { id } = useParams({ from: "/webhooks/$id" });
  const isAdmin = useIsAdmin();
  if (!isAdmin)
    return (
      <Page title="Webhook">
        <RoleOnly role="admin" what="A webhook" />
      </Page>
    );
  return <WebhookContent id={id} />;
}

function WebhookContent({ id }: { readonly id: string }) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const query = useQuery({
    queryKey: ["webhook", id],
    queryFn: async ({ signal }) => shoal.webhooks.get(id, { signal }),
  });
  return (
    <DetailPage
      kind="Webhook"
      above={{ label: "Webhooks", to: "/webhooks" }}
      query={query}
      head={(webhook) => ({
        title: new URL(webhook.url).host,
        description: webhook.description,
        actions: (
          <WebhookMenu webhook={webhook} showSecret={setSecret} deleted={() => void navigate({ to: "/webhooks" })} />
        ),
      })}
    >
      {(webhook) => (
        <>
          <WebhookDetails webhook={webhook} />
          <Deliveries webhook={webhook} />
          <WebhookSecret
            secret={secret}
            close={() => {
              setSecret(undefined);
            }}
          />
        </>
      )}
    </DetailPage>
  );
}

function WebhookDetails({ webhook }: { readonly webhook: Webhook }) {
  const { created_at, dropped_at, event_types, failing_since, previous_secret_expires_at: oldSecret, url } = webhook;
  return (
    <>
      {dropped_at !== undefined && (
        <Alert color="orange" icon={<TriangleAlert aria-hidden />} title="Events were dropped">
          Too many deliveries waited, most recently <Ago at={dropped_at} />.
        </Alert>
      )}
      <Section title="Details">
        <Details
          rows={[
            ["Address", url],
            ["Status", <WebhookStatus key="status" webhook={webhook} />],
            ["Events", event_types.length === 0 ? "All" : event_types.join(", ")],
            ["Failing since", failing_since && <Moment key="failing" at={failing_since} />],
            ["Old secret valid until", oldSecret && <Moment key="old" at={oldSecret} />],
            ["Created", <Moment key="created" at={created_at} />],
          ]}
        />
      </Section>
    </>
  );
}
