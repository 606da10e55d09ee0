import { Textarea, TextInput } from "@mantine/core";
import type { CreateWebhook, Webhook } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { EventTypes } from "./event-types.tsx";

interface DialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (webhook: Webhook) => void;
}

type EventType = NonNullable<CreateWebhook["event_types"]>[number];

/** The dialog's form holds texts only. */
const typesIn = (text: string) => text.split(" ").filter((type) => type !== "") as EventType[];

const bodyOf = ({ url, description, event_types }: WebhookValues) => ({
  url,
  description,
  event_types: typesIn(event_types),
});

export function CreateWebhookDialog(props: DialogProps) {
  const { shoal } = useSignedIn();
  return (
    <WebhookForm
      {...props}
      title="New webhook"
      action="Create"
      initial={{ url: "", description: "", event_types: "" }}
      submit={({ url, description, event_types }) =>
        shoal.webhooks.create({
          url,
          event_types: typesIn(event_types),
          ...(description !== "" && { description }),
        })
      }
    />
  );
}

export function EditWebhookDialog({ webhook, ...props }: DialogProps & { readonly webhook: Webhook }) {
  const { shoal } = useSignedIn();
  return (
    <WebhookForm
      {...props}
      title="Change the webhook"
      action="Save"
      initial={{
        url: webhook.url,
        description: webhook.description ?? "",
        event_types: webhook.event_types.join(" "),
      }}
      submit={(values, initial) => shoal.webhooks.update(webhook.id, changedIn(bodyOf(initial), bodyOf(values)))}
    />
  );
}

interface WebhookValues extends Readonly<Record<string, string>> {
  readonly url: string;
  readonly description: string;
  readonly event_types: string;
}

interface WebhookFormProps extends DialogProps {
  readonly title: string;
  readonly action: string;
  readonly initial: WebhookValues;
  readonly submit: (values: WebhookValues, initial: WebhookValues) => PromiseLike<Webhook>;
}

function WebhookForm(props: WebhookFormProps) {
  return (
    <FormDialog {...props}>
      {({ text, set, values }) => (
        <>
          <TextInput
            label="Address"
            description="Receives a POST for each event"
            placeholder="https://example.com/hooks"
            {...text("url")}
            required
            data-autofocus
          />
          <EventTypes
            selected={typesIn(values.event_types)}
            change={(types) => {
              set({ event_types: types.join(" ") });
            }}
          />
          <Textarea label="Description (optional)" {...text("description")} maxLength={1024} autosize maxRows={4} />
        </>
      )}
    </FormDialog>
  );
}
