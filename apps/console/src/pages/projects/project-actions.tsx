import { TextInput } from "@mantine/core";
import type { Project } from "@shoal/schemas";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Pencil } from "lucide-react";
import { useState } from "react";
import { sessionQuery } from "../../api/console-session.ts";
import { useOrganization } from "../../api/shoal.ts";
import { useAction } from "../../parts/action.ts";
import { FormDialog } from "../../parts/forms/form-dialog.tsx";
import { RowMenu } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

/** Also the list of projects in the header. */
const changed = [["projects"], sessionQuery.queryKey] as const;

export function ProjectActions({ project: { id, name, status } }: { readonly project: Project }) {
  const { shoal } = useOrganization();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isRenaming, setRenaming] = useState(false);
  const isActive = status === "active";
  const close = useAction({
    act: () => shoal.projects.update(id, { status: isActive ? "archived" : "active" }),
    told: () => (isActive ? `Project ${name} is archived.` : `Project ${name} is active again.`),
    changes: changed,
  });
  const deletion = useDeletion({
    kind: "project",
    name,
    text: "Only an empty project can be deleted. Its keys stop working.",
    act: () => shoal.projects.delete(id),
    done: () => navigate({ to: "/projects", search: {} }),
    changes: changed,
  });
  return (
    <>
      <RowMenu
        label={`Actions for project ${name}`}
        actions={[
          {
            label: "Rename",
            icon: Pencil,
            run: () => {
              setRenaming(true);
            },
          },
          isActive
            ? {
                label: "Archive",
                icon: Archive,
                run: close.mutate,
                confirm: {
                  title: `Archive project ${name}?`,
                  text: "Nothing new can be created in it until it is active again.",
                  action: "Archive the project",
                },
              }
            : { label: "Make active", icon: ArchiveRestore, run: close.mutate },
          deletion,
        ]}
      />
      <FormDialog
        isOpen={isRenaming}
        title="Rename the project"
        action="Rename"
        initial={{ name }}
        submit={(values) => shoal.projects.update(id, values)}
        done={() => {
          setRenaming(false);
          for (const queryKey of changed) void queries.invalidateQueries({ queryKey });
        }}
        close={() => {
          setRenaming(false);
        }}
      >
        {({ text }) => <TextInput label="Name" {...text("name")} required maxLength={255} data-autofocus />}
      </FormDialog>
    </>
  );
}
