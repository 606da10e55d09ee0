import { Anchor, Button, Group, Modal, NativeSelect, Stack } from "@mantine/core";
import { type Webhook, type WebhookDelivery, webhookEventTypes } from "@shoal/schemas";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Inbox, RefreshCw } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { CodeBlock } from "../../parts/code.tsx";
import { Details } from "../../parts/detail/details.tsx";
import { Section } from "../../parts/detail/section.tsx";
import { Ago, Moment } from "../../parts/moment.tsx";
import { prettyJson } from "../../base/pretty-json.ts";
import { durationText } from "../../base/texts.ts";
import { Empty } from "../../parts/states.tsx";
import { type Column, ResourceTable } from "../../parts/table/resource-table.tsx";
import { useList } from "../../parts/table/use-list.ts";
import { deliveryStatuses } from "./search.ts";
import { tellDelivery } from "./webhook-menu.tsx";
import { DeliveryStatus } from "./webhook-status.tsx";

const refreshMs = 5000;
const types = [...webhookEventTypes, "webhook.test"] as const;
const columns: readonly Column<WebhookDelivery>[] = [
  { name: "Event", cell: (delivery) => <DeliveryLink delivery={delivery} />, share: 1.5 },
  { name: "Result", cell: (delivery) => <DeliveryStatus delivery={delivery} /> },
  { name: "Attempts", cell: ({ attempts }) => attempts, share: 0.6 },
  { name: "Time", cell: ({ created_at }) => <Ago at={created_at} /> },
];

export function Deliveries({ webhook: { id, enabled } }: { readonly webhook: Webhook }) {
  const { shoal } = useSignedIn();
  const { status, type, delivery: shownId } = useSearch({ from: "/webhooks/$id" });
  const navigate = useNavigate({ from: "/webhooks/$id" });
  const list = useList(
    ["webhook-deliveries", id, status, type],
    (page, options) =>
      shoal.webhooks.deliveries.list(
        id,
        { ...page, ...(status !== undefined && { status }), ...(type !== undefined && { event_type: type }) },
        options,
      ),
    refreshMs,
  );
  const shown = list.items?.find((delivery) => delivery.id === shownId);
  return (
    <Section title="Deliveries" isPlain>
      <Group gap="sm" mb="md">
        <NativeSelect
          label="Result"
          data={[{ value: "", label: "All" }, ...deliveryStatuses]}
          value={status ?? ""}
          onChange={({ currentTarget: { value } }) => {
            const next = deliveryStatuses.find((one) => one === value);
            void navigate({ search: (before) => ({ ...before, status: next }), replace: true });
          }}
        />
        <NativeSelect
          label="Event"
          data={[{ value: "", label: "All" }, ...types]}
          value={type ?? ""}
          onChange={({ currentTarget: { value } }) => {
            const next = types.find((one) => one === value);
            void navigate({ search: (before) => ({ ...before, type: next }), replace: true });
          }}
        />
      </Group>
      <ResourceTable
        label="Deliveries"
        list={list}
        idOf={(delivery) => delivery.id}
        columns={columns}
        empty={
          <Empty icon={Inbox} title="No deliveries">
            Events that match the webhook appear here. Send a test event to check the address.
          </Empty>
        }
      />
      <Modal
        opened={shown !== undefined}
        onClose={() => void navigate({ search: (before) => ({ ...before, delivery: undefined }), replace: true })}
        title={shown?.event_type}
        size="lg"
      >
        {shown !== undefined && <DeliveryDetails webhookId={id} canSend={enabled} delivery={shown} />}
      </Modal>
    </Section>
  );
}

function DeliveryLink({ delivery: { id, event_type } }: { readonly delivery: WebhookDelivery }) {
  const navigate = useNavigate({ from: "/webhooks/$id" });
  return (
    <Anchor
      component="button"
      size="sm"
      onClick={() => void navigate({ search: (before) => ({ ...before, delivery: id }) })}
    >
      {event_type}
    </Anchor>
  );
}

interface DeliveryDetailsProps {
  readonly webhookId: string;
  /** Disabled webhooks send nothing. */
  readonly canSend: boolean;
  readonly delivery: WebhookDelivery;
}

function DeliveryDetails({ webhookId, canSend, delivery }: DeliveryDetailsProps) {
  const { webhooks } = useSignedIn().shoal;
  const { duration_ms, last_attempt_at, next_attempt_at, payload, response_status } = delivery;
  const redeliver = useAction({
    act: () => webhooks.deliveries.redeliver(webhookId, delivery.id),
    done: tellDelivery,
    changes: [["webhook-deliveries"], ["webhook"]],
  });
  return (
    <Stack>
      <Details
        rows={[
          ["Result", <DeliveryStatus key="status" delivery={delivery} />],
          ["Answer", response_status],
          ["Error", delivery.error],
          ["Attempts", delivery.attempts],
          ["Last attempt", last_attempt_at && <Moment key="last" at={last_attempt_at} />],
          ["Duration", duration_ms !== undefined && durationText(duration_ms)],
          ["Next attempt", next_attempt_at && <Moment key="next" at={next_attempt_at} />],
          ["Header webhook-id", delivery.event_id],
        ]}
      />
      <CodeBlock code={prettyJson(payload)} label="Body of the request" />
      <Group justify="flex-end">
        {!canSend && "Enable the webhook to send the event again."}
        <Button
          leftSection={<RefreshCw size={16} aria-hidden />}
          loading={redeliver.isPending}
          disabled={!canSend}
          onClick={() => {
            redeliver.mutate();
          }}
        >
          Send again
        </Button>
      </Group>
    </Stack>
  );
}
