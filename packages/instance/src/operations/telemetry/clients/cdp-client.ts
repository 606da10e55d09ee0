import { createId } from "@shoal/primitives";
import type { CdpDeparture } from "../../../browser/cdp/departure.ts";
import { shownCommand } from "./cdp-commands.ts";
import type { TelemetryRecorder } from "../recorder.ts";

export interface CdpClientTelemetry {
  /** A message of the client was sent to the browser. */
  readonly sent: (message: Buffer) => void;
  readonly left: (departure: CdpDeparture) => void;
}

const source = { kind: "kernel_api" } as const;

/** Records that a client has connected, then its commands and its end. */
export function followClient(recorder: Pick<TelemetryRecorder, "captures" | "record">): CdpClientTelemetry {
  const connection_id = createId();
  let telemetry_excluded = 0;
  recorder.record({ type: "cdp_connect", category: "connection", source, data: { connection_id } });
  return {
    sent(message) {
      const command = recorder.captures("control") ? shownCommand(message) : undefined;
      if (command === undefined) return;
      const { data, method } = command;
      if (recorder.captures(`-${method}`)) telemetry_excluded++;
      else
        recorder.record({ type: "cdp_command", category: "control", source, data: { method, connection_id, ...data } });
    },
    left({ durationMs, messageCount, reason, unreadCount }) {
      const duration_ms = Math.round(durationMs);
      const counts = { message_count: messageCount, telemetry_dropped: unreadCount, telemetry_excluded };
      const data = { connection_id, duration_ms, reason, ...counts };
      recorder.record({ type: "cdp_disconnect", category: "connection", source, data });
    },
  };
}
