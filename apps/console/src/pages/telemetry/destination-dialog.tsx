import { Textarea, TextInput } from "@mantine/core";
import type { OtlpDestination } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { namedValuesIn } from "../../base/named-values.ts";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface DestinationDialogProps {
  /** `undefined` = closed. */
  readonly edited: OtlpDestination | "new" | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

export function DestinationDialog({ edited, close, done }: DestinationDialogProps) {
  const { destinations } = useSignedIn().shoal.telemetry;
  const known = edited === "new" ? undefined : edited;
  const names = Object.keys(known?.headers ?? {});
  return (
    <FormDialog
      isOpen={edited !== undefined}
      title={known === undefined ? "New telemetry destination" : `Change ${known.name}`}
      action={known === undefined ? "Create" : "Save"}
      initial={{
        name: known?.name ?? "",
        endpoint: known?.endpoint ?? "",
        description: known?.description ?? "",
        headers: "",
        removed: "",
      }}
      submit={async ({ name, endpoint, description, headers, removed }, initial) => {
        const set = namedValuesIn(headers);
        if (known === undefined) return destinations.create({ name, endpoint, description, headers: set });
        const gone = removed.split(/[\s,]+/).filter((header) => header !== "");
        const before = {
          name: initial.name,
          endpoint: initial.endpoint,
          description: initial.description,
          headers: {},
        };
        const changed = { ...Object.fromEntries(gone.map((header) => [header, null])), ...set };
        return destinations.update(known.id, changedIn(before, { name, endpoint, description, headers: changed }));
      }}
      done={done}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />
          <TextInput
            label="Base address"
            description="Without /v1/logs, /v1/traces or /v1/metrics"
            placeholder="https://otlp.example.com"
            {...text("endpoint")}
            required
          />
          <Textarea
            label={names.length === 0 ? "Headers (optional)" : "Headers to add or replace"}
            description="One per line, Name: value. The service encrypts the values and never shows them again."
            placeholder="Authorization: Bearer …"
            {...text("headers")}
            autosize
            minRows={2}
            maxRows={6}
            autoComplete="off"
            spellCheck={false}
          />
          {names.length > 0 && (
            <TextInput
              label="Headers to remove"
              description={`Stored: ${names.join(", ")}`}
              {...text("removed")}
              autoComplete="off"
            />
          )}
          <TextInput label="Description (optional)" {...text("description")} maxLength={1024} />
        </>
      )}
    </FormDialog>
  );
}
