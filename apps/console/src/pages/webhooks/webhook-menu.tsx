import type { Webhook, WebhookDelivery } from "@shoal/schemas";
import { FlaskConical, Pause, Pencil, Play, RotateCw } from "lucide-react";
import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import { useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { tell, tellFailure } from "../../parts/notices.ts";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";
import { EditWebhookDialog } from "./webhook-dialogs.tsx";

const changes = [["webhooks"], ["webhook"], ["webhook-deliveries"]];

/** Reports the answer of the webhook's server. */
export function tellDelivery({ status, response_status, error }: WebhookDelivery): void {
  if (status === "succeeded") tell(`The server answered ${response_status ?? ""}.`);
  else if (status === "pending") tell("The event waits for its delivery.");
  else tellFailure(new Error(error ?? `The server answered ${response_status ?? "nothing"}.`));
}

interface WebhookMenuProps {
  readonly webhook: Webhook;
  readonly showSecret: (secret: string | undefined) => void;
  readonly deleted?: () => void;
}

export function WebhookMenu({ webhook: { id, url, enabled }, webhook, showSecret, deleted }: WebhookMenuProps) {
  const { webhooks } = useSignedIn().shoal;
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const test = useAction({ act: () => webhooks.test(id), done: tellDelivery, changes });
  const change = useAction({ act: () => webhooks.update(id, { enabled: !enabled }), changes });
  const rotate = useAction({
    act: () => webhooks.rotateSecret(id),
    done: ({ secret }) => {
      showSecret(secret);
    },
    changes,
  });
  const deletion = useDeletion({
    kind: "webhook",
    name: url,
    text: "Its address receives no more events. Its deliveries are deleted, waiting ones included.",
    act: () => webhooks.delete(id),
    done: () => deleted?.(),
    changes: [["webhooks"]],
  });
  const close = () => {
    setEditing(false);
  };
  return (
    <>
      <RowMenu
        label={`Actions for webhook ${url}`}
        actions={[
          { label: "Send a test event", icon: FlaskConical, run: test.mutate },
          {
            label: "Change",
            icon: Pencil,
            run: () => {
              setEditing(true);
            },
          },
          { label: enabled ? "Disable" : "Enable", icon: enabled ? Pause : Play, run: change.mutate },
          {
            label: "Rotate the secret",
            icon: RotateCw,
            run: rotate.mutate,
            confirm: {
              title: "Rotate the secret?",
              text: "You get a new secret. Events are also signed with the old one for 24 hours.",
              action: "Rotate the secret",
            },
          },
          deletion,
        ]}
      />
      <EditWebhookDialog
        webhook={webhook}
        isOpen={isEditing}
        close={close}
        done={() => {
          close();
          for (const queryKey of changes) void queries.invalidateQueries({ queryKey });
        }}
      />
    </>
  );
}
