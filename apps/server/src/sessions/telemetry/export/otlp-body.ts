import { ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { version } from "../../../config/version.ts";
import type { EventRecord } from "./log-records.ts";

export const contentType = "application/x-protobuf";

const scope = { name: "shoal.telemetry", version };

/** Encodes the body for `/v1/logs`. @param resource - attributes of all records. */
export function encodeRecords(records: readonly EventRecord[], resource: Readonly<Record<string, string>>): Uint8Array {
  const shared = resourceFromAttributes({ "service.name": "shoal", "service.version": version, ...resource });
  const body = ProtobufLogsSerializer.serializeRequest(
    records.map(({ time, attributes, body: text, eventName, severityNumber, severityText }) => ({
      hrTime: time,
      // Both times are from the clock of the instance.
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

export function rejectedIn(answer: Uint8Array): number {
  try {
    return Math.max(0, ProtobufLogsSerializer.deserializeResponse(answer).partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    // A receiver may answer in JSON or HTML; the records count as accepted.
    return 0;
  }
}
