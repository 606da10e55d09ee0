import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod/mini";
import { SelectTelemetry } from "../protocol.ts";
import { readBody, refuse, reply } from "../session/replies.ts";
import type { Telemetry } from "./telemetry.ts";

const maxBodyBytes = 65_536;

/** Answers a request to the control channel: `GET` follows the events, `POST` switches categories. */
export async function answerControl(
  telemetry: Pick<Telemetry, "close" | "select" | "sendLines">,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "GET") {
    const after = /[?&]after=(\d{1,15})$/.exec(request.url ?? "")?.[1];
    telemetry.sendLines(response, Number(after ?? 0));
    return;
  }
  const selection = parse(await readBody(request, maxBodyBytes));
  if (selection === undefined) {
    refuse(response, { status: 400, code: "bad_request", message: "body: expected categories of telemetry" });
    return;
  }
  await (selection.final === true ? telemetry.close() : telemetry.select(selection.categories));
  reply(response, 200, {});
}

function parse(body: Buffer | undefined): SelectTelemetry | undefined {
  try {
    const result = z.safeParse(SelectTelemetry, JSON.parse(body?.toString() ?? ""));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
