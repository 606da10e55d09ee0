import type { Plan } from "../request/plan.ts";
import { contractError } from "./failures.ts";

/** `new Response` refuses a body with these; browsers have an empty one. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** The body of the result fails after `maxBytes` and when `signal` is aborted. */
export function withBoundedBody(
  plan: Plan,
  response: Response,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Response {
  const { body, status, statusText, headers } = response;
  if (body === null || withoutBody.has(status)) return response;
  const reader = body.getReader();
  let bytes = 0;
  const bounded = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        signal.addEventListener("abort", () => {
          controller.error(signal.reason);
          cancel();
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        bytes += value.byteLength;
        if (bytes <= maxBytes) controller.enqueue(value);
        else {
          cancel();
          throw contractError(plan, response, "body", `longer than ${maxBytes} bytes`);
        }
      },
      cancel,
    },
    { highWaterMark: 0 },
  );
  function cancel(): void {
    reader.cancel().catch(() => undefined);
  }
  return new Response(bounded, { status, statusText, headers });
}
