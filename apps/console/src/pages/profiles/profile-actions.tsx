import { Button, FileButton, Group, TextInput } from "@mantine/core";
import type { ImportStorageState, Profile } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Copy, Download, Pencil, Upload } from "lucide-react";
import { useState } from "react";
import { saveAnswer } from "../../api/save-answer.ts";
import { useIsAdmin, useSignedIn } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { ConfirmDialog } from "../../parts/forms/confirm-dialog.tsx";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useProfileDeletion } from "./use-profile-deletion.ts";

const largestStateBytes = 1024 * 1024;

/** Reads a file of Playwright's `storageState`. */
async function stateIn(file: File): Promise<ImportStorageState> {
  if (file.size > largestStateBytes) throw new Error(`${file.name} has more than 1 MiB.`);
  let value: unknown;
  try {
    value = JSON.parse(await file.text());
  } catch {
    throw new Error(`${file.name} is not JSON. Choose a file that Playwright's storageState wrote.`);
  }
  // The service checks the rest, and names the field.
  if (typeof value !== "object" || value === null || !("cookies" in value))
    throw new Error(`${file.name} has no cookies. Choose a file that Playwright's storageState wrote.`);
  return value as ImportStorageState;
}

export function ProfileActions({ profile }: { readonly profile: Profile }) {
  const { shoal, project } = useSignedIn();
  const isAdmin = useIsAdmin();
  const navigate = useNavigate();
  const [isRenaming, setRenaming] = useState(false);
  const [isCloning, setCloning] = useState(false);
  const name = profile.name ?? profile.id;
  const deletion = useProfileDeletion(profile, () => navigate({ to: "/profiles" }));
  const download = useAction({
    act: () => saveAnswer({ project: project?.id, path: `/profiles/${profile.id}/download`, name: `${name}.tar.zst` }),
    changes: [],
  });
  return (
    <Group gap="xs">
      {isAdmin && <ImportButton profile={profile} />}
      {isAdmin && profile.saved_at !== undefined && (
        <Button
          variant="default"
          leftSection={<Download size={16} aria-hidden />}
          loading={download.isPending}
          onClick={() => {
            download.mutate();
          }}
        >
          Download
        </Button>
      )}
      <RowMenu
        label={`Actions for profile ${name}`}
        actions={[
          {
            label: "Rename",
            icon: Pencil,
            run: () => {
              setRenaming(true);
            },
          },
          {
            label: "Clone",
            icon: Copy,
            run: () => {
              setCloning(true);
            },
          },
          deletion,
        ]}
      />
      <NameDialog
        isOpen={isRenaming}
        title="Rename the profile"
        action="Rename"
        initial={profile.name ?? ""}
        submit={(next) => shoal.profiles.update(profile.id, { name: next })}
        close={() => {
          setRenaming(false);
        }}
      />
      <NameDialog
        isOpen={isCloning}
        title="Clone the profile"
        action="Clone"
        initial={`${profile.name ?? "profile"}-copy`}
        submit={(next) => shoal.profiles.clone(profile.id, { name: next })}
        close={() => {
          setCloning(false);
        }}
      />
    </Group>
  );
}

interface NameDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly action: string;
  readonly initial: string;
  readonly submit: (name: string) => PromiseLike<Profile>;
  readonly close: () => void;
}

/** Requests a name, and shows the profile afterwards. */
function NameDialog({ initial, submit, close, ...dialog }: NameDialogProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <FormDialog
      {...dialog}
      initial={{ name: initial }}
      submit={({ name }) => submit(name)}
      done={({ id }) => {
        close();
        void queries.invalidateQueries({ queryKey: ["profiles"] });
        void navigate({ to: "/profiles/$id", params: { id } });
      }}
      close={close}
    >
      {({ text }) => <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />}
    </FormDialog>
  );
}

/** Replaces the state by a file of Playwright. */
function ImportButton({ profile }: { readonly profile: Profile }) {
  const { shoal } = useSignedIn();
  const [state, setState] = useState<ImportStorageState>();
  const read = useAction({ act: stateIn, done: setState, changes: [] });
  const replace = useAction({
    act: (wanted: ImportStorageState) => shoal.profiles.storageState.import(profile.id, wanted),
    told: (_profile, { cookies }) => `${cookies.length} cookies were imported.`,
    changes: [["profiles"]],
  });
  return (
    <>
      <FileButton
        accept="application/json,.json"
        onChange={(file) => {
          if (file !== null) read.mutate(file);
        }}
      >
        {(props) => (
          <Button
            {...props}
            variant="default"
            leftSection={<Upload size={16} aria-hidden />}
            loading={replace.isPending}
            title="A file that Playwright's storageState wrote"
          >
            Import cookies
          </Button>
        )}
      </FileButton>
      <ConfirmDialog
        asked={
          state && {
            title: "Replace the state of the profile?",
            text: `The file has ${state.cookies.length} cookies. They replace the present state, which stays available as an earlier version.`,
            action: "Replace the state",
          }
        }
        close={() => {
          setState(undefined);
        }}
        confirm={() => {
          setState(undefined);
          if (state !== undefined) replace.mutate(state);
        }}
      />
    </>
  );
}
