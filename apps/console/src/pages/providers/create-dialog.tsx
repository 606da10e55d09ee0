import { NativeSelect, PasswordInput, TextInput } from "@mantine/core";
import type { CredentialProvider } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { kinds } from "./kinds.ts";

interface CreateProviderProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (provider: CredentialProvider) => void;
}

const options = Object.entries(kinds).map(([value, { label }]) => ({ value, label }));
const settingNames = [...new Set(Object.values(kinds).flatMap(({ settings }) => settings.map(({ name }) => name)))];
/** By the path of the field in the request. */
const emptySettings: Readonly<Record<string, string>> = Object.fromEntries(
  settingNames.map((name) => [`settings.${name}`, ""]),
);
const initial: Readonly<Record<string, string>> = {
  provider_type: "onepassword",
  name: "",
  token: "",
  ...emptySettings,
};

export function CreateProviderDialog({ isOpen, close, done }: CreateProviderProps) {
  const { credentialProviders } = useSignedIn().shoal;
  return (
    <FormDialog
      isOpen={isOpen}
      title="New credential provider"
      action="Create"
      initial={initial}
      submit={({ name = "", provider_type: kind = "", token = "", ...values }) => {
        const given = (kinds[kind]?.settings ?? [])
          .map((setting) => [setting.name, values[`settings.${setting.name}`] ?? ""] as const)
          .filter(([, value]) => value !== "");
        return credentialProviders.create({
          provider_type: kind,
          name,
          token,
          ...(given.length > 0 && { settings: Object.fromEntries(given) }),
        });
      }}
      done={done}
      close={close}
    >
      {({ text, values }) => {
        const kind = kinds[values.provider_type ?? ""];
        return (
          <>
            <NativeSelect label="Kind" data={options} {...text("provider_type")} data-autofocus />
            <TextInput label="Name" {...text("name")} required maxLength={255} />
            <PasswordInput
              label={kind?.token ?? "Token"}
              description="The service encrypts it and never shows it again"
              {...text("token")}
              required
              autoComplete="off"
            />
            {kind?.settings.map(({ name, isRequired = false, example }) => (
              <TextInput
                key={name}
                label={isRequired ? name : `${name} (optional)`}
                placeholder={example}
                {...text(`settings.${name}`)}
                required={isRequired}
              />
            ))}
          </>
        );
      }}
    </FormDialog>
  );
}
