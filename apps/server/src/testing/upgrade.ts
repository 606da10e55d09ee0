import { request } from "node:http";
import { text } from "node:stream/consumers";

export function refusedUpgrade(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number | undefined; body: unknown; requestId: unknown }> {
  return new Promise((resolve, reject) => {
    const asking = request(url.replace(/^ws/, "http"), {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        ...headers,
      },
    });
    asking.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("The upgrade was accepted."));
    });
    asking.on("response", (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode, body: JSON.parse(body), requestId: response.headers["x-request-id"] });
      }, reject);
    });
    asking.on("error", reject);
    asking.end();
  });
}
