import { Badge } from "@mantine/core";

const shown: Readonly<Record<string, readonly [color: string, text: string]>> = {
  queued: ["yellow", "Queued"],
  in_progress: ["cyan", "Building"],
  running: ["green", "Running"],
  failed: ["red", "Failed"],
  stopped: ["gray", "Stopped"],
  succeeded: ["green", "Succeeded"],
  diverged: ["orange", "Page differed"],
  waiting: ["yellow", "Waits for a person"],
  canceled: ["gray", "Canceled"],
  unknown: ["yellow", "Unknown"],
};

/** The status of a deployment, an invocation or a run. */
export function RunStatus({ status }: { readonly status: string }) {
  const [color, text] = shown[status] ?? ["gray", status];
  return (
    <Badge variant="light" color={color} tt="none">
      {text}
    </Badge>
  );
}
