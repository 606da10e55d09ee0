import { NativeSelect, PasswordInput, Textarea, TextInput } from "@mantine/core";
import type { Credential } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { namedValuesIn } from "../../base/named-values.ts";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

const providers = [
  { value: "", label: "The site's own form" },
  { value: "google", label: "Google" },
  { value: "github", label: "GitHub" },
  { value: "microsoft", label: "Microsoft" },
];

interface CredentialDialogProps {
  /** `undefined` = closed. */
  readonly edited: Credential | "new" | undefined;
  readonly close: () => void;
  readonly done: () => void;
}

/** Fields for secrets start empty, because the service never returns them. */
export function CredentialDialog({ edited, close, done }: CredentialDialogProps) {
  const { credentials } = useSignedIn().shoal;
  const known = edited === "new" ? undefined : edited;
  const kept = known === undefined ? {} : { placeholder: "Unchanged" };
  return (
    <FormDialog
      isOpen={edited !== undefined}
      title={known === undefined ? "New credential" : `Change ${known.name}`}
      action={known === undefined ? "Create" : "Save"}
      initial={{
        name: known?.name ?? "",
        domain: known?.domain ?? "",
        username: "",
        password: "",
        others: "",
        totp_secret: "",
        sso_provider: known?.sso_provider ?? "",
      }}
      submit={async ({ domain, name, others, password, sso_provider, totp_secret, username }, initial) => {
        const values = {
          ...(username !== "" && { username }),
          ...(password !== "" && { password }),
          ...namedValuesIn(others),
        };
        const totp = totp_secret !== "" && { totp_secret };
        if (known === undefined)
          return credentials.create({ name, domain, values, ...totp, ...(sso_provider !== "" && { sso_provider }) });
        const changed = changedIn(
          { name: initial.name, sso_provider: initial.sso_provider, values: {} },
          { name, sso_provider, values },
        );
        return credentials.update(known.id, { ...changed, ...totp });
      }}
      done={done}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />
          {known === undefined && <TextInput label="Site" placeholder="example.com" {...text("domain")} required />}
          <TextInput label="User name" {...text("username")} {...kept} autoComplete="off" />
          <PasswordInput label="Password" {...text("password")} {...kept} autoComplete="new-password" />
          <Textarea
            label="Other values (optional)"
            description="One per line, Name: value"
            {...text("others")}
            autosize
            maxRows={6}
            autoComplete="off"
            spellCheck={false}
          />
          <PasswordInput
            label="Secret of one-time codes (optional)"
            description="Base32, or an otpauth:// address"
            {...text("totp_secret")}
            {...kept}
            autoComplete="off"
          />
          <NativeSelect label="Sign in with" data={providers} {...text("sso_provider")} />
        </>
      )}
    </FormDialog>
  );
}
