import { ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { version } from "../version.ts";
import type { EventRecord } from "./log-records.ts";

/** Media type of what {@link encodeRecords} makes. */
export const contentType = "application/x-protobuf";

const scope = { name: "shoal.telemetry", version };

/** The body of a request to `/v1/logs`. @param resource - what all records share. */
export function encodeRecords(records: readonly EventRecord[], resource: Readonly<Record<string, string>>): Uint8Array {
  const shared = resourceFromAttributes({ "service.name": "shoal", "service.version": version, ...resource });
  const body = ProtobufLogsSerializer.serializeRequest(
    records.map(({ time, attributes, body: text, eventName, severityNumber, severityText }) => ({
      hrTime: time,
      // The instance's clock is what both are read from: an event's time is when it was seen.
      hrTimeObserved: time,
      eventName,
      severityNumber,
      severityText,
      ...(text !== undefined && { body: text }),
      attributes,
      droppedAttributesCount: 0,
      resource: shared,
      instrumentationScope: scope,
    })),
  );
  if (body === undefined) throw new Error("The records could not be encoded.");
  return body;
}

/** How many records an answer says it did not take. */
export function rejectedIn(answer: Uint8Array): number {
  try {
    return Math.max(0, ProtobufLogsSerializer.deserializeResponse(answer).partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    // A receiver that answers in JSON, or with a page of its own, has taken them all the same.
    return 0;
  }
}
