import type { Endpoint } from "@shoal/contract";
import { answerText, errorBodyOf, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { noAnswer } from "../../sessions/instance-plane/no-answer.ts";
import type { NativeCalls } from "./native-calls.ts";

interface Sent {
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Calls an operation of a running session for the caller. @throws {ServiceError} as the operation. */
export async function callInstance(
  calls: NativeCalls,
  endpoint: Endpoint,
  { body, query = {}, sessionId, signal }: Sent,
): Promise<IncomingMessage> {
  const instance = await calls.instanceFor(endpoint, sessionId);
  const path = `${endpoint.path.replace("/browsers/{id}", "")}?${new URLSearchParams(query).toString()}`;
  const text = body && JSON.stringify(body);
  const headers = text === undefined ? {} : { "content-type": "application/json" };
  return checkedAnswer(
    instance.request(
      { method: endpoint.method, path, headers, signal },
      ...(text === undefined ? [] : [Readable.from([Buffer.from(text)])]),
    ),
    sessionId,
  );
}

/** Writes a file of a running session. @throws {ServiceError} */
export async function writeFile(
  instance: Instance,
  { content, path, sessionId, signal }: { content: Readable; path: string; sessionId: string; signal: AbortSignal },
): Promise<void> {
  const answer = await checkedAnswer(
    instance.request(
      {
        method: "PUT",
        path: `/fs/write_file?path=${encodeURIComponent(path)}`,
        headers: { "content-type": "application/octet-stream", "transfer-encoding": "chunked" },
        signal,
      },
      content,
    ),
    sessionId,
  );
  answer.destroy();
}

async function checkedAnswer(pending: Promise<IncomingMessage>, sessionId: string): Promise<IncomingMessage> {
  const answer = await pending.catch((error: unknown) => {
    throw noAnswer(error, sessionId);
  });
  const status = answer.statusCode ?? 502;
  if (status < 300) return answer;
  const refusal = errorBodyOf(await answerText(answer).catch(() => ""));
  throw refusal
    ? new ServiceError(status, refusal.code, refusal.message)
    : new ServiceError(502, "bad_gateway", `The instance of browser ${sessionId} answered ${String(status)}.`);
}
