import { textOf } from "./states.tsx";

async function show(notice: { readonly title?: string; readonly message: string; readonly color: string }) {
  const { notifications } = await import("@mantine/notifications");
  notifications.show({ ...notice, autoClose: notice.color === "red" ? 10_000 : 4000 });
}

export function tell(message: string): void {
  void show({ message, color: "teal" });
}

export function tellFailure(error: unknown): void {
  void show({ title: "Request failed", message: textOf(error), color: "red" });
}
