import type { Question } from "../../parts/forms/confirm-dialog.tsx";

export const deletionOf = (name: string): Question => ({
  title: `Delete profile ${name}?`,
  text: "Its cookies, storage and all versions are deleted. Sessions and pools that use it prevent the deletion.",
  action: "Delete the profile",
});
