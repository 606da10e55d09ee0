import { Button } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { saveAnswer } from "../../api/save-answer.ts";
import { useSignedIn } from "../../api/shoal.ts";
import { tellFailure } from "../../parts/notices.ts";
import type { AuditQuery } from "./filters.ts";

/** Saves the entries that match the filters. */
export function ExportButton({ query }: { readonly query: AuditQuery }) {
  const { project } = useSignedIn();
  const save = useMutation({
    mutationFn: () =>
      saveAnswer({
        project: project?.id,
        path: "/console/audit-log",
        query,
        name: `audit-${query.start.slice(0, 10)}-${query.end.slice(0, 10)}.jsonl.gz`,
      }),
    onError: tellFailure,
  });
  return (
    <Button
      variant="default"
      leftSection={<Download size={16} aria-hidden />}
      loading={save.isPending}
      onClick={() => {
        save.mutate();
      }}
    >
      Export
    </Button>
  );
}
