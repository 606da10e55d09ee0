import { Button } from "@mantine/core";
import type { AuthConnection } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { LogIn, SearchCheck, Settings, Square, Trash2 } from "lucide-react";
import { useState } from "react";
import { useCanOperate, useSignedIn } from "../../api/shoal.ts";
import { webAddress } from "../../base/web-address.ts";
import { useAction } from "../../parts/action.ts";
import { tell, tellFailure } from "../../parts/notices.ts";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { isLoggingIn } from "./connection-status.tsx";
import { SettingsDialog } from "./settings-dialog.tsx";

const checkSeconds = 60;
const changes = [["connection"], ["connections"], ["connection-timeline"]];

/** Nothing for a viewer. */
export function ConnectionActions({ connection }: { readonly connection: AuthConnection }) {
  const canOperate = useCanOperate();
  if (!canOperate) return null;
  return (
    <>
      {isLoggingIn(connection) ? <CancelButton id={connection.id} /> : <LoginButton id={connection.id} />}
      <CheckButton connection={connection} />
      <MoreActions connection={connection} />
    </>
  );
}

function LoginButton({ id }: { readonly id: string }) {
  const { connections } = useSignedIn().shoal.auth;
  const login = useAction({
    act: () => connections.login(id),
    done: ({ hosted_url }) => {
      // If the browser blocks the window, the page shows a link.
      const address = webAddress(hosted_url);
      if (address !== undefined) window.open(address, "_blank", "noopener,noreferrer");
    },
    changes,
  });
  return (
    <Button
      size="xs"
      leftSection={<LogIn size={14} aria-hidden />}
      loading={login.isPending}
      onClick={() => {
        login.mutate();
      }}
    >
      Log in
    </Button>
  );
}

function CancelButton({ id }: { readonly id: string }) {
  const { connections } = useSignedIn().shoal.auth;
  const cancel = useAction({ act: () => connections.cancel(id), told: () => "The login was canceled.", changes });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<Square size={14} aria-hidden />}
      loading={cancel.isPending}
      onClick={() => {
        cancel.mutate();
      }}
    >
      Cancel the login
    </Button>
  );
}

function CheckButton({ connection }: { readonly connection: AuthConnection }) {
  const { connections } = useSignedIn().shoal.auth;
  const check = useAction({
    act: () => connections.check(connection.id, { wait_seconds: checkSeconds }),
    done: ({ status, error_message }) => {
      if (error_message !== undefined) tellFailure(new Error(error_message));
      else if (status === "IN_PROGRESS") tell("The check still runs.");
      else tell(status === "AUTHENTICATED" ? "The profile is signed in." : "The profile is signed out.");
    },
    changes,
  });
  return (
    <Button
      size="xs"
      variant="default"
      leftSection={<SearchCheck size={14} aria-hidden />}
      loading={check.isPending}
      disabled={isLoggingIn(connection)}
      title={isLoggingIn(connection) ? "A login is running" : undefined}
      onClick={() => {
        check.mutate();
      }}
    >
      Check now
    </Button>
  );
}

function MoreActions({ connection }: { readonly connection: AuthConnection }) {
  const { id, domain, profile_name } = connection;
  const { connections } = useSignedIn().shoal.auth;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
  };
  const remove = useAction({
    act: () => connections.delete(id),
    told: () => `The connection to ${domain} was deleted.`,
    done: () => void navigate({ to: "/connections" }),
    changes: [["connections"]],
  });
  return (
    <>
      <RowMenu
        label={`More actions for ${domain}`}
        actions={[
          {
            label: "Settings",
            icon: Settings,
            run: () => {
              setOpen(true);
            },
          },
          {
            label: "Delete",
            icon: Trash2,
            isDangerous: true,
            run: remove.mutate,
            confirm: {
              title: `Delete the connection to ${domain}?`,
              text: `A running login is canceled. The profile ${profile_name} stays, with its cookies.`,
              action: "Delete the connection",
            },
          },
        ]}
      />
      <SettingsDialog
        connection={connection}
        isOpen={isOpen}
        close={close}
        done={() => {
          close();
          for (const queryKey of changes) void queries.invalidateQueries({ queryKey });
        }}
      />
    </>
  );
}
