import { shownError } from "../base/shown-error.ts";

async function show(notice: { readonly title?: string; readonly message: string; readonly color: string }) {
  const { notifications } = await import("@mantine/notifications");
  notifications.show({ ...notice, autoClose: notice.color === "red" ? 10_000 : 4000 });
}

export function tell(message: string): void {
  void show({ message, color: "teal" });
}

export function tellFailure(error: unknown): void {
  tellFailureOf("Request failed", error);
}

export function tellFailureOf(title: string, error: unknown): void {
  void show({ title, message: shownError(error), color: "red" });
}
