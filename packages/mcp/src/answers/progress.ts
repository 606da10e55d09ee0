import type { ServerContext } from "@modelcontextprotocol/server";

/** Also keeps the connection of a long call open. */
const everyMs = 2000;

/** Reports the progress of a call until `work` settles, if the client requests it. */
export async function withProgress<Value>(
  { mcpReq }: ServerContext,
  message: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return work();
  const beganMs = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    const params = { progressToken, progress: seconds, message: `${message}, ${String(seconds)} s` };
    // The client may be gone; the call notices it itself.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  }, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
