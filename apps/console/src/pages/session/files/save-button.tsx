import { ActionIcon } from "@mantine/core";
import { Download } from "lucide-react";
import { saveAnswer } from "../../../api/save-answer.ts";
import { useSignedIn } from "../../../api/shoal.ts";
import { useAction } from "../../../parts/action.ts";

interface SaveButtonProps {
  /** Of the file, for its label. */
  readonly name: string;
  readonly title?: string;
  readonly answer: Pick<Parameters<typeof saveAnswer>[0], "name" | "path" | "query">;
}

/** Saves an answer of the service as a file. */
export function SaveButton({ answer, name, title = "Download" }: SaveButtonProps) {
  const { project } = useSignedIn();
  const save = useAction({ act: () => saveAnswer({ project: project?.id, ...answer }), changes: [] });
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={`Download ${name}`}
      title={title}
      loading={save.isPending}
      onClick={() => {
        save.mutate();
      }}
    >
      <Download size={16} aria-hidden />
    </ActionIcon>
  );
}
