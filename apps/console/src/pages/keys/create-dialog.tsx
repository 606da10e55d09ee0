import { NativeSelect, TextInput } from "@mantine/core";
import type { CreatedApiKey } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";

const rights = [
  { value: "all", label: "Everything" },
  { value: "viewer", label: "Viewer: read, for support" },
  { value: "operator", label: "Operator: work with sessions" },
  { value: "admin", label: "Admin: everything in the project" },
] as const;

const lifetimes = [
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "One year" },
  { value: "never", label: "Never" },
];

interface CreateDialogProps {
  readonly isOpen: boolean;
  readonly close: () => void;
  readonly done: (key: CreatedApiKey) => void;
}

export function CreateDialog({ isOpen, close, done }: CreateDialogProps) {
  const { shoal, session, project } = useSignedIn();
  return (
    <FormDialog
      isOpen={isOpen}
      title="New API key"
      action="Create"
      initial={{ name: "", days_to_expire: "90", role: "all", project_id: project?.id ?? "" }}
      submit={({ name, days_to_expire: days, project_id, role }) =>
        shoal.apiKeys.create({
          name,
          ...(project_id !== "" && { project_id }),
          ...(role !== "all" && { role: role as "admin" | "operator" | "viewer" }),
          days_to_expire: days === "never" ? null : Number(days),
        })
      }
      done={done}
      close={close}
    >
      {({ text }) => (
        <>
          <TextInput
            label="Name"
            description="The program that will use the key"
            {...text("name")}
            required
            maxLength={255}
            data-autofocus
          />
          <NativeSelect
            label="Project"
            data={session.projects.map(({ id, name }) => ({ value: id, label: name }))}
            {...text("project_id")}
          />
          <NativeSelect label="Rights" data={[...rights]} {...text("role")} />
          <NativeSelect label="Expires after" data={lifetimes} {...text("days_to_expire")} />
        </>
      )}
    </FormDialog>
  );
}
