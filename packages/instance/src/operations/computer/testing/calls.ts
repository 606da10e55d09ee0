import { request as httpRequest } from "node:http";
import type { RunningInstance } from "../../../testing/run-instance.ts";

export async function act(instance: RunningInstance, operation: string, body?: object): Promise<unknown> {
  const { status, text } = await instance.call(
    "POST",
    `/computer/${operation}`,
    body === undefined ? undefined : JSON.stringify(body),
  );
  if (status !== 200) throw new Error(`${operation}: ${String(status)} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

export async function refusalOf(
  instance: RunningInstance,
  operation: string,
  body?: object,
): Promise<{
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly failed_action?: number;
}> {
  const { status, text } = await instance.call(
    "POST",
    `/computer/${operation}`,
    body === undefined ? undefined : JSON.stringify(body),
  );
  if (status < 400) throw new Error(`${operation} did not fail: ${String(status)}`);
  return { status, ...(JSON.parse(text) as { code: string; message: string }) };
}

export function screenshotOf(instance: RunningInstance, region?: object): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        socketPath: instance.config.listen_path,
        method: "POST",
        path: "/computer/screenshot",
        headers: { "content-type": "application/json" },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const content = Buffer.concat(chunks);
          if (response.statusCode === 200) resolve(content);
          else reject(new Error(`${String(response.statusCode)} ${content.toString()}`));
        });
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify({ region }));
  });
}
