import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useSignedIn } from "../../../api/shoal.ts";
import { tell } from "../../../parts/notices.ts";

export function useUpload(id: string, path: string) {
  const { shoal } = useSignedIn();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (files: readonly File[]) => {
      if (files.length === 0) return;
      const folder = path.replace(/\/$/, "");
      await shoal.browsers.fs.upload(id, {
        files: files.map((file) => ({ dest_path: `${folder}/${file.name}`, file })),
      });
      tell(
        files.length === 1 ? `${files[0]?.name ?? "The file"} was uploaded.` : `${files.length} files were uploaded.`,
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["files", id] }),
  });
}
