import { Badge } from "@mantine/core";

const shown: Readonly<Record<string, readonly [color: string, text: string]>> = {
  queued: ["yellow", "Queued"],
  in_progress: ["cyan", "Building"],
  running: ["green", "Running"],
  failed: ["red", "Failed"],
  stopped: ["gray", "Stopped"],
  succeeded: ["green", "Succeeded"],
};

/** The status of a deployment or of an invocation. */
export function RunStatus({ status }: { readonly status: string }) {
  const [color, text] = shown[status] ?? ["gray", status];
  return (
    <Badge variant="light" color={color} tt="none">
      {text}
    </Badge>
  );
}
