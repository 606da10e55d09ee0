import { Badge } from "@mantine/core";

const failures = new Set(["browser_crashed", "instance_lost"]);
/** The session ended without anyone wanting it. */
export const isFailure = ({ deleted_at, ended_reason = "" }: StatusSource): boolean =>
  deleted_at !== undefined && failures.has(ended_reason);

const shown: Readonly<Record<string, string>> = {
  deleted: "Ended",
  timeout: "Timed out",
  max_duration: "Time is up",
  disconnected: "Clients left",
  browser_crashed: "Crashed",
  instance_lost: "Lost",
  server_stopped: "Stopped",
};

interface StatusSource {
  readonly deleted_at?: string | undefined;
  readonly ended_reason?: string | undefined;
  readonly expires_at?: string | undefined;
}

export function StatusBadge({ browser }: { readonly browser: StatusSource }) {
  const { deleted_at, ended_reason = "deleted", expires_at } = browser;
  if (deleted_at === undefined)
    return (
      <Badge variant="dot" color={expires_at === undefined ? "green" : "teal"} tt="none">
        {expires_at === undefined ? "In use" : "Idle"}
      </Badge>
    );
  return (
    <Badge variant="light" color={failures.has(ended_reason) ? "red" : "gray"} tt="none">
      {shown[ended_reason] ?? "Ended"}
    </Badge>
  );
}
