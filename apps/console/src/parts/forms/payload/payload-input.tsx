import { Input, NativeSelect, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Switch.css";
import { useState } from "react";
import { CodeBlock } from "../../code.tsx";
import { fieldsOf, fits, type PayloadField, valuesOf, withValue } from "./schema-fields.ts";

interface PayloadInputProps {
  /** JSON Schema of the action, if it has one. */
  readonly schema: unknown;
  /** JSON text. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly error: string | undefined;
}

/** The payload of an action: a field for each property where the schema is simple, else JSON. */
export function PayloadInput({ schema, value, onChange, error }: PayloadInputProps) {
  const fields = fieldsOf(schema);
  const values = valuesOf(value) ?? {};
  const isPossible = fields !== undefined && fits(value, fields);
  const [isJson, setJson] = useState(false);
  const isForm = isPossible && !isJson;
  const others = Object.keys(values).filter((name) => fields?.every((field) => field.name !== name));
  return (
    <Stack gap="sm" role="group" aria-label="Payload">
      {isForm ? (
        fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name]}
            change={(next) => {
              onChange(withValue(value, field, next));
            }}
          />
        ))
      ) : (
        <Json schema={schema} value={value} onChange={onChange} error={error} />
      )}
      {isForm && others.length > 0 && (
        <Text size="sm" c="dimmed">
          Also sent: {others.join(", ")}
        </Text>
      )}
      {isForm && error !== undefined && (
        <Input.Error role="alert" aria-invalid tabIndex={-1}>
          {error}
        </Input.Error>
      )}
      {fields !== undefined && (
        <Switch
          size="xs"
          label="Payload as JSON"
          checked={!isForm}
          disabled={!isPossible}
          onChange={({ currentTarget: { checked } }) => {
            setJson(checked);
          }}
        />
      )}
    </Stack>
  );
}

function Json({ schema, value, onChange, error }: PayloadInputProps) {
  return (
    <>
      <Textarea
        label="Payload (optional)"
        description="JSON"
        placeholder='{ "sku": 7 }'
        value={value}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value);
        }}
        error={error}
        autosize
        minRows={4}
        maxRows={14}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
      {typeof schema === "object" && schema !== null && (
        <CodeBlock code={JSON.stringify(schema, undefined, 2)} label="JSON Schema of the payload" />
      )}
    </>
  );
}

interface FieldInputProps {
  readonly field: PayloadField;
  readonly value: unknown;
  readonly change: (text: string) => void;
}

function FieldInput({ field, value, change }: FieldInputProps) {
  const { description, isRequired, kind, label, options } = field;
  // Half-typed numbers would be lost: `1.`, `0.0`.
  const [typed, setTyped] = useState(value === undefined ? "" : String(value as string | number | boolean));
  const common = {
    label,
    description,
    required: isRequired,
    value: typed,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      setTyped(currentTarget.value);
      change(currentTarget.value);
    },
  };
  if (kind === "boolean") return <NativeSelect {...common} data={["", "true", "false"]} />;
  if (kind === "choice") return <NativeSelect {...common} data={["", ...options]} />;
  return <TextInput {...common} {...(kind !== "text" && { inputMode: kind === "integer" ? "numeric" : "decimal" })} />;
}
