import { Checkbox, TextInput } from "@mantine/core";
import "@mantine/core/styles/Checkbox.css";
import type { AuthConnection } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

interface CreateConnectionProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (connection: AuthConnection) => void;
}

export function CreateConnectionDialog({ isOpen, close, done }: CreateConnectionProps) {
  const { connections } = useSignedIn().shoal.auth;
  return (
    <FormDialog
      isOpen={isOpen}
      title="New connection"
      action="Create"
      initial={{
        domain: "",
        profile_name: "",
        login_url: "",
        credential: "",
        save_credentials: true,
        health_checks: true,
        auto_reauth: true,
        record_session: false,
      }}
      submit={({ login_url, credential, ...fields }) =>
        connections.create({
          ...fields,
          ...(login_url !== "" && { login_url }),
          ...(credential !== "" && { credential: { name: credential } }),
        })
      }
      done={done}
      close={close}
    >
      {({ check, text }) => (
        <>
          <TextInput label="Site" placeholder="example.com" {...text("domain")} required data-autofocus />
          <TextInput
            label="Profile"
            description="Stores the sign-in; the service creates a missing one"
            {...text("profile_name")}
            required
          />
          <TextInput
            label="Address of the login form (optional)"
            description="Without it, the service looks for the form"
            placeholder="https://example.com/login"
            {...text("login_url")}
          />
          <TextInput
            label="Name of a stored credential (optional)"
            description="Without it, the service asks a person"
            {...text("credential")}
          />
          <Checkbox label="Store what a person enters as a credential" {...check("save_credentials")} />
          <Checkbox label="Check regularly whether the profile is signed in" {...check("health_checks")} />
          <Checkbox label="Sign in again automatically" {...check("auto_reauth")} />
          <Checkbox label="Record logins" {...check("record_session")} />
        </>
      )}
    </FormDialog>
  );
}
