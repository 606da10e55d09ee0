import { refusalOfPeer, type TlsIdentity } from "@shoal/primitives/pinned-tls";
import { joinChunks } from "@shoal/primitives/node";
import type { Duplex } from "node:stream";
import { connect, type TLSSocket } from "node:tls";

/** The way to an instance on another machine: a port, or a function that opens a connection. */
export type RemotePlace =
  { readonly host: string; readonly port: number } | { readonly host: string; readonly dial: () => Duplex };

export type RemoteAddress = RemotePlace & {
  /** SHA-256 of the instance's public key, from a channel that the instance cannot forge. */
  readonly pin: string;
};

const connectMs = 10_000;
const keepAliveMs = 15_000;

/** Opens a connection to an instance on another machine. @throws unless it proves that it owns the key of the address. */
export function connectRemote(address: RemoteAddress, identity: TlsIdentity, protocol: string): Promise<TLSSocket> {
  const { host, pin } = address;
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...identity.credentials,
      ...("dial" in address ? { socket: address.dial() } : { host, port: address.port }),
      // `refusalOfPeer` decides by the key.
      rejectUnauthorized: false,
      minVersion: "TLSv1.3",
      ALPNProtocols: [protocol],
    });
    const timer = setTimeout(() => {
      const message = `The instance did not answer within ${String(connectMs / 1000)} s.`;
      socket.destroy(Object.assign(new Error(message), { code: "ETIMEDOUT" }));
    }, connectMs);
    function fail(error: Error): void {
      clearTimeout(timer);
      socket.destroy();
      reject(error);
    }
    const onClose = (): void => {
      fail(new Error("The instance closed the connection."));
    };
    socket.once("error", fail);
    socket.once("close", onClose);
    socket.once("secureConnect", () => {
      const refusal =
        refusalOfPeer(socket, pin) ?? (socket.alpnProtocol === protocol ? undefined : "it speaks another protocol");
      if (refusal !== undefined) {
        fail(new Error(`The instance at ${host} was refused: ${refusal}.`));
        return;
      }
      clearTimeout(timer);
      socket.off("error", fail);
      socket.off("close", onClose);
      // Each record of TLS is a chunk.
      joinChunks(socket);
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveMs);
      resolve(socket);
    });
  });
}
