import { NativeSelect, TextInput } from "@mantine/core";
import type { AppVersion } from "@shoal/schemas";
import { useNavigate } from "@tanstack/react-router";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { PayloadInput } from "../../parts/forms/payload/payload-input.tsx";

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
      {({ set, text, values }) => {
        const schema = actions.find(({ name }) => name === values.action_name)?.input_schema;
        return (
          <>
            <NativeSelect
              label="Action"
              data={actions.map(({ name }) => name)}
              {...text("action_name")}
              onChange={({ currentTarget: { value } }) => {
                set({ action_name: value, payload: "" });
              }}
              data-autofocus
            />
            <PayloadInput
              key={values.action_name}
              schema={schema}
              value={values.payload}
              onChange={(payload) => {
                set({ payload });
              }}
              error={text("payload").error}
            />
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
