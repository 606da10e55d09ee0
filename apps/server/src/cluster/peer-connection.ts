import { randomBytes } from "node:crypto";
import { connect as netConnect, type Socket } from "node:net";
import { connect as tlsConnect } from "node:tls";
import { tcpKeepAliveMs } from "../http/tcp-keep-alive.ts";
import type { ProvenServer, ReplicaTrust } from "./replica-trust.ts";

export const proofPath = "/_replicas/proof";
export const proofHeader = "x-shoal-proof";
export const nonceHeader = "x-shoal-nonce";
export const addressHeader = "x-shoal-address";
/** Includes the proof: a paused server accepts connections without answering. */
const connectTimeoutMs = 3_000;
const maxHeadBytes = 16_384;

/** Verifies the server's identity before sending any client data: another program may use its address by now. */
export async function connectToPeer(peer: ProvenServer, trust: ReplicaTrust): Promise<Socket> {
  const { hostname, host, port, protocol } = new URL(peer.address);
  const isSecure = protocol === "https:";
  const target = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port === "" ? (isSecure ? 443 : 80) : port) };
  const socket = isSecure
    ? tlsConnect({ ...target, servername: target.host, ALPNProtocols: ["http/1.1"] })
    : netConnect(target);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, tcpKeepAliveMs);
  const nonce = randomBytes(24).toString("base64url");
  const timer = setTimeout(
    () => socket.destroy(new Error(`It did not answer within ${String(connectTimeoutMs / 1000)} s.`)),
    connectTimeoutMs,
  );
  try {
    socket.write(
      `GET ${proofPath} HTTP/1.1\r\nHost: ${host}\r\n${nonceHeader}: ${nonce}\r\n${addressHeader}: ${peer.address}\r\n\r\n`,
    );
    const head = await readHead(socket);
    const proof = new RegExp(`^${proofHeader}: *(\\S+)\r$`, "im").exec(head)?.[1];
    if (!head.startsWith("HTTP/1.1 204 ") || !trust.isProof(peer, nonce, proof))
      throw new Error("Another server or another program answered.");
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Reads up to the empty line. The server then sends nothing before the next request, so the socket may flow. */
function readHead(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = Buffer.alloc(0);
    const settle = (end: () => void): void => {
      socket.off("data", onData).off("error", reject).off("close", onClose);
      end();
    };
    const onClose = (): void => {
      settle(() => {
        reject(new Error("It closed the connection."));
      });
    };
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const text = read.toString("latin1");
      if (text.endsWith("\r\n\r\n"))
        settle(() => {
          resolve(text);
        });
      else if (read.length > maxHeadBytes || text.includes("\r\n\r\n"))
        settle(() => {
          reject(new Error("Another program answered."));
        });
    };
    socket.on("data", onData).on("close", onClose).on("error", reject);
  });
}
