import type { ConnectOverCDPTransport } from "playwright-core";
import { BusyPages } from "../../browser/cdp/busy-pages.ts";
import { connectTransport } from "./socket-transport.ts";

/** Connects code to the browser. A page with a busy main thread does not delay it. */
export async function connectCode(address: string): Promise<{
  readonly transport: ConnectOverCDPTransport;
  readonly busyPages: Pick<BusyPages, "problemOf">;
}> {
  const browser = await connectTransport(address);
  const client: ConnectOverCDPTransport = {
    send(message) {
      if (busyPages.sent(message)) browser.send(message);
    },
    close() {
      busyPages.close();
      browser.close();
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
