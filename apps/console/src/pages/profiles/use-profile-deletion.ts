import type { Profile } from "@shoal/schemas";
import { useSignedIn } from "../../api/shoal.ts";
import type { RowAction } from "../../parts/table/row-menu.tsx";
import { useDeletion } from "../../parts/table/use-deletion.ts";

export function useProfileDeletion({ id, name }: Profile, done?: () => unknown): RowAction {
  const { shoal } = useSignedIn();
  return useDeletion({
    kind: "profile",
    name: name ?? id,
    text: "Its cookies, storage and all versions are deleted. Sessions and pools that use it prevent the deletion.",
    act: () => shoal.profiles.delete(id),
    ...(done !== undefined && { done }),
    changes: [["profiles"]],
  });
}
