import "@mantine/core/styles/Checkbox.css";
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Browser } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { SaveAll } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { sizeText } from "../../base/texts.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { tell } from "../../parts/notices.ts";

/** Stores the state of a session, from which others start. */
export function SnapshotButton({ browser: { session_id: id } }: { readonly browser: Browser }) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<SaveAll size={14} aria-hidden />}
        title="Store logins and pages, so that other sessions start with them"
        onClick={open}
      >
        Snapshot
      </Button>
      <FormDialog
        isOpen={isOpen}
        title="Take a snapshot"
        action="Take the snapshot"
        initial={{ name: "", stop: false }}
        submit={({ name, stop }) => shoal.browsers.snapshot(id, { stop, ...(name !== "" && { name }) })}
        done={({ size_bytes: bytes }) => {
          close();
          tell(`The snapshot is stored: ${sizeText(bytes)}. Start sessions from it on the page Snapshots.`);
          for (const key of ["snapshots", "browser", "browsers"]) void queries.invalidateQueries({ queryKey: [key] });
        }}
        close={close}
      >
        {({ check, text }) => (
          <>
            <TextInput label="Name" description="Optional" maxLength={255} {...text("name")} data-autofocus />
            <Checkbox label="End the session afterwards" {...check("stop")} />
          </>
        )}
      </FormDialog>
    </>
  );
}
