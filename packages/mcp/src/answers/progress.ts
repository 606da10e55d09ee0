import type { ServerContext } from "@modelcontextprotocol/server";

/** Also keeps the connection of a long call open. */
const everyMs = 2000;

/** Changes the message of the progress, and sends it. */
export type Report = (message: string) => void;

/** Reports the progress of a call until `work` settles, if the client requests it. */
export async function withProgress<Value>(
  { mcpReq }: ServerContext,
  title: string,
  work: (report: Report | undefined) => Promise<Value>,
): Promise<Value> {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return work(undefined);
  let message = title;
  const beganMs = performance.now();
  const notify = (seconds: number): void => {
    const params = { progressToken, progress: seconds, message: `${message}, ${String(seconds)} s` };
    // The client may be gone; the call notices it itself.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - beganMs) / 1000);
    notify(seconds);
  }, everyMs);
  try {
    return await work((changed) => {
      message = changed;
      notify(Math.round((performance.now() - beganMs) / 1000));
    });
  } finally {
    clearInterval(timer);
  }
}
