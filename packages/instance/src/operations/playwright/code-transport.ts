import { BusyPages } from "../../browser/cdp/busy-pages.ts";
import { connectTransport, type SocketTransport } from "./socket-transport.ts";

/** Connects code to the browser. A page with a busy main thread does not delay it. */
export async function connectCode(address: string): Promise<{
  readonly transport: SocketTransport;
  readonly busyPages: Pick<BusyPages, "problemOf">;
}> {
  const browser = await connectTransport(address);
  const client: SocketTransport = {
    send(message) {
      if (busyPages.sent(message)) browser.send(message);
    },
    close() {
      busyPages.close();
      return browser.close();
    },
  };
  const busyPages = new BusyPages({
    send: (command) => {
      browser.send(command);
    },
    tell: (message) => client.onmessage?.(message),
  });
  browser.onmessage = (message) => {
    if (busyPages.received(message)) client.onmessage?.(message);
  };
  browser.onclose = (reason) => {
    busyPages.close();
    client.onclose?.(reason);
  };
  return { transport: client, busyPages };
}
