import { request as httpRequest } from "node:http";

const maxBytes = 256 * 1024;

/** Reads a list of the gateway. Rejects for an answer above 256 KiB. */
export function askGateway<Item>(
  socketPath: string,
  options: { readonly path: string; readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<readonly Item[]> {
  const { path, signal, timeoutMs: timeout } = options;
  return new Promise((resolve, reject) => {
    const wanted = { socketPath, path, agent: false, timeout, headers: { host: "egress" }, ...(signal && { signal }) };
    const request = httpRequest(wanted, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (piece: string) => {
        text += piece;
        if (text.length > maxBytes) request.destroy();
      });
      answer.on("end", () => {
        try {
          // The gateway is trusted: it belongs to the service.
          resolve(JSON.parse(text) as readonly Item[]);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      });
      answer.on("error", reject);
    });
    request.on("timeout", () => request.destroy());
    request.on("error", reject);
    request.end();
  });
}
