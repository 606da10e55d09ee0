import { Badge, Text } from "@mantine/core";
import type { Webhook, WebhookDelivery } from "@shoal/schemas";

export function WebhookStatus({ webhook: { enabled, disabled_reason, failing_since } }: { readonly webhook: Webhook }) {
  const [color, text] = !enabled
    ? (["gray", "Disabled"] as const)
    : failing_since === undefined
      ? (["green", "Enabled"] as const)
      : (["red", "Failing"] as const);
  return (
    <div>
      <Badge variant="light" color={color} tt="none">
        {text}
      </Badge>
      {disabled_reason !== undefined && (
        <Text size="xs" c="dimmed">
          {disabled_reason}
        </Text>
      )}
    </div>
  );
}

const deliveryColors: Readonly<Record<string, string>> = { pending: "yellow", succeeded: "green", failed: "red" };

export function DeliveryStatus({ delivery: { status, response_status } }: { readonly delivery: WebhookDelivery }) {
  return (
    <Badge variant="light" color={deliveryColors[status] ?? "gray"} tt="none">
      {status}
      {response_status !== undefined && ` (${response_status})`}
    </Badge>
  );
}

/** Up to two names. */
export function typesText(types: readonly string[]): string {
  if (types.length === 0) return "All events";
  const more = types.length - 2;
  return types.slice(0, 2).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
