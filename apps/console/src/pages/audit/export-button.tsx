import { Button } from "@mantine/core";
import type { ListAuditLogs } from "@shoal/schemas";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useSignedIn } from "../../api/shoal.ts";
import { tellFailure } from "../../parts/notices.ts";
import { saveBlob } from "../../base/save.ts";

/** Downloads the entries that match the filters. */
export function ExportButton({ query }: { readonly query: Omit<ListAuditLogs, "limit" | "page_token"> }) {
  const { shoal } = useSignedIn();
  const save = useMutation({
    mutationFn: async () => {
      const blob = await new Response(shoal.auditLogs.download(query)).blob();
      saveBlob(blob, `audit-${query.start.slice(0, 10)}-${query.end.slice(0, 10)}.jsonl.gz`);
    },
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
