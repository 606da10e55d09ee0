import { TextInput } from "@mantine/core";
import type { Flow, FlowValues } from "@shoal/schemas";
import { useNavigate } from "@tanstack/react-router";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface RunDialogProps {
  readonly flow: Flow;
  readonly isOpen: boolean;
  readonly close: () => void;
}

/** Starts a run with one row, and opens its page. */
export function RunDialog({ flow: { id, name, parameters }, isOpen, close }: RunDialogProps) {
  const { shoal } = useSignedIn();
  const navigate = useNavigate();
  const initial: Record<string, string> = { session: "" };
  for (const { default: usual = "", name: parameter } of parameters) initial[`parameters.${parameter}`] = usual;
  return (
    <FormDialog
      isOpen={isOpen}
      title={`Run ${name}`}
      action="Run"
      initial={initial}
      submit={(values) => {
        const given: FlowValues = {};
        for (const { name: parameter, secret } of parameters) {
          const value = values[`parameters.${parameter}`] ?? "";
          // The last part: names of credentials may have a slash.
          const end = value.lastIndexOf("/");
          given[parameter] = secret
            ? { credential: value.slice(0, Math.max(end, 0)), field: value.slice(end + 1) }
            : value;
        }
        return shoal.flows.runs.create(id, {
          parameters: given,
          ...(values.session !== "" && { session: values.session }),
        });
      }}
      done={({ id: run }) => void navigate({ to: "/flows/$id/runs/$run", params: { id, run } })}
      close={close}
    >
      {({ text }) => (
        <>
          {parameters.map(({ name: parameter, secret }, index) => (
            <TextInput
              key={parameter}
              label={parameter}
              {...(secret && { description: "A stored credential and the name of its value: shop/password" })}
              {...text(`parameters.${parameter}`)}
              required={secret}
              data-autofocus={index === 0 ? true : undefined}
            />
          ))}
          <TextInput
            label="Session"
            description="Id or name of a running session. Empty: a new browser"
            {...text("session")}
          />
        </>
      )}
    </FormDialog>
  );
}
