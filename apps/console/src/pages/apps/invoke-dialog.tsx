import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import type { AppVersion } from "@shoal/schemas";
import { useNavigate } from "@tanstack/react-router";
import { useSignedIn } from "../../api/shoal.ts";
import { CodeBlock } from "../../parts/code.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface InvokeDialogProps {
  /** `undefined` = closed. */
  readonly app: AppVersion | undefined;
  readonly close: () => void;
}

/** Starts an invocation, and opens its page. */
export function InvokeDialog({ app, close }: InvokeDialogProps) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const actions = app?.actions ?? [];
  return (
    <FormDialog
      isOpen={app !== undefined}
      title={`Invoke ${app?.app_name ?? ""}`}
      action="Invoke"
      initial={{ action_name: actions[0]?.name ?? "", payload: "", async_timeout_seconds: "900" }}
      submit={({ action_name, payload, async_timeout_seconds: seconds }) =>
        shoal.invocations.create({
          app_name: app?.app_name ?? "",
          version: app?.version,
          action_name,
          async: true,
          async_timeout_seconds: Number(seconds),
          ...(payload.trim() !== "" && { payload }),
        })
      }
      done={({ id }) => void navigate({ to: "/invocations/$id", params: { id } })}
      close={close}
    >
      {({ text, values }) => {
        const schema = actions.find(({ name }) => name === values.action_name)?.input_schema;
        return (
          <>
            <NativeSelect
              label="Action"
              data={actions.map(({ name }) => name)}
              {...text("action_name")}
              data-autofocus
            />
            <Textarea
              label="Payload (optional)"
              description="JSON"
              placeholder='{ "sku": 7 }'
              {...text("payload")}
              autosize
              minRows={4}
              maxRows={14}
              spellCheck={false}
              styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
            />
            {typeof schema === "object" && schema !== null && (
              <CodeBlock code={JSON.stringify(schema, undefined, 2)} label="JSON Schema of the payload" />
            )}
            <TextInput
              label="Seconds until it fails"
              inputMode="numeric"
              pattern="[0-9]+"
              {...text("async_timeout_seconds")}
              required
            />
          </>
        );
      }}
    </FormDialog>
  );
}
