import type { TransferredBytes } from "../interface/egress.ts";
import type { Socket } from "node:net";

/** Counts the bytes of connections from the browser, open and closed ones. */
export class Transfers {
  readonly #open = new Set<Socket>();
  #sentBytes = 0;
  #receivedBytes = 0;

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#sentBytes += socket.bytesRead;
      this.#receivedBytes += socket.bytesWritten;
    });
  }

  total(): TransferredBytes {
    let sentBytes = this.#sentBytes;
    let receivedBytes = this.#receivedBytes;
    for (const socket of this.#open) {
      sentBytes += socket.bytesRead;
      receivedBytes += socket.bytesWritten;
    }
    return { sentBytes, receivedBytes };
  }
}
