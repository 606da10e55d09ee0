import type { curl } from "@shoal/contract";
import { anySignal } from "@shoal/primitives";
import { type HandlerCall, ServiceError } from "@shoal/router";
import type { CurlResult } from "@shoal/schemas";
import type { CurlBrowser } from "./curl-browser.ts";
import { decodeBody } from "./decode-body.ts";
import { sendThroughBrowser, toServiceError } from "./send.ts";

/** Largest buffered answer in bytes. */
export const maxAnswerBytes = 32 * 2 ** 20;

/** `closed`: aborted when the session ends. */
export async function runCurl(
  browser: CurlBrowser,
  { body, signal }: Pick<HandlerCall<typeof curl>, "body" | "signal">,
  closed: AbortSignal,
): Promise<CurlResult> {
  const begun = performance.now();
  if (!URL.canParse(body.url)) throw new ServiceError(400, "bad_request", "not a valid address", { field: "body.url" });
  const request = {
    url: body.url,
    method: body.method,
    headers: Object.entries(body.headers ?? {}),
    body: body.body === undefined ? undefined : Buffer.from(body.body),
    signal: anySignal([signal, closed, AbortSignal.timeout(body.timeout_ms)]),
  };
  const answer = await sendThroughBrowser(browser, request);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      bytes += chunk.length;
      if (bytes > maxAnswerBytes)
        throw new ServiceError(502, "bad_gateway", `The answer exceeds the limit of ${String(maxAnswerBytes)} bytes.`, {
          limit: maxAnswerBytes,
          hint: "Use browsers.fetch, which streams it.",
        });
      chunks.push(chunk);
    }
  } catch (error) {
    throw toServiceError(error, request);
  } finally {
    await answer.end();
  }
  const values: Record<string, string[]> = {};
  for (const [name, value] of answer.headers) {
    // Own names only: a header may be called `constructor`.
    if (Object.hasOwn(values, name)) values[name]?.push(value);
    else Object.defineProperty(values, name, { value: [value], enumerable: true, configurable: true, writable: true });
  }
  const whole = Buffer.concat(chunks);
  const { text, encoding } =
    body.response_encoding === "base64"
      ? ({ text: whole.toString("base64"), encoding: "base64" } as const)
      : decodeBody(whole, values["content-type"]?.[0]);
  return {
    status: answer.status,
    headers: values,
    body: text,
    body_encoding: encoding,
    duration_ms: Math.round(performance.now() - begun),
  };
}
