import { Checkbox, Textarea, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { AuthConnection } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { changedIn } from "../../parts/forms/changed-in.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface SettingsDialogProps {
  readonly connection: AuthConnection;
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: () => void;
}

function initialOf(connection: AuthConnection) {
  const { allowed_domains, auto_reauth, credential, health_check_interval, health_checks, login_url } = connection;
  return {
    login_url: login_url ?? "",
    credential: credential?.name ?? "",
    allowed_domains: (allowed_domains ?? []).join("\n"),
    health_check_interval: String(health_check_interval ?? ""),
    health_checks: health_checks ?? true,
    auto_reauth: auto_reauth ?? true,
    save_credentials: connection.save_credentials,
    record_session: connection.record_session,
  };
}
type Values = ReturnType<typeof initialOf>;

const bodyOf = ({ allowed_domains: domains, credential: name, health_check_interval: seconds, ...fields }: Values) => ({
  ...fields,
  allowed_domains: domains.split(/\s+/).filter((domain) => domain !== ""),
  ...(name !== "" && { credential: { name } }),
  ...(seconds !== "" && { health_check_interval: Number(seconds) }),
});

export function SettingsDialog({ connection, isOpen, close, done }: SettingsDialogProps) {
  const { connections } = useSignedIn().shoal.auth;
  return (
    <FormDialog
      isOpen={isOpen}
      title="Settings of the connection"
      action="Save"
      initial={initialOf(connection)}
      submit={(values: Values, before: Values) =>
        connections.update(connection.id, changedIn(bodyOf(before), bodyOf(values)))
      }
      done={done}
      close={close}
    >
      {({ check, initial, text }) => (
        <>
          <TextInput label="Address of the login form" {...text("login_url")} data-autofocus />
          <TextInput
            label="Name of the stored credential"
            {...text("credential")}
            // Another one can take its place. None cannot.
            required={initial.credential !== ""}
          />
          <Textarea
            label="Further domains of the login"
            description="One per line"
            {...text("allowed_domains")}
            autosize
            minRows={1}
            maxRows={6}
          />
          <TextInput
            label="Seconds between two checks"
            inputMode="numeric"
            pattern="[0-9]+"
            {...text("health_check_interval")}
          />
          <Checkbox label="Check regularly whether the profile is signed in" {...check("health_checks")} />
          <Checkbox label="Sign in again automatically" {...check("auto_reauth")} />
          <Checkbox label="Store what a person enters as a credential" {...check("save_credentials")} />
          <Checkbox label="Record logins" {...check("record_session")} />
        </>
      )}
    </FormDialog>
  );
}
