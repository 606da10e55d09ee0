import { Notifications } from "@mantine/notifications";
import "@mantine/core/styles/Notification.css";
import "@mantine/notifications/styles.css";

export function NoticeArea() {
  return <Notifications position="top-right" />;
}
